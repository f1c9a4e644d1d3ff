//! PartiQL statements.

partita_api::operation_modules!(statement);
pub mod partiql;
