//! Work on a folder that no process has open: verify, salvage, compact.

pub(crate) mod compact;
pub(crate) mod orphans;
pub(crate) mod read_only_folder;
pub(crate) mod salvage;
pub(crate) mod verify;
