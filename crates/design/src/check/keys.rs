//! Rules about the table's keys: unambiguous, stable, well named, and used.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::KeyMapping;
use crate::model::Verb;
use crate::name_hints;
use crate::repair::{Edit, Repair};
use crate::template::{DELIMITER, FieldTypes, SHARD, Template};
use std::collections::{BTreeMap, BTreeSet};

impl<'m> Checker<'m> {
    pub fn keys(&mut self) {
        self.injective();
        self.always_built();
        self.stable();
        self.lasting();
        self.names();
        self.versions_in_names();
        self.table_key_in_use();
    }

    fn injective(&mut self) {
        for mapping in self.made_mappings() {
            for template in [Some(&mapping.partition), mapping.sort.as_ref()].into_iter().flatten() {
                // Entries of an index may share a sort key.
                let loose = mapping.location.index.is_some() && Some(template) == mapping.sort.as_ref();
                let touching = template.unterminated_fields(mapping.entity, false);
                let forgeable = self.forgeable(&mapping, template);
                let (severity, fields, why, help) = if !touching.is_empty() {
                    let severity = if loose { Severity::Warning } else { Severity::Error };
                    let help =
                        format!("write a delimiter after {{{}}}, or give it a fixed width", touching[0]);
                    (
                        severity,
                        touching,
                        "not separated from what follows, so that different values produce the same key",
                        help,
                    )
                } else if !forgeable.is_empty() {
                    let severity = if loose { Severity::Note } else { Severity::Warning };
                    let mut help =
                        format!("declare {} as \"id\" (never contains the delimiter)", list(&forgeable));
                    // Only `#` is escaped.
                    if mapping.entity.delimiter() == DELIMITER {
                        help.push_str(&format!(", or write {{{}:escaped}}", forgeable[0]));
                    }
                    (
                        severity,
                        forgeable,
                        "free text, and a value that contains the delimiter can forge another key",
                        help,
                    )
                } else {
                    continue;
                };
                let finding = self.about_mapping("P201", severity, &mapping).with_message(format!(
                    "{template}: {} {} {why}",
                    list(&fields),
                    if fields.len() == 1 { "is" } else { "are" }
                ));
                self.report(finding.with_help(help));
            }
        }
    }

    /// Fields that may contain the delimiter, if there are several or one ends a prefix that a pattern searches.
    fn forgeable(&self, mapping: &KeyMapping<'m>, template: &Template) -> Vec<String> {
        let several = template.forgeable_fields(mapping.entity);
        if !several.is_empty() {
            return several;
        }
        if Some(template) != mapping.sort.as_ref() {
            return Vec::new();
        }
        let (location, entity) = (mapping.location.name(), mapping.entity.name.as_str());
        let mut free = template.free_fields(mapping.entity);
        free.retain(|name| self.usage.searched.contains(&(location, entity, name.clone())));
        free
    }

    /// Every item has a primary key, and so every attribute that the key is made of.
    fn always_built(&mut self) {
        for entity in &self.model.entities {
            let optional = |name: &&str| entity.attribute(name).is_some_and(|attribute| attribute.optional);
            let fields: BTreeSet<&str> = entity.key_fields().filter(optional).collect();
            if fields.is_empty() {
                continue;
            }
            let fields: Vec<&str> = fields.into_iter().collect();
            let finding = Finding::new("P228", Severity::Error, entity.subject(), &entity.key_span);
            self.report(
                finding
                    .with_message(format!(
                        "the key of {} is made of {}, which is optional: an item without it has no key",
                        entity.name,
                        list(&fields)
                    ))
                    .with_help(format!(
                        "declare {0} without `?`, or put {0} into an index, which then holds only items that have it",
                        list(&fields)
                    )),
            );
        }
    }

    /// Attributes of the table's key must not change.
    fn stable(&mut self) {
        let model = self.model;
        for write in &model.writes {
            for action in write.actions.iter().filter(|action| action.verb == Verb::Update) {
                let Some(entity) = model.entity(&action.entity) else { continue };
                // A shard in the key follows from an attribute.
                let hashed = entity.shard.as_ref().and_then(|shard| shard.by.as_deref());
                let hashed = hashed.filter(|_| entity.has_key_field(SHARD));
                let is_key = |name: &&str| entity.has_key_field(name) || hashed == Some(name);
                let keeps =
                    |name: &&str| action.expression.as_ref().is_some_and(|expression| expression.keeps(name));
                let set = action.set.iter().map(String::as_str);
                let changed: Vec<&str> = set.filter(is_key).filter(|name| !keeps(name)).collect();
                if !changed.is_empty() {
                    let finding = Finding::new("P206", Severity::Error, write.subject(), &write.span);
                    self.report(
                        finding
                            .with_message(format!("{} changes {}, which is part of the key of {}", write.name, list(&changed), entity.name))
                            .with_help("build the key from attributes that never change, and put this one into an index"),
                    );
                }
            }
        }
    }

    /// A status in the table's key will change, even if no declared write changes it.
    fn lasting(&mut self) {
        let model = self.model;
        let is_reported = model.writes.iter().any(|write| self.has("P206", &write.subject()));
        for entity in &model.entities {
            let Some(name) = entity.key_fields().find(|name| name_hints::changes(name)) else { continue };
            if is_reported || entity.identity.iter().any(|own| own == name) || entity.copies.is_some() {
                continue;
            }
            let finding = Finding::new("P206", Severity::Warning, entity.subject(), &entity.key_span);
            self.report(
                finding
                    .with_message(format!(
                        "{name} is part of the key of {}, and keys cannot be updated",
                        entity.name
                    ))
                    .with_help("leave it out of the table's key, and put it into an index"),
            );
        }
    }

    fn names(&mut self) {
        let model = self.model;
        if model.entities.len() < 2 {
            return;
        }
        let semantic: Vec<&str> = model
            .table
            .keys
            .iter()
            .map(String::as_str)
            .filter(|key| model.attribute(key).is_some())
            .collect();
        if !semantic.is_empty() {
            let finding = Finding::new("P218", Severity::Warning, "table", &model.table.span);
            self.report(
                finding
                    .with_message(format!(
                        "{} entities share a table whose key is named {}",
                        model.entities.len(),
                        list(&semantic)
                    ))
                    .with_help("name the keys PK and SK, and build them with templates"),
            );
        }
        if model.table.type_attribute.is_none() {
            let finding = Finding::new("P219", Severity::Warning, "table", &model.table.span);
            self.report(
                finding
                    .with_message(format!(
                        "{} entities share the table, and no attribute names the entity of an item",
                        model.entities.len()
                    ))
                    .with_help("add type_attribute = \"EntityType\" to [table]")
                    .with_proposals(vec![Repair {
                        help: "add type_attribute = \"EntityType\" to [table]".to_owned(),
                        edits: vec![Edit::set(&["table", "type_attribute"], "\"EntityType\"")],
                    }]),
            );
        }
    }

    fn versions_in_names(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let versioned = |name: &str| {
                let (version, rest) = name.split_once('_')?;
                let number = version.strip_prefix(['v', 'V'])?;
                number.parse::<u32>().ok().map(|_| rest.to_owned())
            };
            let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for attribute in &entity.attributes {
                if let Some(rest) = versioned(&attribute.name) {
                    versions.entry(rest).or_default().push(attribute.name.clone());
                }
            }
            for names in versions.values().filter(|names| names.len() > 1) {
                let finding = self.about_entity("P220", Severity::Note, entity);
                let message = format!("{} coexist", list(names));
                self.report(
                    finding
                        .with_message(message)
                        .with_help("plan when readers will need only the newest, then remove the others"),
                );
            }
        }
    }

    /// The table's own key should serve a pattern.
    fn table_key_in_use(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let name = entity.name.as_str();
            let Some(reads) = self.usage.reads.get(name) else { continue };
            if reads.by_table_key || self.usage.unserved.contains(name) {
                continue;
            }
            // Entities that an index brings together may be separate in the table on purpose.
            let is_meant = self.usage.written_by_key.contains(name) || reads.with_others;
            let severity = if is_meant { Severity::Note } else { Severity::Warning };
            let finding = Finding::new("P221", severity, entity.subject(), &entity.key_span);
            self.report(
                finding
                    .with_message(format!(
                        "no pattern reads {} by the table's key; all go through an index",
                        entity.name
                    ))
                    .with_help("use the key of its most frequent pattern as the table's key"),
            );
        }
    }
}
