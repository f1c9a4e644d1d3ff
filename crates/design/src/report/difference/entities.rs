//! How entities differ, renames considered: which items must be written, each counted once however much changes in it.

use super::rules::{aggregates, changed, declared_rules};
use super::values::Values;
use super::{Change, push};
use crate::capacity::estimate::count;
use crate::keys::key_mapping::shard_in;
use crate::migration::{Transition, old_name};
use crate::model::shard::ShardHash;
use crate::model::{Entity, IndexKey, Model, Shard};
use crate::template::{Format, Part, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

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
        comparison.rules();
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
        let has_type = new.table.type_attribute.is_some();
        let is_written = has_type && sources.iter().any(|before| before.type_value != self.after.type_value);
        if sources.iter().any(|before| before.name != self.after.name) {
            let names: Vec<&str> = sources.iter().map(|before| before.name.as_str()).collect();
            self.add(format!("was {}", names.join(", ")), if is_written { self.items } else { 0.0 });
        } else if is_written {
            let (was, is) = (&self.before.type_value, &self.after.type_value);
            self.add(format!("type {was} becomes {is}"), self.items);
        }
    }

    fn keys(&mut self) {
        let (before, after) = (self.before, self.after);
        if self.renamed_templates(&before.key) != after.key {
            let (old, new) = (keys(&before.key), keys(&after.key));
            let what = format!("key {old} becomes {new}; every item is rewritten and the old one deleted");
            return self.moved(what, self.items);
        }
        let holds_other_text = |part: &Part| match part {
            Part::Field { name, format } => {
                !matches!(format, Format::Bucket(_)) && self.has_another_text(name)
            }
            Part::Text(_) => false,
        };
        if after.key.iter().flat_map(|template| &template.parts).any(holds_other_text) {
            let what = format!("key {} holds dates or times of another form", keys(&after.key));
            return self
                .moved(format!("{what}; every item is rewritten and the old one deleted"), self.items);
        }
        if after.has_key_field(SHARD)
            && let Some((what, share)) = self.resharded(before.shard.as_ref(), after.shard.as_ref())
        {
            self.moved(what, self.items * share);
        }
    }

    /// Says how the shards of a key differ, and the share of its items whose shard is another.
    fn resharded(&self, old: Option<&Shard>, new: Option<&Shard>) -> Option<(String, f64)> {
        let (old, new) = old.zip(new)?;
        let old = Shard { by: old.by.as_ref().map(|name| self.new_name(name)), ..old.clone() };
        if old == *new {
            return None;
        }
        let share = moving_share(&old, new);
        let fate = if share > 0.0 { "items move to other shards" } else { "items stay where they are" };
        Some((format!("{} shards become {}; {fate}", old.count, new.count), share))
    }

    /// Whether the values of an attribute become other texts: dates become times, or times dates.
    fn has_another_text(&self, name: &str) -> bool {
        let (before, after) = (self.before, self.after);
        let kinds = after.attribute(name).and_then(|own| {
            let old = before.attribute(old_name(before, after, own)?)?;
            Some((&old.kind, &own.kind))
        });
        kinds.is_some_and(|(old, new)| old != new && old.is_time() && new.is_time())
    }

    /// The name that an attribute of the old model has in the new one.
    fn new_name(&self, name: &str) -> String {
        self.renamed.get(name).copied().unwrap_or(name).to_owned()
    }

    /// Adds a change for which so many items are written under another key and deleted under their own.
    fn moved(&mut self, what: String, items: f64) {
        self.add(what, items);
        if let Some(change) = self.changes.last_mut() {
            change.rewrites += items;
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
            let former = known.filter(|known| known.when != index_key.when);
            let left = former.map_or(0.0, |former| self.entries(former));
            let items = (self.entries(index_key) + left).min(self.items);
            let is_kept =
                |known: &&IndexKey| former.is_none() && self.renamed_templates(&known.key) == index_key.key;
            let Some(known) = known.filter(is_kept) else {
                let what = format!("{} has key {}", index_key.index, keys(&index_key.key));
                self.add(format!("{what}; its items get these attributes"), items);
                continue;
            };
            if index_key.key.iter().any(|template| template.has_field(SHARD))
                && let Some((what, share)) =
                    self.resharded(shard_in(before, Some(known)), shard_in(after, Some(index_key)))
            {
                self.add(format!("{}: {what}", index_key.index), items * share);
            }
        }
        for index_key in &before.indexes {
            if after.index_key(&index_key.index).is_none() {
                self.add(format!("leaves {}", index_key.index), self.entries(index_key));
            }
        }
    }

    /// The number of its items that are in an index.
    fn entries(&self, index_key: &IndexKey) -> f64 {
        let share = index_key.count.filter(|_| !index_key.when.is_empty());
        share.map_or(self.items, |count| count as f64)
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
            let values = Values { old, new: attribute, entity: after };
            for (change, is_written) in values.of_type().into_iter().chain(values.of_limits()) {
                self.add(change, if is_written { self.items } else { 0.0 });
            }
        }
        for attribute in &before.attributes {
            let name = attribute.name.as_str();
            if after.attribute(name).is_none() && !self.renamed.contains_key(name) {
                self.add(format!("- attribute {name} {}", attribute.kind.print()), 0.0);
            }
        }
    }

    /// Each value that is unique has a marker, whose key contains the names of entity and attributes, and which expires with its item.
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
        let (before, after) = (self.before, self.after);
        let is_kept = |names: &&Vec<String>| before.name == after.name && before.unique.contains(names);
        for names in after.unique.iter().filter(is_kept) {
            if let Some((fate, writes)) = self.fate_of_markers(names) {
                let what = format!("unique {}: {fate}", names.join(", "));
                push(self.changes, format!("~ entity {}: {what}", after.name), writes);
            }
        }
    }

    /// What becomes of the markers of values that stay unique, and the writes for it; `None` if nothing does.
    fn fate_of_markers(&self, names: &[String]) -> Option<(String, f64)> {
        if names.iter().any(|name| self.has_another_text(name)) {
            return Some(("every item gets another marker".to_owned(), self.items * 2.0));
        }
        let ttl = self.after.ttl.as_ref();
        let fate = ttl.map_or_else(|| "loses its expiry".to_owned(), |name| format!("gets {name}"));
        (self.before.ttl.as_ref() != ttl)
            .then(|| (format!("the marker of every item with an expiry {fate}"), self.items))
    }

    fn rules(&mut self) {
        let was = declared_rules(self.before, |name| self.new_name(name));
        let is = declared_rules(self.after, String::clone);
        for change in changed(was, is) {
            self.add(change, 0.0);
        }
        for what in aggregates(self.before, self.after, &self.renamed) {
            self.add(what, self.items);
        }
    }

    fn has_another_original(&self, transition: &Transition<'_>) -> bool {
        let Some(name) = &self.after.copies else { return false };
        let sources = transition.new.entity(name).map(|original| transition.predecessors(original));
        !sources.unwrap_or_default().iter().any(|source| Some(&source.name) == self.before.copies.as_ref())
    }
}

/// The share of items that are not in the shard that they must be in.
fn moving_share(old: &Shard, new: &Shard) -> f64 {
    let hashed = |shard: &Shard| shard.by.clone().filter(|_| shard.hash == ShardHash::Crc32);
    let (few, many) = (old.count.min(new.count), old.count.max(new.count));
    let staying = match (hashed(old), hashed(new)) {
        // Of the hashes below the least common multiple, each small number is the remainder of one by both.
        (Some(old_by), Some(new_by)) if old_by == new_by => few as f64 / least_common_multiple(few, many),
        (_, Some(_)) => 1.0 / many as f64,
        (_, None) => few as f64 / old.count as f64,
    };
    1.0 - staying
}

fn least_common_multiple(few: u64, many: u64) -> f64 {
    let (mut divisor, mut rest) = (many, few);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (few / divisor) as f64 * many as f64
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

    /// The changes of the model, and how many items they write in all.
    fn changes(replaced: &[(&str, &str)]) -> (Vec<String>, f64) {
        changes_between(&[], replaced)
    }

    fn changes_between(old: &[(&str, &str)], new: &[(&str, &str)]) -> (Vec<String>, f64) {
        let [old, new] = [old, new].map(|replaced| {
            let mut text = USERS.to_owned();
            for (from, to) in replaced {
                assert!(text.contains(from), "{from}");
                text = text.replace(from, to);
            }
            crate::read(&crate::Source::new("t.toml", text.as_str())).unwrap()
        });
        let difference = difference(&old, &new, &Prices::parse(DEFAULT_PRICES).unwrap());
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

    /// The only change when the declaration of an attribute, `age = …`, becomes another.
    fn change_of_age(old: &str, new: &str) -> String {
        let (old, new) = (format!("age = {old}"), format!("age = {new}"));
        let (lines, _) = changes_between(&[("age = \"int\"", &old)], &[("age = \"int\"", &new)]);
        lines.join("; ")
    }

    #[test]
    fn other_limits_say_which_stored_items_violate_them() {
        let limited = "{ type = \"int?\", min = 0, max = 150 }";
        assert_eq!(
            change_of_age("\"int\"", limited),
            "~ entity User: age: required becomes optional, min = 0, max = 150; stored items whose age is below 0 or whose age is above 150 \
             violate the new model: `partita model audit` finds them (0)"
        );
        let widened =
            "~ entity User: age: optional, min = 0, max = 150 becomes optional; stored items meet it (0)";
        assert_eq!(change_of_age(limited, "\"int?\""), widened);
        for (old, new, meaning) in [
            ("\"int?\"", "\"int\"", "stored items that lack it violate"),
            (
                "\"int?\"",
                "{ type = \"int\", default = 7 }",
                "stored items meet it; those that lack it get a value (1000)",
            ),
            ("\"int\"", "\"decimal\"", "stored items meet it (0)"),
            ("\"decimal\"", "\"int\"", "stored items whose age is not a whole number violate"),
            ("\"A|B\"", "\"A|B|C\"", "stored items meet it (0)"),
            ("\"A|B|C\"", "\"A|D\"", "stored items whose age is B or C violate"),
            ("\"string\"", "\"uuid\"", "stored items whose age is not a uuid violate"),
            ("\"string\"", "\"id\"", "stored items whose age contains # violate"),
            ("\"string\"", "\"int\"", "until `partita model migrate` has converted them (1000)"),
            ("\"date\"", "\"timestamp\"", "until `partita model migrate` has converted them (1000)"),
            (
                "\"timestamp\"",
                "{ type = \"timestamp\", precision = \"second\" }",
                "whose age is not of the precision second violate",
            ),
            (
                "{ type = \"timestamp\", zone = \"offset\" }",
                "\"timestamp\"",
                "whose age has an offset violate",
            ),
        ] {
            let change = change_of_age(old, new);
            assert!(change.contains(meaning), "{change}");
        }
    }

    #[test]
    fn another_number_of_shards_moves_the_items_whose_shard_is_another() {
        let sharded = |shard: &str| format!("key = [\"USER#{{shard}}\", \"MAIL#{{mail}}\"]\nshard = {shard}");
        let key = "key = [\"USER#{userId}\", \"MAIL#{mail}\"]";
        let moved = |old: &str, new: &str| {
            let (old, new) = (sharded(old), sharded(new));
            let (lines, writes) = changes_between(&[(key, &old)], &[(key, &new)]);
            assert_eq!(lines.len(), 1, "{lines:?}");
            writes
        };
        // Each is written under its new key, and deleted under its old one.
        assert_eq!(moved("{ by = \"mail\", count = 4 }", "{ by = \"mail\", count = 8 }"), 1000.0);
        assert_eq!(moved("{ by = \"mail\", count = 4 }", "{ by = \"userId\", count = 4 }"), 1500.0);
        assert_eq!(moved("{ count = 4 }", "{ count = 8 }"), 0.0);
        assert_eq!(moved("{ count = 8 }", "{ count = 4 }"), 1000.0);
    }

    #[test]
    fn other_shards_of_an_index_write_the_items_whose_shard_is_another() {
        let index = ("[entity.User]", "[index.G]\nkeys = [\"GPK\", \"GSK\"]\n[entity.User]");
        let written = |old: &str, new: &str| {
            let [old, new] = [old, new].map(|rest| format!("{rest}\nexpect"));
            changes_between(&[index, ("expect", &old)], &[index, ("expect", &new)])
        };
        let key = "index.G = { key = [\"AGE#{shard}\", \"{mail}\"]";
        let of_entity = |count: u64| format!("shard = {{ by = \"mail\", count = {count} }}\n{key} }}");
        let (lines, writes) = written(&of_entity(4), &of_entity(8));
        assert_eq!(lines, ["~ entity User: G: 4 shards become 8; items move to other shards (500)"]);
        assert_eq!(writes, 500.0);
        let sparse = |count: u64| {
            format!("{key}, shard = {{ by = \"mail\", count = {count} }}, when = \"age > 90\", count = 50 }}")
        };
        assert_eq!(written(&sparse(4), &sparse(8)).1, 25.0);
        let other = sparse(4).replace("age > 90", "age < 5").replace("count = 50", "count = 70");
        assert_eq!(written(&sparse(4), &other).1, 120.0, "some leave the index, others enter it");
        let random = |count: u64| format!("{key}, shard = {{ count = {count} }} }}");
        assert_eq!(written(&random(4), &random(8)).1, 0.0);
    }

    #[test]
    fn markers_get_the_expiry_of_their_items() {
        let unique = ("expect", "unique = [\"mail\"]\nexpect");
        let expiring = ("expect", "unique = [\"mail\"]\nttl = \"age\"\nexpect");
        let (lines, writes) = changes_between(&[unique], &[expiring]);
        assert_eq!(
            lines,
            [
                "~ entity User: unique mail: the marker of every item with an expiry gets age (1000)",
                "~ entity User: + ttl age (0)"
            ]
        );
        assert_eq!(writes, 1000.0);
        assert_eq!(changes_between(&[expiring], &[unique]).1, 1000.0);
    }

    #[test]
    fn times_that_become_dates_change_keys_and_markers() {
        let writes = |key: &str, rest: &str| {
            let rest = format!("{rest}expect");
            let dated = |age| [("age = \"int\"", age), ("MAIL#{mail}", key), ("expect", &*rest)];
            changes_between(&dated("age = \"date\""), &dated("age = \"timestamp\"")).1
        };
        assert_eq!(writes("MAIL#{mail}", ""), 1000.0);
        assert_eq!(writes("AGE#{age:month}", ""), 1000.0);
        assert_eq!(writes("AGE#{age}", ""), 2000.0);
        assert_eq!(writes("MAIL#{mail}", "unique = [\"age\"]\n"), 3000.0);
    }

    #[test]
    fn another_value_of_the_type_attribute_is_written() {
        let (lines, _) = changes(&[("[entity.User]", "[entity.User]\ntype = \"user\"")]);
        assert_eq!(lines, ["~ entity User: type User becomes user (1000)"]);
    }

    #[test]
    fn other_rules_about_the_items_are_changes() {
        let rules = "[entity.User]\nlock = \"age\"\nttl = \"age\"\nidentity = \"userId\"";
        let (lines, writes) = changes(&[("[entity.User]", rules)]);
        assert_eq!(
            lines,
            [
                "~ entity User: + identity userId (0)",
                "~ entity User: + lock age (0)",
                "~ entity User: + ttl age (0)"
            ]
        );
        assert_eq!(writes, 0.0);
        let renamed = [("[entity.User]", rules), RENAMED[0], RENAMED[1]];
        let (lines, _) = changes_between(&[("[entity.User]", rules)], &renamed);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let table = [("[table]", "[table]\ntenant = \"userId\"\nttl = \"age\"\nreads = \"warn\"")];
        let (lines, _) = changes(&table);
        assert_eq!(
            lines,
            [
                "table: + tenant userId (0)",
                "table: + ttl age (0)",
                "table: + reads warn (0)",
                "~ entity User: + ttl age (0)"
            ]
        );
    }

    #[test]
    fn an_aggregate_of_something_else_is_computed_for_every_item() {
        let mails = "[entity.Mail]\nattributes = { userId = \"id\", n = \"int\" }\nkey = [\"USER#{userId}\", \"M#{n}\"]\n[entity.User]\n";
        let total = |what: &str| format!("{mails}aggregates = {{ age = \"{what}\" }}");
        let (counted, summed) = (total("count Mail"), total("sum Mail.n"));
        let (lines, writes) = changes_between(&[("[entity.User]", &counted)], &[("[entity.User]", &summed)]);
        assert_eq!(lines, ["~ entity User: age = count Mail becomes sum Mail.n (1000)"]);
        assert_eq!(writes, 1000.0);
    }

    #[test]
    fn an_index_over_values_of_another_type_is_another_index() {
        let index = "[index.ByAge]\nkeys = [\"mail\", \"age\"]\n[entity.User]";
        let old = [("[entity.User]", index)];
        let (lines, _) = changes_between(&old, &[old[0], ("age = \"int\"", "age = \"string\"")]);
        assert_eq!(lines[0], "~ index ByAge: must be removed and added again (0)");
    }
}
