//! Rules about the prefixes of keys: present, spelled consistently, and starting with the tenant.

use super::edges::without;
use super::spelling::Spellings;
use super::{Checker, remedy};
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::{Entity, Pattern};
use crate::name_hints;
use crate::repair::Repair;
use crate::template::{FieldTypes, Part, Template};
use std::collections::BTreeMap;

impl<'m> Checker<'m> {
    pub fn prefixes(&mut self) {
        self.prefixed();
        self.consistent();
        self.tenants();
    }

    /// Keys need prefixes: `USER#123`, not `123`.
    fn prefixed(&mut self) {
        let several = self.model.entities.len() > 1;
        for mapping in self.made_mappings() {
            let bare = matches!(mapping.partition.parts.first(), Some(Part::Field { .. }));
            let semantic = mapping.is_semantic(self.model);
            let alone = mapping.location.index.is_some() && self.keys.mappings(mapping.location).len() == 1;
            if bare && !semantic && !alone && !self.is_behind_tenant(&mapping.partition) {
                let field = mapping.partition.fields().next().unwrap_or_default().to_owned();
                let finding = self.about_mapping("P204", Severity::Warning, &mapping);
                let (word, delimiter) = (remedy::prefix(self.model, &field), mapping.entity.delimiter());
                let text = format!("{word}{delimiter}{}", mapping.partition);
                let repair =
                    remedy::with_partition(self.keys.mappings(mapping.location), &mapping.partition, &text);
                self.report(
                    finding
                        .with_message(format!(
                            "the partition key {} of {} has no prefix",
                            mapping.partition,
                            mapping.location.name()
                        ))
                        .with_help(format!("write {text}"))
                        .with_proposals(repair.into_iter().collect()),
                );
            }
            let Some(sort) = mapping.sort.as_ref().filter(|_| several && mapping.location.index.is_none())
            else {
                continue;
            };
            let bare = matches!(sort.parts.first(), Some(Part::Field { .. }));
            if bare && self.keys.shares_collections(mapping.entity) {
                let finding = self.about_mapping("P213", Severity::Note, &mapping);
                let (word, delimiter) = (mapping.entity.name.to_uppercase(), mapping.entity.delimiter());
                let text = format!("{word}{delimiter}{sort}");
                let key = [mapping.partition.to_string(), text.clone()];
                let edit = remedy::with_key(&mapping, &key);
                let repair = edit.map(|edit| Repair { help: format!("write {text}"), edits: vec![edit] });
                self.report(
                    finding
                        .with_message(format!(
                            "the sort key {sort} has no prefix in a collection of several entities"
                        ))
                        .with_help(format!("write {text}"))
                        .with_proposals(repair.into_iter().collect()),
                );
            }
        }
    }

    /// `{tenantId}#TICKET#{ticketId}`: the prefix stands behind the tenant, which IAM compares with the start of the key.
    fn is_behind_tenant(&self, partition: &Template) -> bool {
        let tenant = self.model.table.tenant.as_deref();
        let [Part::Field { name, .. }, Part::Text(text), ..] = partition.parts.as_slice() else {
            return false;
        };
        let is_tenant = tenant.map_or_else(|| name_hints::is_tenant(name), |tenant| tenant == name);
        is_tenant && text.contains(char::is_alphanumeric)
    }

    /// An attribute has one spelling of its prefix, and keys have one delimiter.
    fn consistent(&mut self) {
        let mut spellings: BTreeMap<(String, String), Spellings> = BTreeMap::new();
        let mut delimiters: BTreeMap<char, KeyMapping<'m>> = BTreeMap::new();
        for mapping in self.made_mappings() {
            for pair in mapping.partition.parts.clone().windows(2) {
                let (Part::Text(text), Part::Field { name, .. }) = (&pair[0], &pair[1]) else { continue };
                // The delimiter that ends the previous part is not part of this prefix.
                let text = text.trim_start_matches(|character: char| !character.is_alphanumeric());
                let mark = text.chars().last().filter(|last| !last.is_alphanumeric());
                if let Some(mark) = mark {
                    delimiters.entry(mark).or_insert_with(|| mapping.clone());
                }
                let word: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
                if word.is_empty() {
                    continue;
                }
                let prefixes =
                    spellings.entry((mapping.location.name().to_owned(), name.clone())).or_default();
                let similar = prefixes.similar(text, name);
                prefixes.insert(text);
                if let Some(other) = similar {
                    let finding = self.about_mapping("P205", Severity::Warning, &mapping);
                    let message = format!("{name} has the prefix {text} here and {other} elsewhere");
                    self.report(
                        finding
                            .with_message(message)
                            .with_help("use one prefix, so that both are in one collection"),
                    );
                }
            }
        }
        if delimiters.len() > 1 {
            let marks: Vec<String> = delimiters.keys().map(|mark| format!("'{mark}'")).collect();
            let odd = delimiters.into_iter().find(|(mark, _)| *mark != '#');
            if let Some((_, mapping)) = odd {
                let finding = self.about_mapping("P205", Severity::Warning, &mapping);
                let message = format!("partition keys are delimited by {}", list(&marks));
                self.report(
                    finding
                        .with_message(message)
                        .with_help("use one delimiter everywhere; # is the usual one"),
                );
            }
        }
    }

    /// A declared tenant must start every partition key; one that is only recognised by its name, those of the table.
    fn tenants(&mut self) {
        let Some(tenant) = self.model.table.tenant.clone() else { return self.named_tenants() };
        for mapping in self.made_mappings() {
            if mapping.partition.fields().next() != Some(tenant.as_str()) {
                let (help, repair) = self.tenant_first(&tenant, &mapping);
                let finding = self.about_mapping("P217", Severity::Error, &mapping);
                self.report(
                    finding
                        .with_message(format!(
                            "the partition key {} of {} does not start with {tenant}",
                            mapping.partition,
                            mapping.location.name()
                        ))
                        .with_help(help)
                        .with_proposals(repair.into_iter().collect()),
                );
            }
        }
    }

    /// What to do about a partition key without the tenant: in words, and as a repair. Where a pattern does not know the tenant, that is a decision.
    fn tenant_first(&self, tenant: &str, mapping: &KeyMapping<'m>) -> (String, Option<Repair>) {
        let (help, repair) = self.started_by(tenant, mapping);
        let Some(pattern) = self.look_up(tenant, mapping) else { return (help, repair) };
        let name = &pattern.name;
        (
            format!(
                "{help}, and add {tenant} to the inputs of {name}; or, if {name} is asked before the tenant is known, allow it in [[allow]]"
            ),
            None,
        )
    }

    /// The pattern that reads a partition key before the tenant is known.
    fn look_up(&self, tenant: &str, mapping: &KeyMapping<'m>) -> Option<&'m Pattern> {
        let knows = |pattern: &Pattern, name: &str| pattern.inputs.iter().any(|input| input == name);
        let mut fields = mapping.partition.fields().peekable();
        fields.peek()?;
        let fields: Vec<&str> = fields.collect();
        self.model.patterns.iter().find(|pattern| {
            let is_wanted = pattern.targets.iter().any(|target| target.entity == mapping.entity.name);
            is_wanted && !knows(pattern, tenant) && fields.iter().all(|field| knows(pattern, field))
        })
    }

    /// The partition key with the tenant at its start, under the prefix that the table has for it: in words, and where the entity has the tenant, as
    /// a repair.
    fn started_by(&self, tenant: &str, mapping: &KeyMapping<'m>) -> (String, Option<Repair>) {
        let (entity, partition) = (mapping.entity, &mapping.partition);
        let delimiter = entity.delimiter();
        let word = remedy::prefix(self.model, tenant);
        let rest = without(partition, &[tenant], delimiter);
        // Of a prefix of its own nothing is left.
        let rest = rest.strip_suffix(&format!("{delimiter}{word}")).unwrap_or(&rest);
        let rest = if rest.is_empty() || rest == word { String::new() } else { format!("{delimiter}{rest}") };
        let text = format!("{word}{delimiter}{{{tenant}}}{rest}");
        if entity.attribute(tenant).is_none() {
            return (format!("give {} the attribute {tenant}, and write {text}", entity.name), None);
        }
        let keys = self.keys.mappings(mapping.location);
        (format!("write {text}"), remedy::with_partition(keys, partition, &text))
    }

    fn named_tenants(&mut self) {
        let leading = |entity: &Entity| {
            entity.key.first().and_then(|key| key.fields().next().map(name_hints::is_tenant))
        };
        if !self.model.entities.iter().any(|entity| leading(entity) == Some(true)) {
            return;
        }
        for entity in &self.model.entities {
            let own = entity.attributes.iter().find(|attribute| name_hints::is_tenant(&attribute.name));
            let Some(tenant) = own.filter(|_| leading(entity) != Some(true)) else { continue };
            let finding = Finding::new("P217", Severity::Warning, entity.subject(), &entity.key_span);
            let Some(mapping) = (TableOrIndex { index: None }).mapping(entity) else { continue };
            let (partition, (help, repair)) = (&mapping.partition, self.tenant_first(&tenant.name, &mapping));
            self.report(
                finding
                    .with_message(format!(
                        "the partition key {partition} does not start with {}, unlike those of other entities",
                        tenant.name
                    ))
                    .with_help(help)
                    .with_proposals(repair.into_iter().collect()),
            );
        }
    }
}
