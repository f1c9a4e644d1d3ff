//! Resolves the names in a model: attributes in templates and patterns, entities, indexes.

use crate::finding::{Finding, Severity, closest};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model, Pattern, Shard};
use crate::reader::is_reserved;
use crate::reader::mentions::Mentions;
use crate::source::Span;
use crate::template::{FieldTypes, Template};

pub(super) fn check(model: &Model, file: Mentions<'_>, findings: &mut Vec<Finding>) {
    let mut names = Names { model, file, findings };
    for entity in &model.entities {
        names.entity(entity);
    }
    names.circles();
    for pattern in &model.patterns {
        names.pattern(pattern);
    }
    for write in &model.writes {
        names.write(write);
    }
}

/// The number of known names that are listed beside an unknown one.
const MAX_LISTED: usize = 64;

pub(super) struct Names<'a> {
    pub(super) model: &'a Model,
    pub(super) file: Mentions<'a>,
    pub(super) findings: &'a mut Vec<Finding>,
}

impl<'a> Names<'a> {
    fn unknown<'b>(
        &mut self,
        subject: &str,
        span: &Span,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'b str>,
    ) {
        let mut known: Vec<&str> = known.take(MAX_LISTED + 1).collect();
        if known.len() > MAX_LISTED {
            known[MAX_LISTED] = "…";
        }
        let meant = closest(name, known.iter().copied());
        let is_key =
            self.model.table.keys.iter().chain(self.model.indexes.iter().flat_map(|index| &index.keys));
        let help = match meant {
            _ if is_key.clone().any(|key| key == name) => {
                "name attributes of entities: the keys are made of them".to_owned()
            }
            _ if self.model.table.type_attribute.as_deref() == Some(name) => {
                "it names the entity of an item: say in `out` which are returned".to_owned()
            }
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => format!("declare the {what} first"),
            None => format!("known: {}", known.join(", ")),
        };
        // Conditions know their places already.
        let is_exact = self.file.text.get(span.clone()) == Some(name);
        let mention = self.file.find(subject, name).filter(|mention| !is_exact || mention.span == *span);
        let rename = mention.as_ref().zip(meant).and_then(|(at, meant)| self.file.renamed(at, meant, &help));
        let span = mention.as_ref().map_or(span, |mention| &mention.span);
        self.findings.push(
            Finding::new("P003", Severity::Error, subject, span)
                .with_message(format!("`{name}` is no {what}"))
                .with_help(help)
                .with_proposals(rename.into_iter().collect()),
        );
    }

    pub(super) fn attribute(&mut self, entity: &Entity, subject: &str, span: &Span, name: &str) {
        if entity.attribute(name).is_none() && !is_reserved(name) {
            let known = entity.attributes.iter().map(|attribute| attribute.name.as_str());
            self.unknown(subject, span, &format!("attribute of {}", entity.name), name, known);
        }
    }

    pub(super) fn known_entity(&mut self, subject: &str, span: &Span, name: &str) -> bool {
        let model = self.model;
        let known = model.entity(name).is_some();
        if !known {
            self.unknown(
                subject,
                span,
                "entity",
                name,
                model.entities.iter().map(|entity| entity.name.as_str()),
            );
        }
        known
    }

    fn entity(&mut self, entity: &Entity) {
        let subject = entity.subject();
        self.key_fields(entity, &self.model.table.keys, &entity.key, &entity.key_span);
        for template in &entity.key {
            if template.has_field(crate::template::SHARD) && entity.shard.is_none() {
                self.shard_missing(entity, &entity.key_span);
            }
        }
        for index_key in &entity.indexes {
            if self.model.index(&index_key.index).is_none() {
                let known = self.model.indexes.iter().map(|index| index.name.as_str());
                self.unknown(&subject, &index_key.span, "index", &index_key.index, known);
            }
            let names = self.model.index(&index_key.index).map(|index| index.keys.as_slice());
            self.key_fields(entity, names.unwrap_or_default(), &index_key.key, &index_key.span);
            for template in &index_key.key {
                if template.has_field(crate::template::SHARD)
                    && index_key.shard.is_none()
                    && entity.shard.is_none()
                {
                    self.shard_missing(entity, &index_key.span);
                }
            }
            for test in index_key.when.tests() {
                self.attribute(entity, &subject, &test.places.attribute_at, &test.attribute);
            }
        }
        self.shard(entity, entity.shard.as_ref(), &entity.span);
        for index_key in &entity.indexes {
            self.shard(entity, index_key.shard.as_ref(), &index_key.span);
        }
        // The table's expiry attribute concerns the entities that have it.
        let expires = entity.ttl.as_ref().filter(|name| self.model.table.ttl.as_ref() != Some(name));
        let named = [entity.lock.as_ref(), entity.versions.as_ref(), expires].into_iter().flatten();
        for name in named.chain(entity.unique.iter().flatten()).chain(&entity.identity).chain(&entity.edge) {
            self.attribute(entity, &subject, &entity.span, name);
        }
        for name in [&entity.copies, &entity.expect.per].into_iter().flatten() {
            self.known_entity(&subject, &entity.span, name);
        }
        self.aggregates(entity);
        let original = entity.copies.as_deref().and_then(|name| self.model.entity(name));
        if entity.latest && original.is_none_or(|original| original.versions.is_none()) {
            self.findings.push(
                Finding::new("P003", Severity::Error, &subject, &entity.span)
                    .with_message("latest = true is for a copy of an entity that keeps versions")
                    .with_help("add copies = \"…\" here, and versions = \"version\" to that entity"),
            );
        }
    }

    /// The fields of keys are attributes, and have a text, unless the key attribute is the attribute itself.
    fn key_fields(&mut self, entity: &Entity, names: &[String], templates: &[Template], span: &Span) {
        let subject = entity.subject();
        for (number, template) in templates.iter().enumerate() {
            let is_itself = template.bare_field() == names.get(number).map(String::as_str);
            for field in template.fields() {
                self.attribute(entity, &subject, span, field);
                let kind = entity.type_of(field).filter(|kind| !kind.is_scalar() && !is_itself);
                if let Some(kind) = kind {
                    self.findings.push(
                        Finding::new("P003", Severity::Error, &subject, span)
                            .with_message(format!(
                                "{field} is {}, which has no text for a key",
                                kind.described()
                            ))
                            .with_help("use a text, such as a hash of it in an attribute of its own"),
                    );
                }
            }
        }
    }

    /// The attribute that selects a shard has a text to compute a hash of.
    fn shard(&mut self, entity: &Entity, shard: Option<&Shard>, span: &Span) {
        let Some(by) = shard.and_then(|shard| shard.by.as_deref()) else { return };
        let subject = entity.subject();
        self.attribute(entity, &subject, span, by);
        let without_text = [ValueType::Binary, ValueType::List, ValueType::Map, ValueType::Set];
        if let Some(kind) = entity.type_of(by).filter(|kind| without_text.contains(kind)) {
            self.findings.push(
                Finding::new("P003", Severity::Error, &subject, span)
                    .with_message(format!("shard by {by}: a {} has no text to hash", kind.print()))
                    .with_help("use an attribute that is text or a number, or leave out by"),
            );
        }
    }

    fn shard_missing(&mut self, entity: &Entity, span: &Span) {
        // An attribute may be called `shard`.
        if entity.attribute(crate::template::SHARD).is_some() {
            return;
        }
        let subject = entity.subject();
        self.findings.push(
            Finding::new("P003", Severity::Error, &subject, span)
                .with_message("a template has {shard}, but the number of shards is not declared")
                .with_help(format!(
                    "add shard = {{ by = \"{}\", count = 4 }} beside the key",
                    entity.identity().unwrap_or("random")
                )),
        );
    }

    fn pattern(&mut self, pattern: &Pattern) {
        let model = self.model;
        let subject = pattern.subject();
        let mut targets = Vec::new();
        for target in &pattern.targets {
            if self.known_entity(&subject, &pattern.span, &target.entity) {
                targets.extend(model.entity(&target.entity));
            }
        }
        let via = self.via(pattern, &targets);
        targets.extend(via);
        let order = pattern.order.iter().map(|order| &order.by);
        let range = pattern.range.iter().map(|range| &range.by);
        let names = pattern.inputs.iter().chain(order).chain(range).chain(&pattern.fields);
        let names = names.map(|name| (name, &pattern.span));
        // A filter may test the type attribute; what `where` would say about it, `out` says.
        let is_type = |name: &String| model.table.type_attribute.as_ref() == Some(name);
        let requested = pattern.request.iter().flat_map(|request| request.filter.tests());
        let requested = requested.filter(|test| !is_type(&test.attribute));
        let tested = pattern.filter.tests().into_iter().chain(requested);
        let tested = tested.map(|test| (&test.attribute, &test.places.attribute_at));
        for (name, span) in names.chain(tested) {
            // That an input is not known to what is returned is a question of the design, not a wrong name.
            let elsewhere = pattern.inputs.contains(name) && model.attribute(name).is_some();
            let found = elsewhere || targets.iter().any(|entity| entity.attribute(name).is_some());
            if !found && !targets.is_empty() {
                let known =
                    targets.iter().flat_map(|entity| entity.attributes.iter().map(|a| a.name.as_str()));
                self.unknown(&subject, span, "attribute", name, known);
            }
        }
        if let Some(index) = pattern.request.as_ref().and_then(|request| request.index.as_ref())
            && model.index(index).is_none()
        {
            let known = model.indexes.iter().map(|index| index.name.as_str());
            self.unknown(&subject, &pattern.span, "index", index, known);
        }
    }

    /// Checks that the entities of `via` exist, lead to another one, and have the attributes that are matched; returns them.
    fn via(&mut self, pattern: &Pattern, targets: &[&'a Entity]) -> Vec<&'a Entity> {
        let (model, subject) = (self.model, pattern.subject());
        let mut entities = Vec::new();
        for via in &pattern.via {
            if self.known_entity(&subject, &pattern.span, &via.entity) {
                entities.extend(model.entity(&via.entity));
            }
        }
        if pattern.via.is_empty() || entities.len() < pattern.via.len() {
            return entities;
        }
        let on_the_way = |entity: &Entity| entities.iter().any(|via| via.name == entity.name);
        let last: Vec<&Entity> = targets.iter().copied().filter(|entity| !on_the_way(entity)).collect();
        if last.is_empty() && !targets.is_empty() {
            let finding = Finding::new("P002", Severity::Error, &subject, &pattern.span);
            let help = "leave out via, or add the entity at its other end to out";
            self.findings.push(
                finding
                    .with_message("via leads to nothing: all that is returned is on the way")
                    .with_help(help),
            );
        }
        for (number, via) in pattern.via.iter().enumerate() {
            let next = entities.get(number + 1).map_or_else(|| last.clone(), |entity| vec![*entity]);
            for (to, from) in &via.matches {
                self.attribute(entities[number], &subject, &pattern.span, from);
                if let Some(entity) = next.first().filter(|_| next.iter().all(|e| e.attribute(to).is_none()))
                {
                    self.attribute(entity, &subject, &pattern.span, to);
                }
            }
        }
        entities
    }
}
