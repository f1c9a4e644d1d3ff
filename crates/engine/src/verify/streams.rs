//! Streams: every record is one, in the shard that takes its item, and no number is missing.
//!
//! All shards share one sequence of numbers, so gaps show only when all of them are looked at together. That is done a
//! window of numbers at a time, each out of one snapshot.

use super::finding::{Finding, FindingKind, hex};
use super::items::is_empty;
use super::walk::{Outcome, Seen, Verification, page, record};
use crate::catalog::table::TableRecord;
use crate::key::item_key::fits;
use crate::key::stored_key::{self, Key};
use crate::stream::read_stream::read_number;
use crate::stream::stream_record;
use crate::stream::{FIRST_SEQUENCE, Shard, Stream};
use partita_store::{Direction, KeyRange, Snapshot, Store, StoreError};
use partita_value::ordered_key::{self, TokenKey};
use partita_value::{Item, ValueRef, canonical};
use std::ops::ControlFlow;

/// Numbers looked at together.
const WINDOW: u64 = 16_384;

impl<S: Store> Verification<'_, S> {
    pub fn check_stream(&mut self, known: &Stream) -> Outcome<()> {
        let key = Key::Stream { space: known.space() }.to_bytes();
        let at = format!("stream {} of {}", known.label, known.table);
        let mut from = None;
        loop {
            // As it is now: it may have new shards, be trimmed, or be gone.
            let Some(stream) = record::<Stream>(&self.snapshot, &key)? else { return Ok(()) };
            let view = StreamView::of(&self.snapshot, &stream)?;
            let mut findings = Vec::new();
            let from_here = match from {
                Some(from) => from,
                None => {
                    view.check_strays(&self.snapshot, &mut findings)?;
                    view.start(&self.snapshot)?
                }
            };
            let rows = view.check_window(&self.snapshot, from_here, &mut findings)?;
            self.report(findings)?;
            self.rest(rows, &at)?;
            if from_here.saturating_add(WINDOW) > view.next {
                return Ok(());
            }
            from = Some(from_here + WINDOW);
        }
    }
}

/// A stream in one snapshot.
struct StreamView<'a> {
    stream: &'a Stream,
    /// The number of the next record.
    next: u64,
    /// How far each shard is trimmed, in the stream's order of shards.
    trimmed: Vec<u64>,
    /// Records up to this number may be gone by right.
    floor: u64,
    /// What the tokens of its table are made with; not known once the table is gone.
    token_key: Option<TokenKey>,
}

impl<'a> StreamView<'a> {
    fn of(snapshot: &impl Snapshot, stream: &'a Stream) -> Result<StreamView<'a>, StoreError> {
        let number = |key: Key<'_>| match snapshot.get(&key.to_bytes()) {
            Ok(row) => Ok(read_number(row.as_deref())),
            Err(StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        };
        let space = stream.space();
        let next = number(Key::NextSequence { of: space })?.unwrap_or(FIRST_SEQUENCE);
        let mut trimmed = Vec::with_capacity(stream.shards.len());
        for shard in &stream.shards {
            trimmed.push(number(Key::ShardTrim { space, shard: shard.number })?.unwrap_or(0));
        }
        // A shard whose parent is forgotten begins behind all that its parent had.
        let is_known = |id: &String| stream.shards.iter().any(|shard| shard.id() == *id);
        let heirs =
            stream.shards.iter().filter(|shard| shard.parent.as_ref().is_some_and(|id| !is_known(id)));
        let floor = heirs.map(|shard| shard.first - 1).chain(trimmed.iter().copied()).max().unwrap_or(0);
        let table = record::<TableRecord>(snapshot, &Key::TableRecord { name: &stream.table }.to_bytes())?;
        let table = table.filter(|table| table.id == stream.table_id);
        let token_key = table.map(|table| table.token_key.map_or(TokenKey::FIXED, TokenKey::new));
        Ok(StreamView { stream, next, trimmed, floor, token_key })
    }

    fn finding(&self, kind: FindingKind, key: &[u8], text: impl Into<String>) -> Finding {
        Finding::new(kind, Some(&self.stream.table), key, text)
    }

    /// The first number that there is or should be.
    fn start(&self, snapshot: &impl Snapshot) -> Result<u64, StoreError> {
        let mut start = self.floor + 1;
        for shard in &self.stream.shards {
            let range = stored_key::changes_from(self.stream.space(), shard.number, 0);
            let visit = |key: &[u8], _: &[u8]| {
                start = start.min(stored_key::sequence_of(key).unwrap_or(start));
                ControlFlow::Break(())
            };
            snapshot.range_past_damage(&range, Direction::Ascending, visit, |_| ControlFlow::Continue(()))?;
        }
        Ok(start)
    }

    /// Rows of the stream's space that belong to no shard.
    fn check_strays(&self, snapshot: &impl Snapshot, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let space = self.stream.space();
        let all = stored_key::all_rows(space);
        let mut start = all.start.clone();
        let mut numbers: Vec<_> = self.stream.shards.iter().map(|shard| shard.number).collect();
        numbers.sort_unstable();
        let shards = numbers.into_iter().map(|shard| Key::ShardTrim { space, shard }.to_bytes());
        for prefix in shards.map(Some).chain([None]) {
            let end = prefix.clone().unwrap_or_else(|| all.end.clone());
            let between = KeyRange { start, end };
            if between.start < between.end && !is_empty(snapshot, &between)? {
                let text = format!("records of no shard, before {}", hex(&between.end));
                findings.push(self.finding(FindingKind::UnknownRow, &between.start, text));
            }
            start = prefix.map_or_else(Vec::new, |prefix| stored_key::after(&prefix));
        }
        Ok(())
    }

    /// Looks at the records with numbers from `from` on, of all shards; the last window goes on to the end.
    fn check_window(
        &self,
        snapshot: &impl Snapshot,
        from: u64,
        findings: &mut Vec<Finding>,
    ) -> Result<u64, StoreError> {
        let is_last = from.saturating_add(WINDOW) > self.next;
        let mut window = Window { from, seen: vec![false; WINDOW as usize], is_unsure: false };
        let mut rows = 0;
        for (shard, trimmed) in self.stream.shards.iter().zip(&self.trimmed) {
            let mut range = stored_key::changes_from(self.stream.space(), shard.number, from);
            if !is_last {
                range.end = stored_key::changes_from(self.stream.space(), shard.number, from + WINDOW).start;
            }
            loop {
                let page = page(snapshot, &range, |seen| {
                    self.check_row(shard, *trimmed, seen, &mut window, findings);
                    Ok(())
                })?;
                rows += page.rows;
                let Some(next) = page.next else { break };
                range.start = next;
            }
        }
        if !window.is_unsure {
            self.check_gaps(&window, findings);
        }
        Ok(rows)
    }

    fn check_row(
        &self,
        shard: &Shard,
        trimmed: u64,
        seen: Seen<'_>,
        window: &mut Window,
        findings: &mut Vec<Finding>,
    ) {
        let (key, row) = match seen {
            Seen::Row(key, row) => (key, row),
            Seen::Damage(damage) => {
                window.is_unsure = true;
                findings.push(Finding::of_damage(Some(&self.stream.table), damage));
                return;
            }
        };
        let flaw = match stored_key::sequence_of(key).filter(|_| key.len() == 16) {
            None => Some((FindingKind::UnknownRow, "a row of a stream that is not known")),
            Some(number) if !window.mark(number) => {
                Some((FindingKind::WrongRecord, "two records have its number"))
            }
            Some(number) if number >= self.next => {
                Some((FindingKind::WrongRecord, "its number is not given away yet"))
            }
            Some(number)
                if number < shard.first || shard.closed.is_some_and(|closed| number > closed.last) =>
            {
                Some((FindingKind::WrongRecord, "its number is not of its shard"))
            }
            Some(number) if number <= trimmed => Some((FindingKind::WrongRecord, "it should be trimmed")),
            Some(number) => check_record((self.stream, self.token_key), shard, number, row),
        };
        findings
            .extend(flaw.map(|(kind, text)| self.finding(kind, key, format!("a stream's record: {text}"))));
    }

    /// Numbers that no record has, though one should.
    fn check_gaps(&self, window: &Window, findings: &mut Vec<Finding>) {
        // Closing a shard takes a number.
        let is_taken = |number| {
            let closed = self.stream.shards.iter().filter_map(|shard| shard.closed);
            number <= self.floor || closed.into_iter().any(|closed| closed.last == number)
        };
        let mut gap: Option<(u64, u64)> = None;
        let end = self.next.min(window.from.saturating_add(WINDOW));
        for number in window.from..=end {
            let is_missing = number < end && !window.seen(number) && !is_taken(number);
            match (gap, is_missing) {
                (Some((first, _)), true) => gap = Some((first, number)),
                (None, true) => gap = Some((number, number)),
                (Some((first, last)), false) => {
                    let key = Key::Stream { space: self.stream.space() }.to_bytes();
                    let text = format!("stream {}: records {first} to {last} are missing", self.stream.label);
                    findings.push(self.finding(FindingKind::MissingRecord, &key, text));
                    gap = None;
                }
                (None, false) => {}
            }
        }
    }
}

/// The numbers seen in a window.
struct Window {
    from: u64,
    seen: Vec<bool>,
    /// Not all could be read.
    is_unsure: bool,
}

impl Window {
    /// Notes a number; says whether it is new. Numbers behind the window are not noted.
    fn mark(&mut self, number: u64) -> bool {
        let place = usize::try_from(number - self.from).ok().and_then(|place| self.seen.get_mut(place));
        place.is_none_or(|seen| !std::mem::replace(seen, true))
    }

    fn seen(&self, number: u64) -> bool {
        usize::try_from(number - self.from)
            .ok()
            .and_then(|place| self.seen.get(place))
            .is_some_and(|seen| *seen)
    }
}

/// What is wrong with a record.
fn check_record(
    (stream, token_key): (&Stream, Option<TokenKey>),
    shard: &Shard,
    number: u64,
    row: &[u8],
) -> Option<(FindingKind, &'static str)> {
    let Some(change) = stream_record::decode(stream, number, row) else {
        return Some((FindingKind::Undecodable, "it cannot be read"));
    };
    let is_flawed = |item: &Item| canonical::check_item(item.view().bytes()).is_err();
    if [Some(&change.keys), change.new_image.as_ref(), change.old_image.as_ref()]
        .into_iter()
        .flatten()
        .any(is_flawed)
    {
        return Some((FindingKind::Undecodable, "an item in it cannot be read"));
    }
    if !stream.key.attributes().all(|attribute| fits(attribute, change.keys.view())) {
        return Some((FindingKind::WrongRecord, "it lacks its item's key"));
    }
    let partition = stream.key.partition.iter();
    let values = partition.map(|attribute| change.keys.get(&attribute.name).unwrap_or(ValueRef::Null));
    let is_taken = token_key.is_none_or(|key| shard.takes(&ordered_key::keyed_token(key, values)));
    (!is_taken).then_some((FindingKind::WrongRecord, "its item belongs to another shard"))
}
