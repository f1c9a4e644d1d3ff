//! What a write touches: items of the table, index entries, markers of uniqueness, and their write units.

use crate::capacity::estimate::write_units;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Action, Entity, Index, Model, Projection, Verb, Write};
use std::fmt;

/// One item or index entry that a write touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub verb: Verb,
    pub entity: String,
    /// None is the table itself.
    pub index: Option<String>,
    /// Times it happens in one write.
    pub times: f64,
    pub units: f64,
    pub kind: EffectKind,
}

/// What happens to the item or index entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// A put that fails if the item exists.
    Create,
    Put,
    Update,
    /// An update that fails if the version differs.
    LockedUpdate,
    Delete,
    /// The items that keep these attributes unique are written.
    Markers(Vec<String>),
    /// An update moves an entry into a sparse index or out of it.
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

/// Everything one execution of a write touches.
pub fn effects(model: &Model, write: &Write) -> Vec<Effect> {
    let mut effects = Vec::new();
    for action in &write.actions {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let times = if action.many { entity.expect.average.unwrap_or(10.0) } else { 1.0 };
        // A transaction prepares and commits; so does a write that keeps a value unique.
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

/// Marker items that keep values unique.
fn marks(action: &Action, entity: &Entity) -> usize {
    match action.verb {
        Verb::Create | Verb::Put | Verb::Delete => entity.unique.len(),
        // The old value's marker goes, the new one's comes.
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

/// Write units of one execution, all effects together.
pub fn units(model: &Model, write: &Write) -> f64 {
    effects(model, write).iter().map(|effect| effect.units).sum()
}

/// Writes, the table's and the indexes', for each write of the application.
pub fn amplification(model: &Model, write: &Write) -> f64 {
    let effects = effects(model, write);
    let all: f64 = effects.iter().map(|effect| effect.times).sum();
    let asked: f64 = effects
        .iter()
        .filter(|effect| effect.index.is_none() && !matches!(effect.kind, EffectKind::Markers(_)))
        .map(|effect| effect.times)
        .sum();
    if asked > 0.0 { all / asked } else { 1.0 }
}
