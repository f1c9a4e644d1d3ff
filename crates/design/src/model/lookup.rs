//! Lookup of entities and attributes by name. A model has up to 500 entities, and every rule looks some up.

use crate::audit::keys::GeneratedKeys;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Attribute, Entity, Model};
use crate::plan::needed::NeededAttributes;
use crate::template::Template;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Positions in the lists of a model, by name.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Entities by name.
    entities: HashMap<String, usize>,
    /// Entities by name in lower case.
    folded: HashMap<String, usize>,
    /// Entities by the attribute that identifies them.
    owners: HashMap<String, usize>,
    /// The first attribute of a name: entity and attribute.
    attributes: HashMap<String, (usize, usize)>,
    /// Entities by the attributes that they have.
    holders: HashMap<String, Vec<usize>>,
    /// Copies by their originals.
    copies: HashMap<String, Vec<usize>>,
    /// Which key attributes hold numbers, by the name of the table or index.
    numbers: HashMap<String, Vec<bool>>,
    /// The first prefix that a key has before an attribute.
    prefixes: HashMap<String, String>,
    /// Built when it is first needed, since plans look entities up.
    needed: OnceLock<NeededAttributes>,
    generated: OnceLock<GeneratedKeys>,
}

impl Lookup {
    pub fn new(model: &Model) -> Lookup {
        let mut lookup = Lookup {
            entities: HashMap::new(),
            folded: HashMap::new(),
            owners: HashMap::new(),
            attributes: HashMap::new(),
            holders: HashMap::new(),
            copies: HashMap::new(),
            numbers: HashMap::new(),
            prefixes: HashMap::new(),
            needed: OnceLock::new(),
            generated: OnceLock::new(),
        };
        for (number, entity) in model.entities.iter().enumerate() {
            lookup.add(number, entity);
        }
        for location in TableOrIndex::all(model) {
            let numbers =
                (0..location.key_names(model).len()).map(|position| location.holds_numbers(model, position));
            lookup.numbers.insert(location.name().to_owned(), numbers.collect());
        }
        lookup
    }

    /// Among several of one name, the first is found.
    fn add(&mut self, number: usize, entity: &Entity) {
        self.entities.entry(entity.name.clone()).or_insert(number);
        self.folded.entry(entity.name.to_lowercase()).or_insert(number);
        if let Some(original) = &entity.copies {
            self.copies.entry(original.clone()).or_default().push(number);
        } else if let Some(id) = entity.identity() {
            self.owners.entry(id.to_owned()).or_insert(number);
        }
        for (position, attribute) in entity.attributes.iter().enumerate() {
            self.attributes.entry(attribute.name.clone()).or_insert((number, position));
            self.holders.entry(attribute.name.clone()).or_default().push(number);
        }
        for (attribute, prefix) in entity.key.iter().flat_map(Template::field_prefixes) {
            self.prefixes.entry(attribute.to_owned()).or_insert_with(|| prefix.to_owned());
        }
    }

    pub fn needed(&self, model: &Model) -> &NeededAttributes {
        self.needed.get_or_init(|| NeededAttributes::of(model))
    }

    pub fn generated_keys(&self, model: &Model) -> &GeneratedKeys {
        self.generated.get_or_init(|| GeneratedKeys::of(model))
    }

    pub fn entity<'m>(&self, model: &'m Model, name: &str) -> Option<&'m Entity> {
        self.entities.get(name).and_then(|number| model.entities.get(*number))
    }

    pub fn entity_in_any_case<'m>(&self, model: &'m Model, name: &str) -> Option<&'m Entity> {
        self.folded.get(&name.to_lowercase()).and_then(|number| model.entities.get(*number))
    }

    pub fn owner_of<'m>(&self, model: &'m Model, attribute: &str) -> Option<&'m Entity> {
        self.owners.get(attribute).and_then(|number| model.entities.get(*number))
    }

    pub fn attribute<'m>(&self, model: &'m Model, name: &str) -> Option<&'m Attribute> {
        let (number, position) = self.attributes.get(name)?;
        model.entities.get(*number)?.attributes.get(*position)
    }

    pub fn holders_of<'m>(
        &'m self,
        model: &'m Model,
        attribute: &str,
    ) -> impl Iterator<Item = &'m Entity> + use<'m> {
        let holders = self.holders.get(attribute).into_iter().flatten();
        holders.filter_map(|number| model.entities.get(*number))
    }

    pub fn copies_of<'m>(
        &'m self,
        model: &'m Model,
        name: &str,
    ) -> impl Iterator<Item = &'m Entity> + use<'m> {
        let copies = self.copies.get(name).into_iter().flatten();
        copies.filter_map(|number| model.entities.get(*number))
    }

    pub fn is_number(&self, location: TableOrIndex<'_>, position: usize) -> bool {
        let numbers = self.numbers.get(location.name());
        numbers.and_then(|numbers| numbers.get(position)).copied().unwrap_or_default()
    }

    /// Returns the prefix that keys have before an attribute: those of the entity it identifies, or of any.
    pub fn prefix(&self, model: &Model, attribute: &str) -> Option<String> {
        let owner = self.owner_of(model, attribute);
        let own = owner.into_iter().flat_map(|owner| owner.key.iter().flat_map(Template::field_prefixes));
        let mut own = own.filter(|(name, _)| *name == attribute).map(|(_, prefix)| prefix.to_owned());
        own.next().or_else(|| self.prefixes.get(attribute).cloned())
    }
}

/// Up to this many attributes, a linear search is as fast.
const FEW: usize = 16;

/// Positions of an entity's attributes, by name.
#[derive(Clone, Debug)]
pub struct AttributeNumbers {
    numbers: HashMap<String, usize>,
}

impl AttributeNumbers {
    /// Returns the attribute with a name, using the positions if there are many.
    pub fn find<'a>(
        numbers: &OnceLock<AttributeNumbers>,
        attributes: &'a [Attribute],
        name: &str,
    ) -> Option<&'a Attribute> {
        if attributes.len() <= FEW {
            return attributes.iter().find(|attribute| attribute.name == name);
        }
        let all = numbers.get_or_init(|| AttributeNumbers::new(attributes));
        match all.numbers.get(name) {
            Some(number) => attributes.get(*number),
            // Attributes may have been added since.
            None => attributes.get(all.numbers.len()..)?.iter().find(|attribute| attribute.name == name),
        }
    }

    fn new(attributes: &[Attribute]) -> AttributeNumbers {
        let mut numbers = HashMap::new();
        for (number, attribute) in attributes.iter().enumerate() {
            numbers.entry(attribute.name.clone()).or_insert(number);
        }
        AttributeNumbers { numbers }
    }
}
