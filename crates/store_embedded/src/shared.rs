//! What readers, the writer and the applier look at together: the tree, and what is to be put over it.

use std::sync::Arc;

use crate::environment::Environment;
use crate::pending::Pending;

pub(crate) struct Shared {
    pub environment: Arc<Environment>,
    pub pending: Arc<Pending>,
}
