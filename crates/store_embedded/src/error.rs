//! LMDB's errors in, the contract's errors out.
//!
//! One of them never reaches a caller: a full map, which the environment cures by growing the map and doing the
//! transaction again.

use std::io;

use heed::MdbError;
use partita_store::StoreError;

/// Why a transaction could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The file outgrew the address range reserved for it.
    MapFull,
    Store(StoreError),
}

impl From<heed::Error> for Failure {
    fn from(error: heed::Error) -> Failure {
        match error {
            heed::Error::Mdb(MdbError::MapFull) => Failure::MapFull,
            other => Failure::Store(store_error(other)),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        match failure {
            Failure::MapFull => StoreError::Full("no more address space for the data file".to_string()),
            Failure::Store(error) => error,
        }
    }
}

pub(crate) fn store_error(error: heed::Error) -> StoreError {
    match error {
        heed::Error::Io(error) => io_error(&error),
        heed::Error::Mdb(MdbError::MapFull) => Failure::MapFull.into(),
        heed::Error::Mdb(MdbError::ReadersFull) => {
            StoreError::Io("too many snapshots are open at once".to_string())
        }
        heed::Error::Mdb(
            error @ (MdbError::Corrupted
            | MdbError::PageNotFound
            | MdbError::Invalid
            | MdbError::CursorFull
            | MdbError::BadTxn
            | MdbError::Problem),
        ) => StoreError::damaged(error.to_string()),
        other => StoreError::Io(other.to_string()),
    }
}

pub(crate) fn io_error(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full(error.to_string())
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            StoreError::ReadOnly(error.to_string())
        }
        _ => StoreError::Io(error.to_string()),
    }
}

/// What the commit log met.
pub(crate) fn log_error(error: &io::Error) -> StoreError {
    match io_error(error) {
        StoreError::Io(text) => StoreError::LogFailed(text),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operator_can_mend_is_told_apart() {
        let (full, quota, read_only, denied, failed) = (28, 122, 30, 13, 5);
        let of = |code: i32| io::Error::from_raw_os_error(code);
        assert!(matches!(log_error(&of(full)), StoreError::Full(_)));
        assert!(matches!(log_error(&of(quota)), StoreError::Full(_)));
        assert!(matches!(log_error(&of(read_only)), StoreError::ReadOnly(_)));
        assert!(matches!(log_error(&of(denied)), StoreError::ReadOnly(_)));
        assert!(matches!(log_error(&of(failed)), StoreError::LogFailed(_)));
        assert!(matches!(io_error(&of(failed)), StoreError::Io(_)));
    }
}
