//! Checks client tokens against the times they lapse, both ways, and the records of exports, imports, bulk operations, backups and
//! restores.

use super::check_histories::check_backup;
use super::finding::{Finding, FindingKind};
use super::verification::{Lookup, Outcome, Verification, find};
use crate::backup::backup_record::BackupRecord;
use crate::backup::restore_step::RestoreRecord;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_record::{self, ExchangeRecord, StoredToken};
use crate::export::export_step::ExportRecord;
use crate::import::import_step::ImportRecord;
use crate::key::stored_key::{self, ExchangeKind, Key};
use partita_exchange::manifest::DataFile;
use partita_store::{Snapshot, Store, StoreError};

impl<S: Store> Verification<'_, S> {
    pub fn check_tokens(&mut self) -> Outcome<()> {
        self.walk(stored_key::all_client_tokens(), "client tokens", |snapshot, key, row, findings| {
            findings.extend(check_token(snapshot, key, row)?);
            Ok(())
        })?;
        let clock = self.clock;
        self.walk(stored_key::all_client_token_times(), "client tokens", |snapshot, key, row, findings| {
            findings.extend(check_token_time(snapshot, clock.now_seconds(), key, row)?);
            Ok(())
        })
    }

    pub fn check_exchanges(&mut self) -> Outcome<()> {
        self.walk(
            stored_key::whole_exchange(),
            "exports, imports and backups",
            |snapshot, key, row, findings| {
                findings.extend(check_exchange(snapshot, key, row)?);
                Ok(())
            },
        )
    }
}

fn wrong_token(key: &[u8], text: &str) -> Finding {
    Finding::new(FindingKind::WrongToken, None, key, text)
}

/// Checks that a token has an entry with the time it lapses.
fn check_token(snapshot: &impl Snapshot, key: &[u8], row: &[u8]) -> Result<Option<Finding>, StoreError> {
    let hash = stored_key::within_space(key).as_array::<16>();
    let (Some(hash), Some(lapses_at), 24) = (hash, row.first_chunk::<8>(), row.len()) else {
        return Ok(Some(Finding::new(FindingKind::Undecodable, None, key, "a client token is malformed")));
    };
    let lapses_at = u64::from_be_bytes(*lapses_at);
    let time = Key::ClientTokenTime { lapses_at, hash: *hash }.to_bytes();
    let is_lost = matches!(find(snapshot, &time)?, Lookup::Nothing);
    Ok(is_lost.then(|| wrong_token(key, "a client token would never be deleted")))
}

/// Checks that an entry with an expiry time has its token. Entries of tokens that were used again may have lapsed before.
fn check_token_time(
    snapshot: &impl Snapshot,
    now: u64,
    key: &[u8],
    row: &[u8],
) -> Result<Option<Finding>, StoreError> {
    let (Some((lapses_at, hash)), true) =
        (stored_key::within_space(key).split_first_chunk::<8>(), row.is_empty())
    else {
        return Ok(Some(Finding::new(
            FindingKind::Undecodable,
            None,
            key,
            "a client token's time is malformed",
        )));
    };
    let Some(hash) = hash.as_array::<16>() else {
        return Ok(Some(Finding::new(
            FindingKind::Undecodable,
            None,
            key,
            "a client token's time is malformed",
        )));
    };
    let token = Key::ClientToken { hash: *hash }.to_bytes();
    let is_lost = u64::from_be_bytes(*lapses_at) > now && matches!(find(snapshot, &token)?, Lookup::Nothing);
    Ok(is_lost.then(|| wrong_token(key, "a client token is lost: its transaction may be repeated")))
}

/// Checks a record of an export, import and so on.
fn check_exchange(snapshot: &impl Snapshot, key: &[u8], row: &[u8]) -> Result<Option<Finding>, StoreError> {
    let Some((kind, id)) = stored_key::exchange_kind_and_id(key) else {
        return Ok(Some(Finding::new(FindingKind::UnknownRow, None, key, "an unknown row")));
    };
    let is_valid = match kind {
        ExchangeKind::Export => has_id::<ExportRecord>(row, id),
        ExchangeKind::Import => has_id::<ImportRecord>(row, id),
        ExchangeKind::BulkOperation => has_id::<BulkRecord>(row, id),
        ExchangeKind::Restore => has_id::<RestoreRecord>(row, id),
        ExchangeKind::Token => serde_json::from_slice::<StoredToken>(row).is_ok(),
        // The type depends on the kind of its owner.
        ExchangeKind::Progress => serde_json::from_slice::<serde_json::Value>(row).is_ok(),
        ExchangeKind::DataFile => serde_json::from_slice::<DataFile>(row).is_ok(),
        ExchangeKind::Report => std::str::from_utf8(row).is_ok(),
        ExchangeKind::BulkCancellation => true,
        ExchangeKind::Backup => match exchange_record::read::<BackupRecord>(row) {
            Ok(backup) if backup.id().as_bytes() == id => return check_backup(snapshot, &backup, key),
            _ => false,
        },
    };
    let text = format!("a record of kind {kind:?} cannot be read");
    Ok((!is_valid).then(|| Finding::new(FindingKind::Undecodable, None, key, text)))
}

fn has_id<R: ExchangeRecord>(row: &[u8], id: &[u8]) -> bool {
    exchange_record::read::<R>(row).is_ok_and(|record| record.id().as_bytes() == id)
}
