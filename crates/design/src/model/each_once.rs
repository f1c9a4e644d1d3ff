//! Lists without repetitions, in the order of what comes first.

use std::collections::BTreeSet;

/// Returns each value once, where it first occurs.
pub fn each_once<T: Ord + Copy>(all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(move |value| seen.insert(*value))
}
