//! `was`, `default` and `computed`: what migration does with an attribute or an entity that the model before did not have.

use super::Reader;
use super::field::Section;
use crate::finding::{Finding, Severity};
use crate::generate::typed_value;
use crate::model::condition::Condition;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model, Origin, Predecessor};
use crate::template::{DELIMITER, Template};
use std::collections::BTreeSet;

impl Reader {
    pub(super) fn origin(&mut self, section: &Section<'_>, attribute: &Attribute) -> Origin {
        let origin = Origin {
            was: self.text(section, "was"),
            default: self.default_value(section, attribute),
            computed: self.computed(section),
        };
        if has_no_text(attribute) && (origin.default.is_some() || origin.computed.is_some()) {
            let key = if origin.default.is_some() { "default" } else { "computed" };
            let message =
                format!("`{key}` gives text, numbers and flags; {} is none of these", attribute.name);
            let help = "remove it: the application adds the attribute";
            self.fail("P002", section, &section.span_of(key), message, help);
        }
        origin
    }

    /// Reads the entities that one was: `"Pet"`, `"Pet where kind == 'CAT'"`, or a list of them.
    pub(super) fn predecessors(&mut self, section: &Section<'_>) -> Vec<Predecessor> {
        let mut all = Vec::new();
        for text in self.texts(section, "was") {
            let (name, filter) = text.split_once(" where ").unwrap_or((&text, ""));
            let filter = match filter.trim() {
                "" => Condition::default(),
                filter => self.last_condition(section, "was", filter),
            };
            all.push(Predecessor { name: name.trim().to_owned(), filter });
        }
        all
    }

    /// A default as text: written as a string, a number or a flag.
    fn default_value(&mut self, section: &Section<'_>, attribute: &Attribute) -> Option<String> {
        let item = section.get("default")?;
        let text = item
            .as_str()
            .map(str::to_owned)
            .or_else(|| item.as_integer().map(|number| number.to_string()))
            .or_else(|| item.as_float().map(|number| number.to_string()))
            .or_else(|| item.as_bool().map(|flag| flag.to_string()));
        let fits = |text: &String| {
            let value = typed_value(&attribute.kind, text);
            has_no_text(attribute) || attribute.admits(&value, DELIMITER).is_ok()
        };
        let text = text.filter(fits);
        if text.is_none() {
            self.wrong(
                section,
                "default",
                &format!("a value of type {}", attribute.kind.print()),
                "\"unknown\"",
            );
        }
        text
    }

    fn computed(&mut self, section: &Section<'_>) -> Option<Template> {
        let text = self.text(section, "computed")?;
        match Template::parse(&text) {
            Ok(template) => Some(template),
            Err(error) => {
                let help = "for example computed = \"{firstName} {lastName}\"";
                self.fail("P004", section, &section.span_of("computed"), error.message, help);
                None
            }
        }
    }
}

/// Whether the values of an attribute are neither text nor numbers nor flags.
fn has_no_text(attribute: &Attribute) -> bool {
    matches!(attribute.kind, ValueType::List | ValueType::Map | ValueType::Set | ValueType::Binary)
}

/// Checks that renamed things are gone, so that a migration can be repeated, and that computed values have their attributes.
pub(super) fn check(model: &Model, findings: &mut Vec<Finding>) {
    for entity in &model.entities {
        let former = entity.was.iter().map(|was| &was.name);
        for was in former.filter(|was| model.entity(was).is_some()) {
            let message = format!("{} was {was}, but the model still has an entity {was}", entity.name);
            findings.push(still_there(entity, message));
        }
        let renamed: BTreeSet<&str> =
            entity.attributes.iter().filter_map(|attribute| attribute.origin.was.as_deref()).collect();
        for attribute in &entity.attributes {
            let was = attribute.origin.was.as_ref();
            if let Some(was) = was.filter(|was| entity.attribute(was).is_some()) {
                let message =
                    format!("{} was {was}, but {} still has an attribute {was}", attribute.name, entity.name);
                findings.push(still_there(entity, message));
            }
            let computed = || attribute.origin.computed.iter().flat_map(Template::fields);
            for field in computed().filter(|field| entity.attribute(field).is_some_and(has_no_text)) {
                let name = &attribute.name;
                findings.push(
                    Finding::new("P003", Severity::Error, entity.subject(), &entity.span)
                        .with_message(format!("{name} is computed from {field}, which has no text"))
                        .with_help("compute it from text, numbers and flags"),
                );
            }
            for field in computed().filter(|field| renamed.contains(field)) {
                findings.push(
                    Finding::new("P003", Severity::Error, entity.subject(), &entity.span)
                        .with_message(format!(
                            "{} is computed from {field}, which is not another attribute of the new model",
                            attribute.name
                        ))
                        .with_help("use the attributes' new names"),
                );
            }
        }
    }
}

fn still_there(entity: &Entity, message: String) -> Finding {
    Finding::new("P003", Severity::Error, entity.subject(), &entity.span)
        .with_message(message)
        .with_help("`was` renames: remove the old name from the model, or `was` if this is something new")
}
