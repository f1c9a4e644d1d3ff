//! What readers, the writer and the applier look at together: the tree, what is to be put over it, and how they fare.

use std::sync::Arc;

use partita_store::StoreError;

use crate::tree::environment::Environment;
use crate::write::disk_space::Room;
use crate::write::pending::Pending;
use crate::write::write_health::Trouble;

pub(crate) struct Shared {
    pub environment: Arc<Environment>,
    pub pending: Arc<Pending>,
    pub room: Room,
    pub trouble: Trouble,
}

impl Shared {
    /// Sees to it that the data file will have room for what is pending and so much more.
    pub fn cover(&self, more: usize) -> Result<(), StoreError> {
        self.room.cover(self.pending.bytes() + more as u64, || self.environment.unused_bytes())
    }

    /// Looks whether there is room again, if there was none.
    pub fn look_for_room(&self) {
        self.room.look(self.pending.bytes(), || self.environment.unused_bytes());
    }
}
