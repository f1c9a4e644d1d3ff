//! The rows that one commit changes, while its writes are decided one after the other.
//!
//! A write may need rows that were not read for this commit: they are collected, and the decision is made again with them.

use crate::history::past;
use crate::history::{self, History, Moment, Retention};
use crate::key::stored_key::{Key, within_space};
use crate::stream::read_stream::read_number;
use crate::stream::stream_record;
use crate::stream::{FIRST_SEQUENCE, Stream};
use crate::write::change::Change;
use crate::write::draft::EntryDraft;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_store::{Counters, Rows, Space, Write};

/// The rows one commit changes.
#[derive(Default)]
pub struct RowBatch<'r> {
    pub rows: Vec<Write>,
    counters: Vec<(Vec<u8>, Counters)>,
    /// The sequence numbers of the next records of streams.
    sequences: Vec<(Vec<u8>, u64)>,
    /// The moments of this commit in histories.
    moments: Vec<(Vec<u8>, Moment)>,
    /// Rows that were read in addition to those of the items: sequence numbers, moments, rows of histories, and entries of indexes
    /// that are being backfilled.
    known: Vec<(&'r [u8], Option<&'r [u8]>)>,
    /// The keys of further such rows that must be read.
    pub needed: Vec<Vec<u8>>,
}

impl<'r> RowBatch<'r> {
    pub fn with_rows(extra_keys: &'r [Vec<u8>], extra_rows: &'r Rows<'_>) -> RowBatch<'r> {
        let known = extra_keys.iter().zip(extra_rows).map(|(key, row)| (&key[..], row.as_deref()));
        RowBatch { known: known.collect(), ..RowBatch::default() }
    }

    /// A row that was read in addition to those of the items; if it was not, its key is added to `needed`.
    fn known_row(&mut self, key: &[u8]) -> Option<Option<&'r [u8]>> {
        let known = self.known.iter().find(|(known, _)| *known == key).map(|(_, row)| *row);
        if known.is_none() {
            self.needed.push(key.to_vec());
        }
        known
    }

    /// The entry of an old item, if it is stored: an index that is being backfilled may not have it yet.
    pub fn stored(&mut self, entry: Option<EntryDraft>, backfilling: bool) -> Option<EntryDraft> {
        let entry = entry?;
        if !backfilling {
            return Some(entry);
        }
        self.known_row(&entry.key)?.map(|_| entry)
    }

    /// Adds the record of a change to a shard of a stream.
    pub fn record_in_stream(
        &mut self,
        (stream, shard): (&Stream, u32),
        now: u64,
        write: &ItemWrite,
        change: &Change<'_>,
    ) {
        let space = stream.space();
        let key = Key::NextSequence { of: space }.to_bytes();
        let at = match self.sequences.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                let Some(row) = self.known_row(&key) else { return };
                self.sequences.push((key, read_number(row).unwrap_or(FIRST_SEQUENCE)));
                self.sequences.len() - 1
            }
        };
        let sequence = self.sequences[at].1;
        self.sequences[at].1 += 1;
        let expires = matches!(write.action, Action::Expire { .. });
        let record = stream_record::encode(stream, change, expires, now);
        self.put(Key::ChangeRecord { space, shard, sequence }.to_bytes(), record);
    }

    /// Adds what an item was before a change to a history.
    pub fn record_in_history(&mut self, history: &History, now: u64, write: &ItemWrite, change: &Change<'_>) {
        let moment = match history.retention() {
            Retention::Every => self.moment(history, now),
            Retention::FirstAt(moment) => match self.known_row(&past_key(history, write, moment)) {
                // The item has no such row yet, so this is its first change.
                Some(None) => Some(moment),
                Some(Some(_)) | None => None,
            },
        };
        if let Some(moment) = moment {
            self.put(past_key(history, write, moment), past::encode_row(change));
        }
    }

    /// The moment of this commit in a history.
    fn moment(&mut self, history: &History, now: u64) -> Option<Moment> {
        let key = history::last_moment_key(history.items());
        if let Some((_, moment)) = self.moments.iter().find(|(known, _)| *known == key) {
            return Some(*moment);
        }
        let last = read_number(self.known_row(&key)?);
        let moment = history::next_moment(last, now);
        self.moments.push((key, moment));
        Some(moment)
    }

    pub fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.rows.push(Write::Put { key, value });
    }

    pub fn delete(&mut self, key: Vec<u8>) {
        self.rows.push(Write::Delete { key });
    }

    pub fn count(&mut self, key: Vec<u8>, add: Counters) {
        match self.counters.iter_mut().find(|(counted, _)| *counted == key) {
            Some((_, total)) => *total += add,
            None => self.counters.push((key, add)),
        }
    }

    pub fn count_in(&mut self, space: Space, before: Option<usize>, after: Option<usize>) {
        let add = difference(before, after);
        if add != Counters::default() {
            self.count(Key::Counters { of: space }.to_bytes(), add);
        }
    }

    /// What earlier writes of this commit add to a row of counters.
    pub fn pending(&self, key: &[u8]) -> Counters {
        self.counters.iter().find(|(counted, _)| counted == key).map_or(Counters::default(), |(_, add)| *add)
    }

    pub fn into_writes(mut self) -> Vec<Write> {
        let counts = self.counters.into_iter().filter(|(_, add)| *add != Counters::default());
        self.rows.extend(counts.map(|(key, add)| Write::Count { key, add }));
        let numbers = self.sequences.into_iter().chain(self.moments);
        self.rows
            .extend(numbers.map(|(key, number)| Write::Put { key, value: number.to_be_bytes().to_vec() }));
        self.rows
    }
}

/// The shard that records the changes of an item. A change that no shard records must not be committed.
pub fn shard_of(stream: &Stream, write: &ItemWrite) -> Result<u32, Exception> {
    match stream.shard_of(&write.key.partition) {
        Some(shard) => Ok(shard.number),
        None => {
            tracing::error!(stream = ?stream.name(), "no shard is open for an item: this is a bug in Partita");
            Err(Exception::internal("Internal server error"))
        }
    }
}

pub fn difference(before: Option<usize>, after: Option<usize>) -> Counters {
    Counters {
        rows: i64::from(after.is_some()) - i64::from(before.is_some()),
        bytes: after.unwrap_or(0) as i64 - before.unwrap_or(0) as i64,
    }
}

pub fn past_key(history: &History, write: &ItemWrite, moment: Moment) -> Vec<u8> {
    Key::Past { space: history.space(), item: within_space(&write.key.stored), moment }.to_bytes()
}
