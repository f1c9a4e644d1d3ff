//! Tables: their settings and descriptions.

partita_api::operation_modules!(table);
pub mod new_table;
pub mod table_creation_parameters;
pub mod table_description;
pub mod table_name;
pub mod table_settings;
