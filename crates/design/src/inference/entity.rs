//! One group of items becomes an entity: its attributes, keys and index keys.

use super::explain::alternatives;
use super::group::{Group, GroupKey};
use super::key_template::{self, KeyAttribute, KeyContext, is_semantic};
use super::names::FieldNames;
use super::values::Summary;
use super::{KnownSchema, names, odd, sparse};
use crate::draft::{Asked, Confidence, Draft, Question};
use crate::formatting::{list, thousands};
use crate::item::Item;
use crate::model::condition::Condition;
use crate::model::decimal::Decimal;
use crate::model::limits::Limits;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, IndexKey, Model};
use crate::template::{Format, Part, SHARD, Template, is_field_name};
use std::collections::{BTreeMap, BTreeSet};

/// What entities are inferred from besides their items.
pub(super) struct Surroundings<'a> {
    pub known: &'a KnownSchema,
    pub names: &'a FieldNames,
    pub words: &'a BTreeSet<String>,
    /// Whether the table holds several kinds of items.
    pub is_shared: bool,
    /// The names of all entities.
    pub planned: &'a [String],
}

/// Infers an entity and adds it to the draft, with what cannot be known about it.
pub(super) fn infer(key: &GroupKey, group: &Group, name: &str, around: &Surroundings<'_>, draft: &mut Draft) {
    let model = &draft.model;
    let type_value = key.type_value.clone().unwrap_or_else(|| name.to_owned());
    let mut entity = Entity {
        name: name.to_owned(),
        type_value,
        attributes: attributes(group, model),
        ..Entity::default()
    };
    let keys: Vec<&String> =
        model.table.keys.iter().chain(model.indexes.iter().flat_map(|index| &index.keys)).collect();
    let items = odd::regular(&group.sample, &keys);
    let mut context = KeyContext {
        names: around.names,
        words: around.words,
        key_values: BTreeMap::new(),
        unnamed: BTreeMap::new(),
        sharded: BTreeMap::new(),
    };
    let aliases = key.label.as_ref().and_then(|label| around.known.aliases.get(label));
    for (position, own) in model.table.keys.iter().enumerate() {
        let attribute = KeyAttribute {
            name: own,
            is_partition: position == 0,
            alias: aliases.and_then(|aliases| aliases.get(position)).map(String::as_str),
            is_shared: around.is_shared,
        };
        let template = key_template::infer(attribute, &items, &mut entity, &mut context);
        entity.key.push(template);
    }
    let (mut sparse, mut open) = (Vec::new(), Vec::new());
    for index in &model.indexes {
        if let Some(found) = index_key(index, group, &items, &mut entity, &mut context, model) {
            sparse.extend(found.is_sparse.then(|| index.name.clone()));
            open.extend(found.form.map(|(form, why)| open_remark(index, &form, why)));
            entity.indexes.push(found.key);
        }
    }
    forget_generated(&mut entity, model);
    keep_lone_keys(&mut entity, group, model);
    let offsets = times_as_texts(group, &mut entity);
    let limited = limit_numbers(&mut entity);
    free_texts(&mut entity);
    entity.identify_by_key();
    let is_named_by_guess = key.label.is_none() && key.type_value.is_none();
    if is_named_by_guess && let Some(name) = names::owner_name(&entity, around.planned) {
        (entity.name, entity.type_value) = (name.clone(), name);
    }
    describe(group, &entity, &context, is_named_by_guess, draft);
    if let Some(remark) = odd::numbered_apart(&group.sample, &draft.model.table.keys) {
        draft.remark(entity.subject(), remark);
    }
    for name in limited {
        let note = format!("{name} is limited to what its key can hold");
        draft.note(format!("{}.attributes", entity.subject()), Confidence::Likely, note);
    }
    offsets.into_iter().for_each(|remark| draft.remark(format!("{}.attributes", entity.subject()), remark));
    for index in sparse {
        ask_condition(&items, &entity, &index, draft);
    }
    open.into_iter().for_each(|remark| draft.remark(entity.subject(), remark));
    draft.model.entities.push(entity);
}

/// All attributes but the type and the keys that are built from templates.
fn attributes(group: &Group, model: &Model) -> Vec<Attribute> {
    let is_generated = |name: &str| {
        // The attributes of a composite index key are not generated for it.
        let templated = model.indexes.iter().filter(|index| !index.is_composite());
        model.table.keys.iter().any(|key| key == name)
            || templated.flat_map(|index| &index.keys).any(|key| key == name && !is_semantic(key))
    };
    let own = group
        .attributes
        .iter()
        .filter(|(name, _)| !is_generated(name) && Some(*name) != model.table.type_attribute.as_ref());
    own.map(|(name, summary)| Attribute {
        optional: summary.count < group.count,
        limits: summary.limits(),
        ..Attribute::new(name, summary.value_type())
    })
    .collect()
}

/// The key of an entity in an index.
struct FoundIndexKey {
    key: IndexKey,
    /// Whether some items are not in the index.
    is_sparse: bool,
    /// What the keys look like, if the model cannot say so, and why.
    form: Option<(Vec<Template>, &'static str)>,
}

/// The key of an entity in an index, if any of its items is there.
fn index_key(
    index: &Index,
    group: &Group,
    items: &[&Item],
    entity: &mut Entity,
    context: &mut KeyContext<'_>,
    model: &Model,
) -> Option<FoundIndexKey> {
    let is_inside = |item: &&Item| index.keys.iter().all(|key| item.contains_key(key));
    let inside: Vec<&Item> = items.iter().copied().filter(is_inside).collect();
    if inside.is_empty() || index.keys.iter().all(|key| model.table.keys.contains(key)) {
        return None;
    }
    let before = (entity.attributes.clone(), context.clone());
    let key = index_templates(index, &inside, entity, context, model);
    let mut is_sparse = inside.len() < items.len();
    let candidates = if is_sparse { sparse::candidates(items, entity, index, &key) } else { Vec::new() };
    let when = candidates.into_iter().next();
    // A few that are not in it do not make it sparse, if nothing else is special about them.
    is_sparse &= when.is_some() || !odd::is_all_but_few(inside.len(), items.len());
    // What only this key contains is absent elsewhere.
    let own = before.0.len();
    entity.attributes[own..].iter_mut().for_each(|attribute| attribute.optional = is_sparse);
    let count = is_sparse.then(|| (group.count * inside.len() as u64 / items.len() as u64).max(1));
    let mut key = IndexKey { count, ..IndexKey::new(&index.name, key, 0..0) };
    // An item with one of several key attributes has it for itself.
    let is_half = |item: &&&Item| !is_inside(item) && has_own_key(index, item, model);
    let halves = items.iter().filter(is_half).count();
    let is_half = halves > 0 && !odd::is_all_but_few(items.len() - halves, items.len());
    let is_open = is_half || (is_sparse && when.is_none());
    key.when = when.unwrap_or_default();
    let mut form = None;
    if is_open {
        (entity.attributes, *context) = before;
        let why = if is_half {
            "items that are not in it have a part of its key"
        } else {
            "nothing tells which items are in it"
        };
        form = Some((key.key.clone(), why));
        generalise(&mut key, entity, index)?;
    }
    Some(FoundIndexKey { key, is_sparse, form })
}

/// Whether an item has a key attribute of an index that is none of the table.
fn has_own_key(index: &Index, item: &Item, model: &Model) -> bool {
    index.keys.iter().any(|key| !model.table.keys.contains(key) && item.contains_key(key))
}

/// Adds the key attributes of indexes that items have without being in the index.
fn keep_lone_keys(entity: &mut Entity, group: &Group, model: &Model) {
    let generated: BTreeSet<&String> = entity
        .indexes
        .iter()
        .filter_map(|own| model.index(&own.index))
        .flat_map(|index| &index.keys)
        .chain(&model.table.keys)
        .chain(&model.table.type_attribute)
        .collect();
    for name in model.indexes.iter().flat_map(|index| &index.keys).filter(|name| !generated.contains(name)) {
        let summary = group.attributes.get(name);
        if let Some(summary) = summary.filter(|_| entity.attributes.iter().all(|own| own.name != *name)) {
            entity.attributes.push(Attribute {
                optional: summary.count < group.count,
                ..Attribute::new(name, summary.value_type())
            });
        }
    }
    entity.numbers = Default::default();
}

/// The templates of the keys of an index.
fn index_templates(
    index: &Index,
    inside: &[&Item],
    entity: &mut Entity,
    context: &mut KeyContext<'_>,
    model: &Model,
) -> Vec<Template> {
    let template = |(position, name): (usize, &String)| {
        let table = model.table.keys.iter().position(|own| own == name);
        match table {
            _ if model.table.type_attribute.as_ref() == Some(name) => {
                Template { parts: vec![Part::Text(entity.type_value.clone())] }
            }
            _ if index.is_composite() => Template::field(name),
            Some(own) => entity.key[own].clone(),
            None => {
                let is_partition = position < index.partition_keys;
                let attribute = KeyAttribute { name, is_partition, alias: None, is_shared: false };
                key_template::infer(attribute, inside, entity, context)
            }
        }
    };
    index.keys.iter().enumerate().map(template).collect()
}

/// Says what the keys of an index look like where the model cannot say it.
pub(super) fn open_remark(index: &Index, form: &[Template], why: &str) -> String {
    let keys = index.keys.iter().zip(form).map(|(name, template)| format!("{name} like {template}"));
    let keys = list(&keys.collect::<Vec<_>>());
    format!("The application itself gives the keys of {}, because {why}: {keys}.", index.name)
}

/// Removes attributes that are keys made of other attributes.
fn forget_generated(entity: &mut Entity, model: &Model) {
    for index_key in &entity.indexes {
        let Some(index) = model.index(&index_key.index).filter(|index| !index.is_composite()) else {
            continue;
        };
        for (name, template) in index.keys.iter().zip(&index_key.key) {
            let used = entity.key.iter().chain(entity.indexes.iter().flat_map(|other| &other.key));
            let is_field = used.into_iter().any(|other| other.has_field(name));
            if template.bare_field() != Some(name) && !is_field {
                entity.attributes.retain(|attribute| attribute.name != *name);
            }
        }
    }
    entity.numbers = Default::default();
}

/// Times in keys that all have one offset sort as texts do, and as times with offsets they would not; returns what to say about them.
fn times_as_texts(group: &Group, entity: &mut Entity) -> Vec<String> {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let templates: Vec<&Template> = entity.key.iter().chain(index_keys).collect();
    let mut remarks = Vec::new();
    for attribute in entity.attributes.iter_mut().filter(|own| own.kind == ValueType::Timestamp) {
        let name = &attribute.name;
        let is_whole = templates.iter().any(|template| template.has_field(name))
            && !templates.iter().any(|template| template.truncates(name));
        let offset = group.attributes.get(name).and_then(Summary::only_offset).filter(|_| is_whole);
        if let Some(offset) = offset {
            remarks.push(format!(
                "{name} is a time that always ends in {offset} and sorts as text: with Z in its place, it is a timestamp."
            ));
            (attribute.kind, attribute.limits) = (ValueType::Id, Limits::default());
        }
    }
    entity.numbers = Default::default();
    remarks
}

/// Limits numbers to those that their formats in keys hold; returns their names.
fn limit_numbers(entity: &mut Entity) -> Vec<String> {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let mut limits: BTreeMap<String, (Decimal, Decimal)> = BTreeMap::new();
    for part in entity.key.iter().chain(index_keys).flat_map(|template| &template.parts) {
        let Part::Field { name, format } = part else { continue };
        let (width, decimals, sign) = match format {
            Format::Padded { width, decimals } => (*width, *decimals, ""),
            Format::Signed { width, decimals } => (*width, *decimals, "-"),
            _ => continue,
        };
        let nines = format!("{}.{}0", "9".repeat(width), "9".repeat(decimals));
        let least = if sign.is_empty() { "0".to_owned() } else { format!("-{nines}") };
        let (Some(least), Some(greatest)) = (Decimal::parse(&least), Decimal::parse(&nines)) else {
            continue;
        };
        let limit = limits.entry(name.clone()).or_insert((least.clone(), greatest.clone()));
        *limit = (least.max(limit.0.clone()), greatest.min(limit.1.clone()));
    }
    let numbers = entity.attributes.iter_mut().filter(|attribute| attribute.kind.is_number());
    let mut limited = Vec::new();
    for attribute in numbers {
        if let Some((least, greatest)) = limits.remove(&attribute.name) {
            (attribute.limits.min, attribute.limits.max) = (Some(least), Some(greatest));
            limited.push(attribute.name.clone());
        }
    }
    limited
}

/// Text that no key contains is any text, unless its name says that it identifies something.
pub(super) fn free_texts(entity: &mut Entity) {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let fields: BTreeSet<String> =
        entity.key.iter().chain(index_keys).flat_map(Template::fields).map(str::to_owned).collect();
    let names = ["id", "key", "code", "slug", "sku"];
    for attribute in &mut entity.attributes {
        let is_named = names.iter().any(|name| attribute.name.to_lowercase().ends_with(name));
        if attribute.kind == ValueType::Id && !fields.contains(&attribute.name) && !is_named {
            attribute.kind = ValueType::String;
        }
    }
}

/// Says where the parts of an entity come from, and asks what they are called.
fn describe(
    group: &Group,
    entity: &Entity,
    context: &KeyContext<'_>,
    is_named_by_guess: bool,
    draft: &mut Draft,
) {
    let subject = entity.subject();
    let (sample, count) = (group.sample.len() as u64, group.count);
    let items = if group.is_complete() {
        odd::counted(count)
    } else {
        format!("{}, of which {} were compared", odd::counted(count), thousands(sample))
    };
    draft.note(subject.clone(), Confidence::Certain, items);
    for (name, summary) in &group.attributes {
        if let Some(unit) = summary.epoch().filter(|_| entity.attribute(name).is_some()) {
            let note = format!("{name} looks like {unit} since 1970");
            draft.note(format!("{subject}.attributes"), Confidence::Likely, note);
        }
    }
    for (name, summary) in group.attributes.iter().filter(|(name, _)| entity.attribute(name).is_some()) {
        if let Some(mixture) = summary.mixture() {
            let remark = format!("{name} is {} items: which is right?", list(&mixture));
            draft.remark(format!("{subject}.attributes"), remark);
        }
    }
    let keys = entity.key.iter().enumerate().map(|(position, template)| (None, position, template));
    let indexes = entity.indexes.iter().flat_map(|index_key| {
        let name = &index_key.index;
        index_key
            .key
            .iter()
            .enumerate()
            .map(move |(position, template)| (Some(name.clone()), position, template))
    });
    for (index, position, template) in keys.chain(indexes) {
        let doubt = template.parts.iter().enumerate().find_map(|(place, part)| {
            let Part::Field { name, format } = part else { return None };
            let (text, others) = match context
                .sharded
                .get(&Template { parts: template.parts[..place].to_vec() }.to_string())
            {
                Some(identifier) if name == SHARD => (
                    "Is the number in it that of a shard, or does it identify something?".to_owned(),
                    vec![identifier.clone()],
                ),
                _ => same_values(part, group, entity)?,
            };
            let choices = others.iter().map(|other| {
                let mut parts = template.parts.clone();
                parts[place] = Part::Field { name: other.clone(), format: *format };
                Template { parts }.to_string()
            });
            Some((text, choices.collect::<Vec<_>>()))
        });
        if let Some((text, choices)) = doubt {
            let asked = Asked::Template { entity: entity.name.clone(), index, position };
            draft.questions.push(Question::new(asked, text, template.to_string()).with_choices(choices));
        }
    }
    if is_named_by_guess {
        let asked = Asked::EntityName(entity.name.clone());
        draft.ask(asked, "Its name is made up from its keys: what is it called?", entity.name.clone());
    }
    for (attribute, recased) in &context.unnamed {
        let asked = Asked::AttributeName { entity: entity.name.clone(), attribute: attribute.clone() };
        let text = match recased {
            Some(other) => {
                format!("It is {other} in other case, which no template writes: what is it called?")
            }
            None => "Only the key contains it: what is it called?".to_owned(),
        };
        draft.ask(asked, text, attribute.clone());
    }
}

/// Asks which of the attributes with the same values is in a key.
fn same_values(part: &Part, group: &Group, entity: &Entity) -> Option<(String, Vec<String>)> {
    let Part::Field { name, .. } = part else { return None };
    let others = alternatives(part, &group.sample, &entity.attributes);
    let text = format!("{name} and {} have the same values: which one is in the key?", others.join(" and "));
    (!others.is_empty()).then_some((text, others))
}

fn ask_condition(items: &[&Item], entity: &Entity, index: &str, draft: &mut Draft) {
    let Some(index_key) = entity.index_key(index) else { return };
    let Some(own) = draft.model.index(index) else { return };
    let inside = items.iter().filter(|item| own.keys.iter().all(|name| item.contains_key(name))).count();
    let text = format!(
        "{} of {} items are in {index}: which are they?",
        thousands(inside as u64),
        thousands(items.len() as u64)
    );
    let asked = Asked::When { entity: entity.name.clone(), index: index.to_owned() };
    let others: Vec<String> = sparse::candidates(items, entity, own, &index_key.key)
        .into_iter()
        .map(|condition| condition.to_string())
        .filter(|text| *text != index_key.when.to_string())
        .take(3)
        .collect();
    draft.questions.push(Question::new(asked, text, index_key.when.to_string()).with_choices(others));
}

/// Makes an index key fit whatever the items have, or leaves it out.
pub(super) fn generalise_index(entity: &mut Entity, index: &Index) {
    let Some(position) = entity.indexes.iter().position(|index_key| index_key.index == index.name) else {
        return;
    };
    let mut index_key = entity.indexes.remove(position);
    if generalise(&mut index_key, entity, index).is_some() {
        entity.indexes.insert(position, index_key);
    }
}

/// The key attributes are attributes of their own; `None` if a template cannot name them.
fn generalise(index_key: &mut IndexKey, entity: &mut Entity, index: &Index) -> Option<()> {
    let names = &index.keys;
    let exists: Vec<String> = names.iter().map(|name| format!("exists({name})")).collect();
    let when = Condition::parse(&exists.join(" and ")).ok();
    let when = when.filter(|_| names.iter().all(|name| is_field_name(name)))?;
    for name in names {
        if !entity.attributes.iter().any(|attribute| attribute.name == *name) {
            let attribute = Attribute { optional: true, ..Attribute::new(name, ValueType::String) };
            entity.attributes.push(attribute);
        }
    }
    entity.numbers = Default::default();
    index_key.key = names.iter().map(|name| Template::field(name)).collect();
    index_key.when = when;
    Some(())
}
