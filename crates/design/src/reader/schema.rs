//! The JSON schema of the model file, for editors. A test keeps it in step with the reader.

pub const SCHEMA: &str = include_str!("model.schema.json");
