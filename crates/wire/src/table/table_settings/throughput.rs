//! Provisioned, on-demand and warm throughput of a table or an index: as sent → checked → their rules.

use super::{invalid, read_structure};
use crate::json::Reader;
use crate::validation::Validation;
use partita_api::table::{BillingMode, ON_DEMAND_START, OnDemandThroughput, Throughput, WarmThroughput};
use partita_api::{Exception, messages};
use std::fmt;

/// No table has more units than this.
const MOST_UNITS: u64 = 1_000_000_000_000;

const ON_DEMAND_START_HELP: &str = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial";

/// Whose throughput it is, as the texts name it.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'n> {
    Table,
    Index(&'n str),
}

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Table => f.write_str("table"),
            Owner::Index(name) => write!(f, "index {name}"),
        }
    }
}

/// A pair of read and write units as sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct SentUnits {
    pub(crate) read: Option<i64>,
    pub(crate) write: Option<i64>,
}

impl SentUnits {
    /// An empty structure counts as none.
    fn or_none(self) -> Option<SentUnits> {
        (self.read.is_some() || self.write.is_some()).then_some(self)
    }
}

pub(crate) fn read_provisioned(reader: &mut Reader<'_>) -> Result<Option<SentUnits>, Exception> {
    read_units(reader, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits")
}

pub(crate) fn read_on_demand(reader: &mut Reader<'_>) -> Result<Option<OnDemandThroughput>, Exception> {
    let sent = read_units(reader, "OnDemandThroughput", "MaxReadRequestUnits", "MaxWriteRequestUnits")?;
    let sent = sent.and_then(SentUnits::or_none);
    Ok(sent.map(|units| OnDemandThroughput { max_read: units.read, max_write: units.write }))
}

pub(crate) fn read_warm(reader: &mut Reader<'_>) -> Result<Option<SentUnits>, Exception> {
    read_units(reader, "WarmThroughput", "ReadUnitsPerSecond", "WriteUnitsPerSecond")
}

fn read_units(
    reader: &mut Reader<'_>,
    class: &'static str,
    read: &str,
    write: &str,
) -> Result<Option<SentUnits>, Exception> {
    read_structure(reader, class, |units: &mut SentUnits, reader, name| {
        match name {
            _ if name == read => units.read = reader.long()?,
            _ if name == write => units.write = reader.long()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

/// `ProvisionedThroughput` at a path: both members, at least 1.
pub(crate) fn check_provisioned(
    validation: &mut Validation,
    path: &str,
    sent: Option<SentUnits>,
) -> Option<Throughput> {
    let sent = sent?;
    let write = check_unit(validation, &format!("{path}.writeCapacityUnits"), sent.write);
    let read = check_unit(validation, &format!("{path}.readCapacityUnits"), sent.read);
    Some(Throughput { read: read?, write: write? })
}

fn check_unit(validation: &mut Validation, path: &str, sent: Option<i64>) -> Option<u64> {
    validation.required(path, &sent);
    validation.at_least(path, sent, 1);
    sent.and_then(|units| u64::try_from(units).ok())
}

pub(crate) fn check_bounds(throughput: Option<Throughput>) -> Result<(), Exception> {
    let Some(throughput) = throughput else { return Ok(()) };
    for (units, name) in [(throughput.read, "ReadCapacityUnits"), (throughput.write, "WriteCapacityUnits")] {
        if units > MOST_UNITS {
            return Err(Exception::validation(format!("Given value {units} for {name} is out of bounds")));
        }
    }
    Ok(())
}

fn on_demand_members(on_demand: OnDemandThroughput) -> [(Option<i64>, &'static str); 2] {
    [(on_demand.max_read, "MaxReadRequestUnits"), (on_demand.max_write, "MaxWriteRequestUnits")]
}

/// Bounds on on-demand units are at least 1; -1, where it may be sent, removes one.
pub(crate) fn check_on_demand(
    on_demand: Option<OnDemandThroughput>,
    owner: Owner<'_>,
    may_remove: bool,
) -> Result<(), Exception> {
    for (units, name) in on_demand.into_iter().flat_map(on_demand_members) {
        if units.is_some_and(|units| units < 1 && !(may_remove && units == -1)) {
            let owner = match owner {
                Owner::Table => "table".to_owned(),
                Owner::Index(index) => format!("index : {index}"),
            };
            return Err(invalid(format_args!(
                "Requested {name} for OnDemandThroughput for {owner} is outside of valid range"
            )));
        }
    }
    Ok(())
}

/// A provisioned table and its indexes have no bounds on on-demand units.
pub(crate) fn refuse_on_demand(
    on_demand: Option<OnDemandThroughput>,
    owner: Owner<'_>,
) -> Result<(), Exception> {
    let members = on_demand.into_iter().flat_map(on_demand_members);
    let Some((_, name)) = members.into_iter().find(|(units, _)| units.is_some()) else { return Ok(()) };
    let owner = match owner {
        Owner::Table => String::new(),
        Owner::Index(index) => format!(" for index: {index}"),
    };
    Err(invalid(format_args!(
        "{name} for OnDemandThroughput{owner} cannot be specified when table BillingMode is PROVISIONED."
    )))
}

/// The warm throughput of something new: no less than what it starts with anyway.
pub(crate) fn new_warm(
    sent: Option<SentUnits>,
    owner: Owner<'_>,
    billing_mode: BillingMode,
    provisioned: Option<Throughput>,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(sent) = sent.and_then(SentUnits::or_none) else { return Ok(None) };
    let least = match billing_mode {
        BillingMode::PayPerRequest => ON_DEMAND_START,
        BillingMode::Provisioned => provisioned.unwrap_or_default(),
    };
    let unit = |units: Option<i64>, least: u64, name: &str, provisioned: &str| match units {
        None => Ok(None),
        Some(units) => match u64::try_from(units).ok().filter(|units| *units >= least) {
            Some(units) => Ok(Some(units)),
            None => {
                let reason = match billing_mode {
                    BillingMode::PayPerRequest => {
                        format!("initial throughput for OnDemand. See: {ON_DEMAND_START_HELP}")
                    }
                    BillingMode::Provisioned => format!("{provisioned} of ProvisionedThroughput"),
                };
                Err(lower_warm(name, owner, &reason))
            }
        },
    };
    let read = unit(sent.read, least.read, "ReadUnitsPerSecond", "ReadCapacityUnits")?;
    let write = unit(sent.write, least.write, "WriteUnitsPerSecond", "WriteCapacityUnits")?;
    Ok(Some(WarmThroughput { read, write }))
}

fn lower_warm(name: &str, owner: Owner<'_>, than: &str) -> Exception {
    invalid(format_args!("Requested {name} for WarmThroughput for {owner} is lower than {than}"))
}

/// The warm throughput asked of something that exists: whether it is more than it has, the table knows.
pub(crate) fn changed_warm(
    sent: Option<SentUnits>,
    owner: Owner<'_>,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(sent) = sent else { return Ok(None) };
    if let (None, Owner::Index(name)) = (sent.or_none(), owner) {
        return Err(invalid(format_args!(
            "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: {name}"
        )));
    }
    let unit = |units: Option<i64>, name: &str| match units {
        None => Ok(None),
        Some(units) => match u64::try_from(units).ok().filter(|units| *units > 0) {
            Some(units) => Ok(Some(units)),
            None => Err(Exception::validation(messages::warm_decrease(name, &owner))),
        },
    };
    let read = unit(sent.read, "ReadUnitsPerSecond")?;
    let write = unit(sent.write, "WriteUnitsPerSecond")?;
    Ok(sent.or_none().map(|_| WarmThroughput { read, write }))
}
