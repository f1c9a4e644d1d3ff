//! What entities have to do with each other: parents and numbers, relationships, copies, unique values.

use super::group::Group;
use super::markers::Markers;
use crate::audit::table::TableAudit;
use crate::draft::{Asked, Confidence, Draft};
use crate::formatting::{list, thousands};
use crate::item::Item;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Expectations, Model};
use crate::template::{SHARD, Template};
use std::collections::BTreeSet;

/// Names of attributes that number the versions of an item.
const VERSIONS: [&str; 5] = ["version", "revision", "rev", "lockversion", "versionnumber"];

/// Adds expected numbers and sizes. `scale` is the number of items in the table for each one that was read.
pub(super) fn expect(groups: &[Group], scale: f64, draft: &mut Draft) {
    let scaled = |count: u64| ((count as f64 * scale).round() as u64).max(1);
    // What lies in more partitions than there are parents does not belong to them.
    let is_under = |child: usize, parent: &usize| {
        groups[child].partitions().is_none_or(|(partitions, _)| partitions <= groups[*parent].count)
    };
    let parents: Vec<Option<usize>> = (0..groups.len())
        .map(|number| parent(&draft.model.entities, number).filter(|parent| is_under(number, parent)))
        .collect();
    for (number, group) in groups.iter().enumerate() {
        let mut expect = Expectations {
            bytes: Some(group.bytes()),
            max_bytes: Some(group.max_bytes.max(1)),
            ..Expectations::default()
        };
        match parents[number] {
            None => {
                expect.count = Some(scaled(group.count));
                let many = group.partitions().filter(|(_, largest)| *largest > 1);
                expect.max = many.map(|(_, largest)| largest);
            }
            Some(parent) => {
                let average = group.count as f64 / groups[parent].count.max(1) as f64;
                expect.per = Some(draft.model.entities[parent].name.clone());
                expect.average = Some((average * 100.0).round().max(1.0) / 100.0);
                expect.max = group.partitions().map(|(_, largest)| largest);
            }
        }
        let entity = &mut draft.model.entities[number];
        for index_key in &mut entity.indexes {
            index_key.count = index_key.count.map(scaled);
        }
        entity.expect = expect;
    }
}

/// The entity with one item in each partition of another.
fn parent(entities: &[Entity], number: usize) -> Option<usize> {
    let partition = entities[number].key.first().filter(|template| !template.is_constant())?;
    let is_single = |entity: &Entity| {
        let sort = entity.key.get(1).map(Template::fields).into_iter().flatten();
        let mut fields = sort.collect::<Vec<_>>().into_iter();
        entity.key.first() == Some(partition) && fields.all(|field| partition.has_field(field))
    };
    if is_single(&entities[number]) {
        return None;
    }
    entities.iter().position(is_single)
}

/// The attributes that identify items on their own, each with the entity. What identifies a copy identifies its original.
fn owned(entities: &[Entity]) -> Vec<(&str, &str)> {
    let owned = entities.iter().filter(|entity| entity.copies.is_none()).filter_map(|entity| {
        let fields: BTreeSet<&str> = entity.key_fields().collect();
        let mut fields = fields.into_iter();
        fields.next().filter(|_| fields.next().is_none()).map(|field| (field, entity.name.as_str()))
    });
    owned.collect()
}

/// What identifies something is no enumeration, however few there are yet: there will be another tenant.
pub(super) fn identifiers(model: &mut Model) {
    let owned: BTreeSet<(String, String)> =
        owned(&model.entities).into_iter().map(|(field, name)| (field.to_owned(), name.to_owned())).collect();
    for entity in &mut model.entities {
        for attribute in &mut entity.attributes {
            let name = &attribute.name;
            let is_named = ["Id", "ID", "_id", "-id"].iter().any(|end| name.ends_with(end)) || name == "id";
            let is_owned = owned.iter().any(|(field, owner)| field == name && *owner != entity.name);
            if matches!(attribute.kind, ValueType::Choice(_)) && (is_named || is_owned) {
                attribute.kind = ValueType::Id;
            }
        }
        entity.numbers = Default::default();
    }
}

/// Marks entities that connect two others.
pub(super) fn edges(draft: &mut Draft) {
    let entities = &draft.model.entities;
    let owned = owned(entities);
    let owner = |field: &str| owned.iter().find(|(own, _)| *own == field).map(|(_, name)| *name);
    let mut found = Vec::new();
    for (number, entity) in entities.iter().enumerate() {
        let halves: Vec<Vec<&str>> = entity
            .key
            .iter()
            .map(|template| template.fields().filter(|field| *field != SHARD).collect())
            .collect();
        if let [from, to] = halves.as_slice()
            && let ([from], [to]) = (from.as_slice(), to.as_slice())
            && let (Some(left), Some(right)) = (owner(from), owner(to))
            && left != right
            && entity.identity().is_none_or(|id| id == *from || id == *to)
        {
            found.push((number, vec![(*from).to_owned(), (*to).to_owned()], format!("{left} and {right}")));
        }
    }
    for (number, edge, ends) in found {
        let entity = &mut draft.model.entities[number];
        (entity.edge, entity.identity) = (edge, Vec::new());
        let subject = format!("entity.{}.edge", entity.name);
        draft.note(subject, Confidence::Likely, format!("its key connects {ends}"));
    }
}

/// Marks copies: two entities whose items have the same attributes and the same values.
pub(super) fn copies(groups: &[Group], draft: &mut Draft) {
    for copy in 0..groups.len() {
        for original in 0..groups.len() {
            let entities = &draft.model.entities;
            let (left, right) = (&entities[original], &entities[copy]);
            let is_taken = right.copies.is_some() || left.copies.is_some();
            let is_later = (left.name.len(), original) < (right.name.len(), copy);
            if copy == original
                || is_taken
                || !is_later
                || !may_be_copy(&groups[original], &groups[copy], left, right)
            {
                continue;
            }
            let (left, right) = (left.name.clone(), right.name.clone());
            let identity = std::mem::take(&mut draft.model.entities[copy].identity);
            draft.model.entities[copy].copies = Some(left.clone());
            let items = groups[original].sample.iter().chain(&groups[copy].sample);
            if violations(&draft.model, items, "copy") > 0 {
                draft.model.entities[copy].copies = None;
                draft.model.entities[copy].identity = identity;
                continue;
            }
            let text = format!("Each of its items has the values of a {left}: is it a copy?");
            draft.ask(Asked::Copies(right), text, left);
        }
    }
}

fn may_be_copy(original: &Group, copy: &Group, left: &Entity, right: &Entity) -> bool {
    let names = |entity: &Entity| -> BTreeSet<String> {
        entity.attributes.iter().map(|attribute| attribute.name.clone()).collect()
    };
    let is_real =
        |entity: &Entity, group: &Group| entity.key_fields().all(|field| group.having(field) == group.count);
    original.count == copy.count
        && original.count > 1
        && original.is_complete()
        && copy.is_complete()
        && left.attributes.len() > 1
        && names(left) == names(right)
        && is_real(left, original)
        && is_real(right, copy)
}

/// The number of violations of a rule across items.
fn violations<'a>(model: &Model, items: impl Iterator<Item = &'a Item>, rule: &str) -> u64 {
    let mut model = model.clone();
    model.lookup = Default::default();
    let mut audit = TableAudit::new(&model);
    items.for_each(|item| audit.add(item));
    audit.finish().1.get(rule).map_or(0, |found| found.items)
}

/// Declares unique values that have markers, and asks about version numbers.
pub(super) fn rules(groups: &[Group], markers: &Markers, draft: &mut Draft) {
    for (number, group) in groups.iter().enumerate() {
        let entity = &draft.model.entities[number];
        let (name, subject) = (entity.name.clone(), entity.subject());
        let unique = markers.unique(entity, group);
        let version = version(entity);
        let in_key = version.as_ref().is_some_and(|version| entity.has_key_field(version));
        for unique in &unique {
            let count = unique.first().map_or(0, |name| group.having(name));
            let origin = format!("each {} has its marker, {} in all", list(unique), thousands(count));
            draft.note(format!("{subject}.unique"), Confidence::Certain, origin);
        }
        let entity = &mut draft.model.entities[number];
        entity.unique = unique;
        if in_key {
            entity.versions = version;
        } else if let Some(version) = version {
            entity.lock = Some(version.clone());
            let text = format!("Must every update of a {name} match its {version}?");
            draft.ask(Asked::Lock(name), text, version);
        }
    }
}

/// The attribute that numbers the versions of an item.
fn version(entity: &Entity) -> Option<String> {
    let is_named = |name: &str| VERSIONS.contains(&name.to_lowercase().replace(['_', '-'], "").as_str());
    let is_version = |attribute: &&Attribute| {
        attribute.kind == ValueType::Int && is_named(&attribute.name) && !attribute.optional
    };
    entity.attributes.iter().find(is_version).map(|attribute| attribute.name.clone())
}
