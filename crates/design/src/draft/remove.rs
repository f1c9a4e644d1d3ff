//! Removes parts of a draft, with everything that only they need.

use super::Draft;

/// Removes a pattern, the questions and remarks on it, and the keys in indexes that list all items of its entities, if no other pattern does.
pub(super) fn pattern(draft: &mut Draft, name: &str) {
    let model = &mut draft.model;
    let Some(at) = model.patterns.iter().position(|pattern| pattern.name == name) else { return };
    let removed = model.patterns.remove(at);
    let subject = removed.subject();
    let is_listed = |entity: &str| {
        let lists = |pattern: &&crate::model::Pattern| pattern.inputs.is_empty();
        model
            .patterns
            .iter()
            .filter(lists)
            .any(|pattern| pattern.targets.iter().any(|target| target.entity == entity))
    };
    let free: Vec<String> = removed
        .targets
        .iter()
        .map(|target| target.entity.clone())
        .filter(|entity| !is_listed(entity))
        .collect();
    for entity in model.entities.iter_mut().filter(|entity| free.contains(&entity.name)) {
        entity.indexes.retain(|index_key| index_key.shard.is_none());
    }
    let entities = &model.entities;
    model.indexes.retain(|index| {
        entities.iter().any(|entity| entity.indexes.iter().any(|own| own.index == index.name))
    });
    draft.questions.retain(|question| question.subject != subject);
    draft.remarks.retain(|remark| remark.subject != subject);
    draft.notes.retain(|note| note.subject != subject);
}
