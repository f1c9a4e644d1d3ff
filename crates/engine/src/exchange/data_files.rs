//! The data files that an export or bulk operation has written, one row each until its manifest lists them.

use crate::Engine;
use crate::exchange::exchange_record::{from_json, to_json};
use crate::key::stored_key::{self, ExchangeKind, Key};
use crate::storage_failed;
use partita_api::Exception;
use partita_exchange::manifest::DataFile;
use partita_store::{Direction, Snapshot, Store, Write};
use std::ops::ControlFlow;

fn key(id: &str, number: u64) -> Vec<u8> {
    Key::ExchangePart { kind: ExchangeKind::DataFile, id: id.as_bytes(), output: None, number }.to_bytes()
}

/// The write that stores the file with this number.
pub fn store(id: &str, number: u64, file: &DataFile) -> Write {
    Write::Put { key: key(id, number), value: to_json(file) }
}

/// The writes that delete the rows of the first `files` files.
pub fn delete(id: &str, files: u64) -> impl Iterator<Item = Write> {
    (0..files).map(move |number| Write::Delete { key: key(id, number) })
}

impl<S: Store> Engine<S> {
    /// The files, in the order they were written.
    pub(crate) fn data_files(&self, id: &str) -> Result<Vec<DataFile>, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let range = stored_key::exchange_parts(ExchangeKind::DataFile, id.as_bytes(), None);
        let (mut files, mut failure) = (Vec::new(), None);
        let visit = |_: &[u8], row: &[u8]| match from_json(row) {
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
