//! What a table is made of: the parts that CreateTable takes, UpdateTable changes and
//! DescribeTable shows.

crate::operation_modules!(table);

use crate::key_schema::{AttributeDefinition, KeySchema};
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingMode {
    #[default]
    Provisioned,
    PayPerRequest,
}

impl BillingMode {
    pub fn name(self) -> &'static str {
        match self {
            BillingMode::Provisioned => "PROVISIONED",
            BillingMode::PayPerRequest => "PAY_PER_REQUEST",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableClass {
    #[default]
    Standard,
    StandardInfrequentAccess,
}

impl TableClass {
    pub fn name(self) -> &'static str {
        match self {
            TableClass::Standard => "STANDARD",
            TableClass::StandardInfrequentAccess => "STANDARD_INFREQUENT_ACCESS",
        }
    }
}

/// Provisioned read and write units a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    pub read: u64,
    pub write: u64,
}

/// Upper bounds on on-demand request units; `None` or -1 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnDemandThroughput {
    pub max_read: Option<i64>,
    pub max_write: Option<i64>,
}

/// Units a table or index is asked to be ready for at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmThroughput {
    pub read: Option<u64>,
    pub write: Option<u64>,
}

/// What an on-demand table or index is ready for from the start.
pub const ON_DEMAND_START: Throughput = Throughput { read: 12_000, write: 4_000 };

/// The units that something is ready for: what it was asked to be, or what its billing mode gives it anyway.
pub fn warm_units(
    warm: Option<WarmThroughput>,
    billing_mode: BillingMode,
    throughput: Option<Throughput>,
) -> Throughput {
    let least = match billing_mode {
        BillingMode::PayPerRequest => ON_DEMAND_START,
        BillingMode::Provisioned => throughput.unwrap_or_default(),
    };
    let warm = warm.unwrap_or_default();
    Throughput {
        read: warm.read.unwrap_or_default().max(least.read),
        write: warm.write.unwrap_or_default().max(least.write),
    }
}

/// When provisioned throughput last went up and down, in seconds since 1970, and how often down today.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThroughputChanges {
    pub increased_at: Option<f64>,
    pub decreased_at: Option<f64>,
    pub decreases_today: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexProjection {
    All,
    KeysOnly,
    Include(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamViewType {
    KeysOnly,
    NewImage,
    OldImage,
    NewAndOldImages,
}

impl StreamViewType {
    pub fn name(self) -> &'static str {
        match self {
            StreamViewType::KeysOnly => "KEYS_ONLY",
            StreamViewType::NewImage => "NEW_IMAGE",
            StreamViewType::OldImage => "OLD_IMAGE",
            StreamViewType::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// Encryption as a client asks for it. Remembered and described; see docs/differences.md.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encryption {
    pub enabled: bool,
    pub kms_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub key: String,
    pub value: String,
}

/// A secondary index, local or global, as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    pub name: String,
    pub key: KeySchema,
    pub projection: IndexProjection,
    /// Global indexes of provisioned tables only.
    pub throughput: Option<Throughput>,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourceStatus {
    Creating,
    Updating,
    Deleting,
    Active,
}

impl ResourceStatus {
    pub fn name(self) -> &'static str {
        match self {
            ResourceStatus::Creating => "CREATING",
            ResourceStatus::Updating => "UPDATING",
            ResourceStatus::Deleting => "DELETING",
            ResourceStatus::Active => "ACTIVE",
        }
    }
}

/// An index as DescribeTable shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDescription {
    pub definition: IndexDefinition,
    /// Local indexes have neither status nor throughput.
    pub global: Option<GlobalIndexState>,
    pub item_count: u64,
    pub size_bytes: u64,
    pub arn: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlobalIndexState {
    pub status: ResourceStatus,
    pub backfilling: bool,
    pub throughput_changes: ThroughputChanges,
}

/// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable show it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDescription {
    pub name: TableName,
    pub id: String,
    pub arn: String,
    pub status: ResourceStatus,
    /// Seconds since 1970, with milliseconds.
    pub created_at: f64,
    pub attribute_definitions: Vec<AttributeDefinition>,
    pub key: KeySchema,
    pub local_indexes: Vec<IndexDescription>,
    pub global_indexes: Vec<IndexDescription>,
    pub billing_mode: BillingMode,
    /// When the table last became on-demand; seconds since 1970.
    pub on_demand_since: Option<f64>,
    pub throughput: Throughput,
    pub throughput_changes: ThroughputChanges,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
    pub item_count: u64,
    pub size_bytes: u64,
    pub stream: Option<LatestStream>,
    pub encryption: Option<Encryption>,
    pub table_class: Option<TableClass>,
    pub deletion_protection: bool,
    /// Boxed: few tables have it, and every answer is moved.
    pub restore: Option<Box<RestoreSummary>>,
}

/// What a table was restored from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreSummary {
    pub backup_arn: Option<String>,
    pub table_arn: Option<String>,
    /// The moment that it shows.
    pub at_millis: u64,
    pub in_progress: bool,
}

/// The stream a table has, or the last one it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestStream {
    /// `None` once it is disabled.
    pub view: Option<StreamViewType>,
    /// When the stream was enabled, as the text that names it.
    pub label: String,
    pub arn: String,
}
