//! The values of an item under both models: renamed, recovered from old keys, given by defaults; and the keys made from them.

use super::normal_form::normal_value;
use super::{Transition, conversion, old_name};
use crate::audit::{known_values, recognise};
use crate::generate::typed_value;
use crate::item::{Attributes, Item, Value, attributes};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Aggregate, Attribute, Entity, Model};
use crate::template::{FieldTypes, Format, Part, SHARD, Template};
use std::collections::BTreeSet;

/// An item's attributes under both models, without generated keys.
pub(super) struct Values {
    /// By their old names, those contained in keys included.
    pub old: Attributes,
    /// By their new names, those contained in keys included.
    pub new: Attributes,
    /// The item with its new attributes, and with its old keys.
    pub item: Item,
    /// New required attributes without a value.
    pub missing: Vec<String>,
    /// The old and the new name of an attribute that the item has under both, with different values.
    pub contradiction: Option<(String, String)>,
    /// An attribute that only the key contains, and why its value cannot be read there.
    pub unclear: Option<String>,
    /// Whether the new model recognises the item: it may have its new keys already.
    is_recognised: bool,
}

impl Values {
    pub fn new(
        transition: &Transition<'_>,
        before: Option<&Entity>,
        after: &Entity,
        item: &Item,
        texts: &Attributes,
    ) -> Values {
        let (mut old, mut unclear) = (texts.clone(), None);
        if let Some(before) = before {
            unclear = add_key_fields(transition.old, before, texts, &mut old);
        }
        let is_recognised = recognise(transition.new, texts).is_some_and(|found| found.name == after.name);
        if is_recognised {
            add_key_fields(transition.new, after, texts, &mut old);
        }
        let (new, item) = (old.clone(), item.clone());
        let (missing, contradiction) = (Vec::new(), None);
        let mut values = Values { old, new, item, missing, contradiction, unclear, is_recognised };
        if let Some(before) = before {
            after.attributes.iter().for_each(|attribute| values.rename(before, after, attribute));
            after.attributes.iter().for_each(|attribute| values.convert(before, after, attribute));
            values.forget_aggregates(before, after);
        }
        for attribute in &after.attributes {
            match after.aggregates.iter().find(|own| own.name == attribute.name) {
                Some(aggregate) => values.start_counting(aggregate, attribute),
                None => values.complete(transition.new, before, after, attribute),
            }
        }
        values
    }

    /// The values of a copy with these attributes of its own.
    pub fn of_copy(&self, new: &Model, copy: &Entity, shared: &Item) -> Values {
        let mut values = Values {
            old: self.old.clone(),
            new: self.new.clone(),
            item: shared.clone(),
            missing: Vec::new(),
            contradiction: None,
            unclear: None,
            is_recognised: false,
        };
        copy.attributes.iter().for_each(|attribute| values.complete(new, None, copy, attribute));
        values
    }

    /// The shard that the item has: in its new form, if it may have that already, or else in its old form.
    fn had_shard(
        &self,
        transition: &Transition<'_>,
        before: Option<&Entity>,
        after: &Entity,
        location: &TableOrIndex<'_>,
        item: &Item,
    ) -> Option<String> {
        let new = || shard_in(transition.new, after, location.name(), item);
        let old = || shard_in(transition.old, before?, location.name(), item);
        if self.is_recognised { new().or_else(old) } else { old().or_else(new) }
    }

    fn rename(&mut self, before: &Entity, after: &Entity, attribute: &Attribute) {
        let name = &attribute.name;
        let Some(old) = old_name(before, after, attribute).filter(|old| old != name) else { return };
        let is_contradicted = match (self.item.get(old), self.item.get(name)) {
            (Some(before), Some(after)) => normal_value(before) != normal_value(after),
            _ => matches!((self.new.get(old), self.new.get(name)), (Some(old), Some(new)) if old != new),
        };
        if is_contradicted {
            self.contradiction = Some((old.to_owned(), name.clone()));
        }
        if let Some(value) = self.new.remove(old) {
            self.new.entry(name.clone()).or_insert(value);
        }
        if let Some(value) = self.item.remove(old) {
            self.item.entry(name.clone()).or_insert(value);
        }
    }

    /// Writes a value as the new type of its attribute has it, if that loses nothing.
    fn convert(&mut self, before: &Entity, after: &Entity, attribute: &Attribute) {
        let name = &attribute.name;
        let old = old_name(before, after, attribute).and_then(|name| before.attribute(name));
        let Some(old) = old.filter(|old| !old.is_within(attribute)) else { return };
        let in_item = self.item.get(name).cloned();
        let in_key = || self.new.get(name).map(|text| typed_value(&old.kind, text));
        let Some(value) = in_item.clone().or_else(in_key) else { return };
        if let Some(converted) = conversion::converted(attribute, FieldTypes::delimiter(after), &value) {
            self.new.extend(converted.to_text().map(|text| (name.clone(), text)));
            // What only the key holds is held by the new key, or becomes an attribute with it.
            if in_item.is_some() {
                self.item.insert(name.clone(), converted);
            }
        }
    }

    /// An aggregate is counted later. Until then, a number that the new model requires is zero.
    fn start_counting(&mut self, aggregate: &Aggregate, attribute: &Attribute) {
        let is_zero = aggregate.function.is_additive() && !attribute.optional;
        if is_zero && !self.new.contains_key(&attribute.name) {
            self.new.insert(attribute.name.clone(), "0".to_owned());
            self.item.insert(attribute.name.clone(), Value::Number("0".to_owned()));
        }
    }

    /// Removes the aggregates that the new model does not have.
    fn forget_aggregates(&mut self, before: &Entity, after: &Entity) {
        let lost = before.aggregates.iter().filter(|aggregate| after.attribute(&aggregate.name).is_none());
        for aggregate in lost {
            self.new.remove(&aggregate.name);
            self.item.remove(&aggregate.name);
        }
    }

    /// Gives a new attribute its default or computed value, if it has none. A value that only a key holds becomes an attribute if the
    /// new model needs it outside keys.
    fn complete(&mut self, new: &Model, before: Option<&Entity>, after: &Entity, attribute: &Attribute) {
        let is_null = self.item.get(&attribute.name) == Some(&Value::Null);
        if let Some(text) = self.new.get(&attribute.name).filter(|_| !is_null) {
            if !self.item.contains_key(&attribute.name)
                && new.need_outside_keys(after, &attribute.name).is_some()
            {
                self.item.insert(attribute.name.clone(), typed_value(&attribute.kind, text));
            }
            return;
        }
        match self.computed(after, attribute).or_else(|| attribute.origin.default.clone()) {
            Some(text) => {
                self.item.insert(attribute.name.clone(), typed_value(&attribute.kind, &text));
                self.new.insert(attribute.name.clone(), text);
            }
            None if attribute.optional || is_null => {}
            None if before.is_none_or(|before| old_name(before, after, attribute).is_some()) => {}
            None => self.missing.push(attribute.name.clone()),
        }
    }

    /// The computed value of an attribute, if those that it is computed from have a text, and it is one that the attribute admits.
    fn computed(&self, after: &Entity, attribute: &Attribute) -> Option<String> {
        let has_text = |name: &str| self.item.get(name).is_none_or(|value| value.to_text().is_some());
        let text_of = |name: &str| self.new.get(name).filter(|_| has_text(name)).map(String::as_str);
        let text = attribute.origin.computed.as_ref()?.fill_with(text_of).ok()?;
        let value = typed_value(&attribute.kind, &text);
        attribute.admits(&value, FieldTypes::delimiter(after)).is_ok().then_some(text)
    }
}

/// Adds the fields of an item's keys that it does not have as attributes. A time bucket is only a part of a value. Returns a field that the item does
/// not have, and why its value cannot be read in the table's key.
fn add_key_fields(
    model: &Model,
    entity: &Entity,
    texts: &Attributes,
    values: &mut Attributes,
) -> Option<String> {
    let mut unclear = None;
    for location in TableOrIndex::all(model) {
        let Some(mapping) = location.mapping(entity) else { continue };
        for (name, template) in location.key_names(model).iter().zip(mapping.key) {
            let whole = whole_fields(template);
            let found = texts.get(name).and_then(|key| template.matches(key, entity)).unwrap_or_default();
            let open = open_fields(template, entity, &found);
            let is_lacking = |field: &&String| !texts.contains_key(*field);
            if location.index.is_none() {
                let first = open.iter().find(is_lacking);
                unclear = unclear.or_else(|| {
                    first.map(|field| {
                        format!("{field} in its key only, where several delimiters leave its end open")
                    })
                });
            }
            for (field, value) in
                found.into_iter().filter(|(field, _)| whole.contains(field.as_str()) && !open.contains(field))
            {
                values.entry(field).or_insert(value);
            }
        }
    }
    unclear.or_else(|| lower_only(entity, values))
}

/// A field of the table's key whose value is known only in lower case, and that this is so.
fn lower_only(entity: &Entity, values: &Attributes) -> Option<String> {
    let mut parts = entity.key.iter().flat_map(|template| &template.parts);
    parts.find_map(|part| match part {
        Part::Field { name, format: Format::Lower } if !values.contains_key(name) => {
            Some(format!("{name} in its key only, in lower case"))
        }
        _ => None,
    })
}

/// The fields whose ends several delimiters of a key leave open, as in `x#y#z` of `{title}#{remark}`.
fn open_fields(template: &Template, entity: &Entity, found: &Attributes) -> BTreeSet<String> {
    let readable = template.readable_fields(entity);
    let unclear = || found.iter().filter(|(field, _)| !readable.contains(&field.as_str()) && *field != SHARD);
    let adjoin = |parts: &[Part]| parts.iter().all(|part| matches!(part, Part::Field { .. }));
    let is_open = unclear().any(|(_, value)| value.contains(FieldTypes::delimiter(entity)))
        || template.parts.windows(2).any(adjoin);
    let whole = whole_fields(template);
    let names = unclear().map(|(field, _)| field).filter(|field| whole.contains(field.as_str()));
    if is_open { names.cloned().collect() } else { BTreeSet::new() }
}

/// The fields whose whole value a template contains.
fn whole_fields(template: &Template) -> BTreeSet<&str> {
    let whole = template.parts.iter().filter_map(|part| match part {
        Part::Field { name, format } => format.is_readable().then_some(name.as_str()),
        Part::Text(_) => None,
    });
    whole.filter(|name| *name != SHARD).collect()
}

/// Returns the item with its new keys and its new type.
///
/// # Errors
///
/// Returns the attribute whose value is missing, or which is in the way.
pub(super) fn new_keys(
    transition: &Transition<'_>,
    before: Option<&Entity>,
    after: &Entity,
    item: &Item,
    values: &Values,
) -> Result<Item, String> {
    let new = transition.new;
    let (mut made, mut recoverable) = (Item::new(), BTreeSet::new());
    for location in TableOrIndex::all(new) {
        let Some(mapping) = location.mapping(after) else { continue };
        // An item gets the index keys that follow from an aggregate once that is counted.
        let is_uncounted = |own: &Aggregate| {
            !values.new.contains_key(&own.name)
                && mapping.key.iter().any(|template| template.has_field(&own.name))
        };
        let is_there = || mapping.includes(&values.new) && !after.aggregates.iter().any(is_uncounted);
        if location.index.is_some() && !is_there() {
            continue;
        }
        for (position, (name, template)) in location.key_names(new).iter().zip(mapping.key).enumerate() {
            let mut filled = values.new.clone();
            let had = || values.had_shard(transition, before, after, &location, item);
            filled.insert(SHARD.to_owned(), shard(&mapping, had, &values.new));
            let is_unchanged = || {
                before
                    .and_then(|before| location.mapping(before))
                    .is_some_and(|before| before.key.get(position) == Some(template))
            };
            let key =
                match template.fill(&filled) {
                    Ok(key) => location.key_value(new, position, key),
                    // Where only a part of the value is known, an unchanged key is still right.
                    Err(missing) => item.get(name).filter(|_| is_unchanged()).cloned().ok_or_else(|| {
                        match values.new.contains_key(&missing) {
                            true => format!("the {missing} of {} does not fit {template}", after.name),
                            false => format!("{} has no {missing}", after.name),
                        }
                    })?,
                };
            made.insert(name.clone(), key);
        }
        recoverable.extend(mapping.key.iter().flat_map(whole_fields));
    }
    if let Some(name) = &new.table.type_attribute {
        made.insert(name.clone(), Value::String(after.type_value.clone()));
    }
    let mut keyed = own_attributes(transition, before, after, (item, values), &made)?;
    keyed.extend(made);
    keep_recovered(before, after, values, &recoverable, &mut keyed);
    Ok(keyed)
}

/// The attributes of an item without its keys and its type, which are made anew.
///
/// # Errors
///
/// Returns the attribute that is the item's own, and would be overwritten by a key or the type, or become the key of an index.
fn own_attributes(
    transition: &Transition<'_>,
    before: Option<&Entity>,
    after: &Entity,
    (item, values): (&Item, &Values),
    made: &Item,
) -> Result<Item, String> {
    let Transition { old, new } = *transition;
    let mut own = values.item.clone();
    let outdated = before.map(|before| outdated_names(transition, before, after, item)).unwrap_or_default();
    own.retain(|name, _| !outdated.contains(name.as_str()) || after.attribute(name).is_some());
    // An item that has its new form already may have keys that do not follow from its values any more.
    let in_new_form = if values.is_recognised { made_names(new, after, item) } else { BTreeSet::new() };
    own.retain(|name, _| after.attribute(name).is_some() || !in_new_form.contains(name.as_str()));
    let (old_keys, new_keys) = (key_names(old), key_names(new));
    let is_in_the_way = |(name, value): &(&String, &Value)| match made.get(*name) {
        _ if after.attribute(name).is_some() => false,
        Some(made) => normal_value(made) != normal_value(value),
        None => new_keys.contains(*name) && !old_keys.contains(*name),
    };
    own.iter().find(is_in_the_way).map_or(Ok(()), |(name, _)| Err(in_the_way(&after.name, name)))?;
    Ok(own)
}

/// Says that an attribute of the application is where the new model has one.
pub(super) fn in_the_way(holder: &str, name: &str) -> String {
    format!(
        "{holder} has an attribute {name} of its own, and the new model a key or a type of that name: rename one of them"
    )
}

/// The attributes that items of an entity have besides those that it declares: their keys and their type.
pub(super) fn generated_names<'m>(model: &'m Model, entity: &'m Entity) -> BTreeSet<&'m str> {
    let locations = TableOrIndex::all(model).into_iter();
    let own = locations.filter(|location| location.mapping(entity).is_some());
    let keys = own.flat_map(|location| location.key_names(model));
    let names = keys.chain(&model.table.type_attribute).map(String::as_str);
    names.filter(|name| entity.attribute(name).is_none()).collect()
}

/// The attributes that an item loses with its old model, or that are made anew: those that the old model has made. What the application has
/// stored under such a name stays, unless the new model makes it.
pub(super) fn outdated_names<'m>(
    transition: &Transition<'m>,
    before: &'m Entity,
    after: &Entity,
    item: &Item,
) -> BTreeSet<&'m str> {
    let mut names = generated_names(transition.old, before);
    let (made, anew) = (made_names(transition.old, before, item), generated_names(transition.new, after));
    names.retain(|name| made.contains(name) || anew.contains(name));
    names
}

/// The attributes of an item that a model has made for it, now or when it had other values: its keys and its type.
pub(super) fn made_names<'m>(model: &'m Model, entity: &'m Entity, item: &Item) -> BTreeSet<&'m str> {
    let texts = attributes(item);
    let values = known_values(model, entity, &texts);
    let is_made = |location: &TableOrIndex<'_>| {
        location.index.is_none() || has_keys_of(model, entity, location, item, &values)
    };
    let locations = TableOrIndex::all(model).into_iter();
    let own = locations.filter(|location| location.mapping(entity).is_some() && is_made(location));
    let keys = own.flat_map(|location| location.key_names(model));
    let kind = model.table.type_attribute.iter().filter(|name| texts.get(*name) == Some(&entity.type_value));
    let names = keys.chain(kind).map(String::as_str);
    names.filter(|name| entity.attribute(name).is_none()).collect()
}

/// Whether an item has the keys of an index that a model makes for its entity, or had with other values: all of them fit, and one of them has a
/// text of the model, or the item's own values.
fn has_keys_of(
    model: &Model,
    entity: &Entity,
    index: &TableOrIndex<'_>,
    item: &Item,
    values: &Attributes,
) -> bool {
    let Some(mapping) = index.mapping(entity) else { return false };
    let mut is_telling = false;
    let mut keys = index.key_names(model).iter().zip(mapping.key).enumerate();
    let all_fit = keys.all(|(position, (name, template))| {
        let Some(key) = item.get(name) else { return false };
        let made =
            template.fill(values).ok().map(|text| normal_value(&index.key_value(model, position, text)));
        let is_equal = made == Some(normal_value(key));
        is_telling |= is_equal || template.parts.iter().any(|part| matches!(part, Part::Text(_)));
        is_equal || key.to_text().is_some_and(|text| template.matches(&text, entity).is_some())
    });
    all_fit && is_telling
}

/// Adds the attributes that only the old keys contain, those that the new model does not declare included: nothing else holds their values.
fn keep_recovered(
    before: Option<&Entity>,
    after: &Entity,
    values: &Values,
    recoverable: &BTreeSet<&str>,
    keyed: &mut Item,
) {
    let is_undeclared = |attribute: &&Attribute| after.attribute(&attribute.name).is_none();
    let given_up = before.into_iter().flat_map(|before| &before.attributes).filter(is_undeclared);
    for attribute in after.attributes.iter().chain(given_up) {
        let name = attribute.name.as_str();
        if let Some(text) =
            values.new.get(name).filter(|_| !keyed.contains_key(name) && !recoverable.contains(name))
        {
            keyed.insert(name.to_owned(), typed_value(&attribute.kind, text));
        }
    }
}

fn key_names(model: &Model) -> BTreeSet<String> {
    model.indexes.iter().flat_map(|index| index.keys.clone()).chain(model.table.keys.clone()).collect()
}

/// The shard that the item must be in; where it may be in any, the one that it had, if the new number of shards permits it.
fn shard(mapping: &KeyMapping<'_>, had: impl FnOnce() -> Option<String>, values: &Attributes) -> String {
    let Some(shard) = mapping.shard else { return String::new() };
    if let Some(required) = shard.required(values) {
        return required.to_string();
    }
    let fits = had().filter(|number| shard.problem(number, values).is_none());
    fits.unwrap_or_else(|| shard.reproducible(values).to_string())
}

/// The shard that an item is in, in the table or in an index of this name.
fn shard_in(model: &Model, entity: &Entity, location: &str, item: &Item) -> Option<String> {
    let own = TableOrIndex::all(model).into_iter().find(|own| own.name() == location)?;
    let mapping = own.mapping(entity)?;
    let mut keys = own.key_names(model).iter().zip(mapping.key);
    let (name, template) = keys.find(|(_, template)| template.has_field(SHARD))?;
    template.matches(item.get(name)?.as_text()?, entity)?.remove(SHARD)
}
