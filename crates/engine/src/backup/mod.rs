//! Backups, point-in-time recovery and restores. What a table was is kept by its [`crate::history`].

partita_api::operation_modules!(backup);
pub mod backup_record;
pub mod restore_step;
pub mod restored_table;
