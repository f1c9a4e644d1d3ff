//! A stream as the catalog keeps it: whose changes it tells, how, and its shards.
//!
//! ```text
//!  tokens 0 ──────────────────────────────────────── 2³²
//!         │ shard 0   │ shard 1   │ shard 2   │ shard 3   │  each open one takes a range of tokens
//!         │ shard 4   │ 5    │ 6  │ shard 7   │ shard 8   │  later: their children take the same ranges
//! ```
//! Every item's token lies in the range of exactly one open shard, and a shard's children lie in its range;
//! so an item's records are in order in one shard, and then in that shard's child. All shards of a stream
//! share one sequence of numbers, from which follows that a child's numbers are larger than its parent's.

partita_api::operation_modules!(stream);
pub mod read_stream;
pub mod shard_iterator;
pub mod stream_options;
pub mod stream_record;
pub mod stream_upkeep;

use crate::catalog::catalog_rows::put_record;
use crate::catalog::table::TableRecord;
use crate::key::stored_key::{Key, Token};
use crate::stream::stream_options::StreamOptions;
use crate::table::create_table::stream_label;
use partita_api::key_schema::KeySchema;
use partita_api::table::StreamViewType;
use partita_store::{Space, Write};
use partita_value::names::StreamName;
use serde::{Deserialize, Serialize};

/// The number of a stream's first record.
pub const FIRST_SEQUENCE: u64 = 1;

/// What is stored of a stream; it outlives its table. Fields are only ever added, with a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream {
    pub table: String,
    pub table_id: String,
    pub label: String,
    pub view: StreamViewType,
    pub key: KeySchema,
    pub space: u32,
    pub created_at_millis: u64,
    /// When it was disabled or its table deleted: all of its shards are closed then.
    pub ended_at_millis: Option<u64>,
    /// In the order in which they were opened, which is that of their ids.
    pub shards: Vec<Shard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    pub number: u32,
    pub parent: Option<String>,
    pub opened_at_millis: u64,
    /// No record has a smaller number.
    pub first: u64,
    /// None until it is closed and has children.
    pub closed: Option<Closed>,
    /// The first and the last of the tokens' leading four bytes that it takes.
    pub tokens: (u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    pub at_millis: u64,
    /// No record has a larger number.
    pub last: u64,
}

impl Shard {
    pub fn id(&self) -> String {
        format!("shardId-{:020}-{:08x}", self.opened_at_millis, self.number)
    }

    /// Whether it was closed before this moment.
    pub fn is_bygone(&self, before: u64) -> bool {
        self.closed.is_some_and(|closed| closed.at_millis < before)
    }

    /// Whether an item with this token has its changes here.
    pub fn takes(&self, token: &Token) -> bool {
        let [a, b, c, d, ..] = *token;
        let leading = u32::from_be_bytes([a, b, c, d]);
        self.tokens.0 <= leading && leading <= self.tokens.1
    }
}

impl Stream {
    /// A new stream of a table. `is_taken` knows the names that must not be used again.
    pub fn new(
        table: &TableRecord,
        view: StreamViewType,
        space: u32,
        now: u64,
        options: &StreamOptions,
        is_taken: impl Fn(&StreamName) -> bool,
    ) -> Stream {
        let mut name = StreamName { table: table.name.clone(), label: stream_label(now) };
        for millis in now + 1.. {
            if !is_taken(&name) {
                break;
            }
            name.label = stream_label(millis);
        }
        let mut stream = Stream {
            table: name.table,
            table_id: table.id.clone(),
            label: name.label,
            view,
            key: table.key.clone(),
            space,
            created_at_millis: now,
            ended_at_millis: None,
            shards: Vec::new(),
        };
        for tokens in parts((0, u32::MAX), options.shards) {
            stream.open_shard(None, tokens, FIRST_SEQUENCE, now);
        }
        stream
    }

    pub fn name(&self) -> StreamName {
        StreamName { table: self.table.clone(), label: self.label.clone() }
    }

    pub fn space(&self) -> Space {
        Space(self.space)
    }

    fn open_shard(&mut self, parent: Option<String>, tokens: (u32, u32), first: u64, now: u64) {
        let before = self.shards.last();
        let shard = Shard {
            number: before.map_or(0, |shard| shard.number + 1),
            parent,
            // Ids sort as the shards do, even if the clock was set back.
            opened_at_millis: before.map_or(now, |shard| shard.opened_at_millis.max(now)),
            first,
            closed: None,
            tokens,
        };
        self.shards.push(shard);
    }

    /// The shard that takes an item's changes now.
    pub fn shard_of(&self, token: &Token) -> Option<&Shard> {
        // The newest are the open ones.
        self.shards.iter().rev().find(|shard| shard.closed.is_none() && shard.takes(token))
    }

    pub fn shard(&self, number: u32) -> Option<&Shard> {
        self.shards.iter().find(|shard| shard.number == number)
    }

    /// The last number a shard can have, if it is closed. `next` is the number of the stream's next record.
    pub fn last_of(&self, shard: &Shard, next: u64) -> Option<u64> {
        match (shard.closed, self.ended_at_millis) {
            (Some(closed), _) => Some(closed.last),
            // Never smaller than the first, though an empty shard has neither.
            (None, Some(_)) => Some((next - 1).max(shard.first)),
            (None, None) => None,
        }
    }

    /// The open shards that should go on in children, and whether they are full.
    pub fn due(&self, next: u64, now: u64, options: &StreamOptions) -> Vec<(u32, bool)> {
        if self.ended_at_millis.is_some() {
            return Vec::new();
        }
        let open = self.shards.iter().filter(|shard| shard.closed.is_none());
        let due = open.filter_map(|shard| {
            let is_full = next.saturating_sub(shard.first) >= options.shard_records;
            let is_old = now >= shard.opened_at_millis + options.shard_lifetime_millis();
            (is_full || is_old).then_some((shard.number, is_full))
        });
        due.collect()
    }

    /// Closes the shards that are due and opens their children. `next` is the number of the next record and
    /// becomes the last of the closed shards, so that also an empty shard has a number of its own.
    pub fn roll(&mut self, next: u64, now: u64, options: &StreamOptions) {
        let mut open = self.shards.iter().filter(|shard| shard.closed.is_none()).count() as u32;
        for (number, is_full) in self.due(next, now, options) {
            let Some(shard) = self.shards.iter_mut().find(|shard| shard.number == number) else { continue };
            shard.closed = Some(Closed { at_millis: now, last: next });
            let (id, tokens) = (shard.id(), shard.tokens);
            let children = if is_full && open < options.most_open_shards { 2 } else { 1 };
            let parts = parts(tokens, children);
            open += parts.len() as u32 - 1;
            for part in parts {
                self.open_shard(Some(id.clone()), part, next + 1, now);
            }
        }
    }

    /// Forgets closed shards of which nothing is left; their children still name them.
    pub fn forget_bygone(&mut self, before: u64) {
        self.shards.retain(|shard| !shard.is_bygone(before));
    }

    pub fn bygone(&self, before: u64) -> impl Iterator<Item = &Shard> {
        self.shards.iter().filter(move |shard| shard.is_bygone(before))
    }

    /// The writes that store it.
    pub fn store(&self) -> [Write; 2] {
        put_record(Key::Stream { space: self.space() }, self)
    }
}

/// Divides a range into equal parts, the last of which takes what is left over.
fn parts((from, to): (u32, u32), count: u32) -> Vec<(u32, u32)> {
    let each = (u64::from(to) - u64::from(from) + 1) / u64::from(count.max(1));
    if count < 2 || each == 0 {
        return vec![(from, to)];
    }
    let start = |part: u32| (u64::from(from) + each * u64::from(part)) as u32;
    (0..count).map(|part| (start(part), if part + 1 == count { to } else { start(part + 1) - 1 })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_api::key_schema::KeySchema;
    use std::time::Duration;

    fn stream(options: &StreamOptions) -> Stream {
        let mut stream = Stream {
            table: "abc".into(),
            table_id: "id".into(),
            label: "label".into(),
            view: StreamViewType::KeysOnly,
            key: KeySchema { partition: vec![], sort: vec![] },
            space: 16,
            created_at_millis: 0,
            ended_at_millis: None,
            shards: vec![],
        };
        parts((0, u32::MAX), options.shards)
            .into_iter()
            .for_each(|part| stream.open_shard(None, part, FIRST_SEQUENCE, 1_000));
        stream
    }

    fn token(leading: u32) -> Token {
        let mut token = [0; 16];
        token[..4].copy_from_slice(&leading.to_be_bytes());
        token
    }

    #[test]
    fn parts_have_no_gaps() {
        for (range, count) in [((0, u32::MAX), 4), ((0, u32::MAX), 3), ((5, 11), 2), ((5, 5), 2), ((5, 6), 2)]
        {
            let parts = parts(range, count);
            assert_eq!((parts[0].0, parts[parts.len() - 1].1), range);
            assert!(parts.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{parts:?}");
            assert!(parts.iter().all(|part| part.0 <= part.1), "{parts:?}");
        }
    }

    #[test]
    fn every_token_is_taken_by_one_open_shard_and_then_by_its_child() {
        let options = StreamOptions { shard_records: 100, ..StreamOptions::default() };
        let mut stream = stream(&options);
        let (mut next, mut now) = (1, 1_000);
        for round in 0..20 {
            let before = stream.clone();
            // Full at every other round, too old at the others.
            (next, now) = if round % 2 == 0 { (next + 500, now + 1) } else { (next, now + 5 * 3_600_000) };
            stream.roll(next, now, &options);
            next += 1;
            for leading in [0, 1, u32::MAX / 4, u32::MAX / 3, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
                let takers = stream.shards.iter().filter(|shard| shard.closed.is_none());
                assert_eq!(takers.filter(|shard| shard.takes(&token(leading))).count(), 1);
                let (parent, child) =
                    (before.shard_of(&token(leading)).unwrap(), stream.shard_of(&token(leading)).unwrap());
                assert_eq!(child.parent, Some(parent.id()));
                let closed = stream.shard(parent.number).unwrap().closed.unwrap();
                assert!(parent.first <= closed.last && closed.last < child.first);
                assert!(parent.id() < child.id());
            }
        }
        let open = stream.shards.iter().filter(|shard| shard.closed.is_none()).count();
        assert_eq!(open, options.most_open_shards as usize);
    }

    #[test]
    fn young_shards_stay_and_bygone_ones_are_forgotten() {
        let options = StreamOptions { shard_lifetime: Duration::from_secs(10), ..StreamOptions::default() };
        let mut stream = stream(&options);
        assert_eq!(stream.due(5, 10_999, &options), []);
        stream.roll(5, 11_000, &options);
        assert_eq!(stream.shards.len(), 8);
        assert_eq!(stream.bygone(11_000).count(), 0);
        stream.forget_bygone(11_001);
        assert_eq!(stream.shards.len(), 4);
        assert!(stream.shards.iter().all(|shard| shard.parent.is_some() && shard.closed.is_none()));
    }

    #[test]
    fn the_shards_of_an_ended_stream_are_closed() {
        let mut stream = stream(&StreamOptions::default());
        let last_of = |stream: &Stream, next| stream.last_of(&stream.shards[0], next);
        assert_eq!(last_of(&stream, 8), None);
        stream.ended_at_millis = Some(2_000);
        assert_eq!((last_of(&stream, 8), last_of(&stream, 1)), (Some(7), Some(1)));
        assert_eq!(stream.due(u64::MAX, u64::MAX / 2, &StreamOptions::default()), []);
    }

    #[test]
    fn ids_have_the_length_of_awss() {
        assert_eq!(stream(&StreamOptions::default()).shards[1].id(), "shardId-00000000000000001000-00000001");
    }
}
