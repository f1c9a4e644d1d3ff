//! The tables that a migration reads and those that it writes, each with its model.

use partita_design::formatting::list;
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::{Image, Transition, key_of};
use partita_design::toml_writer::write;
use partita_design::{Model, Source, read};
use std::collections::BTreeMap;

/// A table and the model of its items.
#[derive(Clone)]
pub struct ModelTable {
    pub model: Model,
    /// The text of the model's file.
    pub text: String,
    pub table: String,
}

/// The tables of a migration. Either one table is migrated in place, or the sources are copied into the targets.
pub struct Tables {
    pub sources: Vec<ModelTable>,
    pub targets: Vec<ModelTable>,
}

/// An item that was read, and what it becomes.
pub struct Work<'t> {
    pub source: usize,
    pub target: usize,
    pub item: Item,
    pub image: Image<'t>,
}

impl Tables {
    pub fn is_in_place(&self) -> bool {
        self.sources.len() == 1 && self.targets.len() == 1 && self.sources[0].table == self.targets[0].table
    }

    pub fn transition(&self, source: usize, target: usize) -> Transition<'_> {
        Transition { old: &self.sources[source].model, new: &self.targets[target].model }
    }

    /// What an item of a source becomes, and in which target.
    pub fn work(&self, source: usize, item: Item) -> Work<'_> {
        let image = |target| match self.is_in_place() {
            true => self.transition(source, target).image(&item),
            false => self.transition(source, target).image_elsewhere(&item),
        };
        let images = (0..self.targets.len()).map(|target| (target, image(target)));
        // What stands against it in one target is said before what is not in another.
        let rank = |image: &Image<'_>| match image {
            Image::Item(_) => 0,
            Image::Copy { .. } => 1,
            Image::Marker => 2,
            Image::Unknown(_) => 3,
            Image::Dropped => 4,
            Image::Removed(_) => 5,
        };
        let (items, others): (Vec<_>, Vec<_>) =
            images.partition(|(_, image)| matches!(image, Image::Item(_)));
        let reason = self.contested_places(&items);
        let best = items.into_iter().chain(others).min_by_key(|(_, image)| rank(image));
        let (target, image) = best.unwrap_or_else(|| (0, Image::Unknown("there is no target".to_owned())));
        let image = reason.map_or(image, Image::Unknown);
        Work { source, target, item, image }
    }

    /// Why an item goes nowhere that has a place in several targets: their models do not say which of them it goes to.
    fn contested_places(&self, places: &[(usize, Image<'_>)]) -> Option<String> {
        let names = places.iter().filter_map(|(target, image)| {
            let Image::Item(new) = image else { return None };
            Some(format!("{} of {}", new.entity.name, self.targets[*target].table))
        });
        let names: Vec<String> = names.collect();
        let example = "`was = \"Pet where kind == 'CAT'\"`";
        let reason = || format!("they would become {}: say which, as in {example}", list(&names));
        (names.len() > 1).then(reason)
    }

    /// The hash of a key in a source. The same key in several tables is several keys.
    pub fn old_hash(&self, source: usize, key: &Item) -> u128 {
        let side = if self.is_in_place() { 0 } else { 1 + source as u128 };
        key_hash(key).wrapping_add(side << 64)
    }

    /// Fails if a table is read and written, or if an entity has several targets.
    pub fn check(&self) -> Result<(), String> {
        if self.is_in_place() {
            return Ok(());
        }
        if let Some(target) =
            self.targets.iter().find(|target| self.sources.iter().any(|source| source.table == target.table))
        {
            return Err(format!(
                "table {0} would be read and written; choose another name for the new table",
                target.table
            ));
        }
        let mut entities = BTreeMap::new();
        for target in &self.targets {
            for entity in &target.model.entities {
                if let Some(other) = entities.insert(&entity.name, &target.table) {
                    return Err(format!(
                        "tables {other} and {} both have an entity {}: its items can go to one of them only",
                        target.table, entity.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Names this migration: the same tables and models have the same name.
    pub fn id(&self) -> String {
        let sides = self.sources.iter().chain(&self.targets);
        let texts: Item = sides
            .enumerate()
            .flat_map(|(number, side)| [(number * 2, &side.table), (number * 2 + 1, &side.text)])
            .map(|(number, text)| (format!("{number:04}"), partita_design::item::Value::String(text.clone())))
            .collect();
        format!("{:032x}", key_hash(&texts))
    }
}

impl ModelTable {
    /// Whether a text is this model, or differs from it in nothing but its form.
    pub fn is_same(&self, text: &str) -> bool {
        let other = || read(&Source::new("model", text)).ok();
        let is_equal = |mut other: Model| {
            self.model.table.name.clone_into(&mut other.table.name);
            write(&self.model, "") == write(&other, "")
        };
        self.text == text || other().is_some_and(is_equal)
    }

    /// The model with the table's own name.
    pub fn named_model(&self) -> Model {
        let mut model = self.model.clone();
        self.table.clone_into(&mut model.table.name);
        model
    }
}

impl Work<'_> {
    /// The key of the item in its source.
    pub fn key(&self, tables: &Tables) -> Item {
        key_of(&tables.sources[self.source].model, &self.item)
    }
}
