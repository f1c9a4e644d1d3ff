//! Backups, point-in-time recovery and restores.
//!
//! A backup copies nothing: it pins a moment in the table's [`crate::history`]. A restore creates the table
//! ([`restored_table`]) and copies the items as they were at that moment in the background ([`restore_step`]).

partita_api::operation_modules!(backup);
pub mod backup_record;
pub mod new_backup;
pub mod new_restore;
pub mod recovery_window;
pub mod restore_step;
pub mod restored_table;
