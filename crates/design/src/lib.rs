//! Single-table models for DynamoDB: which entities share a table, how their keys are built, and which queries the application makes.
//! The checker proves from a model, without any data, that every query is served.
//!
//! The crate is pure: it has no I/O, no clock and no async, and depends on no other crate of the project, so that it also runs in a browser.
//!
//! ```text
//! text → reader → model → plan (per pattern) ─┬→ check → report (text, JSON, SARIF)
//!                         capacity ───────────┴→ report::explain, capacity::cost, report::difference
//! model → generate → items → inference, exchange → draft → text        items → audit, migration
//! ```
//!
//! # Example
//!
//! ```
//! use partita_design::{Source, check, read};
//!
//! let text = r#"
//! format = 1
//! [table]
//! name = "Shop"
//! keys = ["PK", "SK"]
//! type_attribute = "type"
//! [entity.User]
//! attributes = { userId = "ulid", name = "string" }
//! key = ["USER#{userId}", "PROFILE"]
//! [entity.Order]
//! attributes = { orderId = "ulid", userId = "ulid", createdAt = "timestamp" }
//! key = ["USER#{userId}", "ORDER#{createdAt}#{orderId}"]
//! [pattern]
//! userWithOrders = { in = ["userId"], out = ["User", "Order*"] }
//! orderById = { in = ["orderId"], out = "Order" }
//! "#;
//! let model = read(&Source::new("shop.toml", text)).expect("the text is a model");
//! let report = check(&model);
//!
//! assert!(report.plans["userWithOrders"].is_ok());
//! // No key serves the other pattern; the help is the index that would.
//! let finding = report.findings.iter().find(|finding| finding.code == "P101").expect("orderById is not served");
//! assert_eq!(finding.subject, "pattern.orderById");
//! assert!(finding.help.contains("ORDER#{orderId}"));
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![warn(missing_docs)]

pub mod audit;
pub mod capacity;
pub mod check;
pub mod code;
pub mod draft;
pub mod editor;
pub mod exchange;
pub mod finding;
pub mod formatting;
pub mod generate;
pub mod inference;
pub mod item;
pub mod keys;
pub mod migration;
pub mod model;
mod name_hints;
pub mod plan;
mod random;
pub mod reader;
pub mod relational;
pub mod report;
pub mod source;
pub mod template;
pub mod toml_writer;

pub use check::{Report, check};
pub use finding::{Finding, Severity, repair};
pub use model::Model;
pub use reader::read;
pub use source::Source;
