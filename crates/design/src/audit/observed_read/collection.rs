//! The sort keys that entities have in the item collection of a read. What is computed here is the same for all patterns.

use super::field_table::FieldTable;
use super::{ObservedRead, ObservedSort, Selection, readable};
use crate::audit::span::Span;
use crate::keys::key_mapping::KeyMapping;
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

/// The keys of an entity in the table or in an index.
#[derive(Clone, Debug)]
pub(super) struct EntityKeys {
    pub partition: Template,
    /// The sort key; empty if there is none.
    pub sort: Template,
    pub fields: FieldTable,
    /// The template of the partition key as the model writes it.
    pub text: String,
}

/// The sort keys of an entity in a collection.
struct Keys {
    /// Where they are.
    all: Span,
    /// Those that the read can return.
    read: Option<Span>,
}

/// What a read is about.
pub(super) struct Collection {
    /// The sort keys that the read selects.
    pub span: Span,
    /// The entities that may have items here, by their number.
    keys: BTreeMap<usize, Keys>,
    /// The numbers of those that the read can return, by where their keys start, and, the last first, by where they end.
    by_start: Vec<usize>,
    by_end: Vec<usize>,
}

impl EntityKeys {
    pub fn new(mapping: &KeyMapping<'_>) -> EntityKeys {
        EntityKeys {
            partition: mapping.partition.clone(),
            sort: mapping.sort.clone().unwrap_or_default(),
            fields: FieldTable::new(&[mapping.entity], mapping.fields()),
            text: mapping.partition.to_string(),
        }
    }

    /// The sort keys of the entity in a collection; `None` if it has none there.
    fn sort_in(&self, partition: &str) -> Option<Template> {
        let known = readable(&self.partition, self.partition.matches(partition, &self.fields)?);
        Some(self.sort.substitute(|name| known.get(name).cloned()))
    }

    fn keys(&self, read: &ObservedRead<'_>, span: &Span) -> Option<Keys> {
        let sort = self.sort_in(read.partition)?;
        let all = Span::of(&sort, &self.fields);
        let read = match read.sort {
            ObservedSort::Equals(text) => sort.matches(text, &self.fields).map(|_| Span::one(text)),
            _ => all.common(span),
        };
        Some(Keys { all, read })
    }
}

impl Collection {
    /// `near` are the entities whose partition keys start as that of the read does.
    pub fn new<'k>(
        read: &ObservedRead<'_>,
        span: Span,
        near: impl Iterator<Item = (usize, &'k EntityKeys)>,
    ) -> Collection {
        let keys: BTreeMap<usize, Keys> =
            near.filter_map(|(number, own)| Some((number, own.keys(read, &span)?))).collect();
        let mut returned: Vec<(usize, &Span)> =
            keys.iter().filter_map(|(number, keys)| Some((*number, keys.read.as_ref()?))).collect();
        let numbers = |sorted: &[(usize, &Span)]| sorted.iter().map(|(number, _)| *number).collect();
        returned.sort_by(|(_, left), (_, right)| left.from().cmp(right.from()));
        let by_start = numbers(&returned);
        returned.sort_by(|(_, left), (_, right)| right.compare_ends(left));
        let by_end = numbers(&returned);
        Collection { span, keys, by_start, by_end }
    }

    /// The numbers of the entities whose items the read can return.
    pub fn returned(&self) -> BTreeSet<usize> {
        self.by_start.iter().copied().collect()
    }

    /// Whether a request for some entities reads all that the read can return, and the read can return some of theirs.
    pub fn is_within(&self, selection: &Selection, wanted: &BTreeSet<usize>) -> bool {
        let mut own = wanted.iter().filter_map(|number| self.read(*number)).peekable();
        own.peek().is_some()
            && own.all(|keys| selection.wanted.contains(keys))
            && self.are_others_within(&selection.others, wanted)
    }

    /// What is outside comes first in one of the two orders, so that few others are looked at.
    fn are_others_within(&self, span: &Span, wanted: &BTreeSet<usize>) -> bool {
        let is_before = |number: &&usize| self.read(**number).is_some_and(|keys| keys.from() < span.from());
        let is_behind =
            |number: &&usize| self.read(**number).is_some_and(|keys| keys.compare_ends(span).is_gt());
        let outside = self.by_start.iter().take_while(is_before);
        outside.chain(self.by_end.iter().take_while(is_behind)).all(|number| wanted.contains(number))
    }

    /// Whether the read leaves out nothing of what a request for some entities selects.
    pub fn has_all(&self, selected: &Span, wanted: &BTreeSet<usize>) -> bool {
        let own = wanted.iter().filter_map(|number| self.keys.get(number)?.all.common(selected));
        own.into_iter().all(|keys| self.span.contains(&keys))
    }

    fn read(&self, number: usize) -> Option<&Span> {
        self.keys.get(&number)?.read.as_ref()
    }
}
