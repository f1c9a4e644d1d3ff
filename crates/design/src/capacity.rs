//! How much a model reads, writes and stores: estimates, hot partitions, and the monthly cost.

pub mod basis;
pub mod collection;
pub mod contents;
pub mod cost;
pub mod estimate;
pub mod growth;
pub mod heat;
pub mod index_cost;
pub mod key_card;
pub mod key_values;
pub mod prices;
pub mod shards;
pub mod size;
pub mod time_buckets;
pub mod traffic;
pub mod write_effects;
