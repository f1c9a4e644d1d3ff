//! Which exports, imports, bulk operations and restores are not finished, and which of them have a step under way.
//!
//! A step may wait for its bucket for minutes. Meanwhile it has its turn, and steps of the others are taken beside it, few of
//! them with the same bucket: one that does not answer keeps its own waiting, and not all threads.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many steps of one kind may be under way with the same bucket.
const STEPS_OF_A_BUCKET: usize = 2;

/// The ids of what is not finished, of one kind.
#[derive(Default)]
pub struct OpenIds(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// Oldest first; none until they were looked for.
    ids: Option<VecDeque<String>>,
    /// With the bucket that each of them needs, once that is known.
    under_way: HashMap<String, Option<String>>,
}

/// That a step is taken; nobody else takes one of the same id while this lives.
pub struct Turn<'a> {
    open: &'a OpenIds,
    id: String,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.open.locked().under_way.remove(&self.id);
    }
}

impl Turn<'_> {
    /// Whether it may go to this bucket: not if enough others are there.
    pub fn goes_to(&self, bucket: &str) -> bool {
        let mut open = self.open.locked();
        let there = open.under_way.values().filter(|other| other.as_deref() == Some(bucket)).count();
        if there < STEPS_OF_A_BUCKET {
            open.under_way.insert(self.id.clone(), Some(bucket.to_owned()));
        }
        there < STEPS_OF_A_BUCKET
    }
}

impl OpenIds {
    fn locked(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is the first look. From now on nothing that begins is missed, while the rows are still being read.
    pub fn begin_looking(&self) -> bool {
        let mut open = self.locked();
        let is_first = open.ids.is_none();
        open.ids.get_or_insert_default();
        is_first
    }

    /// Notes what has begun. Before the first look there is no need to: it will be found.
    pub fn add(&self, id: &str) {
        self.unless_known(id, VecDeque::push_back);
    }

    pub fn add_older(&self, id: &str) {
        self.unless_known(id, VecDeque::push_front);
    }

    fn unless_known(&self, id: &str, add: fn(&mut VecDeque<String>, String)) {
        if let Some(ids) = self.locked().ids.as_mut().filter(|ids| !ids.iter().any(|known| known == id)) {
            add(ids, id.to_owned());
        }
    }

    /// The ids now; none before the first look.
    pub fn all(&self) -> Vec<String> {
        self.locked().ids.iter().flatten().cloned().collect()
    }

    /// None while a step of this one is under way.
    pub fn take_turn(&self, id: &str) -> Option<Turn<'_>> {
        let mut open = self.locked();
        if open.under_way.contains_key(id) {
            return None;
        }
        open.under_way.insert(id.to_owned(), None);
        Some(Turn { open: self, id: id.to_owned() })
    }

    /// Lets the others have their turn first.
    pub fn put_last(&self, id: &str) {
        self.remove(id);
        self.add(id);
    }

    pub fn remove(&self, id: &str) {
        if let Some(ids) = self.locked().ids.as_mut() {
            ids.retain(|known| known != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_of_each_is_under_way() {
        let open = OpenIds::default();
        assert!(open.begin_looking() && !open.begin_looking());
        ["a", "b", "a"].iter().for_each(|id| open.add(id));
        assert_eq!(open.all(), ["a", "b"]);
        let turn = open.take_turn("a").unwrap();
        assert!(open.take_turn("a").is_none() && open.take_turn("b").is_some());
        open.put_last("a");
        drop(turn);
        assert!(open.take_turn("a").is_some());
        assert_eq!(open.all(), ["b", "a"]);
    }

    #[test]
    fn few_go_to_the_same_bucket() {
        let open = OpenIds::default();
        let turns = ["a", "b", "c"].map(|id| open.take_turn(id).unwrap());
        assert_eq!(turns.each_ref().map(|turn| turn.goes_to("slow")), [true, true, false]);
        assert!(turns[2].goes_to("other"));
        let [first, ..] = turns;
        drop(first);
        assert!(open.take_turn("a").unwrap().goes_to("slow"));
    }
}
