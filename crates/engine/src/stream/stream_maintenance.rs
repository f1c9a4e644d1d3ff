//! Background work of streams: rolls shards, trims old records, deletes ended streams.

use crate::Engine;
use crate::catalog::catalog_rows;
use crate::catalog::spaces::drop_space;
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::stream::read_stream::{next_sequence, read_number, trimmed_through};
use crate::stream::stream_record;
use crate::stream::{FIRST_SEQUENCE, Shard, Stream};
use partita_api::Exception;
use partita_store::{Damage, Decision, Direction, Rows, Snapshot, Store, Write};
use partita_value::names::StreamName;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Records trimmed in one step.
const STEP_RECORDS: usize = 256;

impl<S: Store> Engine<S> {
    pub(crate) async fn stream_step(&self) -> Result<Progress, Exception> {
        let now = self.clock.now_millis();
        let oldest = now.saturating_sub(self.stream_options.retention_millis());
        let mut progress = Progress::Done;
        for (name, stream) in self.catalog.streams().iter() {
            let work = format!("maintenance of stream {}/{}", name.table, name.label);
            let step = self.maintain_stream(name, stream, now, oldest);
            progress = progress.or(self.backoffs.step(&work, step).await);
        }
        Ok(progress)
    }

    async fn maintain_stream(
        &self,
        name: &StreamName,
        stream: &Stream,
        now: u64,
        oldest: u64,
    ) -> Result<Progress, Exception> {
        if stream.ended_at_millis.is_some_and(|at| at < oldest) {
            self.delete_stream(name).await?;
            return Ok(Progress::Done);
        }
        let mut trimmed = Progress::Done;
        for shard in stream.shards.iter().filter(|shard| shard.opened_at_millis < oldest) {
            trimmed = trimmed.or(self.trim(stream, shard, oldest).await?);
        }
        if trimmed == Progress::Done {
            self.roll_shards(name, stream, now, oldest).await?;
        }
        Ok(trimmed)
    }

    /// Deletes the records of a shard that are older than `oldest`, or all of them if the shard was closed before. An unreadable
    /// record counts as old if the record after it is.
    async fn trim(&self, stream: &Stream, shard: &Shard, oldest: u64) -> Result<Progress, Exception> {
        let is_closed_before = shard.is_closed_before(oldest);
        let mut trimmed = Vec::new();
        let unreadable = RefCell::new(Vec::new());
        {
            let snapshot = self.store.snapshot().map_err(storage_failed)?;
            let from = trimmed_through(&snapshot, stream, shard.number)? + 1;
            let range = stored_key::changes_from(stream.space(), shard.number, from);
            let visit = |key: &[u8], row: &[u8]| {
                let is_retained = !is_closed_before && stream_record::created_at_millis(row) >= oldest;
                if is_retained || trimmed.len() >= STEP_RECORDS {
                    return ControlFlow::Break(());
                }
                trimmed.append(&mut unreadable.borrow_mut());
                trimmed.push(key.to_vec());
                ControlFlow::Continue(())
            };
            let damaged = |damage: Damage| {
                unreadable.borrow_mut().extend(damage.keys.map(|keys| keys.start));
                ControlFlow::Continue(())
            };
            snapshot
                .range_past_damage(&range, Direction::Ascending, visit, damaged)
                .map_err(storage_failed)?;
        }
        let Some(last) = trimmed.last().and_then(|key| stored_key::sequence_of(key)) else {
            return Ok(Progress::Done);
        };
        let progress = Progress::of(trimmed.len() >= STEP_RECORDS);
        let through = Write::Put {
            key: Key::ShardTrim { space: stream.space(), shard: shard.number }.to_bytes(),
            value: last.to_be_bytes().to_vec(),
        };
        let mut writes: Vec<_> = trimmed.into_iter().map(|key| Write::Delete { key }).collect();
        writes.push(through);
        let decision = move |_: &Rows<'_>| Decision::commit(writes.clone(), ());
        self.store.decide(Vec::new(), decision).await.map_err(storage_failed)?;
        Ok(progress)
    }

    /// Replaces shards that are due with their children, and removes those whose records are all trimmed.
    async fn roll_shards(
        &self,
        name: &StreamName,
        stream: &Stream,
        now: u64,
        oldest: u64,
    ) -> Result<(), Exception> {
        let options = self.stream_options;
        let next = next_sequence(&self.store.snapshot().map_err(storage_failed)?, stream)?;
        if stream.shards_to_roll(next, now, &options).is_empty()
            && stream.closed_before(oldest).next().is_none()
        {
            return Ok(());
        }
        let key = Key::NextSequence { of: stream.space() }.to_bytes();
        let (catalog, name, keys) = (self.catalog.clone(), name.clone(), vec![key.clone()]);
        let decision = move |rows: &Rows<'_>| {
            // The current record: the stream may have been disabled in the meantime.
            let Some(stream) = catalog.stream(&name) else { return Decision::rejection(()) };
            let mut stream = Stream::clone(&stream);
            let mut next = read_number(rows[0].as_deref()).unwrap_or(FIRST_SEQUENCE);
            let space = stream.space();
            let removed: Vec<_> = stream.closed_before(oldest).map(|shard| shard.number).collect();
            let mut writes: Vec<_> = removed
                .into_iter()
                .map(|shard| Write::Delete { key: Key::ShardTrim { space, shard }.to_bytes() })
                .collect();
            stream.remove_closed_before(oldest);
            if !stream.shards_to_roll(next, now, &options).is_empty() {
                stream.roll(next, now, &options);
                next += 1;
            }
            writes.extend(stream.store());
            writes.push(Write::Put { key: key.clone(), value: next.to_be_bytes().to_vec() });
            let catalog = catalog.clone();
            let on_commit = Box::new(move || catalog.publish_stream(stream));
            Decision { writes, answer: (), on_commit: Some(on_commit) }
        };
        self.store.decide(keys, decision).await.map_err(storage_failed)
    }

    async fn delete_stream(&self, name: &StreamName) -> Result<(), Exception> {
        let (catalog, name) = (self.catalog.clone(), name.clone());
        let decision = move |_: &Rows<'_>| {
            let Some(stream) = catalog.stream(&name) else { return Decision::rejection(()) };
            let space = stream.space();
            let mut writes = drop_space(space).to_vec();
            writes.extend(catalog_rows::delete(Key::Stream { space }));
            writes.push(Write::Delete { key: Key::NextSequence { of: space }.to_bytes() });
            let (catalog, name) = (catalog.clone(), name.clone());
            let on_commit = Box::new(move || catalog.forget_stream(&name));
            Decision { writes, answer: (), on_commit: Some(on_commit) }
        };
        self.store.decide(Vec::new(), decision).await.map_err(storage_failed)
    }
}
