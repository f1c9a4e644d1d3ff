//! The fuzz targets: each takes any bytes and panics if something does not hold of them.
//!
//! fuzz/ runs them under libFuzzer (`cargo xtask fuzz`). `cargo test` replays their corpora in fuzz/corpus without it
//! (`tests/corpora.rs`), so that the usual build covers them.

mod inputs;

pub mod compression;
pub mod csv;
pub mod data_pages;
pub mod expression;
pub mod http_lane;
pub mod ion;
pub mod item_lines;
pub mod log_records;
pub mod model;
pub mod numbers;
pub mod partiql;
pub mod requests;
pub mod stored_item;

/// A target: panics if what must hold does not hold of an input.
pub type Target = fn(&[u8]);

/// Every target by its name, which is that of its module, its corpus and its program in fuzz/.
pub const TARGETS: &[(&str, Target)] = &[
    ("compression", compression::run),
    ("csv", csv::run),
    ("data_pages", data_pages::run),
    ("expression", expression::run),
    ("http_lane", http_lane::run),
    ("ion", ion::run),
    ("item_lines", item_lines::run),
    ("log_records", log_records::run),
    ("model", model::run),
    ("numbers", numbers::run),
    ("partiql", partiql::run),
    ("requests", requests::run),
    ("stored_item", stored_item::run),
];
