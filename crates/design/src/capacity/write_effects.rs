//! What a write touches: items of the table, index entries, markers of unique values, and their write units.

use crate::capacity::estimate::write_units;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Action, Entity, Index, Model, Projection, Verb, Write};
use std::fmt;

/// An item or index entry that a write touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The verb of the action.
    pub verb: Verb,
    /// The entity.
    pub entity: String,
    /// The index; `None` is the table.
    pub index: Option<String>,
    /// How often it happens in one write.
    pub times: f64,
    /// The write units of all of them.
    pub units: f64,
    /// What happens.
    pub kind: EffectKind,
}

/// What happens to an item or index entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// A put that fails if the item exists.
    Create,
    /// A put.
    Put,
    /// An update.
    Update,
    /// An update that fails if the version differs.
    LockedUpdate,
    /// A deletion.
    Delete,
    /// The items that keep these attributes unique are written.
    Markers(Vec<String>),
    /// An update adds the item to a sparse index or removes it.
    Membership,
    /// An update changes the key of an index entry.
    Move,
}

impl fmt::Display for EffectKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            EffectKind::Create => "put if it does not exist",
            EffectKind::Put => "put",
            EffectKind::Update => "update",
            EffectKind::LockedUpdate => "update if the version matches",
            EffectKind::Delete => "delete",
            EffectKind::Markers(names) => return write!(out, "marker of unique {}", names.join(", ")),
            EffectKind::Membership => "added or removed",
            EffectKind::Move => "delete under the old key, put under the new",
        })
    }
}

/// Returns everything that one execution of a write touches.
pub fn effects(model: &Model, write: &Write) -> Vec<Effect> {
    let mut effects = Vec::new();
    for action in &write.actions {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let times = if action.many { entity.expect.average.unwrap_or(10.0) } else { 1.0 };
        // A transaction takes two phases, and so does a write that keeps a value unique.
        let marks = marks(action, entity);
        let factor = if write.transact || marks > 0 { 2.0 } else { 1.0 };
        let kind = match action.verb {
            Verb::Create => EffectKind::Create,
            Verb::Put => EffectKind::Put,
            Verb::Update if entity.lock.is_some() => EffectKind::LockedUpdate,
            Verb::Update => EffectKind::Update,
            Verb::Delete => EffectKind::Delete,
        };
        effects.push(Effect {
            verb: action.verb,
            entity: entity.name.clone(),
            index: None,
            times,
            units: times * factor * write_units(entity.bytes()) as f64,
            kind,
        });
        if marks > 0 {
            effects.push(Effect {
                verb: action.verb,
                entity: entity.name.clone(),
                index: None,
                times: times * marks as f64,
                units: times * factor * marks as f64,
                kind: EffectKind::Markers(entity.unique.clone()),
            });
        }
        effects.extend(model.indexes.iter().filter_map(|index| index_effect(action, entity, index, times)));
    }
    effects
}

/// The number of marker items that keep values unique.
fn marks(action: &Action, entity: &Entity) -> usize {
    match action.verb {
        Verb::Create | Verb::Put | Verb::Delete => entity.unique.len(),
        // The marker of the old value is deleted, that of the new one is put.
        Verb::Update => entity.unique.iter().filter(|name| action.set.contains(name)).count() * 2,
    }
}

fn index_effect(action: &Action, entity: &Entity, index: &Index, times: f64) -> Option<Effect> {
    let mapping = TableOrIndex { index: Some(index) }.mapping(entity)?;
    let one = write_units(mapping.bytes()) as f64;
    let touches = |name: &str| action.set.iter().any(|set| set == name);
    let (entries, kind) = match action.verb {
        Verb::Create | Verb::Put => (1.0, EffectKind::Put),
        Verb::Delete => (1.0, EffectKind::Delete),
        Verb::Update => {
            let key = mapping.fields().any(touches);
            let membership = mapping.when.tests.iter().any(|test| touches(test.attribute()));
            let data = match &index.project {
                Projection::All => !action.set.is_empty(),
                Projection::KeysOnly => false,
                Projection::Include(names) => names.iter().any(|name| touches(name)),
            };
            match (membership, key, data) {
                (true, _, _) => (1.0, EffectKind::Membership),
                (false, true, _) => (2.0, EffectKind::Move),
                (false, false, true) => (1.0, EffectKind::Put),
                (false, false, false) => return None,
            }
        }
    };
    Some(Effect {
        verb: action.verb,
        entity: entity.name.clone(),
        index: Some(index.name.clone()),
        times: times * entries,
        units: times * entries * one,
        kind,
    })
}

/// Returns the write units of one execution.
pub fn units(model: &Model, write: &Write) -> f64 {
    effects(model, write).iter().map(|effect| effect.units).sum()
}

/// Returns how many writes, to the table and its indexes, each write of the application causes.
pub fn amplification(model: &Model, write: &Write) -> f64 {
    let effects = effects(model, write);
    let all: f64 = effects.iter().map(|effect| effect.times).sum();
    let requested: f64 = effects
        .iter()
        .filter(|effect| effect.index.is_none() && !matches!(effect.kind, EffectKind::Markers(_)))
        .map(|effect| effect.times)
        .sum();
    if requested > 0.0 { all / requested } else { 1.0 }
}
