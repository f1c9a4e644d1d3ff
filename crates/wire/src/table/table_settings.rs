//! The settings of a table, which CreateTable, UpdateTable and the restores share.
//!
//! Members are declared (see [`crate::members`]) and followed by the rules between them, of which the first that is broken is
//! reported. Parts with rules of their own have files: [`key_schema`], [`throughput`], [`secondary_index`].

pub(crate) mod key_schema;
pub(crate) mod secondary_index;
pub(crate) mod throughput;

use crate::encryption::{EncryptionType, KMS_KEY_CHARACTERS};
use crate::members::{Choice, Named, chosen, enum_names, length, required, structure};
use partita_api::Exception;
use partita_api::table::update_table::StreamUpdate;
use partita_api::table::{BillingMode, Encryption, StreamViewType, TableClass};
use std::borrow::Cow;
use std::fmt::Display;
use throughput::{OnDemandThroughputMembers, WarmThroughputMembers};

/// An error with AWS's prefix for most rules between members.
pub(crate) fn invalid(detail: impl Display) -> Exception {
    Exception::validation(format!("One or more parameter values were invalid: {detail}"))
}

/// An error with AWS's prefix for the rules between members of restores and exports.
pub(crate) fn invalid_request(detail: impl Display) -> Exception {
    Exception::validation(format!("Invalid Request: {detail}"))
}

/// Refuses a member of global tables, which are not supported.
pub(crate) fn refuse_global_tables(member: &str, is_set: bool) -> Result<(), Exception> {
    if is_set {
        return Err(invalid(format_args!("{member} cannot be specified, global tables are not supported")));
    }
    Ok(())
}

enum_names!(BillingMode: "PROVISIONED" = Provisioned, "PAY_PER_REQUEST" = PayPerRequest);

/// Checks the table class. AWS does not collect its error with others; it has a text of its own.
pub(crate) fn table_class(class: &Option<Cow<'_, str>>) -> Result<Option<TableClass>, Exception> {
    match class.as_deref() {
        None => Ok(None),
        Some("STANDARD") => Ok(Some(TableClass::Standard)),
        Some("STANDARD_INFREQUENT_ACCESS") => Ok(Some(TableClass::StandardInfrequentAccess)),
        Some(_) => Err(Exception::validation(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].",
        )),
    }
}

/// The replication mode of the settings of global tables, which is ignored in a single region.
#[derive(Clone, Copy)]
pub(crate) struct SettingsReplicationMode;

impl Named for SettingsReplicationMode {
    const NAMES: &'static [(&'static str, SettingsReplicationMode)] = &[
        ("ENABLED", SettingsReplicationMode),
        ("DISABLED", SettingsReplicationMode),
        ("ENABLED_WITH_OVERRIDES", SettingsReplicationMode),
    ];
}

enum_names!(StreamViewType:
    "OLD_IMAGE" = OldImage, "KEYS_ONLY" = KeysOnly, "NEW_AND_OLD_IMAGES" = NewAndOldImages,
    "NEW_IMAGE" = NewImage
);

structure! {
    /// The settings that CreateTable and UpdateTable share.
    pub(crate) struct TableSettingsMembers<'a> {
        stream: StreamSpecification<'a> = "StreamSpecification";
        encryption: EncryptionSpecification<'a> = "SSESpecification";
        settings_replication: Choice<'a, SettingsReplicationMode> = "GlobalTableSettingsReplicationMode";
        on_demand: OnDemandThroughputMembers = "OnDemandThroughput";
        warm: WarmThroughputMembers = "WarmThroughput";
        table_class: Cow<'a, str> = "TableClass";
        deletion_protection: bool = "DeletionProtectionEnabled";
    }

    pub(crate) struct StreamSpecification<'a> as "StreamSpecification" {
        enabled: bool = "StreamEnabled", required;
        view: Choice<'a, StreamViewType> = "StreamViewType";
    }
}

impl StreamSpecification<'_> {
    /// The stream of a new table.
    pub(crate) fn of_new_table(&self) -> Result<Option<StreamViewType>, Exception> {
        match (self.enabled.unwrap_or(false), chosen(&self.view)) {
            (true, None) => {
                Err(invalid("Table is being created with a stream enabled, UpdateViewType is required"))
            }
            (false, Some(_)) => Err(invalid(
                "Table is being created with a stream disabled, UpdateViewType should not be specified",
            )),
            (_, view) => Ok(view),
        }
    }

    /// The change to an existing table's stream.
    pub(crate) fn of_existing_table(&self) -> Result<StreamUpdate, Exception> {
        match (self.enabled.unwrap_or(false), chosen(&self.view)) {
            (true, Some(view)) => Ok(StreamUpdate::Enable(view)),
            (true, None) => Err(invalid("If stream is being enabled then UpdateViewType is required")),
            (false, None) => Ok(StreamUpdate::Disable),
            (false, Some(_)) => {
                Err(invalid("If stream is being disabled, then UpdateViewType must not be specified"))
            }
        }
    }
}

structure! {
    pub(crate) struct EncryptionSpecification<'a> as "SSESpecification" {
        enabled: bool = "Enabled";
        kind: Choice<'a, EncryptionType> = "SSEType";
        key: Cow<'a, str> = "KMSMasterKeyId", length(1, KMS_KEY_CHARACTERS);
    }
}

impl EncryptionSpecification<'_> {
    /// Checks the rules between the members. A type without `Enabled` means enabled; an empty structure, disabled.
    pub(crate) fn resolve(&self) -> Result<Encryption, Exception> {
        let (kind, key) = (chosen(&self.kind), self.key.as_deref());
        match (self.enabled, kind, key) {
            (Some(false), Some(_), _) => Err(invalid("SSEType can not be specified if Enabled is false")),
            (Some(false), _, Some(_)) => {
                Err(invalid("KMSMasterKeyId can not be specified if Enabled is false"))
            }
            (_, Some(EncryptionType::Aes256), _) => Err(invalid("SSEType AES256 is not supported")),
            (_, None, Some(_)) => Err(invalid("SSEType KMS is required if KMSMasterKeyId is specified")),
            (enabled, _, _) => {
                let enabled = enabled.unwrap_or(kind.is_some());
                Ok(Encryption { enabled, kms_key: key.map(str::to_owned) })
            }
        }
    }
}

#[cfg(test)]
mod tests;
