//! How entities differ, renames considered: which items must be written, each counted once however much changes in it.

use super::{Change, push};
use crate::capacity::estimate::count;
use crate::generate::typed_value;
use crate::migration::{Transition, old_name};
use crate::model::{Attribute, Entity, Model};
use crate::template::{Part, Template};
use crate::toml_writer::limits_fields;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

pub(super) fn entities(old: &Model, new: &Model, changes: &mut Vec<Change>) {
    let transition = Transition { old, new };
    let mut kept: BTreeSet<&str> = BTreeSet::new();
    for after in &new.entities {
        let sources = transition.predecessors(after);
        kept.extend(sources.iter().map(|before| before.name.as_str()));
        let Some(before) = sources.first().copied() else {
            let copies = if after.copies.is_some() { count(new, after) } else { 0.0 };
            push(changes, format!("+ entity {}", after.name), copies);
            continue;
        };
        let all: f64 = sources.iter().map(|before| count(old, before)).sum();
        // Where an entity becomes several, each has a part of its items.
        let is_part = after.was.iter().any(|was| !was.filter.is_empty());
        let items = if is_part && before.name != after.name { all.min(count(new, after)) } else { all };
        let names = after
            .attributes
            .iter()
            .filter_map(|own| Some((old_name(before, after, own)?, own.name.as_str())));
        let renamed = names.filter(|(old, new)| old != new && before.attribute(old).is_some()).collect();
        let mut comparison = Comparison { before, after, renamed, items, written: 0.0, changes };
        comparison.name(new, &sources);
        comparison.keys();
        comparison.index_entries();
        comparison.attributes();
        comparison.markers();
        if before.copies.is_some() != after.copies.is_some() || comparison.has_another_original(&transition) {
            comparison.add("copies change".to_owned(), items);
        }
    }
    for entity in old.entities.iter().filter(|entity| !kept.contains(entity.name.as_str())) {
        push(changes, format!("- entity {}", entity.name), count(old, entity));
    }
}

/// An entity in both models.
struct Comparison<'c> {
    before: &'c Entity,
    after: &'c Entity,
    /// The new names of renamed attributes.
    renamed: BTreeMap<&'c str, &'c str>,
    /// The number of its items.
    items: f64,
    /// How many of them are written for the changes so far.
    written: f64,
    changes: &'c mut Vec<Change>,
}

impl Comparison<'_> {
    /// Adds a change for which so many items must be written, unless they are anyway.
    fn add(&mut self, what: String, items: f64) {
        let more = (items - self.written).max(0.0);
        self.written += more;
        push(self.changes, format!("~ entity {}: {what}", self.after.name), more);
    }

    fn name(&mut self, new: &Model, sources: &[&Entity]) {
        if sources.iter().all(|before| before.name == self.after.name) {
            return;
        }
        let names: Vec<&str> = sources.iter().map(|before| before.name.as_str()).collect();
        let has_type = new.table.type_attribute.is_some();
        let is_written = has_type && sources.iter().any(|before| before.type_value != self.after.type_value);
        self.add(format!("was {}", names.join(", ")), if is_written { self.items } else { 0.0 });
    }

    fn keys(&mut self) {
        if self.renamed_templates(&self.before.key) == self.after.key {
            return;
        }
        let (old, new) = (keys(&self.before.key), keys(&self.after.key));
        self.add(
            format!("key {old} becomes {new}; every item is rewritten and the old one deleted"),
            self.items,
        );
        if let Some(change) = self.changes.last_mut() {
            change.rewrites += self.items;
        }
    }

    /// Templates of the old model, with the attributes' new names.
    fn renamed_templates(&self, templates: &[Template]) -> Vec<Template> {
        let mut templates = templates.to_vec();
        for part in templates.iter_mut().flat_map(|template| &mut template.parts) {
            if let Part::Field { name, .. } = part
                && let Some(new) = self.renamed.get(name.as_str())
            {
                (*new).clone_into(name);
            }
        }
        templates
    }

    fn index_entries(&mut self) {
        let (before, after) = (self.before, self.after);
        for index_key in &after.indexes {
            let known = before.index_key(&index_key.index);
            let same = known.is_some_and(|known| {
                self.renamed_templates(&known.key) == index_key.key
                    && known.when == index_key.when
                    && known.shard == index_key.shard
            });
            if !same {
                let share = index_key.count.filter(|_| !index_key.when.is_empty());
                let items = share.map_or(self.items, |count| count as f64);
                let what = format!("{} has key {}", index_key.index, keys(&index_key.key));
                self.add(format!("{what}; its items get these attributes"), items);
            }
        }
        for index_key in &before.indexes {
            if after.index_key(&index_key.index).is_none() {
                self.add(format!("leaves {}", index_key.index), self.items);
            }
        }
    }

    fn attributes(&mut self) {
        let (before, after) = (self.before, self.after);
        for attribute in &after.attributes {
            let old = old_name(before, after, attribute).and_then(|name| before.attribute(name));
            let (name, kind) = (&attribute.name, attribute.kind.print());
            let Some(old) = old else {
                let is_written = !attribute.optional || attribute.origin.default.is_some();
                let items = if is_written { self.items } else { 0.0 };
                self.add(format!("+ attribute {name} {kind}"), items);
                continue;
            };
            if old.name != *name {
                self.add(format!("{} becomes {name}", old.name), self.items);
            }
            if old.kind != attribute.kind {
                let items = if is_stored_alike(old, attribute) { 0.0 } else { self.items };
                self.add(format!("{name} {} becomes {kind}", old.kind.print()), items);
            }
            let (was, is) = (admitted(old), admitted(attribute));
            if was != is {
                self.add(format!("{name}: {was} becomes {is}"), 0.0);
            }
        }
        for attribute in &before.attributes {
            let name = attribute.name.as_str();
            if after.attribute(name).is_none() && !self.renamed.contains_key(name) {
                self.add(format!("- attribute {name} {}", attribute.kind.print()), 0.0);
            }
        }
    }

    /// Each value that is unique has a marker, whose key contains the names of entity and attributes.
    fn markers(&mut self) {
        let named = |entity: &Entity| -> BTreeSet<(String, String)> {
            entity.unique.iter().map(|names| (entity.name.clone(), names.join(", "))).collect()
        };
        let (was, is) = (named(self.before), named(self.after));
        for (sign, changed, fate) in [("+", &is - &was, "gets"), ("-", &was - &is, "loses")] {
            for (_, names) in changed {
                let what = format!("{sign} unique {names}: every item {fate} a marker");
                push(self.changes, format!("~ entity {}: {what}", self.after.name), self.items);
            }
        }
    }

    fn has_another_original(&self, transition: &Transition<'_>) -> bool {
        let Some(name) = &self.after.copies else { return false };
        let sources = transition.new.entity(name).map(|original| transition.predecessors(original));
        !sources.unwrap_or_default().iter().any(|source| Some(&source.name) == self.before.copies.as_ref())
    }
}

/// Whether values of both types are stored in the same form.
fn is_stored_alike(old: &Attribute, new: &Attribute) -> bool {
    let stored = |attribute: &Attribute| discriminant(&typed_value(&attribute.kind, ""));
    stored(old) == stored(new)
}

/// What an attribute admits beside its type.
fn admitted(attribute: &Attribute) -> String {
    let presence = if attribute.optional { "optional" } else { "required" };
    [presence.to_owned()].into_iter().chain(limits_fields(&attribute.limits)).collect::<Vec<_>>().join(", ")
}

fn keys(templates: &[Template]) -> String {
    templates.iter().map(Template::to_string).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use crate::capacity::prices::{DEFAULT_PRICES, Prices};
    use crate::report::difference::difference;

    const USERS: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", mail = "string", age = "int" }
key = ["USER#{userId}", "MAIL#{mail}"]
expect = { count = 1000 }
"#;

    /// The changes of entities, and how many items they write in all.
    fn changes(replaced: &[(&str, &str)]) -> (Vec<String>, f64) {
        let mut text = USERS.to_owned();
        for (from, to) in replaced {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let read = |text: &str| crate::read(&crate::Source::new("t.toml", text)).unwrap();
        let difference = difference(&read(USERS), &read(&text), &Prices::parse(DEFAULT_PRICES).unwrap());
        let line =
            |change: &crate::report::difference::Change| format!("{} ({})", change.what, change.rewrites);
        (difference.changes.iter().map(line).collect(), difference.rewrites())
    }

    const RENAMED: [(&str, &str); 2] =
        [("mail = \"string\"", "email = { type = \"string\", was = \"mail\" }"), ("{mail}", "{email}")];

    #[test]
    fn renamed_attributes_are_written_and_keys_of_them_stay() {
        let (lines, writes) = changes(&RENAMED);
        assert_eq!(lines, ["~ entity User: mail becomes email (1000)"]);
        assert_eq!(writes, 1000.0);
    }

    #[test]
    fn a_renamed_entity_is_not_a_new_one() {
        let (lines, writes) = changes(&[("[entity.User]", "[entity.Customer]\nwas = \"User\"")]);
        assert_eq!(lines, ["~ entity Customer: was User (1000)"]);
        assert_eq!(writes, 1000.0);
    }

    #[test]
    fn an_item_counts_once_however_much_changes_in_it() {
        let changed = [RENAMED[0], RENAMED[1], ("age = \"int\"", "age = \"string\""), ("USER#", "U#")];
        let (lines, writes) = changes(&changed);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.ends_with("(0)")), "{lines:?}");
        // Each is written under its new key, and deleted under its old one.
        assert_eq!(writes, 2000.0);
    }

    #[test]
    fn required_attributes_and_unique_values_are_written() {
        let (lines, writes) =
            changes(&[("age = \"int\"", "age = \"int\", level = \"int\", note = \"string?\"")]);
        assert_eq!(
            lines,
            ["~ entity User: + attribute level int (1000)", "~ entity User: + attribute note string (0)"]
        );
        assert_eq!(writes, 1000.0);
        let (lines, writes) = changes(&[("expect", "unique = [\"mail\"]\nexpect")]);
        assert_eq!(lines, ["~ entity User: + unique mail: every item gets a marker (1000)"]);
        assert_eq!(writes, 1000.0);
    }

    #[test]
    fn other_limits_are_changes() {
        let (lines, writes) = changes(&[("age = \"int\"", "age = { type = \"int?\", min = 0, max = 150 }")]);
        assert_eq!(lines, ["~ entity User: age: required becomes optional, min = 0, max = 150 (0)"]);
        assert_eq!(writes, 0.0);
    }
}
