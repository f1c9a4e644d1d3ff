//! Resolves the names in a model: attributes in templates and patterns, entities, indexes.

use crate::finding::{Finding, Severity, closest};
use crate::model::{Entity, Model};
use crate::reader::is_reserved;
use crate::source::Span;

pub fn check(model: &Model, findings: &mut Vec<Finding>) {
    let mut names = Names { model, findings };
    for entity in &model.entities {
        names.entity(entity);
    }
    for pattern in &model.patterns {
        names.pattern(pattern);
    }
    for write in &model.writes {
        for action in &write.actions {
            if names.known_entity(&write.subject(), &write.span, &action.entity)
                && let Some(entity) = model.entity(&action.entity)
            {
                for name in &action.set {
                    names.attribute(entity, &write.subject(), &write.span, name);
                }
            }
        }
    }
}

/// The number of known names that are listed beside an unknown one.
const MAX_LISTED: usize = 64;

struct Names<'a> {
    model: &'a Model,
    findings: &'a mut Vec<Finding>,
}

impl Names<'_> {
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
        let help = match closest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => format!("declare the {what} first"),
            None => format!("known: {}", known.join(", ")),
        };
        self.findings.push(
            Finding::new("P003", Severity::Error, subject, span)
                .with_message(format!("{subject} names the {what} `{name}`, which does not exist"))
                .with_help(help),
        );
    }

    fn attribute(&mut self, entity: &Entity, subject: &str, span: &Span, name: &str) {
        if entity.attribute(name).is_none() && !is_reserved(name) {
            let known = entity.attributes.iter().map(|attribute| attribute.name.as_str());
            self.unknown(subject, span, &format!("attribute of {}", entity.name), name, known);
        }
    }

    fn known_entity(&mut self, subject: &str, span: &Span, name: &str) -> bool {
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
        for template in &entity.key {
            for field in template.fields() {
                self.attribute(entity, &subject, &entity.key_span, field);
            }
            if template.has_field(crate::template::SHARD) && entity.shard.is_none() {
                self.shard_missing(entity, &entity.key_span);
            }
        }
        for index_key in &entity.indexes {
            if self.model.index(&index_key.index).is_none() {
                let known = self.model.indexes.iter().map(|index| index.name.as_str());
                self.unknown(&subject, &index_key.span, "index", &index_key.index, known);
            }
            for template in &index_key.key {
                for field in template.fields() {
                    self.attribute(entity, &subject, &index_key.span, field);
                }
                if template.has_field(crate::template::SHARD)
                    && index_key.shard.is_none()
                    && entity.shard.is_none()
                {
                    self.shard_missing(entity, &index_key.span);
                }
            }
            for test in &index_key.when.tests {
                self.attribute(entity, &subject, &index_key.span, test.attribute());
            }
        }
        let named = [&entity.lock, &entity.versions].into_iter().flatten();
        for name in named.chain(&entity.unique).chain(&entity.identity).chain(&entity.edge) {
            self.attribute(entity, &subject, &entity.span, name);
        }
        for name in [&entity.copies, &entity.expect.per].into_iter().flatten() {
            self.known_entity(&subject, &entity.span, name);
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
                .with_help("add shard = { by = \"orderId\", count = 4 } beside the key"),
        );
    }

    fn pattern(&mut self, pattern: &crate::model::Pattern) {
        let model = self.model;
        let subject = pattern.subject();
        let mut targets = Vec::new();
        for target in &pattern.targets {
            if self.known_entity(&subject, &pattern.span, &target.entity) {
                targets.extend(model.entity(&target.entity));
            }
        }
        let order = pattern.order.iter().map(|order| &order.by);
        let range = pattern.range.iter().map(|range| &range.by);
        let filter: Vec<String> =
            pattern.filter.tests.iter().map(|test| test.attribute().to_owned()).collect();
        let names = pattern.inputs.iter().chain(order).chain(range).chain(&filter).chain(&pattern.fields);
        for name in names {
            let found = targets.iter().any(|entity| entity.attribute(name).is_some());
            if !found && !targets.is_empty() {
                let known =
                    targets.iter().flat_map(|entity| entity.attributes.iter().map(|a| a.name.as_str()));
                self.unknown(&subject, &pattern.span, "attribute", name, known);
            }
        }
        if let Some(index) = pattern.request.as_ref().and_then(|request| request.index.as_ref())
            && model.index(index).is_none()
        {
            let known = model.indexes.iter().map(|index| index.name.as_str());
            self.unknown(&subject, &pattern.span, "index", index, known);
        }
    }
}
