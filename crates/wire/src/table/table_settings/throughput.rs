//! Provisioned, on-demand and warm throughput of a table or an index: their members and rules.

use super::invalid;
use crate::members::{at_least, required, structure};
use partita_api::table::{BillingMode, ON_DEMAND_START, OnDemandThroughput, Throughput, WarmThroughput};
use partita_api::{Exception, messages};
use std::fmt;

/// The maximum number of units of a table.
const MAX_UNITS: u64 = 1_000_000_000_000;

const ON_DEMAND_START_HELP: &str = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial";

/// The owner of a throughput, as error texts name it.
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

structure! {
    #[derive(Clone, Copy)]
    pub(crate) struct ProvisionedThroughputMembers as "ProvisionedThroughput" {
        write: i64 = "WriteCapacityUnits", required, at_least(1);
        read: i64 = "ReadCapacityUnits", required, at_least(1);
    }

    #[derive(Clone, Copy)]
    pub(crate) struct OnDemandThroughputMembers as "OnDemandThroughput" {
        max_read: i64 = "MaxReadRequestUnits";
        max_write: i64 = "MaxWriteRequestUnits";
    }

    #[derive(Clone, Copy)]
    pub(crate) struct WarmThroughputMembers as "WarmThroughput" {
        read: i64 = "ReadUnitsPerSecond";
        write: i64 = "WriteUnitsPerSecond";
    }
}

/// Converts valid provisioned throughput.
pub(crate) fn provisioned(members: Option<ProvisionedThroughputMembers>) -> Option<Throughput> {
    let ProvisionedThroughputMembers { read, write } = members?;
    Some(Throughput { read: u64::try_from(read?).ok()?, write: u64::try_from(write?).ok()? })
}

/// Converts bounds on on-demand throughput; an empty structure counts as none.
pub(crate) fn on_demand(members: Option<OnDemandThroughputMembers>) -> Option<OnDemandThroughput> {
    let OnDemandThroughputMembers { max_read, max_write } = members?;
    (max_read.is_some() || max_write.is_some()).then_some(OnDemandThroughput { max_read, max_write })
}

impl WarmThroughputMembers {
    /// An empty structure counts as none.
    fn or_none(self) -> Option<WarmThroughputMembers> {
        (self.read.is_some() || self.write.is_some()).then_some(self)
    }
}

pub(crate) fn check_bounds(throughput: Option<Throughput>) -> Result<(), Exception> {
    let Some(throughput) = throughput else { return Ok(()) };
    for (units, name) in [(throughput.read, "ReadCapacityUnits"), (throughput.write, "WriteCapacityUnits")] {
        if units > MAX_UNITS {
            return Err(Exception::validation(format!("Given value {units} for {name} is out of bounds")));
        }
    }
    Ok(())
}

fn on_demand_members(on_demand: OnDemandThroughput) -> [(Option<i64>, &'static str); 2] {
    [(on_demand.max_read, "MaxReadRequestUnits"), (on_demand.max_write, "MaxWriteRequestUnits")]
}

/// Checks bounds on on-demand units, which are at least 1; -1, where allowed, removes one.
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

/// Refuses bounds on on-demand units, which provisioned tables and their indexes do not have.
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

/// Checks the warm throughput of a new table or index, which is at least its initial throughput.
pub(crate) fn new_warm(
    members: Option<WarmThroughputMembers>,
    owner: Owner<'_>,
    billing_mode: BillingMode,
    provisioned: Option<Throughput>,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(members) = members.and_then(WarmThroughputMembers::or_none) else { return Ok(None) };
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
    let read = unit(members.read, least.read, "ReadUnitsPerSecond", "ReadCapacityUnits")?;
    let write = unit(members.write, least.write, "WriteUnitsPerSecond", "WriteCapacityUnits")?;
    Ok(Some(WarmThroughput { read, write }))
}

fn lower_warm(name: &str, owner: Owner<'_>, than: &str) -> Exception {
    invalid(format_args!("Requested {name} for WarmThroughput for {owner} is lower than {than}"))
}

/// Checks a new warm throughput of an existing table or index. The engine checks whether it is an increase.
pub(crate) fn changed_warm(
    members: Option<WarmThroughputMembers>,
    owner: Owner<'_>,
) -> Result<Option<WarmThroughput>, Exception> {
    let Some(members) = members else { return Ok(None) };
    if let (None, Owner::Index(name)) = (members.or_none(), owner) {
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
    let read = unit(members.read, "ReadUnitsPerSecond")?;
    let write = unit(members.write, "WriteUnitsPerSecond")?;
    Ok(members.or_none().map(|_| WarmThroughput { read, write }))
}
