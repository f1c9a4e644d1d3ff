//! What CreateTable, UpdateTable and the restores share: the members that say how a table is set up.
//!
//! Each part is taken in three steps. `read_…` takes it as sent, `check_…` holds it against the service
//! model and collects what fails, and what is left — rules between members — answers with the first
//! text that applies. The parts with rules of their own have files: [`key_schema`], [`throughput`],
//! [`secondary_index`].

pub(crate) mod key_schema;
pub(crate) mod secondary_index;
pub(crate) mod throughput;

use crate::json::{Reader, Shape};
use crate::table::table_name;
use crate::validation::{NAME_PATTERN, Validation};
use partita_api::Exception;
use partita_api::table::update_table::StreamUpdate;
use partita_api::table::{BillingMode, Encryption, StreamViewType, TableClass};
use partita_value::names::{self, TableName};
use std::borrow::Cow;
use std::fmt::Display;

/// A string as sent.
pub(crate) type Text<'a> = Option<Cow<'a, str>>;

/// AWS's opening for most rules between members.
pub(crate) fn invalid(detail: impl Display) -> Exception {
    Exception::validation(format!("One or more parameter values were invalid: {detail}"))
}

/// AWS's opening for the rules between members of restores and exports.
pub(crate) fn invalid_request(detail: impl Display) -> Exception {
    Exception::validation(format!("Invalid Request: {detail}"))
}

/// What only global tables know. They are not there yet.
pub(crate) fn refuse_global_tables(member: &str, is_set: bool) -> Result<(), Exception> {
    if is_set {
        return Err(invalid(format_args!("{member} cannot be specified, global tables are not supported")));
    }
    Ok(())
}

/// A structure that is a member: `member` reads the value of each name it knows and skips the others.
pub(crate) fn read_structure<'a, T: Default>(
    reader: &mut Reader<'a>,
    class: &'static str,
    member: impl Fn(&mut T, &mut Reader<'a>, &str) -> Result<(), Exception>,
) -> Result<Option<T>, Exception> {
    let mut value = T::default();
    let present =
        reader.structure(Shape::Structure(class), |reader, name| member(&mut value, reader, name))?;
    Ok(present.then_some(value))
}

/// A list of structures, read like [`read_structure`]; a null in it is one without members.
pub(crate) fn read_list<'a, T: Default>(
    reader: &mut Reader<'a>,
    class: &'static str,
    member: impl Fn(&mut T, &mut Reader<'a>, &str) -> Result<(), Exception>,
) -> Result<Option<Vec<T>>, Exception> {
    reader.structures(Shape::List, |reader| {
        let mut value = T::default();
        reader.structure(Shape::Element(class), |reader, name| member(&mut value, reader, name))?;
        Ok(value)
    })
}

/// Notes a text whose length is out of bounds.
pub(crate) fn check_length(
    validation: &mut Validation,
    path: impl Display,
    text: &Text<'_>,
    min: usize,
    max: usize,
) {
    if let Some(text) = text {
        validation.length(path, text, text.chars().count(), min, max);
    }
}

/// AWS says so wherever a table may be named by name or ARN.
pub(crate) fn missing_table_name() -> Exception {
    Exception::validation("The parameter 'TableName' is required but was not present in the request")
}

/// The table an operation is about, by name or by ARN. Its length is told before anything else is
/// looked at; its characters together with the rest.
pub(crate) fn check_table_name(validation: &mut Validation, name: &Text<'_>) -> Result<TableName, Exception> {
    let Some(name) = name else {
        return Err(missing_table_name());
    };
    let table = table_name::resolve(name);
    let length = table.as_str().chars().count();
    let mut alone = Validation::new();
    alone.length("tableName", name, length, 3, 255);
    let collected = if (3..=255).contains(&length) { validation } else { &mut alone };
    if table.as_str().is_empty() || !names::has_name_characters(table.as_str()) {
        collected.pattern("tableName", name, NAME_PATTERN);
    }
    alone.finish()?;
    Ok(table)
}

/// A body that only names a table.
pub(crate) fn read_only_table_name(reader: Reader<'_>) -> Result<TableName, Exception> {
    let mut sent = None;
    reader.request(|reader, name| {
        match name {
            "TableName" => sent = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    let name = check_table_name(&mut validation, &sent)?;
    validation.finish()?;
    Ok(name)
}

pub(crate) fn check_billing_mode(
    validation: &mut Validation,
    path: &str,
    mode: &Text<'_>,
) -> Option<BillingMode> {
    let modes = [("PROVISIONED", BillingMode::Provisioned), ("PAY_PER_REQUEST", BillingMode::PayPerRequest)];
    validation.one_of(path, mode.as_deref(), &modes)
}

/// AWS does not collect this one; it has a text of its own.
pub(crate) fn table_class(class: &Text<'_>) -> Result<Option<TableClass>, Exception> {
    match class.as_deref() {
        None => Ok(None),
        Some("STANDARD") => Ok(Some(TableClass::Standard)),
        Some("STANDARD_INFREQUENT_ACCESS") => Ok(Some(TableClass::StandardInfrequentAccess)),
        Some(_) => Err(Exception::validation(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].",
        )),
    }
}

/// Members that only matter to global tables; a single region ignores them.
pub(crate) fn check_settings_replication(validation: &mut Validation, mode: &Text<'_>) {
    let modes = [("ENABLED", ()), ("DISABLED", ()), ("ENABLED_WITH_OVERRIDES", ())];
    validation.one_of("globalTableSettingsReplicationMode", mode.as_deref(), &modes);
}

/// `StreamSpecification` as sent.
#[derive(Default)]
pub(crate) struct SentStream<'a> {
    enabled: Option<bool>,
    view: Text<'a>,
}

/// `StreamSpecification`, checked.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    enabled: bool,
    view: Option<StreamViewType>,
}

pub(crate) fn read_stream<'a>(reader: &mut Reader<'a>) -> Result<Option<SentStream<'a>>, Exception> {
    read_structure(reader, "StreamSpecification", |stream: &mut SentStream<'a>, reader, name| {
        match name {
            "StreamEnabled" => stream.enabled = reader.boolean()?,
            "StreamViewType" => stream.view = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

pub(crate) fn check_stream(validation: &mut Validation, sent: &Option<SentStream<'_>>) -> Option<Stream> {
    let sent = sent.as_ref()?;
    let enabled = validation.required("streamSpecification.streamEnabled", &sent.enabled).copied();
    let views = [
        ("OLD_IMAGE", StreamViewType::OldImage),
        ("KEYS_ONLY", StreamViewType::KeysOnly),
        ("NEW_AND_OLD_IMAGES", StreamViewType::NewAndOldImages),
        ("NEW_IMAGE", StreamViewType::NewImage),
    ];
    let view = validation.one_of("streamSpecification.streamViewType", sent.view.as_deref(), &views);
    Some(Stream { enabled: enabled?, view })
}

impl Stream {
    /// The stream of a new table.
    pub(crate) fn of_new_table(self) -> Result<Option<StreamViewType>, Exception> {
        match (self.enabled, self.view) {
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
    pub(crate) fn of_existing_table(self) -> Result<StreamUpdate, Exception> {
        match (self.enabled, self.view) {
            (true, Some(view)) => Ok(StreamUpdate::Enable(view)),
            (true, None) => Err(invalid("If stream is being enabled then UpdateViewType is required")),
            (false, None) => Ok(StreamUpdate::Disable),
            (false, Some(_)) => {
                Err(invalid("If stream is being disabled, then UpdateViewType must not be specified"))
            }
        }
    }
}

/// `SSESpecification` as sent.
#[derive(Default)]
pub(crate) struct SentEncryption<'a> {
    enabled: Option<bool>,
    kind: Text<'a>,
    key: Text<'a>,
}

pub(crate) fn read_encryption<'a>(reader: &mut Reader<'a>) -> Result<Option<SentEncryption<'a>>, Exception> {
    read_structure(reader, "SSESpecification", |encryption: &mut SentEncryption<'a>, reader, name| {
        match name {
            "Enabled" => encryption.enabled = reader.boolean()?,
            "SSEType" => encryption.kind = reader.text()?,
            "KMSMasterKeyId" => encryption.key = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

/// The longest name of a key that AWS's Key Management Service takes.
const KMS_KEY_CHARACTERS: usize = 2_048;

pub(crate) fn check_encryption(validation: &mut Validation, path: &str, sent: &Option<SentEncryption<'_>>) {
    if let Some(sent) = sent {
        let kinds = [("AES256", ()), ("KMS", ())];
        validation.one_of(format_args!("{path}.sSEType"), sent.kind.as_deref(), &kinds);
        check_length(validation, format_args!("{path}.kMSMasterKeyId"), &sent.key, 1, KMS_KEY_CHARACTERS);
    }
}

impl SentEncryption<'_> {
    /// The rules between its members. A type without `Enabled` means enabled; nothing at all, disabled.
    pub(crate) fn resolve(&self) -> Result<Encryption, Exception> {
        let (kind, key) = (self.kind.as_deref(), self.key.as_deref());
        match (self.enabled, kind, key) {
            (Some(false), Some(_), _) => Err(invalid("SSEType can not be specified if Enabled is false")),
            (Some(false), _, Some(_)) => {
                Err(invalid("KMSMasterKeyId can not be specified if Enabled is false"))
            }
            (_, Some("AES256"), _) => Err(invalid("SSEType AES256 is not supported")),
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
