//! Rules about the text of keys: injective, distinct, identifying, prefixed, consistent, stable.

use super::Checker;
use super::spelling::Spellings;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::key_tree::KeyTree;
use crate::keys::keyspace::{MAX_NAMED, key_tokens};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Verb};
use crate::name_hints;
use crate::plan::{Operation, Step};
use crate::template::{Part, Template};
use std::collections::{BTreeMap, BTreeSet};

impl<'m> Checker<'m> {
    pub fn keys(&mut self) {
        self.injective();
        self.distinct_types();
        self.identified();
        self.prefixed();
        self.consistent();
        self.stable();
        self.lasting();
        self.tenants();
        self.names();
        self.versions_in_names();
        self.table_key_in_use();
    }

    fn injective(&mut self) {
        for mapping in self.mappings() {
            for template in [Some(&mapping.partition), mapping.sort.as_ref()].into_iter().flatten() {
                // An index need not tell its entries apart by the sort key.
                let loose = mapping.location.index.is_some() && Some(template) == mapping.sort.as_ref();
                let touching = template.unterminated_fields(mapping.entity, false);
                let forgeable = self.forgeable(&mapping, template);
                let (severity, fields, why) = if !touching.is_empty() {
                    let severity = if loose { Severity::Warning } else { Severity::Error };
                    (
                        severity,
                        touching,
                        "without a border before what follows, so that different values make the same key",
                    )
                } else if !forgeable.is_empty() {
                    let severity = if loose { Severity::Note } else { Severity::Warning };
                    (
                        severity,
                        forgeable,
                        "free text, and a value with the delimiter in it forges another key",
                    )
                } else {
                    continue;
                };
                let finding = self.about_mapping("P201", severity, &mapping).with_message(format!(
                    "{template}: {} {} {why}",
                    list(&fields),
                    if fields.len() == 1 { "is" } else { "are" }
                ));
                let help = format!(
                    "declare {} as \"id\" (never contains the delimiter), or write {{{}:escaped}}",
                    list(&fields),
                    fields[0]
                );
                self.report(finding.with_help(help));
            }
        }
    }

    /// Fields that may contain the delimiter and either are several or end a prefix that some pattern searches.
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

    /// No two types may make the same primary key.
    fn distinct_types(&mut self) {
        let mappings = self.keys.mappings(TableOrIndex { index: None }).to_vec();
        let mut earlier = KeyTree::default();
        for (number, right) in mappings.iter().enumerate() {
            let key = key_tokens(right, true);
            let (mut looked_at, mut same) = (BTreeSet::new(), BTreeSet::new());
            earlier.find_overlapping(&key, false, |left| {
                if looked_at.insert(left) && same_key(&mappings[left], right, true) {
                    same.insert(left);
                }
                same.len() < MAX_NAMED
            });
            earlier.insert(&key, number);
            if same.len() == MAX_NAMED {
                let finding = self.about_mapping("P202", Severity::Error, right);
                let message = format!("{} can have the same key as many other types", right.entity.name);
                self.report(finding.with_message(message).with_help("give each type a prefix of its own"));
            }
            for left in same {
                self.same_key(&mappings[left], right);
            }
        }
    }

    fn same_key(&mut self, left: &KeyMapping<'m>, right: &KeyMapping<'m>) {
        let (severity, why) = if same_key(left, right, false) {
            (Severity::Error, "one overwrites the other")
        } else {
            (Severity::Warning, "a value that contains the delimiter is enough")
        };
        let (a, b) = (&left.entity.name, &right.entity.name);
        let finding = self.about_mapping("P202", severity, right);
        self.report(finding.with_message(format!("{b} and {a} can have the same key: {why}")).with_help(
            "give each type a prefix of its own, and declare identifiers as \"id\", ulid or uuid",
        ));
    }

    /// The primary key must contain what tells one item from another.
    fn identified(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let missing: Vec<&str> =
                needed(model, entity).into_iter().filter(|name| !entity.has_key_field(name)).collect();
            let otherwise = entity.unique.iter().any(|name| entity.has_key_field(name));
            if missing.is_empty() || otherwise {
                continue;
            }
            let key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
            let finding = Finding::new("P203", Severity::Error, entity.subject(), &entity.key_span);
            let last = key.last().cloned().unwrap_or_default();
            let rest: String = missing.iter().map(|name| format!("#{{{name}}}")).collect();
            self.report(
                finding
                    .with_message(format!(
                        "the key {} does not contain {}: two different {} items can overwrite each other",
                        key.join(" / "),
                        list(&missing),
                        entity.name
                    ))
                    .with_help(format!("append it: \"{last}{rest}\"")),
            );
        }
        self.several_a_day();
        self.one_for_many();
        for entity in &model.entities {
            let Some(versions) = &entity.versions else { continue };
            let in_sort = entity.key.get(1).is_some_and(|sort| sort.has_field(versions));
            let padded = entity.key.get(1).is_some_and(|sort| sort_keeps(sort, entity, versions));
            let (code, message) = match (in_sort, padded) {
                (true, true) => continue,
                (false, _) => {
                    ("P504", format!("{versions} numbers the versions, but is not in the sort key"))
                }
                (true, false) => {
                    ("P105", format!("{versions} is not padded: version 10 comes before version 2"))
                }
            };
            let finding = Finding::new(code, Severity::Error, entity.subject(), &entity.key_span);
            self.report(
                finding.with_message(message).with_help(format!("write V#{{{versions}:08}} in the sort key")),
            );
        }
    }

    /// A list is wanted where the key leaves room for one item only.
    fn one_for_many(&mut self) {
        let model = self.model;
        for pattern in &model.patterns {
            let Some(Ok(plan)) = self.plans.get(pattern.name.as_str()) else { continue };
            let lists =
                pattern.targets.iter().filter(|target| target.many).map(|target| target.entity.as_str());
            let wanted: Vec<&str> = lists.collect();
            let read =
                |step: &&Step<'m>| step.location.index.is_none() && step.operation != Operation::BatchGet;
            let whole = |entity: &&Entity| entity.key_fields().all(|name| pattern.is_fixed(name));
            let targets = plan.steps.iter().filter(read).flat_map(|step| step.targets.iter().copied());
            let found: Vec<&'m Entity> = targets.filter(whole).collect();
            for entity in found.into_iter().filter(|entity| wanted.contains(&entity.name.as_str())) {
                if self.has("P203", &entity.subject()) {
                    continue;
                }
                // An identifier that is nobody else's and not in the key is what is missing there.
                let own = |name: &str| name.ends_with("Id") && model.owner_of(name).is_none();
                let missing = entity.attributes.iter().map(|attribute| attribute.name.as_str());
                let missing = missing.filter(|name| own(name)).find(|name| !entity.has_key_field(name));
                let several = entity.expect.average.is_some_and(|average| average > 1.0);
                let severity = if missing.is_some() || several { Severity::Error } else { Severity::Warning };
                let finding = Finding::new("P203", severity, entity.subject(), &entity.key_span);
                let key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
                self.report(
                    finding
                        .with_message(format!(
                            "{} wants several {}, and the key {} has room for one: the second overwrites the first",
                            pattern.name,
                            entity.name,
                            key.join(" / ")
                        ))
                        .with_help(format!("append what tells them apart: #{{{}}}", missing.unwrap_or("…"))),
                );
            }
        }
    }

    /// A list of items that only their date tells apart: the second of a day overwrites the first.
    fn several_a_day(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let declared =
                !entity.identity.is_empty() || !entity.edge.is_empty() || !entity.unique.is_empty();
            let copied = entity.copies.is_some() || entity.versions.is_some();
            let listed = self.usage.listed.contains(entity.name.as_str());
            if declared
                || copied
                || entity.identity().is_some()
                || !listed
                || name_hints::is_periodic(&entity.name)
            {
                continue;
            }
            let Some(date) = entity.key.get(1).and_then(|sort| sort.fields().last()) else { continue };
            let day = entity.attribute(date).is_some_and(|attribute| attribute.kind == ValueType::Date);
            let foreign =
                entity.key_fields().filter(|name| *name != date).all(|name| model.owner_of(name).is_some());
            if day && foreign {
                let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
                self.report(
                    finding
                        .with_message(format!(
                            "only {date} tells one {} from another: the second of a day overwrites the first",
                            entity.name
                        ))
                        .with_help(format!(
                            "append an identifier, or say that there is one a day: identity = [\"{date}\"]"
                        )),
                );
            }
        }
    }

    /// `USER#123`, not `123`.
    fn prefixed(&mut self) {
        let several = self.model.entities.len() > 1;
        for mapping in self.mappings() {
            let bare = matches!(mapping.partition.parts.first(), Some(Part::Field { .. }));
            let semantic = mapping.is_semantic(self.model);
            let alone = mapping.location.index.is_some() && self.keys.mappings(mapping.location).len() == 1;
            if bare && !semantic && !alone {
                let field = mapping.partition.fields().next().unwrap_or_default().to_owned();
                let finding = self.about_mapping("P204", Severity::Warning, &mapping);
                let word = field.trim_end_matches("Id").to_uppercase();
                self.report(
                    finding
                        .with_message(format!(
                            "the partition key {} of {} has no prefix",
                            mapping.partition,
                            mapping.location.name()
                        ))
                        .with_help(format!("write {word}#{{{field}}}")),
                );
            }
            let Some(sort) = mapping.sort.as_ref().filter(|_| several && mapping.location.index.is_none())
            else {
                continue;
            };
            let bare = matches!(sort.parts.first(), Some(Part::Field { .. }));
            if bare && self.keys.shares_collections(mapping.entity) {
                let finding = self.about_mapping("P213", Severity::Note, &mapping);
                let word = mapping.entity.name.to_uppercase();
                self.report(
                    finding
                        .with_message(format!(
                            "the sort key {sort} has no prefix, in a collection of several types"
                        ))
                        .with_help(format!("write {word}#{sort}")),
                );
            }
        }
    }

    /// One attribute, one spelling of its prefix; one delimiter.
    fn consistent(&mut self) {
        let mut spellings: BTreeMap<(String, String), Spellings> = BTreeMap::new();
        let mut delimiters: BTreeMap<char, KeyMapping<'m>> = BTreeMap::new();
        for mapping in self.mappings() {
            for pair in mapping.partition.parts.clone().windows(2) {
                let (Part::Text(text), Part::Field { name, .. }) = (&pair[0], &pair[1]) else { continue };
                // The delimiter that ends what stands before is not part of this prefix.
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

    /// Attributes of the table's key never change.
    fn stable(&mut self) {
        let model = self.model;
        for write in &model.writes {
            for action in write.actions.iter().filter(|action| action.verb == Verb::Update) {
                let Some(entity) = model.entity(&action.entity) else { continue };
                let changed: Vec<&str> =
                    action.set.iter().map(String::as_str).filter(|name| entity.has_key_field(name)).collect();
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

    /// A status in the table's key changes sooner or later, whether or not a write says so.
    fn lasting(&mut self) {
        let model = self.model;
        let told = model.writes.iter().any(|write| self.has("P206", &write.subject()));
        for entity in &model.entities {
            let Some(name) = entity.key_fields().find(|name| name_hints::changes(name)) else { continue };
            if told || entity.identity.iter().any(|own| own == name) || entity.copies.is_some() {
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

    /// A declared tenant comes first in every partition key; one that is only named so, in the table's own.
    fn tenants(&mut self) {
        let Some(tenant) = self.model.table.tenant.clone() else { return self.named_tenants() };
        for mapping in self.mappings() {
            if mapping.partition.fields().next() != Some(tenant.as_str()) {
                let finding = self.about_mapping("P217", Severity::Error, &mapping);
                self.report(
                    finding
                        .with_message(format!(
                            "the partition key {} of {} does not begin with {tenant}",
                            mapping.partition,
                            mapping.location.name()
                        ))
                        .with_help(format!("write TENANT#{{{tenant}}}#{}", mapping.partition)),
                );
            }
        }
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
            let partition = entity.key.first().map(Template::to_string).unwrap_or_default();
            self.report(
                finding
                    .with_message(format!(
                        "the partition key {partition} does not begin with {}, as those of other types do",
                        tenant.name
                    ))
                    .with_help(format!("write TENANT#{{{}}}#{partition}", tenant.name)),
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
                        "{} types share a table whose key is named {}",
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
                        "{} types share the table, and no attribute says which one an item is",
                        model.entities.len()
                    ))
                    .with_help("add type_attribute = \"EntityType\" to [table]"),
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
            let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for attribute in &entity.attributes {
                if let Some(rest) = versioned(&attribute.name) {
                    seen.entry(rest).or_default().push(attribute.name.clone());
                }
            }
            for names in seen.values().filter(|names| names.len() > 1) {
                let finding = self.about_entity("P220", Severity::Note, entity);
                let message = format!("{} live side by side", list(names));
                self.report(
                    finding
                        .with_message(message)
                        .with_help("plan when readers need only the newest, then remove the others"),
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
            if reads.has_table || self.usage.unserved.contains(name) {
                continue;
            }
            // FieldTypes that are brought together by an index live apart in the table on purpose.
            let is_meant = self.usage.written_by_key.contains(name) || reads.shares_collections;
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

fn same_key(left: &KeyMapping<'_>, right: &KeyMapping<'_>, strict: bool) -> bool {
    let overlaps = |a: &Template, b: &Template| a.overlaps(left.entity, b, right.entity, strict, false);
    let sorts = match (&left.sort, &right.sort) {
        (Some(a), Some(b)) => overlaps(a, b),
        _ => true,
    };
    overlaps(&left.partition, &right.partition) && sorts
}

/// Attributes without which an entity's key is not unique.
fn needed<'m>(model: &'m crate::model::Model, entity: &'m Entity) -> Vec<&'m str> {
    if !entity.identity.is_empty() {
        return entity.identity.iter().map(String::as_str).collect();
    }
    if !entity.edge.is_empty() {
        return entity.edge.iter().map(String::as_str).collect();
    }
    if let Some(original) = entity.copies.as_deref().and_then(|name| model.entity(name)) {
        let version = original.versions.as_deref();
        let fields = match original.identity() {
            Some(id) => vec![id],
            None => original.key_fields().filter(|name| *name != crate::template::SHARD).collect(),
        };
        let held = |name: &&str| entity.attribute(name).is_some() && Some(*name) != version;
        return fields.into_iter().filter(held).collect();
    }
    entity.identity().into_iter().collect()
}

fn sort_keeps(sort: &Template, entity: &Entity, name: &str) -> bool {
    let kind = entity.attribute(name).map(|attribute| &attribute.kind);
    sort.parts.iter().any(|part| match part {
        Part::Field { name: field, format } => {
            field == name && kind.is_some_and(|kind| format.keeps_order(kind))
        }
        Part::Text(_) => false,
    }) || sort.bare_field() == Some(name)
}
