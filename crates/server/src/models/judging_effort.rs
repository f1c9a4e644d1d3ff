//! About how many steps it takes to judge a decision: the writer does not judge what takes long.

use partita_design::Model;
use partita_design::audit::effort;
use partita_value::{ItemRef, ValueRef};
use std::collections::BTreeSet;

/// Every byte of an item is copied and compared a few times.
const STEPS_PER_BYTE: usize = 4;
/// An entity is looked at this often to recognise an item.
const STEPS_PER_ENTITY: usize = 3;
/// Two items of a decision are compared as original and copy.
const STEPS_PER_PAIR: usize = 32;
/// A test of an item looks an attribute up, and may go through its bytes.
const STEPS_PER_TEST: usize = 32;
const BYTES_PER_STEP: usize = 16;

/// What decides how long a model takes to judge items.
pub struct JudgingEffort {
    /// The key attributes of the table and its indexes.
    keys: BTreeSet<String>,
    /// The parts of templates that the keys of an item may be matched against.
    parts: usize,
    entities: usize,
    /// The aggregates of all entities, which are looked through for those of an item.
    aggregates: usize,
    /// The most tests that one item has to pass, and the most copies that it has.
    tests: usize,
    copies: usize,
}

impl JudgingEffort {
    pub fn new(model: &Model) -> JudgingEffort {
        let indexed = model.indexes.iter().flat_map(|index| &index.keys);
        JudgingEffort {
            keys: model.table.keys.iter().chain(indexed).cloned().collect(),
            parts: effort::parts_per_item(model),
            entities: model.entities.len(),
            aggregates: model.entities.iter().map(|entity| entity.aggregates.len()).sum(),
            tests: effort::tests_per_item(model),
            copies: effort::copies_per_item(model),
        }
    }

    /// The steps for a decision of these writes: each with its key, and its item before and after.
    pub fn steps<'a>(&self, writes: impl Iterator<Item = [Option<ItemRef<'a>>; 3]>) -> usize {
        let (mut steps, mut count) = (0, 0);
        for items in writes {
            count += 1;
            steps += self.entities * STEPS_PER_ENTITY + self.aggregates;
            steps += items.into_iter().flatten().map(|item| self.of_item(item)).sum::<usize>();
        }
        steps + count * count * self.copies * STEPS_PER_PAIR
    }

    fn of_item(&self, item: ItemRef<'_>) -> usize {
        let length = |name: &String| match item.get(name) {
            Some(ValueRef::S(bytes) | ValueRef::N(bytes) | ValueRef::B(bytes)) => bytes.len(),
            _ => 0,
        };
        let keys: usize = self.keys.iter().map(length).sum();
        let bytes = item.bytes().len();
        bytes * STEPS_PER_BYTE + keys * self.parts + self.tests * (STEPS_PER_TEST + bytes / BYTES_PER_STEP)
    }
}
