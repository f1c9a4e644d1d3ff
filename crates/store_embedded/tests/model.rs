//! Random operations on the embedded store and on a plain ordered map: both must agree, also after the store was closed
//! and reopened.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use partita_store::{Counters, Direction, KeyRange, Space, Store, Write};
use partita_store_embedded::{Durability, EmbeddedStore, Options, Pace};
use proptest::prelude::*;
use support::{get, key, put, rows, write};

/// Few spaces and few keys, so that operations collide.
const SPACES: u32 = 4;

#[derive(Clone, Debug)]
enum Change {
    Put { space: u32, key: u8, length: usize, salt: u8 },
    Delete { space: u32, key: u8 },
    Count { space: u32, key: u8, add: i32 },
}

#[derive(Clone, Debug)]
enum Step {
    Decide(Vec<Change>),
    /// Drops the space that the number currently stands for; the number then stands for a new space.
    Drop(u32),
    Get {
        space: u32,
        key: u8,
    },
    Range {
        start: (u32, u8),
        end: (u32, u8),
        down: bool,
        limit: usize,
    },
    Reopen {
        relaxed: bool,
        pace: Pace,
    },
}

fn change() -> impl Strategy<Value = Change> {
    let length = prop_oneof![
        8 => 0..200_usize,
        4 => 200..4_200_usize,
        3 => 4_000..9_000_usize,
        1 => 9_000..500_000_usize,
    ];
    prop_oneof![
        6 => (0..SPACES, 0..40_u8, length, any::<u8>())
            .prop_map(|(space, key, length, salt)| Change::Put { space, key, length, salt }),
        2 => (0..SPACES, 0..40_u8).prop_map(|(space, key)| Change::Delete { space, key }),
        2 => (0..SPACES, 40..44_u8, any::<i32>())
            .prop_map(|(space, key, add)| Change::Count { space, key, add }),
    ]
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![Just(Pace::Normal), Just(Pace::Eager), Just(Pace::Lazy)]
}

fn step() -> impl Strategy<Value = Step> {
    let position = || (0..=SPACES, 0..50_u8);
    prop_oneof![
        12 => proptest::collection::vec(change(), 0..8).prop_map(Step::Decide),
        1 => (0..SPACES).prop_map(Step::Drop),
        4 => position().prop_map(|(space, key)| Step::Get { space, key }),
        6 => (position(), position(), any::<bool>(), prop_oneof![Just(usize::MAX), 1..10_usize])
            .prop_map(|(start, end, down, limit)| Step::Range { start, end, down, limit }),
        1 => (any::<bool>(), pace()).prop_map(|(relaxed, pace)| Step::Reopen { relaxed, pace }),
    ]
}

struct Pair<'a> {
    folder: &'a Path,
    store: Option<EmbeddedStore>,
    model: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How often each space was dropped: a dropped one is never used again.
    generations: [u32; SPACES as usize + 1],
}

impl Pair<'_> {
    fn space(&self, number: u32) -> u32 {
        self.generations[number as usize] * 10 + number
    }

    /// Short and long keys, one a prefix of the other now and then.
    fn key(&self, space: u32, number: u8) -> Vec<u8> {
        let rest = match number % 4 {
            0 => vec![number],
            1 => vec![number - 1, 0],
            2 => vec![number; 1_896],
            _ => vec![number, 255, 255],
        };
        key(self.space(space), &rest)
    }

    fn store(&self) -> &EmbeddedStore {
        self.store.as_ref().unwrap()
    }

    fn write_of(&self, change: &Change) -> Write {
        match *change {
            Change::Put { space, key, length, salt } => {
                let value: Vec<u8> = (0..length).map(|index| (index / 3) as u8 ^ salt).collect();
                put(&self.key(space, key), &value)
            }
            Change::Delete { space, key } => Write::Delete { key: self.key(space, key) },
            Change::Count { space, key, add } => Write::Count {
                key: self.key(space, key),
                add: Counters { rows: add.into(), bytes: -i64::from(add) },
            },
        }
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Decide(changes) => {
                let writes: Vec<_> = changes.iter().map(|change| self.write_of(change)).collect();
                for write in writes.clone() {
                    change_model(&mut self.model, write);
                }
                write(self.store(), writes).unwrap();
            }
            Step::Drop(number) => {
                let space = Space(self.space(*number));
                self.generations[*number as usize] += 1;
                self.model.retain(|key, _| !key.starts_with(&space.prefix()));
                write(self.store(), vec![Write::DropSpace(space)]).unwrap();
            }
            Step::Get { space, key } => {
                let key = self.key(*space, *key);
                assert!(get(self.store(), &key).unwrap().as_ref() == self.model.get(&key));
            }
            Step::Range { start, end, down, limit } => {
                let range = KeyRange { start: self.key(start.0, start.1), end: self.key(end.0, end.1) };
                self.compare(&range, *down, *limit);
            }
            Step::Reopen { relaxed, pace } => {
                let durability = if *relaxed { Durability::Relaxed } else { Durability::Full };
                drop(self.store.take());
                let opened = EmbeddedStore::open_with_pace(self.folder, Options { durability }, *pace);
                self.store = Some(opened.unwrap());
            }
        }
    }

    fn compare(&self, range: &KeyRange, down: bool, limit: usize) {
        let direction = if down { Direction::Descending } else { Direction::Ascending };
        let found = rows(&self.store().snapshot().unwrap(), range, direction, limit).unwrap();
        let mut expected = Vec::new();
        if range.start < range.end {
            expected.extend(self.model.range(range.start.clone()..range.end.clone()));
        }
        if down {
            expected.reverse();
        }
        expected.truncate(limit);
        assert_eq!(
            found.iter().map(|row| &row.0).collect::<Vec<_>>(),
            expected.iter().map(|row| row.0).collect::<Vec<_>>()
        );
        assert!(found.iter().map(|row| &row.1).eq(expected.iter().map(|row| row.1)), "values differ");
    }
}

fn change_model(model: &mut BTreeMap<Vec<u8>, Vec<u8>>, write: Write) {
    match write {
        Write::Put { key, value } => {
            model.insert(key, value);
        }
        Write::Delete { key } => {
            model.remove(&key);
        }
        Write::Count { key, add } => {
            let mut total = Counters::read(model.get(&key).map(Vec::as_slice));
            total += add;
            model.insert(key, total.to_row());
        }
        Write::DropSpace(_) => unreachable!("drops are steps of their own"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_a_plain_map(pace in pace(), steps in proptest::collection::vec(step(), 1..80)) {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { durability: Durability::Relaxed };
        let store = EmbeddedStore::open_with_pace(folder.path(), options, pace).unwrap();
        let mut pair =
            Pair { folder: folder.path(), store: Some(store), model: BTreeMap::new(), generations: [0; 5] };
        for step in &steps {
            pair.run(step);
        }
        let everything = KeyRange { start: Vec::new(), end: vec![255; 5] };
        pair.compare(&everything, false, usize::MAX);
        pair.run(&Step::Reopen { relaxed: false, pace: Pace::Normal });
        pair.compare(&everything, true, usize::MAX);
        let spaces: BTreeSet<_> = pair.model.keys().map(|key| key[..4].to_vec()).collect();
        prop_assert!(spaces.len() <= SPACES as usize);
    }
}

/// `PARTITA_CASES` requests more than the quick default.
fn cases() -> u32 {
    std::env::var("PARTITA_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}
