//! `[entity.…]`: attributes, keys in the table and in indexes, expectations.

use super::Reader;
use super::attribute_names::LONGEST;
use super::field::Section;
use crate::finding::closest;
use crate::model::shard::{MAX_SHARDS, ShardHash};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Expectations, IndexKey, Model, Shard};
use crate::template::Template;

/// What an attribute may declare.
const ATTRIBUTE_FIELDS: [&str; 12] = [
    "type",
    "values",
    "top",
    "optional",
    "min",
    "max",
    "precision",
    "zone",
    "was",
    "default",
    "computed",
    "about",
];

impl Reader {
    pub(super) fn entity(&mut self, name: String, section: &Section<'_>, model: &Model) -> Entity {
        let known = [
            "attributes",
            "key",
            "index",
            "shard",
            "type",
            "was",
            "unique",
            "lock",
            "versions",
            "copies",
            "latest",
            "aggregates",
            "edge",
            "identity",
            "ttl",
            "expect",
            "about",
        ];
        self.only(section, &known);
        let mut entity = Entity {
            type_value: self.text(section, "type").unwrap_or_else(|| name.clone()),
            was: self.predecessors(section),
            name,
            attributes: self.attributes(section),
            key: self.templates(section, "key"),
            shard: self.shard(section),
            unique: self.unique(section),
            lock: self.text(section, "lock"),
            versions: self.text(section, "versions"),
            copies: self.text(section, "copies"),
            latest: self.flag(section, "latest"),
            aggregates: self.aggregates(section),
            edge: self.edge(section),
            identity: self.texts(section, "identity"),
            ttl: self.text(section, "ttl").or_else(|| model.table.ttl.clone()),
            expect: self.expect(section),
            span: section.span.clone(),
            key_span: section.span_of("key"),
            ..Entity::default()
        };
        self.complete_key(section, &mut entity, model);
        if let Some(inner) = self.inner(section, "index") {
            for (index, _) in inner.table.iter() {
                let Some(entry) = self.entry(&inner, index) else { continue };
                let index_key = self.index_key(index, &entry, &entity, model);
                entity.indexes.push(index_key);
            }
        }
        entity
    }

    fn edge(&mut self, section: &Section<'_>) -> Vec<String> {
        let edge = self.texts(section, "edge");
        if !edge.is_empty() && !matches!(edge.as_slice(), [from, to] if from != to) {
            self.wrong(
                section,
                "edge",
                "two attributes, one for each end",
                "[\"followerId\", \"followedId\"]",
            );
        }
        edge
    }

    /// The table of an index entry; a list was probably meant to be its key.
    fn entry<'a>(&mut self, section: &Section<'a>, index: &str) -> Option<Section<'a>> {
        if let Some(key) = section.get(index).filter(|item| item.is_array()) {
            let example = format!("{{ key = {} }}", key.to_string().trim());
            self.wrong(section, index, "written in braces", &example);
            return None;
        }
        self.inner(section, index)
    }

    /// Checks the number of templates; without any, the key attributes are the entity's own attributes.
    fn complete_key(&mut self, section: &Section<'_>, entity: &mut Entity, model: &Model) {
        let semantic = model.table.keys.iter().all(|key| entity.attribute(key).is_some());
        if section.get("key").is_none() && !semantic {
            let message = format!("{} needs `key`, the templates of its primary key", section.subject);
            let help = "add key = [\"USER#{userId}\", \"PROFILE\"]";
            self.fail("P002", section, &section.span.clone(), message, help);
        } else if section.get("key").is_none() {
            entity.key = model.table.keys.iter().map(|key| Template::field(key)).collect();
        } else if entity.key.len() != model.table.keys.len() && self.findings.is_empty() {
            let message = format!(
                "the table has {} key attributes, this key {}",
                model.table.keys.len(),
                entity.key.len()
            );
            self.fail(
                "P002",
                section,
                &entity.key_span.clone(),
                message,
                "give one template for each key attribute",
            );
        }
    }

    fn index_key(&mut self, index: &str, section: &Section<'_>, entity: &Entity, model: &Model) -> IndexKey {
        self.only(section, &["key", "when", "shard", "count", "about"]);
        let mut key = self.templates(section, "key");
        let declared = model.index(index);
        if let Some(declared) = declared {
            if declared.local && key.len() == 1 {
                key.insert(0, entity.key.first().cloned().unwrap_or_default());
            }
            if key.len() != declared.keys.len() && self.findings.is_empty() {
                let message =
                    format!("{index} has {} key attributes, this key {}", declared.keys.len(), key.len());
                self.fail(
                    "P002",
                    section,
                    &section.span.clone(),
                    message,
                    "give one template for each key attribute",
                );
            }
        }
        let when = self.condition(section, "when").typed(entity);
        IndexKey {
            when,
            shard: self.shard(section),
            count: self.whole(section, "count"),
            ..IndexKey::new(index, key, section.span.clone())
        }
    }

    fn attributes(&mut self, section: &Section<'_>) -> Vec<Attribute> {
        let Some(inner) = self.inner(section, "attributes") else { return Vec::new() };
        let mut attributes = Vec::new();
        for (name, item) in inner.table.iter() {
            self.attribute_name(&inner, &inner.name_span(name), name, LONGEST);
            let (text, details) = match item.as_table_like() {
                None => (self.type_text(&inner, name), None),
                Some(_) => {
                    let Some(details) = self.inner(&inner, name) else { continue };
                    self.only(&details, &ATTRIBUTE_FIELDS);
                    (self.text(&details, "type"), Some(details))
                }
            };
            let Some(text) = text else { continue };
            let text_kind = text.strip_suffix('?').unwrap_or(&text);
            let Some(kind) = ValueType::parse(text_kind) else {
                let span = inner.span_of(name);
                let message = format!("`{text}` is not a type");
                self.fail("P002", section, &span, message, &unknown_type_help(text_kind));
                continue;
            };
            let mut attribute = Attribute { optional: text.ends_with('?'), ..Attribute::new(name, kind) };
            if let Some(details) = details {
                attribute.values = self.whole(&details, "values");
                attribute.top = self.number(&details, "top").map(|top| top.min(1.0));
                attribute.optional |= self.flag(&details, "optional");
                attribute.limits = self.limits(&details, &attribute.kind);
                attribute.origin = self.origin(&details, &attribute);
            }
            attributes.push(attribute);
        }
        attributes
    }

    /// The type of an attribute as a text; the example is what was probably meant.
    fn type_text(&mut self, section: &Section<'_>, name: &str) -> Option<String> {
        let item = section.get(name)?;
        if let Some(text) = item.as_str() {
            return Some(text.to_owned());
        }
        let words: Option<Vec<&str>> =
            item.as_array().and_then(|array| array.iter().map(toml_edit::Value::as_str).collect());
        let example = match words {
            Some(words) => format!("\"{}\"", words.join("|")),
            None => "\"string\", or \"string?\" if items may lack it".to_owned(),
        };
        self.wrong(section, name, "a type, as a string", &example);
        None
    }

    fn shard(&mut self, section: &Section<'_>) -> Option<Shard> {
        let inner = self.inner(section, "shard")?;
        self.only(&inner, &["by", "hash", "count"]);
        let count = self.whole(&inner, "count").unwrap_or(1);
        if count > MAX_SHARDS {
            let wanted = format!("at most {MAX_SHARDS}: who does not know the shard reads them all");
            self.wrong(&inner, "count", &wanted, "10");
        }
        let hash = self.choice(&inner, "hash", &ShardHash::NAMES).and_then(|name| ShardHash::parse(&name));
        let by = self.text(&inner, "by").filter(|by| by != "random");
        Some(Shard { by, hash: hash.unwrap_or_default(), count })
    }

    fn expect(&mut self, section: &Section<'_>) -> Expectations {
        let Some(inner) = self.inner(section, "expect") else { return Expectations::default() };
        let known = [
            "count",
            "per",
            "average",
            "max",
            "bytes",
            "max_bytes",
            "count_in_a_year",
            "average_in_a_year",
            "max_in_a_year",
            "bytes_in_a_year",
            "max_bytes_in_a_year",
        ];
        self.only(&inner, &known);
        let expect = Expectations {
            count: self.whole(&inner, "count"),
            per: self.text(&inner, "per"),
            average: self.number(&inner, "average"),
            max: self.whole(&inner, "max"),
            bytes: self.whole(&inner, "bytes"),
            max_bytes: self.whole(&inner, "max_bytes"),
            in_a_year: self.in_a_year(&inner),
        };
        self.sensible(&inner, &expect);
        if expect.per.is_none() && expect.average.is_some() {
            let message = "`average` needs `per`: the parent entity that the average refers to".to_owned();
            self.fail(
                "P002",
                section,
                &inner.span.clone(),
                message,
                "for example per = \"User\", average = 10",
            );
        }
        expect
    }
}

fn unknown_type_help(text: &str) -> String {
    match ValueType::synonym(text).or_else(|| closest(text, ValueType::names())) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => {
            let names: Vec<&str> = ValueType::names().collect();
            format!("types are {}, or choices as in \"PENDING|PAID\"", names.join(", "))
        }
    }
}
