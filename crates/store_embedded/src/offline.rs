//! Commands for a folder that no process has open: `compact`, `salvage` and `verify`.
//!
//! The latter two open it as a `read_only_folder`; `orphans` finds rows on pages that are no longer reachable.

pub(crate) mod compact;
pub(crate) mod orphans;
pub(crate) mod read_only_folder;
pub(crate) mod salvage;
pub(crate) mod verify;
