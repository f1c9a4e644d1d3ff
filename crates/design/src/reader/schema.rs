//! The JSON schema of the model format, for editors. A test keeps it in sync with the reader.

/// The JSON schema of the model format.
pub const SCHEMA: &str = include_str!("model.schema.json");
