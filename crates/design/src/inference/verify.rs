//! Holds a draft against the items it was made from: what does not fit is made more general, and what still does not fit is said.

use super::entity::{generalise_index, is_nearly_all, open_remark};
use super::explain::merged;
use super::group::Group;
use crate::audit::check_item;
use crate::draft::{Asked, Confidence, Draft};
use crate::formatting::thousands;
use crate::item::{Item, Value};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, Model};
use crate::source::Source;
use crate::template::{Format, Part, Template};
use std::collections::BTreeSet;

/// Generalises entities until their items fit, and notes how many do.
///
/// # Errors
///
/// Returns a message if the draft is not a model.
pub(super) fn verify(groups: &[Group], draft: &mut Draft) -> Result<(), String> {
    let (indexes, proposed) = (draft.model.indexes.clone(), draft.model.entities.clone());
    let free_index = |index: &Index| {
        let index = index.clone();
        Box::new(move |entity: &mut Entity, _: &Group| generalise_index(entity, &index)) as Stage
    };
    let mut stages: Vec<(Stage, bool)> = vec![(Box::new(|entity, _| free_fields(entity)), false)];
    stages.extend(indexes.iter().map(|index| (free_index(index), false)));
    // A few odd items do not take a key its meaning.
    stages.push((Box::new(free_keys), true));
    let mut fitting = fitting_items(groups, &as_read(draft)?);
    for (stage, allows_exceptions) in stages {
        let is_failing = |number: &usize| {
            let (fitting, all) = (fitting[*number], groups[*number].sample.len());
            fitting < all && !(allows_exceptions && is_nearly_all(fitting, all))
        };
        let failing: Vec<usize> = (0..groups.len()).filter(is_failing).collect();
        if failing.is_empty() {
            break;
        }
        let before = draft.model.entities.clone();
        for number in &failing {
            stage(&mut draft.model.entities[*number], &groups[*number]);
            draft.model.entities[*number].numbers = Default::default();
        }
        let now = fitting_items(groups, &as_read(draft)?);
        // What does not help is undone.
        for number in failing {
            if now[number] > fitting[number] {
                fitting[number] = now[number];
            } else {
                draft.model.entities[number] = before[number].clone();
            }
        }
    }
    adapt(&proposed, groups, draft);
    let model = as_read(draft)?;
    for ((entity, group), fitting) in model.entities.iter().zip(groups).zip(fitting_items(groups, &model)) {
        let all = group.sample.len();
        let confidence = if fitting == all { Confidence::Certain } else { Confidence::Guess };
        let fitting = format!("{} of {} items", thousands(fitting as u64), thousands(all as u64));
        draft.note(format!("{}.key", entity.subject()), confidence, fitting);
    }
    Ok(())
}

/// Removes what only the proposed keys needed, and says what an index that was made more general looked like.
fn adapt(proposed: &[Entity], groups: &[Group], draft: &mut Draft) {
    let mut remarks = Vec::new();
    for ((entity, before), group) in draft.model.entities.iter_mut().zip(proposed).zip(groups) {
        forget_unused(entity, group);
        for own in &before.indexes {
            let is_kept = entity.index_key(&own.index).is_some_and(|now| now.key == own.key);
            let index = draft.model.indexes.iter().find(|index| index.name == own.index);
            if let Some(index) = index.filter(|_| !is_kept) {
                let remark = open_remark(index, &own.key, "no template fits all items");
                remarks.push((entity.subject(), remark));
            }
        }
    }
    remarks.into_iter().for_each(|(subject, remark)| draft.remark(subject, remark));
    let entities = &draft.model.entities;
    let now = |name: &str| entities.iter().find(|entity| entity.name == name);
    draft.questions.retain_mut(|question| match &question.asked {
        Asked::AttributeName { entity, attribute } => {
            now(entity).is_some_and(|entity| entity.attributes.iter().any(|own| own.name == *attribute))
        }
        Asked::Template { entity, index, position } => {
            let own = now(entity).and_then(|entity| match index {
                Some(index) => entity.index_key(index)?.key.get(*position),
                None => entity.key.get(*position),
            });
            own.is_some_and(|own| own.to_string() == question.assumed)
        }
        Asked::When { entity, index } => {
            let own = now(entity).and_then(|entity| entity.index_key(index));
            own.into_iter().for_each(|own| question.assumed = own.when.to_string());
            own.is_some()
        }
        _ => true,
    });
}

/// Removes the attributes that no item has and no key consists of.
fn forget_unused(entity: &mut Entity, group: &Group) {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let fields: BTreeSet<String> =
        entity.key.iter().chain(index_keys).flat_map(Template::fields).map(str::to_owned).collect();
    entity
        .attributes
        .retain(|attribute| group.having(&attribute.name) > 0 || fields.contains(&attribute.name));
    entity.numbers = Default::default();
}

/// Makes an entity more general.
type Stage = Box<dyn Fn(&mut Entity, &Group)>;

/// The number of sampled items of each entity that fit.
fn fitting_items(groups: &[Group], model: &Model) -> Vec<usize> {
    model.entities.iter().zip(groups).map(|(entity, group)| fitting(model, entity, group)).collect()
}

/// The model as it is when the file is read.
fn as_read(draft: &Draft) -> Result<Model, String> {
    let source = Source::new("the draft", draft.text());
    crate::read(&source).map_err(|findings| {
        let first = findings.first().map(|finding| finding.message.clone());
        format!("the items give no model: {}", first.unwrap_or_default())
    })
}

/// The number of sampled items that fit.
fn fitting(model: &Model, entity: &Entity, group: &Group) -> usize {
    let fits = |item: &&Item| check_item(model, item).is_empty() && has_index_keys(model, entity, item);
    group.sample.iter().filter(fits).count()
}

/// Returns whether the index keys that an item has are of the form of their templates.
fn has_index_keys(model: &Model, entity: &Entity, item: &Item) -> bool {
    entity.indexes.iter().all(|index_key| {
        let names = model.index(&index_key.index).map(|index| index.keys.as_slice()).unwrap_or_default();
        names.iter().zip(&index_key.key).all(|(name, template)| {
            let text = item.get(name).and_then(Value::as_text);
            text.is_none_or(|text| template.matches(text, entity).is_some())
        })
    })
}

/// Fields of keys may contain any text.
fn free_fields(entity: &mut Entity) {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let fields: Vec<String> =
        entity.key.iter().chain(index_keys).flat_map(Template::fields).map(str::to_owned).collect();
    for attribute in &mut entity.attributes {
        if fields.contains(&attribute.name) && matches!(attribute.kind, ValueType::Id | ValueType::Choice(_))
        {
            attribute.kind = ValueType::String;
        }
    }
}

/// Keys are a word and whatever follows it.
fn free_keys(entity: &mut Entity, group: &Group) {
    for (position, template) in entity.key.iter_mut().enumerate() {
        if template.is_constant() {
            continue;
        }
        let name = if position == 0 { "partition" } else { "sort" };
        let field = Part::Field { name: name.to_owned(), format: Format::Plain };
        template.parts = merged(vec![Part::Text(template.prefix().to_owned()), field]);
        if !entity.attributes.iter().any(|attribute| attribute.name == name) {
            entity.attributes.push(Attribute::new(name, ValueType::String));
        }
    }
    forget_unused(entity, group);
    entity.identity = entity.key_fields().map(str::to_owned).collect();
}
