//! Which exports, imports, bulk operations and restores are open, and which of them have a running step.
//!
//! A step may wait for its bucket for minutes. Steps of other ids run concurrently, but only a few with the same bucket: a bucket
//! that does not respond delays its own exchanges, and does not occupy all threads.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Steps of one kind that may use the same bucket at a time.
const STEPS_PER_BUCKET: usize = 2;

/// The ids of all open exchanges of one kind.
#[derive(Default)]
pub struct OpenIds(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// Least recently advanced first; `None` until they are loaded.
    ids: Option<VecDeque<String>>,
    /// Ids with a running step, and the bucket that it uses, once that is known.
    running: HashMap<String, Option<String>>,
}

/// A running step; no other step of the same id starts before this is dropped.
pub struct StepGuard<'a> {
    open: &'a OpenIds,
    id: String,
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        self.open.locked().running.remove(&self.id);
    }
}

impl StepGuard<'_> {
    /// Reserves a bucket for the step, unless too many steps use it already.
    pub fn reserve_bucket(&self, bucket: &str) -> bool {
        let mut open = self.open.locked();
        let users = open.running.values().filter(|other| other.as_deref() == Some(bucket)).count();
        if users < STEPS_PER_BUCKET {
            open.running.insert(self.id.clone(), Some(bucket.to_owned()));
        }
        users < STEPS_PER_BUCKET
    }
}

impl OpenIds {
    fn locked(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the ids still have to be loaded. From now on [`OpenIds::add`] takes effect, so that nothing that starts while
    /// the rows are being read is missed.
    pub fn begin_loading(&self) -> bool {
        let mut open = self.locked();
        let is_first = open.ids.is_none();
        open.ids.get_or_insert_default();
        is_first
    }

    /// Adds an exchange that has started. Before the ids are loaded this has no effect: loading will find it.
    pub fn add(&self, id: &str) {
        self.add_if_unknown(id, VecDeque::push_back);
    }

    pub fn add_older(&self, id: &str) {
        self.add_if_unknown(id, VecDeque::push_front);
    }

    fn add_if_unknown(&self, id: &str, add: fn(&mut VecDeque<String>, String)) {
        if let Some(ids) = self.locked().ids.as_mut().filter(|ids| !ids.iter().any(|known| known == id)) {
            add(ids, id.to_owned());
        }
    }

    /// The current ids; none before they are loaded.
    pub fn all(&self) -> Vec<String> {
        self.locked().ids.iter().flatten().cloned().collect()
    }

    /// Returns `None` while another step of this id is running.
    pub fn begin_step(&self, id: &str) -> Option<StepGuard<'_>> {
        let mut open = self.locked();
        if open.running.contains_key(id) {
            return None;
        }
        open.running.insert(id.to_owned(), None);
        Some(StepGuard { open: self, id: id.to_owned() })
    }

    /// Gives all other ids precedence.
    pub fn move_to_back(&self, id: &str) {
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
    fn each_id_has_one_running_step() {
        let open = OpenIds::default();
        assert!(open.begin_loading() && !open.begin_loading());
        ["a", "b", "a"].iter().for_each(|id| open.add(id));
        assert_eq!(open.all(), ["a", "b"]);
        let guard = open.begin_step("a").unwrap();
        assert!(open.begin_step("a").is_none() && open.begin_step("b").is_some());
        open.move_to_back("a");
        drop(guard);
        assert!(open.begin_step("a").is_some());
        assert_eq!(open.all(), ["b", "a"]);
    }

    #[test]
    fn steps_per_bucket_are_limited() {
        let open = OpenIds::default();
        let guards = ["a", "b", "c"].map(|id| open.begin_step(id).unwrap());
        assert_eq!(guards.each_ref().map(|guard| guard.reserve_bucket("slow")), [true, true, false]);
        assert!(guards[2].reserve_bucket("other"));
        let [first, ..] = guards;
        drop(first);
        assert!(open.begin_step("a").unwrap().reserve_bucket("slow"));
    }
}
