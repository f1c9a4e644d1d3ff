//! One identifier in the partition keys of several entities: it has one name.

use super::entity::free_texts;
use super::explain::form;
use super::group::{Group, GroupKey};
use super::names::is_singleton;
use crate::draft::{Asked, Draft};
use crate::model::{Attribute, Entity};
use crate::name_hints;
use crate::template::{Format, Part, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

/// That fewer different values are those of an attribute may be chance.
const MANY: usize = 8;

/// Gives what the partition keys of several entities share the name that one of them has for it. What may agree with an attribute by chance is
/// no identifier: where another entity has a value of its own, so have all.
pub(super) fn unify(groups: &[(GroupKey, Group)], draft: &mut Draft) {
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, entity) in draft.model.entities.iter().enumerate() {
        if let Some(partition) = entity.key.first().filter(|template| !template.is_constant()) {
            alike.entry(form(partition)).or_default().push(number);
        }
    }
    for (form, numbers) in alike {
        let places = numbers.iter().map(|number| Place { number: *number, group: &groups[*number].1 });
        let Some(first) = places.clone().min_by_key(|place| place.rank(draft)) else { continue };
        let is_bare = form.starts_with('*');
        for other in places.filter(|other| other.number != first.number) {
            if first.group.shares_partitions(other.group).unwrap_or(!is_bare) {
                first.settle(&other, draft);
            }
        }
    }
}

/// An entity whose partition key has the form of those of others.
#[derive(Clone, Copy)]
struct Place<'g> {
    number: usize,
    group: &'g Group,
}

impl Place<'_> {
    fn entity<'d>(&self, draft: &'d Draft) -> &'d Entity {
        &draft.model.entities[self.number]
    }

    /// The fields of the partition key.
    fn fields(&self, draft: &Draft) -> Vec<(String, Format)> {
        let parts = self.entity(draft).key.iter().take(1).flat_map(|template| &template.parts);
        let field = |part: &Part| match part {
            Part::Field { name, format } => Some((name.clone(), *format)),
            Part::Text(_) => None,
        };
        parts.filter_map(field).collect()
    }

    /// How well the entity names what its partition key has: the lower, the better.
    fn rank(&self, draft: &Draft) -> (u8, bool) {
        let entity = self.entity(draft);
        let fields = self.fields(draft);
        let is_own = |name: &str| fields.iter().any(|(field, _)| field == name);
        let owns = entity.key[1..].iter().flat_map(Template::fields).all(is_own);
        let is_named = fields.iter().all(|(name, format)| self.has(name) && !is_doubtful(name, *format));
        let is_asked = fields.iter().any(|(name, _)| is_asked(draft, entity, name));
        let rank = match (owns, is_named) {
            (true, true) => 0,
            (true, false) if !is_asked => 1,
            (false, true) => 2,
            (true, false) => 3,
            (false, false) => 4 + u8::from(is_asked),
        };
        (rank, is_singleton(&entity.name))
    }

    /// Whether items have an attribute, and not only their keys.
    fn has(&self, name: &str) -> bool {
        self.group.having(name) > 0
    }

    /// Gives the fields of both one name.
    fn settle(&self, other: &Place<'_>, draft: &mut Draft) {
        let fields = self.fields(draft).into_iter().zip(other.fields(draft));
        for (place, (own, others)) in fields.enumerate() {
            let is_shard = own.0 == SHARD || others.0 == SHARD;
            if own.0 == others.0 || is_shard {
                continue;
            }
            match (self.has(&own.0), other.has(&others.0)) {
                (true, true) => {}
                (false, false) => other.rename(&others.0, &own.0, draft),
                (true, false) => self.settle_with(place, &own, other, &others, draft),
                (false, true) if is_doubtful(&others.0, others.1) => {
                    other.settle_with(place, &others, self, &own, draft);
                }
                (false, true) => {}
            }
        }
    }

    /// Settles what an attribute has here, and only the key elsewhere.
    fn settle_with(
        &self,
        place: usize,
        own: &(String, Format),
        other: &Place<'_>,
        others: &(String, Format),
        draft: &mut Draft,
    ) {
        let is_doubtful = is_doubtful(&own.0, own.1);
        if is_doubtful && self.has_few(&own.0) {
            self.replace(place, &others.0, other, draft);
        } else if !is_doubtful && own.1 == others.1 && other.entity(draft).attribute(&own.0).is_none() {
            if !is_generic(&own.0) {
                other.rename(&others.0, &own.0, draft);
            }
        } else if !is_asked(draft, other.entity(draft), &others.0) {
            let field = Template { parts: vec![Part::Field { name: own.0.clone(), format: own.1 }] };
            let text = format!("{} has it as {field}: what is it called?", self.entity(draft).name);
            let entity = other.entity(draft).name.clone();
            draft.ask(Asked::AttributeName { entity, attribute: others.0.clone() }, text, &*others.0);
        }
    }

    /// Whether an attribute has few different values.
    fn has_few(&self, name: &str) -> bool {
        let values = self.group.sample.iter().filter_map(|item| item.get(name)?.as_text());
        values.collect::<BTreeSet<&str>>().len() < MANY
    }

    /// Puts what only the key of another entity contains in the place of an attribute.
    fn replace(&self, place: usize, new: &str, other: &Place<'_>, draft: &mut Draft) {
        let name = other.entity(draft).name.clone();
        let Some(attribute) = other.entity(draft).attribute(new).cloned() else { return };
        let entity = &mut draft.model.entities[self.number];
        if entity.attribute(new).is_some() {
            return;
        }
        let mut fields = entity.key[0].parts.iter_mut().filter(|part| matches!(part, Part::Field { .. }));
        let Some(part) = fields.nth(place) else { return };
        let before = Template { parts: vec![part.clone()] };
        *part = Part::Field { name: new.to_owned(), format: Format::Plain };
        entity.attributes.push(Attribute { optional: false, ..attribute });
        entity.numbers = Default::default();
        entity.identity.clear();
        entity.identify_by_key();
        free_texts(entity);
        let text = format!(
            "It is {before} in all items, which may be chance, as {name} has its own: what is it called?"
        );
        let asked = Asked::AttributeName { entity: entity.name.clone(), attribute: new.to_owned() };
        draft.ask(asked, text, new);
    }

    /// Renames an attribute that only keys contain, if the name is free.
    fn rename(&self, old: &str, new: &str, draft: &mut Draft) {
        let entity = self.entity(draft).name.clone();
        draft.rename_attribute(&entity, old, new);
    }
}

fn is_asked(draft: &Draft, entity: &Entity, name: &str) -> bool {
    let asked = Asked::AttributeName { entity: entity.name.clone(), attribute: name.to_owned() };
    draft.questions.iter().any(|question| question.asked == asked)
}

/// Whether an attribute is rather not what a key identifies, although it has its values: what is written otherwise, or is called as people
/// call it.
fn is_doubtful(name: &str, format: Format) -> bool {
    matches!(format, Format::Lower | Format::Escaped | Format::Bucket(_)) || name_hints::is_label(name)
}

/// Whether a name says what it identifies only in its own entity.
fn is_generic(name: &str) -> bool {
    ["id", "uuid", "ulid", "guid", "key"].contains(&name.trim_matches('_').to_lowercase().as_str())
}
