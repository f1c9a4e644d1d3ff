//! How much a model reads, writes and stores: estimates, hot partitions, and the monthly cost.

pub mod cost;
pub mod estimate;
pub mod heat;
pub mod prices;
pub mod write_effects;
