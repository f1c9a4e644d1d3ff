//! PartiQL statements.

crate::operation_modules!(statement);
