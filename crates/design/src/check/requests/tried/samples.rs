//! The items that a declared request is tried with.

use super::draw::{Candidates, Draw};
use super::{MAX_ITEMS, Sample, Trial};
use crate::check::requests::values_beside::{COMMON, values_beside};
use crate::generate::typed_item;
use crate::item::Attributes;
use crate::keys::key_mapping::KeyMapping;
use crate::model::condition::{Comparison, Condition};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity};
use crate::plan::trial::Known;
use crate::template::{FieldTypes, Part, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

impl<'m> Trial<'_, 'm> {
    /// Items with the values that matter, beside ones that the pattern means.
    pub(super) fn samples(&self) -> Vec<Sample<'m>> {
        let targets = self.checker.targets(self.pattern).into_iter();
        let mappings = targets.filter_map(|entity| self.location.mapping(entity));
        mappings.flat_map(|mapping| self.samples_of(&mapping)).collect()
    }

    fn samples_of(&self, mapping: &KeyMapping<'m>) -> Vec<Sample<'m>> {
        let concerns =
            self.pattern.filter.attributes().iter().any(|name| mapping.entity.attribute(name).is_some());
        let condition = match concerns {
            true => self.pattern.filter.and(&mapping.when),
            false => mapping.when.clone(),
        };
        let draw = Draw { candidates: self.candidates(mapping), condition: &condition };
        let items = draw.items(MAX_ITEMS).into_iter();
        items.filter_map(|texts| sample(mapping, texts)).collect()
    }

    /// The values of each attribute that are tried.
    fn candidates(&self, mapping: &KeyMapping<'m>) -> Vec<Candidates<'m>> {
        let mentioned = self.mentioned(mapping);
        let relevant = self.relevant(mapping);
        let bounded: BTreeSet<String> = self.constants(mapping).into_iter().map(|(field, _)| field).collect();
        let range = self.pattern.range.as_ref();
        let each = |attribute: &'m Attribute| {
            let name = attribute.name.as_str();
            let own = mentioned.get(name).into_iter().flatten().map(String::as_str);
            let values = values_beside(attribute, mapping.entity.delimiter(), own);
            let admitted =
                values.into_iter().filter(|text| is_admitted(mapping.entity, name, text)).map(Some);
            let absent = mapping.entity.may_lack(name).then_some(None);
            let is_joined = self.pattern.filter.mentions(name)
                || bounded.contains(name)
                || range.is_some_and(|range| range.by == name);
            Candidates { name, values: admitted.chain(absent).collect(), is_joined }
        };
        let matters = |attribute: &&'m Attribute| relevant.contains(attribute.name.as_str());
        mapping.entity.attributes.iter().filter(matters).map(each).collect()
    }

    /// The attributes that decide whether the pattern means an item, and whether the request returns it.
    pub(super) fn relevant<'a>(&'a self, mapping: &'a KeyMapping<'m>) -> BTreeSet<&'a str> {
        let keys = mapping.key.iter().flat_map(Template::fields);
        let selecting = mapping.shard.and_then(|shard| shard.by.as_deref());
        let conditions = [&self.pattern.filter, &self.request.filter, &mapping.when];
        let tested = conditions.into_iter().flat_map(Condition::attributes);
        let range = self.pattern.range.iter().map(|range| range.by.as_str());
        let inputs = self.pattern.inputs.iter().map(String::as_str);
        keys.chain(selecting).chain(tested).chain(range).chain(inputs).collect()
    }

    /// The constants that the pattern and the request compare attributes with.
    fn mentioned(&self, mapping: &KeyMapping<'m>) -> BTreeMap<String, BTreeSet<String>> {
        let mut mentioned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let conditions = [&self.pattern.filter, &self.request.filter, &mapping.when];
        for test in conditions.into_iter().flat_map(Condition::tests) {
            let constants = test.comparison.constants().into_iter().filter(|one| one.placeholder().is_none());
            let constants = constants.map(|one| one.as_str().to_owned());
            let part = match &test.comparison {
                Comparison::BeginsWith(text) | Comparison::Contains(text) => Some(text.clone()),
                _ => None,
            };
            mentioned.entry(test.attribute.clone()).or_default().extend(constants.chain(part));
        }
        if let Some(range) = &self.pattern.range {
            let bounds = range.from.iter().chain(&range.to).cloned();
            mentioned.entry(range.by.clone()).or_default().extend(bounds);
        }
        for (field, text) in self.constants(mapping) {
            mentioned.entry(field).or_default().insert(text);
        }
        for (field, text) in mapping.key.iter().flat_map(|template| continued(template, mapping.entity)) {
            mentioned.entry(field).or_default().insert(text);
        }
        mentioned
    }
}

/// An item that the model admits, if there is one with these values.
fn sample<'m>(mapping: &KeyMapping<'m>, mut texts: Attributes) -> Option<Sample<'m>> {
    let entity = mapping.entity;
    if !mapping.includes(&texts) {
        return None;
    }
    let item = typed_item(entity, &texts);
    let shard = mapping.shard.and_then(|shard| shard.selected(&texts)).unwrap_or_default();
    texts.insert(SHARD.to_owned(), shard.to_string());
    let has_key = mapping.key.iter().all(|template| template.fill(&texts).is_ok());
    has_key.then(|| Sample { mapping: mapping.clone(), known: Known::new(entity, item, texts) })
}

/// Whether the model admits a value of an attribute.
fn is_admitted(entity: &Entity, name: &str, text: &str) -> bool {
    let item = typed_item(entity, &[(name.to_owned(), text.to_owned())].into());
    let own = item.get(name).zip(entity.attribute(name));
    own.is_none_or(|(value, attribute)| attribute.admits(value, entity.delimiter()).is_ok())
}

/// Texts that begin with a common one and go on as the key does behind it, where that does not end them.
fn continued<'a>(template: &'a Template, entity: &'a Entity) -> impl Iterator<Item = (String, String)> + 'a {
    let unclear = template.unterminated_fields(entity, false);
    template.parts.windows(2).filter_map(move |pair| match pair {
        [Part::Field { name, .. }, Part::Text(text)] if unclear.contains(name) => {
            let is_text = matches!(entity.type_of(name), Some(ValueType::String | ValueType::Id));
            is_text.then(|| (name.clone(), format!("{COMMON}{text}")))
        }
        _ => None,
    })
}
