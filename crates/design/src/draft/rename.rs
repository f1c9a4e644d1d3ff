//! Renames entities and attributes of a draft wherever they are named.

use super::Draft;
use crate::model::condition::Condition;
use crate::model::{Entity, Pattern, Shard};
use crate::template::{Part, Template, is_in_field_name, is_in_word};

/// Renames an entity. The value of the type attribute in its items does not change.
pub(super) fn entity(draft: &mut Draft, old: &str, new: &str) -> Result<(), String> {
    if new == old {
        return Ok(());
    }
    if new.is_empty() || !new.chars().all(|character| is_in_word(character) || character == '_') {
        return Err(format!("`{new}` is not a name for an entity; use letters and digits"));
    }
    let model = &mut draft.model;
    if model.entities.iter().any(|entity| entity.name == new) {
        return Err(format!("there is an entity {new} already"));
    }
    let replace = |name: &mut String| {
        if name == old {
            new.clone_into(name);
        }
    };
    for entity in &mut model.entities {
        replace(&mut entity.name);
        entity.copies.iter_mut().chain(&mut entity.expect.per).for_each(replace);
    }
    model
        .patterns
        .iter_mut()
        .flat_map(|pattern| &mut pattern.targets)
        .for_each(|target| replace(&mut target.entity));
    model
        .writes
        .iter_mut()
        .flat_map(|write| &mut write.actions)
        .for_each(|action| replace(&mut action.entity));
    model.lookup = Default::default();
    let subjects = draft.notes.iter_mut().map(|note| &mut note.subject);
    for subject in subjects.chain(draft.questions.iter_mut().map(|question| &mut question.subject)) {
        let rest = subject.strip_prefix("entity.").and_then(|rest| rest.strip_prefix(old));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('.')) {
            *subject = format!("entity.{new}{rest}");
        }
    }
    Ok(())
}

/// Renames an attribute of an entity, also in the patterns that return it.
pub(super) fn attribute(draft: &mut Draft, entity: &str, old: &str, new: &str) -> Result<(), String> {
    if new == old {
        return Ok(());
    }
    let model = &mut draft.model;
    let found = model.entities.iter_mut().find(|own| own.name == entity);
    let found = found.ok_or_else(|| format!("there is no entity {entity}"))?;
    if found.attribute(new).is_some() {
        return Err(format!("{entity} has an attribute {new} already"));
    }
    if Template::parse(&format!("{{{new}}}")).is_err() || new.contains(':') {
        return Err(format!("`{new}` is not a name for an attribute"));
    }
    in_entity(found, old, new);
    for pattern in &mut model.patterns {
        if pattern.targets.iter().any(|target| target.entity == entity) {
            in_pattern(pattern, old, new);
        }
    }
    model.lookup = Default::default();
    Ok(())
}

fn replace(name: &mut String, old: &str, new: &str) {
    if name == old {
        new.clone_into(name);
    }
}

fn in_entity(entity: &mut Entity, old: &str, new: &str) {
    entity.attributes.iter_mut().for_each(|attribute| replace(&mut attribute.name, old, new));
    entity.numbers = Default::default();
    entity.key.iter_mut().for_each(|template| in_template(template, old, new));
    in_shard(entity.shard.as_mut(), old, new);
    for index_key in &mut entity.indexes {
        index_key.key.iter_mut().for_each(|template| in_template(template, old, new));
        in_shard(index_key.shard.as_mut(), old, new);
        in_condition(&mut index_key.when, old, new);
    }
    let lists = [&mut entity.identity, &mut entity.edge];
    lists.into_iter().chain(&mut entity.unique).flatten().for_each(|name| replace(name, old, new));
    let names = [&mut entity.lock, &mut entity.versions, &mut entity.ttl];
    names.into_iter().flatten().for_each(|name| replace(name, old, new));
}

fn in_pattern(pattern: &mut Pattern, old: &str, new: &str) {
    pattern.inputs.iter_mut().chain(&mut pattern.fields).for_each(|name| replace(name, old, new));
    pattern.order.iter_mut().for_each(|order| replace(&mut order.by, old, new));
    pattern.range.iter_mut().for_each(|range| replace(&mut range.by, old, new));
    in_condition(&mut pattern.filter, old, new);
}

fn in_template(template: &mut Template, old: &str, new: &str) {
    for part in &mut template.parts {
        if let Part::Field { name, .. } = part {
            replace(name, old, new);
        }
    }
}

fn in_shard(shard: Option<&mut Shard>, old: &str, new: &str) {
    if let Some(by) = shard.and_then(|shard| shard.by.as_mut()) {
        replace(by, old, new);
    }
}

/// Replaces the name in the text of the condition, quoted values aside.
fn in_condition(condition: &mut Condition, old: &str, new: &str) {
    let (mut text, mut word, mut quote) = (String::new(), String::new(), None);
    for character in condition.to_string().chars().chain([' ']) {
        if quote.is_none() && is_in_field_name(character) {
            word.push(character);
            continue;
        }
        text.push_str(if word == old { new } else { &word });
        word.clear();
        text.push(character);
        match quote {
            None if matches!(character, '\'' | '"') => quote = Some(character),
            Some(open) if open == character => quote = None,
            _ => {}
        }
    }
    if let Ok(renamed) = Condition::parse(text.trim_end()) {
        *condition = renamed;
    }
}
