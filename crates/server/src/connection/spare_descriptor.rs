//! A file descriptor in reserve. A process that has none left cannot even accept a connection to refuse it, and the
//! one who waits is never told.

use std::fs::File;

pub struct SpareDescriptor(Option<File>);

impl SpareDescriptor {
    pub fn keep() -> SpareDescriptor {
        SpareDescriptor(File::open("/dev/null").ok())
    }

    pub fn lend(&mut self) {
        self.0 = None;
    }

    pub fn take_back(&mut self) {
        self.0 = File::open("/dev/null").ok();
    }
}
