//! Holds a draft against the items it was made from: what does not fit is made more general, and what still does not fit is said.

use super::entity::{generalise_index, open_remark};
use super::explain::merged;
use super::group::Group;
use super::odd::{is_nearly_all, key_of};
use crate::audit::check_item;
use crate::draft::{Asked, Confidence, Draft};
use crate::formatting::thousands;
use crate::item::{Item, Value};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, Model};
use crate::source::Source;
use crate::template::{DELIMITER, Format, Part, Template};
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
    let model = as_read(draft)?;
    let delimiter = model.usual_delimiter().unwrap_or(DELIMITER);
    let mut stages: Vec<Stage> = vec![Box::new(move |entity, group| free_fields(entity, group, delimiter))];
    stages.extend(indexes.iter().map(free_index));
    stages.push(Box::new(free_keys));
    let mut fitting = fitting_items(groups, &model);
    for stage in stages {
        let is_failing = |number: &usize| !fits_nearly_all(&fitting[*number], &groups[*number], &indexes);
        let failing: Vec<usize> = (0..groups.len()).filter(is_failing).collect();
        if failing.is_empty() {
            break;
        }
        let before = draft.model.entities.clone();
        for number in &failing {
            stage(&mut draft.model.entities[*number], &groups[*number]);
            draft.model.entities[*number].numbers = Default::default();
        }
        let mut now = fitting_items(groups, &as_read(draft)?);
        // What does not help is undone.
        for number in failing {
            if count(&now[number]) > count(&fitting[number]) {
                fitting[number] = std::mem::take(&mut now[number]);
            } else {
                draft.model.entities[number] = before[number].clone();
            }
        }
    }
    adapt(&proposed, groups, draft);
    let model = as_read(draft)?;
    for (entity, group) in model.entities.iter().zip(groups) {
        let all = group.sample.len();
        let odd: Vec<&Item> = group.sample.iter().filter(|item| !fits(&model, entity, item)).collect();
        let confidence = if odd.is_empty() { Confidence::Certain } else { Confidence::Guess };
        let fitting = format!("{} of {} items", thousands((all - odd.len()) as u64), thousands(all as u64));
        let subject = format!("{}.key", entity.subject());
        draft.note(subject.clone(), confidence, fitting);
        if let Some(first) = odd.first() {
            draft.remark(subject, unfit_remark(&model, first));
        }
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

/// Which sampled items of each entity fit.
fn fitting_items(groups: &[Group], model: &Model) -> Vec<Vec<bool>> {
    let fitting = |(entity, group): (&Entity, &Group)| -> Vec<bool> {
        group.sample.iter().map(|item| fits(model, entity, item)).collect()
    };
    model.entities.iter().zip(groups).map(fitting).collect()
}

fn count(fitting: &[bool]) -> usize {
    fitting.iter().filter(|fits| **fits).count()
}

/// Whether all but a few odd items fit, also of those that are in an index: odd ones do not take a key its meaning.
fn fits_nearly_all(fitting: &[bool], group: &Group, indexes: &[Index]) -> bool {
    let is_enough = |own: &dyn Fn(&Item) -> bool| {
        let items = group.sample.iter().zip(fitting).filter(|(item, _)| own(item));
        let fitting: Vec<bool> = items.map(|(_, fits)| *fits).collect();
        count(&fitting) == fitting.len() || is_nearly_all(count(&fitting), fitting.len())
    };
    let is_inside = |index: &Index, item: &Item| index.keys.iter().any(|key| item.contains_key(key));
    is_enough(&|_| true) && indexes.iter().all(|index| is_enough(&|item| is_inside(index, item)))
}

/// The model as it is when the file is read.
fn as_read(draft: &Draft) -> Result<Model, String> {
    let source = Source::new("the draft", draft.text());
    crate::read(&source).map_err(|findings| {
        let first = findings.first().map(|finding| finding.message.clone());
        format!("the items give no model: {}", first.unwrap_or_default())
    })
}

fn fits(model: &Model, entity: &Entity, item: &Item) -> bool {
    check_item(model, item).is_empty() && has_index_keys(model, entity, item)
}

/// Says why an item does not fit.
fn unfit_remark(model: &Model, item: &Item) -> String {
    let found = check_item(model, item).into_iter().next();
    let why = found.map_or("its index keys have another form".to_owned(), |found| found.message);
    format!("An item that does not fit is {}: {why}.", key_of(item, &model.table.keys))
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

/// Fields of keys may contain any text, and so may identifiers that contain the delimiter.
fn free_fields(entity: &mut Entity, group: &Group, delimiter: char) {
    let index_keys = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let fields: Vec<String> =
        entity.key.iter().chain(index_keys).flat_map(Template::fields).map(str::to_owned).collect();
    let is_cut = |name: &str| {
        let mut texts = group.sample.iter().filter_map(|item| item.get(name)?.as_text());
        texts.any(|text| text.contains(delimiter))
    };
    for attribute in &mut entity.attributes {
        let is_free = match attribute.kind {
            ValueType::Id => fields.contains(&attribute.name) || is_cut(&attribute.name),
            ValueType::Choice(_) => fields.contains(&attribute.name),
            _ => false,
        };
        if is_free {
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
