//! Backups, point-in-time recovery and restores.

partita_api::operation_modules!(backup);
pub mod backup_description;
pub mod continuous_backups;
pub mod restore_overrides;
