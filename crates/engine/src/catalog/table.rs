//! A table: the stored record, and the form that operations work with.

use crate::table::throughput_record::ThroughputRecord;
use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_api::table::*;
use partita_store::Space;
use partita_value::names::{StreamName, TableName};
use partita_value::ordered_key::TokenKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stored record of a table. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableRecord {
    pub name: String,
    pub id: String,
    pub space: u32,
    pub created_at_millis: u64,
    pub key: KeySchema,
    /// In the order declared.
    pub attribute_definitions: Vec<KeyAttribute>,
    pub local_indexes: Vec<IndexRecord>,
    pub global_indexes: Vec<IndexRecord>,
    /// The space with the sizes of item collections: tables with local indexes only.
    pub collections: Option<u32>,
    pub billing_mode: BillingMode,
    pub on_demand_since_millis: Option<u64>,
    pub throughput: Throughput,
    #[serde(flatten)]
    pub throughput_changes: ThroughputRecord,
    pub on_demand: Option<OnDemandThroughput>,
    pub warm: Option<WarmThroughput>,
    pub stream: Option<StreamRecord>,
    /// The label of the last stream, which is kept when the stream is disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_stream_label: Option<String>,
    pub encryption: Option<Encryption>,
    pub table_class: Option<TableClass>,
    pub deletion_protection: bool,
    pub resource_policy: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub time_to_live: Option<TimeToLiveRecord>,
    /// When time to live was last enabled or disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_live_changed_millis: Option<u64>,
    /// Whether an import is still filling it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub importing: bool,
    /// What it was or is being restored from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<RestoreSummary>,
    /// The space of its history, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<u32>,
    /// The key that its tokens are hashed with; tables of early versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_key: Option<[u64; 2]>,
}

impl TableRecord {
    /// Whether an import or a restore is still filling it.
    pub fn is_being_created(&self) -> bool {
        self.importing || self.restored.as_ref().is_some_and(|restore| restore.in_progress)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexRecord {
    pub definition: IndexDefinition,
    pub space: u32,
    /// Whether its entries are still being made from the items that existed before it.
    pub backfilling: bool,
    #[serde(flatten)]
    pub throughput_changes: ThroughputRecord,
}

impl IndexRecord {
    pub fn new(definition: IndexDefinition, space: u32, backfilling: bool) -> IndexRecord {
        IndexRecord { definition, space, backfilling, throughput_changes: ThroughputRecord::default() }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StreamRecord {
    pub view: StreamViewType,
    pub label: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimeToLiveRecord {
    pub attribute: String,
    pub space: u32,
    pub backfilling: bool,
}

/// A table ready for use; replaced as a whole when its record changes.
#[derive(Debug)]
pub struct Table {
    pub name: TableName,
    pub space: Space,
    pub key: KeySchema,
    pub indexes: Vec<Index>,
    pub collections: Option<Space>,
    pub expiry: Option<Expiry>,
    /// The stream that records every change.
    pub stream: Option<StreamName>,
    /// The space of the history that records what items were before they changed.
    pub history: Option<Space>,
    pub token_key: TokenKey,
    pub record: TableRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    Local,
    Global,
}

/// A secondary index ready for use.
#[derive(Debug)]
pub struct Index {
    pub name: String,
    pub kind: IndexKind,
    pub space: Space,
    pub key: KeySchema,
    /// The attributes it holds, sorted; `None` is all of them.
    pub attributes: Option<Vec<String>>,
    pub backfilling: bool,
    /// The same as its table's.
    pub token_key: TokenKey,
}

/// The attribute with the time at which items expire, and the space that orders them by it.
#[derive(Debug)]
pub struct Expiry {
    pub attribute: String,
    pub space: Space,
    pub backfilling: bool,
}

impl Table {
    pub fn new(record: TableRecord) -> Table {
        let locals = record.local_indexes.iter().map(|index| (IndexKind::Local, index));
        let globals = record.global_indexes.iter().map(|index| (IndexKind::Global, index));
        let token_key = record.token_key.map_or(TokenKey::FIXED, TokenKey::new);
        Table {
            name: TableName::new(&record.name),
            space: Space(record.space),
            key: record.key.clone(),
            indexes: locals
                .chain(globals)
                .map(|(kind, index)| Index::new(kind, index, &record.key, token_key))
                .collect(),
            collections: record.collections.map(Space),
            expiry: record.time_to_live.as_ref().map(|ttl| Expiry {
                attribute: ttl.attribute.clone(),
                space: Space(ttl.space),
                backfilling: ttl.backfilling,
            }),
            stream: record
                .stream
                .as_ref()
                .map(|stream| StreamName { table: record.name.clone(), label: stream.label.clone() }),
            history: record.history.map(Space),
            token_key,
            record,
        }
    }

    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Every space of the table except that of its items.
    pub fn side_spaces(&self) -> Vec<Space> {
        let indexes = self.indexes.iter().map(|index| index.space);
        let others = self.collections.into_iter().chain(self.expiry.as_ref().map(|expiry| expiry.space));
        indexes.chain(others).collect()
    }
}

impl Index {
    fn new(kind: IndexKind, record: &IndexRecord, table_key: &KeySchema, token_key: TokenKey) -> Index {
        let definition = &record.definition;
        let keys = definition.key.attributes().chain(table_key.attributes()).map(|key| key.name.clone());
        let mut attributes = match &definition.projection {
            IndexProjection::All => None,
            IndexProjection::KeysOnly => Some(keys.collect::<Vec<_>>()),
            IndexProjection::Include(names) => Some(keys.chain(names.iter().cloned()).collect()),
        };
        if let Some(names) = &mut attributes {
            names.sort();
            names.dedup();
        }
        Index {
            name: definition.name.clone(),
            kind,
            space: Space(record.space),
            key: definition.key.clone(),
            attributes,
            backfilling: record.backfilling,
            token_key,
        }
    }

    pub fn is_global(&self) -> bool {
        self.kind == IndexKind::Global
    }

    /// Whether an entry holds this attribute of its item.
    pub fn holds(&self, attribute: &str) -> bool {
        self.attributes
            .as_ref()
            .is_none_or(|names| names.binary_search_by(|name| name.as_str().cmp(attribute)).is_ok())
    }
}
