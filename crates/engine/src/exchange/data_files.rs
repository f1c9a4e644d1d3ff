//! The data files that an export or a bulk operation has written, a row each, until its manifest lists them.

use crate::Engine;
use crate::exchange::exchange_record::{plain, read_plain};
use crate::key::stored_key::{self, ExchangeKind, Key};
use crate::storage_failed;
use partita_api::Exception;
use partita_exchange::manifest::DataFile;
use partita_store::{Direction, Snapshot, Store, Write};
use std::ops::ControlFlow;

fn key(id: &str, number: u64) -> Vec<u8> {
    Key::ExchangePart { kind: ExchangeKind::DataFile, id: id.as_bytes(), output: None, number }.to_bytes()
}

/// Stores the file with a number.
pub fn store(id: &str, number: u64, file: &DataFile) -> Write {
    Write::Put { key: key(id, number), value: plain(file) }
}

/// Forgets all files up to a number.
pub fn forget(id: &str, files: u64) -> impl Iterator<Item = Write> {
    (0..files).map(move |number| Write::Delete { key: key(id, number) })
}

impl<S: Store> Engine<S> {
    /// The files in the order in which they were written.
    pub(crate) fn data_files(&self, id: &str) -> Result<Vec<DataFile>, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let range = stored_key::exchange_parts(ExchangeKind::DataFile, id.as_bytes(), None);
        let (mut files, mut failure) = (Vec::new(), None);
        let visit = |_: &[u8], row: &[u8]| match read_plain(row) {
            Ok(file) => {
                files.push(file);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        };
        let walked = snapshot.range(&range, Direction::Ascending, visit);
        walked.and(failure.map_or(Ok(()), Err)).map_err(storage_failed)?;
        Ok(files)
    }
}
