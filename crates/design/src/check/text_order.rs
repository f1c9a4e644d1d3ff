//! Rules about the order of sort keys, which compare as text: numbers that are not padded, and delimiters after texts.

use super::{Checker, remedy};
use crate::finding::Severity;
use crate::model::{Entity, Pattern};
use crate::plan::{Operation, Step};
use crate::repair::{Edit, Repair, quoted};
use crate::template::{Part, Template};

impl<'m> Checker<'m> {
    /// A list comes in the order of its sort keys even if none is requested, and 1, 10, 2 is rarely intended.
    pub(super) fn text_order(&mut self, pattern: &Pattern, step: &Step<'m>) {
        if step.operation != Operation::Query || pattern.order.is_some() || pattern.range.is_some() {
            return;
        }
        for entity in step.targets.iter().copied() {
            let many = pattern.targets.iter().any(|target| target.many && target.entity == entity.name);
            let Some(mapping) = step.location.mapping(entity).filter(|_| many) else { continue };
            let Some(template) = &mapping.sort else { continue };
            let (_, rest) = template.split_known(|name| pattern.is_fixed(name));
            let Some(Part::Field { name, format }) = rest.first() else { continue };
            let kind = entity.attribute(name).map(|attribute| &attribute.kind);
            let number = kind.is_some_and(|kind| kind.is_number() && !format.keeps_order(kind));
            // A key attribute under its own name is not padded.
            let is_key_itself = step.location.key_names(self.model).iter().any(|key| key == name);
            if !number
                || is_key_itself
                || self.text_sorted.contains(template)
                || mapping.sorts_as_number(self.model, name)
            {
                continue;
            }
            // The order of identifiers rarely matters.
            let severity = if entity.identity() == Some(name) { Severity::Note } else { Severity::Warning };
            let finding = self.about_pattern("P105", severity, pattern).with_message(format!(
                "{} is ordered by {name} as text in {template}: 1, 10, 2",
                entity.name
            ));
            self.report(
                finding.with_help(pad(template, entity, name)).with_proposals(padded(template, entity, name)),
            );
            self.text_sorted.insert(template.clone());
        }
    }

    /// A text is in order as long as what follows it in the key sorts before all of its characters.
    pub(super) fn delimiter_order(&mut self, pattern: &Pattern, step: &Step<'m>) {
        let Some(order) = &pattern.order else { return };
        let lists = pattern.targets.iter().filter(|target| target.many && !pattern.is_fixed(&order.by));
        for target in lists {
            let entity = step.targets.iter().find(|entity| entity.name == target.entity);
            let mapping = entity.and_then(|entity| step.location.mapping(entity));
            let Some(template) = mapping.and_then(|mapping| mapping.sort) else { continue };
            let late = entity.and_then(|entity| template.late_delimiter(&order.by, *entity));
            let Some(delimiter) = late.filter(|_| !self.has("P105", &pattern.subject())) else { continue };
            let by = &order.by;
            let finding = self.about_pattern("P105", Severity::Note, pattern).with_message(format!(
                "{by} is followed by {delimiter} in {template}, so that a longer value can come before a shorter one: a space sorts before {delimiter}, and \"Ann Lee\" before \"Ann\""
            ));
            let help = format!("if that matters, order by an index whose sort key ends with {{{by}}}");
            self.report(finding.with_help(help));
        }
    }
}

/// The help that pads a number in a template.
pub(super) fn pad(template: &Template, entity: &Entity, name: &str) -> String {
    format!("pad it: {}", template.to_string().replace(&format!("{{{name}}}"), &remedy::padded(entity, name)))
}

/// The keys of an entity with a padded number, as they are in the table and in its indexes.
pub(super) fn padded(template: &Template, entity: &Entity, name: &str) -> Vec<Repair> {
    let key = |templates: &[Template]| {
        let changed = |own: &Template| {
            let text = own.to_string();
            if own == template {
                text.replace(&format!("{{{name}}}"), &remedy::padded(entity, name))
            } else {
                text
            }
        };
        let all: Vec<String> = templates.iter().map(|own| quoted(&changed(own)).trim().to_owned()).collect();
        format!("[{}]", all.join(", "))
    };
    let mut edits = Vec::new();
    if entity.key.contains(template) {
        edits.push(Edit::set(&["entity", &entity.name, "key"], key(&entity.key)));
    }
    for own in entity.declared_indexes().filter(|own| own.key.contains(template)) {
        edits.push(Edit::set(&["entity", &entity.name, "index", &own.index, "key"], key(&own.key)));
    }
    vec![Repair { help: pad(template, entity, name), edits }]
}
