//! Tables: their settings, indexes and descriptions.

crate::operation_modules!(table);
pub mod new_index;
pub mod table_output;

use crate::key_schema::{AttributeDefinition, KeySchema};
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};

/// How the capacity of a table is billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingMode {
    /// By provisioned units.
    #[default]
    Provisioned,
    /// On demand, by request.
    PayPerRequest,
}

impl BillingMode {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            BillingMode::Provisioned => "PROVISIONED",
            BillingMode::PayPerRequest => "PAY_PER_REQUEST",
        }
    }
}

/// The storage class of a table. Stored and described only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableClass {
    /// `STANDARD`.
    #[default]
    Standard,
    /// `STANDARD_INFREQUENT_ACCESS`.
    StandardInfrequentAccess,
}

impl TableClass {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            TableClass::Standard => "STANDARD",
            TableClass::StandardInfrequentAccess => "STANDARD_INFREQUENT_ACCESS",
        }
    }
}

/// Provisioned read and write units per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    /// Read units.
    pub read: u64,
    /// Write units.
    pub write: u64,
}

/// Upper bounds on on-demand request units; `None` or -1 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnDemandThroughput {
    /// The maximum read request units.
    pub max_read: Option<i64>,
    /// The maximum write request units.
    pub max_write: Option<i64>,
}

/// The units that a table or index must be able to serve instantly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmThroughput {
    /// Read units.
    pub read: Option<u64>,
    /// Write units.
    pub write: Option<u64>,
}

/// The warm throughput of a new on-demand table or index.
pub const ON_DEMAND_START: Throughput = Throughput { read: 12_000, write: 4_000 };

/// The effective warm throughput: what was requested, but at least what the billing mode implies.
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

/// The last changes of provisioned throughput, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThroughputChanges {
    /// The last increase.
    pub increased_at: Option<f64>,
    /// The last decrease.
    pub decreased_at: Option<f64>,
    /// The number of decreases today.
    pub decreases_today: u64,
}

/// The attributes that an index holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexProjection {
    /// All attributes.
    All,
    /// The key attributes of the table and of the index.
    KeysOnly,
    /// The key attributes and these.
    Include(Vec<String>),
}

/// What the records of a stream show of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamViewType {
    /// The key.
    KeysOnly,
    /// The item after the change.
    NewImage,
    /// The item before the change.
    OldImage,
    /// The item before and after the change.
    NewAndOldImages,
}

impl StreamViewType {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            StreamViewType::KeysOnly => "KEYS_ONLY",
            StreamViewType::NewImage => "NEW_IMAGE",
            StreamViewType::OldImage => "OLD_IMAGE",
            StreamViewType::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// Encryption as a client requests it. Stored and described only; see docs/differences.md.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encryption {
    /// Whether encryption with KMS is requested.
    pub enabled: bool,
    /// The KMS key.
    pub kms_key: Option<String>,
}

/// A tag of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A secondary index, local or global, as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// The name of the index.
    pub name: String,
    /// The key of the index.
    pub key: KeySchema,
    /// The attributes that it holds.
    pub projection: IndexProjection,
    /// The provisioned throughput: global indexes of provisioned tables only.
    pub throughput: Option<Throughput>,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
}

/// The state of a table or an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourceStatus {
    /// Being created.
    Creating,
    /// Being changed.
    Updating,
    /// Being deleted.
    Deleting,
    /// Ready for use.
    Active,
}

impl ResourceStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ResourceStatus::Creating => "CREATING",
            ResourceStatus::Updating => "UPDATING",
            ResourceStatus::Deleting => "DELETING",
            ResourceStatus::Active => "ACTIVE",
        }
    }
}

/// The description of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDescription {
    /// The index as declared.
    pub definition: IndexDefinition,
    /// Status and throughput; local indexes have neither.
    pub global: Option<GlobalIndexState>,
    /// The number of items.
    pub item_count: u64,
    /// The size of the items in bytes.
    pub size_bytes: u64,
    /// Its ARN.
    pub arn: String,
}

/// The state of a global secondary index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlobalIndexState {
    /// The status.
    pub status: ResourceStatus,
    /// Whether its entries are still being made from the existing items.
    pub backfilling: bool,
    /// When the provisioned throughput last changed.
    pub throughput_changes: ThroughputChanges,
}

/// The description of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDescription {
    /// The name of the table.
    pub name: TableName,
    /// Its id: a table that is deleted and created again has another one.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// The status.
    pub status: ResourceStatus,
    /// When it was created, in seconds since 1970, with milliseconds.
    pub created_at: f64,
    /// The types of the key attributes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Its key.
    pub key: KeySchema,
    /// The local secondary indexes.
    pub local_indexes: Vec<IndexDescription>,
    /// The global secondary indexes.
    pub global_indexes: Vec<IndexDescription>,
    /// How capacity is billed.
    pub billing_mode: BillingMode,
    /// When it last became on-demand, in seconds since 1970.
    pub on_demand_since: Option<f64>,
    /// The provisioned throughput.
    pub throughput: Throughput,
    /// When the provisioned throughput last changed.
    pub throughput_changes: ThroughputChanges,
    /// The bounds on on-demand throughput.
    pub on_demand: Option<OnDemandThroughput>,
    /// The warm throughput.
    pub warm: Option<WarmThroughput>,
    /// The number of items.
    pub item_count: u64,
    /// The size of the items in bytes.
    pub size_bytes: u64,
    /// Its stream, or the last one it had.
    pub stream: Option<LatestStream>,
    /// The encryption settings.
    pub encryption: Option<Encryption>,
    /// The table class.
    pub table_class: Option<TableClass>,
    /// Whether it is protected against deletion.
    pub deletion_protection: bool,
    /// What it was restored from. Boxed: few tables have it, and every response is moved.
    pub restore: Option<Box<RestoreSummary>>,
}

/// What a table was restored from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreSummary {
    /// The ARN of the backup, if it was restored from one.
    pub backup_arn: Option<String>,
    /// The ARN of the source table.
    pub table_arn: Option<String>,
    /// The time as of which it was restored, in milliseconds since 1970.
    pub at_millis: u64,
    /// Whether items are still being restored.
    pub in_progress: bool,
}

/// The stream a table has, or the last one it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestStream {
    /// What its records show; `None` once it is disabled.
    pub view: Option<StreamViewType>,
    /// The label that names it: the time when it was enabled.
    pub label: String,
    /// Its ARN.
    pub arn: String,
}
