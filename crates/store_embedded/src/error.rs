//! Converts LMDB's errors into those of the storage contract.
//!
//! One of them never reaches a caller: a full map, which the environment handles by growing the map and retrying the
//! transaction.

use std::io;

use heed::MdbError;
use partita_store::StoreError;

/// Why a transaction failed.
#[derive(Debug)]
pub(crate) enum TransactionError {
    /// The file outgrew the address range reserved for it.
    MapFull,
    Store(StoreError),
}

impl From<heed::Error> for TransactionError {
    fn from(error: heed::Error) -> TransactionError {
        match error {
            heed::Error::Mdb(MdbError::MapFull) => TransactionError::MapFull,
            other => TransactionError::Store(store_error(other)),
        }
    }
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> TransactionError {
        TransactionError::Store(error)
    }
}

impl From<TransactionError> for StoreError {
    fn from(failure: TransactionError) -> StoreError {
        match failure {
            TransactionError::MapFull => {
                StoreError::Full("no more address space for the data file".to_string())
            }
            TransactionError::Store(error) => error,
        }
    }
}

pub(crate) fn store_error(error: heed::Error) -> StoreError {
    match error {
        heed::Error::Io(error) => io_error(&error),
        heed::Error::Mdb(MdbError::MapFull) => TransactionError::MapFull.into(),
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

/// An I/O error of the commit log.
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
    fn errors_that_an_operator_can_fix_are_distinguished() {
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
