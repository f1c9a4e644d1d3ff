//! Rules about the values that types admit: formats that cannot hold them, times that do not sort, bounds that are compared wrongly.

use super::Checker;
use super::remedy::with_key;
use crate::finding::{Finding, Severity};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex, Written};
use crate::keys::keyspace::MAX_NAMED;
use crate::model::decimal::Decimal;
use crate::model::limits::Zone;
use crate::model::text_form::time_form;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Pattern};
use crate::repair::{Edit, Repair};
use crate::template::{Format, Part, Template};
use std::collections::{BTreeMap, BTreeSet};

/// The digits of a number whose greatest value is not declared.
const USUAL_WIDTH: usize = 12;
/// The characters of a date.
const DATE_LENGTH: usize = 10;

impl<'m> Checker<'m> {
    pub fn value_types(&mut self) {
        for mapping in self.mappings() {
            let templates = [Some(&mapping.partition), mapping.sort.as_ref()].into_iter().flatten();
            templates.filter(|_| !mapping.is_implied).for_each(|template| self.formats(&mapping, template));
            self.keyable(&mapping);
            self.searched_decimals(&mapping);
            self.one_type(&mapping);
            self.offsets(&mapping);
        }
        let model = self.model;
        TableOrIndex::all(model).into_iter().for_each(|location| self.types_outside(location));
        for entity in &model.entities {
            self.one_value(entity);
            self.types_as_choices(entity);
        }
        for pattern in &model.patterns {
            self.has_order(pattern);
            self.one_type_of_inputs(pattern);
            self.sorts_by_offset(pattern);
            self.bounds_with_offset(pattern);
        }
        self.precisions();
    }

    /// An item has each attribute once: what several keys, the type or the entity itself call by one name is one value.
    fn one_value(&mut self, entity: &'m Entity) {
        let model = self.model;
        let mut all: BTreeMap<&str, Written<'_>> = BTreeMap::new();
        let of_type = Template::text(&entity.type_value);
        for mapping in TableOrIndex::all(model).into_iter().filter_map(|location| location.mapping(entity)) {
            let names = mapping.location.key_names(model).iter();
            for (name, template) in names.zip(mapping.key) {
                let own = entity.attribute(name).is_some() && template.bare_field() != Some(name);
                let is_type = model.table.type_attribute.as_ref() == Some(name) && *template != of_type;
                let written = Written::new(template, mapping.shard);
                let meaning = match all.insert(name, written).filter(|other| *other != written) {
                    Some(other) if other.template == template => {
                        "has another shard in another key".to_owned()
                    }
                    Some(other) => format!("{} in another key", other.template),
                    None if own => format!("an attribute of {}", entity.name),
                    None if is_type => "the type attribute".to_owned(),
                    None => continue,
                };
                let finding = self.about_mapping("P222", Severity::Error, &mapping).with_message(format!(
                    "{name} is {template} in {} and {meaning}: an item has one value of it",
                    mapping.location.name()
                ));
                let rename = format!("give the key attribute {name} a name of its own");
                let remove = format!(
                    "remove {name} from attributes, since its value is made of the others, or {rename}"
                );
                self.report(finding.with_help(if own { remove } else { rename }));
            }
        }
    }

    /// Under its own name, a key attribute is a string or a number.
    fn keyable(&mut self, mapping: &KeyMapping<'m>) {
        for (name, template) in mapping.location.key_names(self.model).iter().zip(mapping.key) {
            let own = template.bare_field().filter(|field| field == name);
            let is_odd = |own: &&Attribute| !is_keyable(&own.kind);
            let Some(attribute) = own.and_then(|own| mapping.entity.attribute(own)).filter(is_odd) else {
                continue;
            };
            let message = format!(
                "{name} is {}, and a key attribute is a string or a number: items with it are refused",
                attribute.kind.described()
            );
            let finding = self.about_mapping("P222", Severity::Error, mapping).with_message(message);
            let help = format!("give the key an attribute of its own with the text of {name}");
            self.report(finding.with_help(help));
        }
    }

    /// What a result is sorted or bounded by has an order.
    fn has_order(&mut self, pattern: &Pattern) {
        let range = pattern.range.iter().map(|range| (range.by.as_str(), "bounded", true));
        let order = pattern.order.iter().map(|order| (order.by.as_str(), "sorted", false));
        for (name, done, is_range) in range.chain(order) {
            let entities = pattern.targets.iter().map(|target| &target.entity);
            let entities = entities.chain(pattern.via.iter().map(|via| &via.entity));
            let mut kinds =
                entities.filter_map(|entity| Some(&self.model.entity(entity)?.attribute(name)?.kind));
            let is_odd = |kind: &&ValueType| !kind.is_scalar() || (is_range && **kind == ValueType::Bool);
            let Some(kind) = kinds.find(is_odd) else { continue };
            let message = format!("{name} is {}, by which nothing can be {done}", kind.described());
            let finding = self.about_pattern("P122", Severity::Error, pattern);
            self.report(finding.with_message(message).with_help("name an attribute that has an order"));
        }
    }

    /// `string | null` is no type: it is the two words.
    fn types_as_choices(&mut self, entity: &Entity) {
        for attribute in &entity.attributes {
            let Some(types) = attribute.kind.meant_types() else { continue };
            let (name, words) = (&attribute.name, attribute.kind.print().replace('|', "\" or \""));
            let message = format!("{name} can only be the word \"{words}\": these are choices, and no types");
            let finding = self.about_entity("P231", Severity::Warning, entity).with_message(message);
            let [one] = types.as_slice() else {
                let help = "a value has one type: declare that one, or allow this if the words are meant";
                self.report(finding.with_help(help));
                continue;
            };
            let help = format!("for an optional value write {name} = \"{one}?\"");
            let path = ["entity", &entity.name, "attributes", name, "type"];
            let repairs = [&path[..], &path[..4]].map(|path| {
                let edit = Edit::set(path, format!("\"{one}?\""));
                Repair { help: help.clone(), edits: vec![edit] }
            });
            self.report(finding.with_help(help.as_str()).with_proposals(repairs.into()));
        }
    }

    /// A format must have room for every value that the type admits.
    fn formats(&mut self, mapping: &KeyMapping<'m>, template: &Template) {
        let entity = mapping.entity;
        for part in &template.parts {
            let Part::Field { name, format } = part else { continue };
            let Some(attribute) = entity.attribute(name) else { continue };
            let Some(misfit) = misfit(*format, attribute) else { continue };
            let finding = self.about_mapping("P222", Severity::Error, mapping);
            let written = Template { parts: vec![part.clone()] };
            let mut finding = finding.with_message(format!("{template}: {written} {misfit}"));
            let fitting = fitting_format(attribute).unwrap_or(Format::Plain);
            let fitting = Part::Field { name: name.clone(), format: fitting };
            let help = format!("write {}", Template { parts: vec![fitting.clone()] });
            finding = finding.with_help(if attribute.kind.is_number() {
                format!("{help}, or narrow the type with min and max")
            } else {
                help.clone()
            });
            let repair = replaced(mapping, part, &fitting).map(|edit| Repair { help, edits: vec![edit] });
            self.report(finding.with_proposals(repair.into_iter().collect()));
        }
    }

    /// A caller who knows a number and not its text misses the item: 111.5 and 111.50 are one number and two keys.
    fn searched_decimals(&mut self, mapping: &KeyMapping<'m>) {
        let entity = mapping.entity;
        let is_searched = |name: &String| {
            let mut patterns = self.model.patterns.iter().filter(|pattern| pattern.inputs.contains(name));
            patterns.any(|pattern| pattern.targets.iter().any(|target| target.entity == entity.name))
        };
        for (position, template) in mapping.key.iter().enumerate() {
            let is_number = mapping.location.key_is_number(self.model, position);
            for part in template.parts.iter().filter(|_| !is_number) {
                let Part::Field { name, format: Format::Plain } = part else { continue };
                let decimal = entity.attribute(name).filter(|own| own.kind == ValueType::Decimal);
                let Some(attribute) = decimal.filter(|_| is_searched(name)) else { continue };
                let Some(fitting) = fitting_format(attribute) else { continue };
                let finding = self.about_mapping("P222", Severity::Warning, mapping).with_message(format!(
                    "{template}: {name} is searched by its text, and 111.5 and 111.50 are one number with two texts"
                ));
                let fitting = Part::Field { name: name.clone(), format: fitting };
                let help = format!("write {}", Template { parts: vec![fitting.clone()] });
                let repair = replaced(mapping, part, &fitting)
                    .map(|edit| Repair { help: help.clone(), edits: vec![edit] });
                let all = format!("{help}, or write every number without zeros at its end");
                self.report(finding.with_help(all).with_proposals(repair.into_iter().collect()));
            }
        }
    }

    /// A key attribute has one type: a number under its own name cannot be there beside texts.
    fn one_type(&mut self, mapping: &KeyMapping<'m>) {
        let location = mapping.location;
        for (position, (name, template)) in location.key_names(self.model).iter().zip(mapping.key).enumerate()
        {
            let attribute = mapping.entity.attribute(name).filter(|_| template.bare_field() == Some(name));
            let is_number = attribute.is_some_and(|attribute| attribute.kind.is_number());
            if !is_number || location.key_is_number(self.model, position) {
                continue;
            }
            let place = location.name();
            let finding = self.about_mapping("P222", Severity::Error, mapping).with_message(format!(
                "{name} is a key of {place}, a number in {} and a text in other entities: a key attribute has one type, and items of the other are refused",
                mapping.entity.name
            ));
            let help = format!("give {name} one type in all entities, or another name where it is no number");
            self.report(finding.with_help(help));
        }
    }

    /// The database refuses an item whose attribute has another type than the key attribute of that name, also where the item is not in the index.
    fn types_outside(&mut self, location: TableOrIndex<'m>) {
        let model = self.model;
        let outside: Vec<&Entity> =
            model.entities.iter().filter(|entity| location.mapping(entity).is_none()).collect();
        for (position, name) in location.key_names(model).iter().enumerate() {
            let is_number = location.key_is_number(model, position);
            let fits = |kind: &ValueType| match is_number {
                true => kind.is_number(),
                false => !kind.is_number() && is_keyable(kind),
            };
            for entity in &outside {
                let Some(attribute) = entity.attribute(name).filter(|own| !fits(&own.kind)) else { continue };
                let key = if is_number { "a number" } else { "a text" };
                let message = format!(
                    "{name} is {} in {}, and {key} as a key of {}: items with another type are refused, also those that are not in the index",
                    attribute.kind.described(),
                    entity.name,
                    location.name(),
                );
                let finding = self.about_entity("P222", Severity::Error, entity).with_message(message);
                self.report(finding.with_help(format!(
                    "give {name} one type in all entities, or another name in {}",
                    entity.name
                )));
            }
        }
    }

    /// The caller has one value of an input: entities that it finds must be able to hold it.
    fn one_type_of_inputs(&mut self, pattern: &Pattern) {
        let model = self.model;
        for input in &pattern.inputs {
            let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
            let held = targets.filter_map(|entity| Some((&entity.name, &entity.attribute(input)?.kind)));
            let mut kinds: Vec<(&String, &ValueType)> = Vec::new();
            let excluding = held.into_iter().find_map(|(second, other)| {
                let excludes = |(_, kind): &&(&String, &ValueType)| !kind.shares_values(other);
                let first = kinds.iter().find(excludes).copied();
                if kinds.len() < MAX_NAMED && kinds.iter().all(|(_, kind)| *kind != other) {
                    kinds.push((second, other));
                }
                Some((first?, (second, other)))
            });
            let Some(((first, kind), (second, other))) = excluding else { continue };
            let message = format!(
                "{input} is {} in {first} and {} in {second}: no value is both",
                kind.print(),
                other.print()
            );
            let finding = self.about_pattern("P232", Severity::Error, pattern).with_message(message);
            self.report(finding.with_help(format!("declare {input} with one type in {first} and {second}")));
        }
    }

    /// Times with offsets do not sort, neither whole nor cut to a bucket.
    fn offsets(&mut self, mapping: &KeyMapping<'m>) {
        let is_bucket = |name: &&str| mapping.partition.truncates(name);
        let sorted = mapping.sort.iter().flat_map(Template::fields);
        let names: BTreeSet<&str> = sorted.chain(mapping.partition.fields().filter(is_bucket)).collect();
        for name in names {
            if mapping.entity.attribute(name).is_some_and(has_offset) {
                let finding = self.about_mapping("P223", Severity::Error, mapping);
                self.report(with_offset_texts(finding, name, "is part of a key"));
            }
        }
    }

    fn sorts_by_offset(&mut self, pattern: &Pattern) {
        let model = self.model;
        let uses = [
            (pattern.order.as_ref().map(|order| &order.by), "orders the results"),
            (pattern.range.as_ref().map(|range| &range.by), "bounds the results"),
        ];
        for (name, use_of_it) in uses {
            let Some(name) = name else { continue };
            let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
            if targets.filter_map(|entity| entity.attribute(name)).any(has_offset) {
                let finding = self.about_pattern("P223", Severity::Error, pattern);
                self.report(with_offset_texts(finding, name, use_of_it));
            }
        }
    }

    /// A bound with an offset is compared as text with times in UTC.
    fn bounds_with_offset(&mut self, pattern: &Pattern) {
        let Some(range) = &pattern.range else { return };
        for bound in [&range.from, &range.to].into_iter().flatten() {
            if time_form(bound).is_some_and(|form| form.zone == Zone::Offset) {
                let finding = Finding::new("P123", Severity::Error, pattern.subject(), &range.span);
                self.report(with_offset(finding, bound));
            }
        }
    }

    /// Times that are sorted should all have the same precision.
    fn precisions(&mut self) {
        let model = self.model;
        let names: BTreeSet<&str> = model
            .patterns
            .iter()
            .flat_map(|pattern| {
                let order = pattern.order.as_ref().map(|order| order.by.as_str());
                order.into_iter().chain(pattern.range.as_ref().map(|range| range.by.as_str()))
            })
            .collect();
        for entity in &model.entities {
            let is_open = |name: &&&str| {
                entity.attribute(name).is_some_and(|attribute| {
                    attribute.kind == ValueType::Timestamp
                        && attribute.limits.precision.is_none()
                        && attribute.limits.zone == Zone::Utc
                })
            };
            let Some(name) = names.iter().find(is_open) else { continue };
            let is_optional = entity.attribute(name).is_some_and(|attribute| attribute.optional);
            let optional = if is_optional { "?" } else { "" };
            let finding = self.about_entity("P224", Severity::Note, entity);
            self.report(
                finding
                    .with_message(format!(
                        "items are sorted by {name}, whose precision is not declared: …:00.500Z sorts before …:00Z"
                    ))
                    .with_help(format!(
                        "declare it: {name} = {{ type = \"timestamp{optional}\", precision = \"second\" }}"
                    )),
            );
        }
    }
}

/// Whether a key attribute can hold values of a type.
fn is_keyable(kind: &ValueType) -> bool {
    kind.is_scalar() && *kind != ValueType::Bool
}

fn has_offset(attribute: &Attribute) -> bool {
    attribute.limits.zone == Zone::Offset
}

pub fn with_offset(finding: Finding, bound: &str) -> Finding {
    finding
        .with_message(format!("the bound '{bound}' has an offset, and is compared as text with times in UTC"))
        .with_help("write the bound in UTC, ending in Z")
}

fn with_offset_texts(finding: Finding, name: &str, use_of_it: &str) -> Finding {
    finding
        .with_message(format!(
            "{name} {use_of_it}, and its times have offsets: 09:00:00+02:00 sorts after 08:30:00Z, although it is earlier"
        ))
        .with_help("store the time in UTC, and its offset in an attribute of its own")
}

/// The format that holds every number that the type admits, and keeps the order.
pub fn fitting_format(attribute: &Attribute) -> Option<Format> {
    if !attribute.kind.is_number() {
        return None;
    }
    let limits = [&attribute.limits.min, &attribute.limits.max];
    let is_bounded = limits.iter().all(|limit| limit.is_some());
    let most = |of: fn(&Decimal) -> usize| limits.into_iter().flatten().map(of).max().unwrap_or_default();
    let digits = most(Decimal::whole_digits);
    let width = if is_bounded { digits } else { digits.max(USUAL_WIDTH) };
    let least = if attribute.kind == ValueType::Int { 0 } else { 2 };
    let decimals = most(Decimal::decimals).max(least);
    Some(if attribute.limits.min.as_ref().is_some_and(Decimal::is_negative) {
        Format::Signed { width, decimals }
    } else {
        Format::Padded { width, decimals }
    })
}

/// Which values of the type have no text in the format.
fn misfit(format: Format, attribute: &Attribute) -> Option<String> {
    let described = attribute.kind.described();
    let (width, decimals) = match format {
        Format::Padded { width, decimals } | Format::Signed { width, decimals } => (width, decimals),
        Format::Bucket(length) if attribute.kind == ValueType::Date && length > DATE_LENGTH => {
            return Some("needs a time, and a date has none".to_owned());
        }
        Format::Bucket(_) if !attribute.kind.is_time() => {
            return Some(format!("holds the start of a time, and the value is {described}"));
        }
        Format::Plain | Format::Escaped | Format::Lower | Format::Bucket(_) => return None,
    };
    if !attribute.kind.is_number() {
        return Some(format!("holds a number, and the value is {described}"));
    }
    let limits = || [&attribute.limits.min, &attribute.limits.max].into_iter().flatten();
    if matches!(format, Format::Padded { .. })
        && let Some(min) = attribute.limits.min.as_ref().filter(|min| min.is_negative())
    {
        return Some(format!("holds numbers from 0 on, and the type admits {min}"));
    }
    if let Some(wide) = limits().find(|limit| limit.whole_digits() > width) {
        return Some(format!("holds {width} digits, and the type admits {wide}"));
    }
    if let Some(fine) = limits().find(|limit| limit.decimals() > decimals) {
        return Some(format!("holds {decimals} decimals, and the type admits {fine}"));
    }
    (attribute.kind == ValueType::Decimal && decimals == 0)
        .then(|| "holds no decimals, and the type admits them".to_owned())
}

/// The edit that replaces a part of an entity's key, where the entity declares it.
fn replaced(mapping: &KeyMapping<'_>, part: &Part, by: &Part) -> Option<Edit> {
    let exchange = |own: &Part| if own == part { by.clone() } else { own.clone() };
    let changed = |own: &Template| Template { parts: own.parts.iter().map(exchange).collect() };
    let key: Vec<String> = mapping.key.iter().map(|own| changed(own).to_string()).collect();
    with_key(mapping, &key)
}
