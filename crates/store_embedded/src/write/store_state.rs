//! The state shared by readers, the writer and the applier: the tree, the overlays over it, and the store's condition.

use std::sync::Arc;

use partita_store::StoreError;

use crate::tree::environment::Environment;
use crate::write::disk_space::DiskSpace;
use crate::write::pending::Pending;
use crate::write::write_health::WriteHealth;

pub(crate) struct StoreState {
    pub environment: Arc<Environment>,
    pub pending: Arc<Pending>,
    pub disk_space: DiskSpace,
    pub write_health: WriteHealth,
}

impl StoreState {
    /// Ensures that the data file has space for what is pending and this much more.
    pub fn ensure_space(&self, more: usize) -> Result<(), StoreError> {
        self.disk_space.ensure_space(self.pending.bytes() + more as u64, || self.environment.unused_bytes())
    }

    /// Checks whether there is disk space again, if there was none.
    pub fn recheck_disk_space(&self) {
        self.disk_space.recheck(self.pending.bytes(), || self.environment.unused_bytes());
    }
}
