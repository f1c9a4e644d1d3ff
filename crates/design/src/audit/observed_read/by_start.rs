//! Things that are found by the text that a key starts with.

use crate::template::PrefixSet;

/// Things in order, each with a text that the keys it is about start with.
#[derive(Clone, Debug)]
pub(super) struct ByStart<T> {
    all: Vec<T>,
    starts: PrefixSet,
    /// The numbers of the things that have each text.
    numbers: Vec<Vec<usize>>,
}

impl<T> ByStart<T> {
    pub fn new(all: Vec<T>, start: impl Fn(&T) -> &str) -> ByStart<T> {
        let starts = PrefixSet::new(all.iter().map(|one| start(one).to_owned()));
        let mut numbers = vec![Vec::new(); starts.texts().len()];
        for (number, one) in all.iter().enumerate() {
            if let Some(position) = starts.position(start(one)) {
                numbers[position].push(number);
            }
        }
        ByStart { all, starts, numbers }
    }

    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// The texts that keys start with.
    pub fn starts(&self) -> &[String] {
        self.starts.texts()
    }

    /// Those whose text a key starts with, and their numbers, in order.
    pub fn of_key(&self, key: &str) -> impl Iterator<Item = (usize, &T)> {
        let mut found: Vec<usize> =
            self.starts.starts_of(key).flat_map(|(position, _)| &self.numbers[position]).copied().collect();
        found.sort_unstable();
        found.into_iter().map(|number| (number, &self.all[number]))
    }
}
