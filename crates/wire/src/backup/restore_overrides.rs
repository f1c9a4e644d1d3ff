//! The members that RestoreTableFromBackup and RestoreTableToPointInTime share: the settings in which the new table differs from
//! its source. The engine checks whether the indexes are those of the source, and what suits its billing mode.

use crate::json::Writer;
use crate::members::{Choice, chosen, structure};
use crate::table::table_description;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use partita_api::Exception;
use partita_api::backup::restore::RestoreOverrides;
use partita_api::backup::restore_table_from_backup::RestoreTableFromBackupOutput;
use partita_api::table::{BillingMode, OnDemandThroughput, Throughput};
use std::collections::HashSet;

structure! {
    /// The overrides of a restore.
    pub(crate) struct RestoreOverrideMembers<'a> {
        billing_mode: Choice<'a, BillingMode> = "BillingModeOverride";
        global_indexes: Vec<GlobalIndexMembers<'a>> = "GlobalSecondaryIndexOverride";
        local_indexes: Vec<LocalIndexMembers<'a>> = "LocalSecondaryIndexOverride";
        provisioned: ProvisionedThroughputMembers = "ProvisionedThroughputOverride";
        encryption: EncryptionSpecification<'a> = "SSESpecificationOverride";
        on_demand: OnDemandThroughputMembers = "OnDemandThroughputOverride";
    }
}

/// Overrides that are valid individually.
pub(crate) struct ValidOverrides<'m, 'a> {
    billing_mode: Option<BillingMode>,
    global_indexes: Option<Vec<ValidIndex>>,
    local_indexes: Option<Vec<ValidIndex>>,
    provisioned: Option<Throughput>,
    on_demand: Option<OnDemandThroughput>,
    encryption: Option<&'m EncryptionSpecification<'a>>,
}

impl<'a> RestoreOverrideMembers<'a> {
    pub(crate) fn valid(&self) -> ValidOverrides<'_, 'a> {
        let local = |indexes: &Vec<_>| indexes.iter().filter_map(LocalIndexMembers::valid).collect();
        let global = |indexes: &Vec<_>| indexes.iter().filter_map(GlobalIndexMembers::valid).collect();
        ValidOverrides {
            billing_mode: chosen(&self.billing_mode),
            global_indexes: self.global_indexes.as_ref().map(global),
            local_indexes: self.local_indexes.as_ref().map(local),
            provisioned: provisioned(self.provisioned),
            on_demand: on_demand(self.on_demand),
            encryption: self.encryption.as_ref(),
        }
    }
}

impl ValidOverrides<'_, '_> {
    /// A restore to a point in time does not take warm throughput.
    pub(crate) fn refuse_warm(&self) -> Result<(), Exception> {
        match self.global_indexes.iter().flatten().find(|index| index.warm.is_some()) {
            Some(index) => Err(invalid_request(format_args!(
                "WarmThroughput is not supported for index {} when restoring a table to a point in time",
                index.name
            ))),
            None => Ok(()),
        }
    }

    /// Checks the rules between the members.
    pub(crate) fn resolve(self) -> Result<RestoreOverrides, Exception> {
        self.check_billing()?;
        self.check_names()?;
        check_on_demand(self.on_demand, Owner::Table, false)?;
        for index in self.global_indexes.iter().flatten() {
            check_bounds(index.provisioned)?;
            check_on_demand(index.on_demand, Owner::Index(&index.name), false)?;
        }
        let new = |indexes: Option<Vec<ValidIndex>>| {
            indexes.map(|indexes| indexes.into_iter().map(ValidIndex::into_new).collect()).transpose()
        };
        Ok(RestoreOverrides {
            billing_mode: self.billing_mode,
            throughput: self.provisioned,
            on_demand: self.on_demand,
            encryption: self.encryption.map(EncryptionSpecification::resolve).transpose()?,
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

pub(crate) fn encode(output: &RestoreTableFromBackupOutput, json: &mut Writer) {
    table_description::encode_member("TableDescription", &output.table, json);
}
