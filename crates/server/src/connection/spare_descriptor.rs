//! A file descriptor in reserve. A process that has none left cannot even accept a connection to refuse it, and the
//! client waits without a response.

use std::fs::File;

pub struct SpareDescriptor(Option<File>);

impl SpareDescriptor {
    pub fn open() -> SpareDescriptor {
        SpareDescriptor(File::open("/dev/null").ok())
    }

    pub fn release(&mut self) {
        self.0 = None;
    }

    pub fn reopen(&mut self) {
        self.0 = File::open("/dev/null").ok();
    }
}
