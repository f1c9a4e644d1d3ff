//! What RestoreTableFromBackup and RestoreTableToPointInTime share: the new table's name, and the settings in which it
//! differs from the table it comes from. Whether indexes are those of that table, and what suits its billing mode, the
//! engine knows.

use crate::json::{Reader, Writer};
use crate::table::table_description;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::backup::restore::RestoreOverrides;
use partita_api::backup::restore_table_from_backup::RestoreTableFromBackupOutput;
use partita_api::table::{BillingMode, OnDemandThroughput, Throughput};
use std::collections::HashSet;

/// The members as sent.
#[derive(Default)]
pub(crate) struct SentOverrides<'a> {
    billing_mode: Text<'a>,
    global_indexes: Option<Vec<SentIndex<'a>>>,
    local_indexes: Option<Vec<SentIndex<'a>>>,
    provisioned: Option<SentUnits>,
    on_demand: Option<OnDemandThroughput>,
    encryption: Option<SentEncryption<'a>>,
}

/// What satisfies the model.
pub(crate) struct CheckedOverrides<'s, 'a> {
    sent: &'s SentOverrides<'a>,
    billing_mode: Option<BillingMode>,
    global_indexes: Option<Vec<CheckedIndex>>,
    local_indexes: Option<Vec<CheckedIndex>>,
    provisioned: Option<Throughput>,
}

impl<'a> SentOverrides<'a> {
    /// Reads a member that the operation does not know itself; skips it if it is no override.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, member: &str) -> Result<(), Exception> {
        match member {
            "BillingModeOverride" => self.billing_mode = reader.text()?,
            "GlobalSecondaryIndexOverride" => {
                self.global_indexes = read_list(reader, "GlobalSecondaryIndex", read_global_member)?;
            }
            "LocalSecondaryIndexOverride" => {
                self.local_indexes = read_list(reader, "LocalSecondaryIndex", read_local_member)?;
            }
            "ProvisionedThroughputOverride" => self.provisioned = read_provisioned(reader)?,
            "OnDemandThroughputOverride" => self.on_demand = read_on_demand(reader)?,
            "SSESpecificationOverride" => self.encryption = read_encryption(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    }

    pub(crate) fn check(&self, validation: &mut Validation) -> CheckedOverrides<'_, 'a> {
        let billing_mode = check_billing_mode(validation, "billingModeOverride", &self.billing_mode);
        let global_indexes =
            check_indexes(validation, "globalSecondaryIndexOverride", &self.global_indexes, GLOBAL_KEY);
        let local_indexes =
            check_indexes(validation, "localSecondaryIndexOverride", &self.local_indexes, LOCAL_KEY);
        let provisioned = check_provisioned(validation, "provisionedThroughputOverride", self.provisioned);
        check_encryption(validation, "sSESpecificationOverride", &self.encryption);
        CheckedOverrides { sent: self, billing_mode, global_indexes, local_indexes, provisioned }
    }
}

impl CheckedOverrides<'_, '_> {
    /// A table that is restored to a point in time starts as warm as any.
    pub(crate) fn refuse_warm(&self) -> Result<(), Exception> {
        match self.global_indexes.iter().flatten().find(|index| index.warm.is_some()) {
            Some(index) => Err(invalid_request(format_args!(
                "WarmThroughput is not supported for index {} when restoring a table to a point in time",
                index.name
            ))),
            None => Ok(()),
        }
    }

    /// The rules between the members.
    pub(crate) fn resolve(self) -> Result<RestoreOverrides, Exception> {
        self.check_billing()?;
        self.check_names()?;
        check_on_demand(self.sent.on_demand, Owner::Table, false)?;
        for index in self.global_indexes.iter().flatten() {
            check_bounds(index.provisioned)?;
            check_on_demand(index.on_demand, Owner::Index(&index.name), false)?;
        }
        let new = |indexes: Option<Vec<CheckedIndex>>| {
            indexes.map(|indexes| indexes.into_iter().map(CheckedIndex::into_new).collect()).transpose()
        };
        Ok(RestoreOverrides {
            billing_mode: self.billing_mode,
            throughput: self.provisioned,
            on_demand: self.sent.on_demand,
            encryption: self.sent.encryption.as_ref().map(SentEncryption::resolve).transpose()?,
            local_indexes: new(self.local_indexes)?,
            global_indexes: new(self.global_indexes)?,
        })
    }

    fn check_billing(&self) -> Result<(), Exception> {
        let units = "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST";
        match self.billing_mode {
            Some(BillingMode::PayPerRequest) if self.provisioned.is_some() => Err(invalid_request(units)),
            Some(BillingMode::PayPerRequest) => {
                match self.global_indexes.iter().flatten().find(|index| index.provisioned.is_some()) {
                    Some(index) => Err(invalid_request(format_args!("{units} for index {}", index.name))),
                    None => Ok(()),
                }
            }
            Some(BillingMode::Provisioned) if self.provisioned.is_none() => Err(invalid_request(
                "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
            )),
            _ => check_bounds(self.provisioned),
        }
    }

    fn check_names(&self) -> Result<(), Exception> {
        let mut names = HashSet::new();
        let mut indexes = self.local_indexes.iter().flatten().chain(self.global_indexes.iter().flatten());
        indexes.try_for_each(|index| refuse_duplicate_name(&mut names, &index.name))
    }
}

/// Notes a new table's name that cannot be one.
pub(crate) fn check_target(validation: &mut Validation, target: &Text<'_>) {
    if let Some(target) = validation.required("targetTableName", target) {
        validation.resource_name("targetTableName", target, 3);
    }
}

pub(crate) fn encode(output: &RestoreTableFromBackupOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("TableDescription");
        table_description::encode(&output.table, json);
    });
}
