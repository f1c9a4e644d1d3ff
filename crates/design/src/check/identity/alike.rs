//! Rules about lists whose items only one attribute tells apart, a time or a measure: of two with the same value, the second overwrites the first.

use super::appended;
use crate::check::Checker;
use crate::finding::{Finding, Severity};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::limits::Precision;
use crate::model::value_type::ValueType;
use crate::model::{Action, Attribute, Entity, Model, Verb};
use crate::name_hints;
use crate::template::{Format, Part, SHARD};
use std::collections::BTreeSet;

impl<'m> Checker<'m> {
    /// Where a time tells items apart, the period of which a key has room for one: the day of a date, the bucket into which a key puts
    /// the time, or a minute if times are declared to have no seconds.
    fn period(&self, entity: &Entity, time: &Attribute) -> Option<&'static str> {
        if time.kind == ValueType::Date {
            return Some("day");
        }
        let mapping = TableOrIndex { index: None }.mapping(entity)?;
        let put =
            |action: &Action| action.entity == entity.name && matches!(action.verb, Verb::Create | Verb::Put);
        let written = self.usage.writes_of(&entity.name).iter().any(|write| write.actions.iter().any(put));
        let held = mapping.parts().filter_map(|part| match part {
            Part::Field { name, format: Format::Bucket(length) } if *name == time.name => Some(*length),
            _ => None,
        });
        // A minute is often meant where measurements arrive.
        let is_minute =
            time.limits.precision == Some(Precision::Minute) && !name_hints::is_stream(&entity.name);
        let bucket = match mapping.holds_whole(&time.name) {
            true => is_minute.then_some(Format::MINUTE),
            false => held.max().map(Format::Bucket),
        };
        bucket.filter(|_| written)?.period()
    }

    /// The time that alone distinguishes the items of a list from each other.
    fn distinguishing_time(&self, entity: &'m Entity) -> Option<&'m Attribute> {
        let time = self.distinguishing_field(entity)?;
        entity.attribute(time).filter(|attribute| attribute.kind.is_time())
    }

    /// The attribute that alone distinguishes the items of a list from each other, where the model does not say what does.
    fn distinguishing_field(&self, entity: &'m Entity) -> Option<&'m str> {
        let model = self.model;
        let declared = !entity.identity.is_empty() || !entity.edge.is_empty() || !entity.unique.is_empty();
        let copied = entity.copies.is_some() || entity.versions.is_some();
        let listed = self.usage.listed.contains(entity.name.as_str());
        if declared || copied || entity.identity().is_some() || !listed {
            return None;
        }
        let own = entity.key.get(1)?.fields().last()?;
        // Its partition key names another entity, though that may be no part of the model.
        let is_identifier = |name: &str| {
            let kind = entity.attribute(name).map(|attribute| &attribute.kind);
            let is_named = name.ends_with("Id") || name.ends_with("_id");
            is_named && kind.is_some_and(|kind| kind.is_globally_unique() || *kind == ValueType::Id)
        };
        let is_foreign = |name: &str| {
            name == own
                || model.owner_of(name).is_some()
                || model.table.tenant.as_deref() == Some(name)
                || (is_identifier(name) && entity.key[0].has_field(name))
        };
        entity.key_fields().all(is_foreign).then_some(own)
    }

    /// A list whose items differ only in their instant, though another identifier tells them apart: two at once overwrite each other.
    pub(super) fn several_at_once(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(time) = self.distinguishing_time(entity) else { continue };
            if self.has("P203", &entity.subject()) || time.kind != ValueType::Timestamp {
                continue;
            }
            let Some(missing) = unfollowed_identifier(model, entity) else { continue };
            let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
            let appended = appended(entity, &[missing]);
            self.report(
                finding
                    .with_message(format!(
                        "only {} distinguishes one {} from another: of two at the same instant, the second overwrites the first",
                        time.name, entity.name
                    ))
                    .with_help(format!(
                        "{}, or declare that no two have one instant: identity = {}",
                        appended.help,
                        identity_of(entity)
                    ))
                    .with_proposals(vec![appended]),
            );
        }
    }

    /// A list whose items differ only in what was measured, though another identifier tells them apart: of two equal ones, the second overwrites
    /// the first.
    pub(super) fn several_equal(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(measure) = self.distinguishing_measure(entity) else { continue };
            let Some(missing) = unfollowed_identifier(model, entity) else { continue };
            if self.has("P203", &entity.subject()) {
                continue;
            }
            let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
            let appended = appended(entity, &[missing]);
            let message = format!(
                "only {measure} distinguishes one {} from another: of two with the same, the second overwrites the first",
                entity.name
            );
            let help = format!(
                "{}, or declare that no two are equal: identity = {}",
                appended.help,
                identity_of(entity)
            );
            self.report(finding.with_message(message).with_help(help).with_proposals(vec![appended]));
        }
    }

    /// The number that alone distinguishes the items of a list from each other, if it measures something and does not start a tier.
    fn distinguishing_measure(&self, entity: &'m Entity) -> Option<&'m str> {
        let name = self.distinguishing_field(entity)?;
        let is_number = entity.attribute(name)?.kind.is_number();
        (is_number && name_hints::is_measure(name) && !name_hints::is_tier(&entity.name)).then_some(name)
    }

    /// A list whose items differ only in their date, or in the minute: the second of a day overwrites the first.
    pub(super) fn several_a_day(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(time) = self.distinguishing_time(entity) else { continue };
            let rare = entity.expect.average.is_some_and(|average| average <= 1.0);
            let Some(period) = self.period(entity, time).filter(|_| !rare) else { continue };
            if name_hints::is_periodic(&entity.name) {
                continue;
            }
            let name = &time.name;
            let is_whole =
                TableOrIndex { index: None }.mapping(entity).is_some_and(|own| own.holds_whole(name));
            let help = match is_whole {
                true => format!(
                    "append an identifier, or declare that there is one a {period}: identity = {}",
                    identity_of(entity)
                ),
                false => format!(
                    "write {{{name}}} and append an identifier, or, if there is one a {period}, make the {period} an attribute of its own"
                ),
            };
            let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
            let message = format!(
                "only {name} distinguishes one {} from another: the second of a {period} overwrites the first",
                entity.name
            );
            self.report(finding.with_message(message).with_help(help));
        }
    }
}

/// An identifier that is not in the key of an entity and does not follow from it, as what an entity in the key has as well does.
fn unfollowed_identifier<'m>(model: &Model, entity: &'m Entity) -> Option<&'m str> {
    let follows = |name: &str| {
        let mut owners = entity.key_fields().filter_map(|field| model.owner_of(field));
        owners.any(|owner| owner.attribute(name).is_some())
    };
    let identifies = |attribute: &&Attribute| {
        let is_identifier = attribute.kind.is_globally_unique() || attribute.kind == ValueType::Id;
        is_identifier && !attribute.optional && !entity.has_key_field(&attribute.name)
    };
    let mut missing = entity.attributes.iter().filter(identifies);
    missing.find(|attribute| !follows(&attribute.name)).map(|attribute| attribute.name.as_str())
}

/// The fields of a key as the identity of its items.
fn identity_of(entity: &Entity) -> String {
    let names: BTreeSet<&str> = entity.key_fields().filter(|name| *name != SHARD).collect();
    let quoted: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}
