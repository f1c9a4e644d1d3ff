//! The patterns whose request a read may be, the most likely first.

use super::{MAX_PARTS, ObservedRead, ObservedSort};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Bounds, Entity, Order, Pattern, Projection, Target};
use crate::template::{FieldTypes, Format, Part, SHARD, Sign, Template};
use crate::toml_writer::pattern_line;
use std::collections::BTreeSet;

/// The name of a field that stands for the rest of a text; no attribute has it.
const REST: &str = "\u{1F}";

/// What stands behind a text, so that the rest is not empty.
const END: char = '~';

/// A pattern that a read may be the request of.
pub(super) struct Candidate {
    pub pattern: Pattern,
    /// Whether it asks for the items that the read returns, even if its request is another one. An index may have a condition that the key
    /// which was read does not meet, and where the same value has another name in each entity, one pattern asks for others.
    pub is_alike: bool,
}

/// What a read has in common with the entities that it may return.
pub(super) struct Candidates<'r, 'm> {
    read: &'r ObservedRead<'r>,
    seen: Vec<SeenEntity<'m>>,
}

/// What a read shows of an entity.
struct SeenEntity<'m> {
    mapping: KeyMapping<'m>,
    /// The fields in the partition key.
    partition: BTreeSet<String>,
    sort: SeenSort,
    /// The first field of the sort key.
    first: Option<String>,
}

/// What a sort condition shows of the sort keys of an entity.
#[derive(Default)]
struct SeenSort {
    /// The fields whose values it fixes.
    fixed: BTreeSet<String>,
    /// The field that follows them.
    next: Option<String>,
    /// Whether it holds the start of that field's value.
    is_cut: bool,
}

/// How a read is understood.
#[derive(Clone, Copy)]
struct Reading {
    /// The values in the sort condition are known, and not only bounds.
    is_fixed: bool,
    /// The sort condition bounds an attribute.
    is_bounded: bool,
    /// The order and the limit matter.
    is_ordered: bool,
    /// What the index holds is meant: items that meet its condition, and the attributes that it has.
    is_of_index: bool,
}

impl<'r, 'm> Candidates<'r, 'm> {
    pub fn new(
        location: TableOrIndex<'m>,
        entities: &[&'m Entity],
        read: &'r ObservedRead<'r>,
    ) -> Candidates<'r, 'm> {
        let mappings = entities.iter().filter_map(|entity| location.mapping(entity));
        Candidates { read, seen: mappings.filter_map(|mapping| SeenEntity::new(mapping, read)).collect() }
    }

    /// The likeliest.
    pub fn first(&self) -> Pattern {
        self.pattern(self.likeliest())
    }

    /// All that differ.
    pub fn all(&self) -> Vec<Candidate> {
        let mut known = BTreeSet::new();
        let mut all = Vec::new();
        for reading in self.readings() {
            let pattern = self.pattern(reading);
            if known.insert(pattern_line(&pattern)) {
                let is_alike = !reading.is_of_index && self.has_same_fields(reading);
                all.push(Candidate { pattern, is_alike });
            }
        }
        all
    }

    fn likeliest(&self) -> Reading {
        let has_bounds = matches!(self.read.sort, ObservedSort::Range { .. });
        let is_cut = self.seen.iter().any(|seen| seen.sort.is_cut);
        Reading { is_fixed: true, is_of_index: false, is_ordered: true, is_bounded: has_bounds || is_cut }
    }

    /// All ways to understand the read, the likeliest first.
    fn readings(&self) -> Vec<Reading> {
        let bounded = self.likeliest().is_bounded;
        let mut readings = Vec::new();
        for is_fixed in [true, false] {
            for is_of_index in [false, true] {
                for is_ordered in [true, false] {
                    for is_bounded in [bounded, !bounded] {
                        readings.push(Reading { is_fixed, is_of_index, is_ordered, is_bounded });
                    }
                }
            }
        }
        readings
    }

    /// Whether the same fields of all entities are known.
    fn has_same_fields(&self, reading: Reading) -> bool {
        let mut all = self.seen.iter().map(|seen| seen.known(reading));
        let first = all.next();
        all.all(|other| Some(&other) == first.as_ref())
    }

    fn pattern(&self, reading: Reading) -> Pattern {
        let filter = if reading.is_of_index { self.condition() } else { Condition::default() };
        let by = self
            .seen
            .iter()
            .find_map(|seen| if reading.is_fixed { &seen.sort.next } else { &seen.first }.clone());
        let is_asked = |field: &String| {
            let is_bounded = reading.is_bounded && by.as_ref() == Some(field);
            !is_bounded && filter.fixed(field).is_none()
        };
        let fields = |seen: &SeenEntity<'_>| -> BTreeSet<String> {
            seen.known(reading).into_iter().filter(|field| is_asked(field)).cloned().collect()
        };
        let targets: Vec<Target> = self.seen.iter().map(|seen| seen.target(&fields(seen), &filter)).collect();
        let inputs: BTreeSet<String> = self.seen.iter().flat_map(fields).collect();
        let is_single = targets.iter().all(|target| !target.many);
        let by = by.filter(|_| !is_single);
        let inputs: Vec<String> = inputs.into_iter().collect();
        let first = targets.first().map_or("", |target| target.entity.as_str());
        Pattern {
            name: name(first, is_single, &inputs),
            inputs,
            range: by.clone().filter(|_| reading.is_bounded).map(|by| Bounds { by, ..Bounds::default() }),
            order: by
                .filter(|_| reading.is_ordered && !self.read.forward)
                .map(|by| Order { by, descending: true }),
            limit: self.read.limit.filter(|_| reading.is_ordered && !is_single),
            fields: if reading.is_of_index { self.available() } else { Vec::new() },
            filter,
            targets,
            ..Pattern::default()
        }
    }

    /// The condition of the index that all the entities have.
    fn condition(&self) -> Condition {
        let mut conditions = self.seen.iter().map(|seen| &seen.mapping.when);
        let first = conditions.next().cloned().unwrap_or_default();
        if conditions.all(|other| *other == first) { first } else { Condition::default() }
    }

    /// The attributes that the index has of all the entities, if it has only some.
    fn available(&self) -> Vec<String> {
        let is_partial = |seen: &SeenEntity<'_>| {
            seen.mapping.location.index.is_some_and(|index| index.project != Projection::All)
        };
        let mut all = self.seen.iter().filter(|seen| is_partial(seen)).map(|seen| seen.mapping.available());
        let first = all.next().unwrap_or_default();
        let common = all.fold(first, |common, own| common.intersection(&own).copied().collect());
        common.into_iter().map(str::to_owned).collect()
    }
}

impl<'m> SeenEntity<'m> {
    fn new(mapping: KeyMapping<'m>, read: &ObservedRead<'_>) -> Option<SeenEntity<'m>> {
        let partition = mapping.partition.matches(read.partition, mapping.entity)?;
        let sort = mapping.sort.as_ref().map(|sort| SeenSort::new(sort, mapping.entity, read.sort));
        Some(SeenEntity {
            partition: partition.into_keys().filter(|field| field != SHARD).collect(),
            sort: sort.unwrap_or_default(),
            first: mapping.sort.as_ref().and_then(|template| next_field(template, 0)),
            mapping,
        })
    }

    /// The fields whose values the read shows.
    fn known(&self, reading: Reading) -> BTreeSet<&String> {
        self.partition.iter().chain(self.sort.fixed.iter().filter(|_| reading.is_fixed)).collect()
    }

    /// Whether a caller who knows some fields asks for one item or for several.
    fn target(&self, known: &BTreeSet<String>, filter: &Condition) -> Target {
        let mapping = &self.mapping;
        let is_known = |name: &str| known.contains(name) || filter.fixed(name).is_some();
        let many = match mapping.location.index {
            None => !mapping.fields().all(|field| field == SHARD || is_known(field)),
            Some(_) => {
                !mapping.entity.is_unique_by(is_known) && !mapping.entity.identity().is_some_and(is_known)
            }
        };
        Target { entity: mapping.entity.name.clone(), many }
    }
}

/// `ordersByUserId`.
fn name(entity: &str, is_single: bool, inputs: &[String]) -> String {
    let capital = |text: &str, lower: bool| {
        let mut letters = text.chars();
        let first = letters
            .next()
            .map(|letter| if lower { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() });
        first.into_iter().chain(letters).filter(|letter| letter.is_alphanumeric()).collect::<String>()
    };
    let plural = if is_single { "" } else { "s" };
    let by: Vec<String> = inputs.iter().map(|input| capital(input, false)).collect();
    let by = if by.is_empty() { String::new() } else { format!("By{}", by.join("And")) };
    format!("{}{plural}{by}", capital(entity, true))
}

impl SeenSort {
    /// A condition that reads more than the items of one entity fixes nothing of the others.
    fn new(template: &Template, types: &dyn FieldTypes, sort: ObservedSort<'_>) -> SeenSort {
        match sort {
            ObservedSort::Equals(text) => {
                let fields = template.matches(text, types).unwrap_or_default();
                let fixed = fields.into_keys().filter(|field| field != SHARD).collect();
                SeenSort { fixed, ..SeenSort::default() }
            }
            ObservedSort::BeginsWith(text) => SeenSort::of_start(template, types, text),
            ObservedSort::Range { from: Some(from), to: Some(to) } => {
                SeenSort::of_start(template, types, common_text(from, to))
            }
            // An open end is that of the collection.
            ObservedSort::None | ObservedSort::Range { .. } => SeenSort::of_start(template, types, ""),
        }
    }

    /// What the start of a key shows. Longer keys are not taken apart further.
    fn of_start(template: &Template, types: &dyn FieldTypes, text: &str) -> SeenSort {
        let known = |count: usize| {
            let head = &template.parts[..count];
            let ends_in_text = matches!(head.last(), Some(Part::Text(_)));
            let (fixed, rest) = if ends_in_text { taken_apart(head, text, types)? } else { return None };
            let (next, is_cut) = (next_field(template, count), !rest.is_empty());
            Some(SeenSort { fixed, next, is_cut })
        };
        let longest = (1..=template.parts.len().min(MAX_PARTS)).rev().find_map(known);
        let nothing = || SeenSort { next: next_field(template, 0), ..SeenSort::default() };
        longest.unwrap_or_else(nothing)
    }
}

/// The fields of the parts that a text starts with, and the rest of it.
fn taken_apart(head: &[Part], text: &str, types: &dyn FieldTypes) -> Option<(BTreeSet<String>, String)> {
    let rest = Part::Field { name: REST.to_owned(), format: Format::Plain };
    let open = Template { parts: head.iter().cloned().chain([rest]).collect() };
    // A field is never empty.
    let mut fields = open.matches(&format!("{text}{END}"), &WithRest(types))?;
    let rest = fields.remove(REST)?;
    let fixed = fields.into_keys().filter(|field| field != SHARD).collect();
    Some((fixed, rest.trim_end_matches(END).to_owned()))
}

/// The types of fields, and that of the rest of a text.
struct WithRest<'t>(&'t dyn FieldTypes);

impl FieldTypes for WithRest<'_> {
    fn type_of(&self, field: &str) -> Option<&ValueType> {
        if field == REST { Some(&ValueType::String) } else { self.0.type_of(field) }
    }

    fn is_required(&self, field: &str) -> bool {
        self.0.is_required(field)
    }

    fn sign(&self, field: &str) -> Sign {
        self.0.sign(field)
    }

    fn delimiter(&self) -> char {
        self.0.delimiter()
    }
}

fn next_field(template: &Template, after: usize) -> Option<String> {
    template.parts.iter().skip(after).find_map(|part| match part {
        Part::Field { name, .. } => Some(name.clone()),
        Part::Text(_) => None,
    })
}

/// The text that both start with.
fn common_text<'a>(from: &'a str, to: &str) -> &'a str {
    let same = from.chars().zip(to.chars()).take_while(|(left, right)| left == right);
    &from[..same.map(|(left, _)| left.len_utf8()).sum()]
}
