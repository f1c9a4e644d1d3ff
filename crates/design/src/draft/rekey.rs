//! Answers that change the keys of entities.

use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model};
use crate::template::{DELIMITER, Format, Part, SHARD, Template};

/// Gives a key attribute its template. Where the key attribute itself was taken as it is, the fields are attributes in its place,
/// in indexes too.
pub(super) fn template(
    entity: &mut Entity,
    index: Option<&str>,
    position: usize,
    template: Template,
    keys: &[String],
) -> Result<(), String> {
    let key = match index {
        None => Some(&mut entity.key),
        Some(index) => {
            entity.indexes.iter_mut().find(|own| own.index == index).map(|index_key| &mut index_key.key)
        }
    };
    let slot = key.and_then(|key| key.get_mut(position)).ok_or("there is no such key")?;
    let natural = slot.bare_field().filter(|field| keys.get(position).is_some_and(|key| key == field));
    let natural = natural.map(str::to_owned);
    let missing: Vec<String> = template
        .fields()
        .filter(|field| *field != SHARD && !entity.attributes.iter().any(|own| own.name == *field))
        .map(str::to_owned)
        .collect();
    if let (Some(field), None) = (missing.first(), &natural) {
        let Some([old, new]) = in_place(slot, &template, field) else {
            return Err(format!("{} has no attribute `{field}`", entity.name));
        };
        replace_start(entity, &old, &new, field);
        return Ok(());
    }
    *slot = template.clone();
    entity.attributes.extend(missing.iter().map(|name| Attribute::new(name, ValueType::Id)));
    if let Some(natural) = natural {
        for own in entity.indexes.iter_mut().flat_map(|index_key| &mut index_key.key) {
            if own.bare_field() == Some(&natural) {
                *own = template.clone();
            }
        }
        let indexes = entity.indexes.iter().flat_map(|index_key| &index_key.key);
        if !entity.key.iter().chain(indexes).any(|template| template.has_field(&natural)) {
            forget(entity, index, &natural);
            if index.is_none() {
                entity.identity = entity.key_fields().map(str::to_owned).collect();
            }
        }
    }
    Ok(())
}

/// Where a template differs from another only by a field in place of a text or a shard: what both start with, up to the text and up to the field.
fn in_place(old: &Template, new: &Template, field: &str) -> Option<[String; 2]> {
    let (old, new) = (old.to_string(), new.to_string());
    let (before, after) = new.split_once(&format!("{{{field}}}"))?;
    let part = old.strip_prefix(before)?.strip_suffix(after)?;
    let is_text = !part.is_empty() && !part.contains(['{', '}']) && !before.contains('{');
    let is_shard = part == format!("{{{SHARD}}}");
    (is_text || is_shard).then(|| [format!("{before}{part}"), format!("{before}{{{field}}}")])
}

/// Puts a new field into all keys of an entity that start with a text or a shard in whose place it is.
fn replace_start(entity: &mut Entity, old: &str, new: &str, field: &str) {
    let indexes = entity.indexes.iter_mut().flat_map(|index_key| &mut index_key.key);
    for template in entity.key.iter_mut().chain(indexes) {
        let text = template.to_string();
        let replaced = text.strip_prefix(old).map(|rest| Template::parse(&format!("{new}{rest}")));
        if let Some(Ok(replaced)) = replaced {
            *template = replaced;
        }
    }
    let indexes = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    if !entity.key.iter().chain(indexes).any(|template| template.has_field(SHARD)) {
        entity.shard = None;
    }
    // Items that are not in an index do not have what only its key contains.
    let holds = |key: &[Template]| key.iter().any(|template| template.has_field(field));
    let mut sparse = entity.indexes.iter().filter(|own| !own.when.is_empty());
    let optional = !holds(&entity.key) && sparse.any(|own| holds(&own.key));
    entity.attributes.push(Attribute { optional, ..Attribute::new(field, ValueType::Id) });
    entity.numbers = Default::default();
    entity.identity.clear();
    entity.identify_by_key();
}

/// Removes an attribute that keys are no longer made of, also from the conditions of indexes. An index whose key it was has the items that have the
/// attributes of its new key.
fn forget(entity: &mut Entity, index: Option<&str>, name: &str) {
    entity.attributes.retain(|own| own.name != name);
    for position in 0..entity.indexes.len() {
        let own = &entity.indexes[position];
        if own.when.mentions(name) || (index == Some(&own.index) && own.when.is_empty()) {
            entity.indexes[position].when = entity.presence_of(&entity.indexes[position].key);
        }
    }
}

/// Gives an entity the attributes that identify its items: the key consists of them, behind the texts that it starts with.
pub(super) fn identify(entity: &mut Entity, names: &str) -> Result<(), String> {
    let names: Vec<String> =
        names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    if let Some(name) = names.iter().find(|name| entity.attribute(name).is_none()) {
        return Err(format!("{} has no attribute `{name}`", entity.name));
    }
    let [first, rest @ ..] = names.as_slice() else {
        return Err("name one attribute or several, separated by commas".to_owned());
    };
    let rest = if rest.is_empty() { std::slice::from_ref(first) } else { rest };
    let parts = [std::slice::from_ref(first), rest];
    let last = entity.key.len().saturating_sub(1);
    let attributes = |at: usize| if last == 0 { names.as_slice() } else { parts[at.min(1)] };
    let keys: Vec<Template> = entity
        .key
        .iter()
        .enumerate()
        .map(|(at, own)| of_attributes(entity, own.prefix(), attributes(at)))
        .collect();
    entity.key = keys;
    entity.identity = names;
    Ok(())
}

/// A template of a text and attributes, of which only the last may contain the delimiter.
fn of_attributes(entity: &Entity, prefix: &str, names: &[String]) -> Template {
    let mut parts = vec![Part::Text(prefix.to_owned())];
    for (at, name) in names.iter().enumerate() {
        let is_free = entity.attribute(name).is_some_and(|attribute| attribute.kind == ValueType::String);
        let format = if is_free && at + 1 < names.len() { Format::Escaped } else { Format::Plain };
        if at > 0 {
            parts.push(Part::Text(DELIMITER.to_string()));
        }
        parts.push(Part::Field { name: name.clone(), format });
    }
    parts.retain(|part| *part != Part::Text(String::new()));
    Template { parts }
}

/// Writes text into keys as it is where they hold it in lower case.
pub(super) fn keep_case(model: &mut Model) {
    for entity in &mut model.entities {
        let kinds: Vec<(String, ValueType)> =
            entity.attributes.iter().map(|own| (own.name.clone(), own.kind.clone())).collect();
        let is_choice =
            |name: &str| kinds.iter().any(|(own, kind)| own == name && matches!(kind, ValueType::Choice(_)));
        let indexes = entity.indexes.iter_mut().flat_map(|index_key| &mut index_key.key);
        for part in entity.key.iter_mut().chain(indexes).flat_map(|template| &mut template.parts) {
            if let Part::Field { name, format } = part
                && *format == Format::Lower
                && !is_choice(name)
            {
                *format = Format::Plain;
            }
        }
    }
}
