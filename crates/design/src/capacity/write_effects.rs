//! What a write touches: items of the table, index entries, markers of unique values, and their write units.

use crate::audit::copying::Copying;
use crate::capacity::basis::{Basis, Estimate};
use crate::capacity::estimate::{self, ItemCount, write_units};
use crate::capacity::size;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
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
    /// What the units rest on.
    pub basis: Basis,
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
    /// An update adds the item to a sparse index, removes it, or changes the key that it has there.
    MembershipOrMove,
    /// An update changes the key of an index entry.
    Move,
}

impl Effect {
    /// Returns the write units that do not rest on an assumption: at least one.
    pub fn proven_units(&self) -> f64 {
        if self.basis.is_assumed() { self.units.min(1.0) } else { self.units }
    }
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
            EffectKind::MembershipOrMove => {
                "added, removed, or deleted under the old key and put under the new"
            }
            EffectKind::Move => "delete under the old key, put under the new",
        })
    }
}

/// Returns everything that one execution of a write touches.
pub fn effects(model: &Model, write: &Write) -> Vec<Effect> {
    let mut effects = Vec::new();
    for action in &write.actions {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let number = items_of_action(model, write, action, entity);
        let (times, size) = (number.average, size::item(model, entity));
        let basis = number.basis.and(size.basis).and(Basis::Derived);
        // A transaction takes two phases, and so does a write that keeps a value unique.
        let marks = markers_of_action(action, entity);
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
            units: times * factor * write_units(size.value as u64) as f64,
            basis,
            kind,
        });
        if marks > 0 {
            effects.push(Effect {
                verb: action.verb,
                entity: entity.name.clone(),
                index: None,
                times: times * marks as f64,
                units: times * factor * marks as f64,
                basis: number.basis.and(Basis::Derived),
                kind: EffectKind::Markers(entity.unique.concat()),
            });
        }
        effects.extend(
            model.indexes.iter().filter_map(|index| index_effect(model, action, entity, index, number)),
        );
    }
    effects
}

/// Returns the number of items that one action of a write touches. What is expected per parent is the number only where the write makes or
/// deletes the parent too, or changes all copies of it; elsewhere that is an assumption.
pub fn items_of_action(model: &Model, write: &Write, action: &Action, entity: &Entity) -> ItemCount {
    if !action.many {
        return ItemCount::one();
    }
    let all = estimate::per_parent(model, entity);
    if touches_all(write, action, entity) {
        return all;
    }
    ItemCount { basis: Basis::Assumed, max_basis: Basis::Assumed, ..all }
}

fn touches_all(write: &Write, action: &Action, entity: &Entity) -> bool {
    let Some(parent) = entity.expect.per.as_deref() else { return false };
    let makes = |verb: Verb| matches!(verb, Verb::Create | Verb::Put);
    let is_copy = entity.copies.as_deref() == Some(parent);
    let of_parent = write.actions.iter().filter(|other| other.entity == parent);
    of_parent.map(|other| other.verb).any(|verb| {
        is_copy || (makes(verb) && makes(action.verb)) || (verb == Verb::Delete && action.verb == verb)
    })
}

/// Returns the number of marker items that an action writes to keep values unique.
pub fn markers_of_action(action: &Action, entity: &Entity) -> usize {
    match action.verb {
        Verb::Create | Verb::Delete => entity.unique.len(),
        // It leaves the markers as they are.
        Verb::Put => 0,
        // The marker of the old value is deleted, that of the new one is put; one that expires with its item is updated.
        Verb::Update => {
            let changes = |unique: &&Vec<String>| unique.iter().any(|name| action.set.contains(name));
            let prolonged = entity.unique.iter().filter(|unique| action.prolongs(entity, unique));
            entity.unique.iter().filter(changes).count() * 2 + prolonged.count()
        }
    }
}

/// Returns the number of actions of the transaction that a write is, on average and at most; `None` if it is none. One item and what belongs to it
/// is a transaction, too.
pub fn transaction_actions(model: &Model, write: &Write) -> Option<(Estimate, Estimate)> {
    if !write.transact && !write.is_of_one_item() {
        return None;
    }
    let (mut usual, mut most) = (Estimate::declared(0.0), Estimate::declared(0.0));
    for action in &write.actions {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let items = items_of_action(model, write, action, entity);
        let each = Estimate::derived(1.0 + markers_of_action(action, entity) as f64);
        usual = usual + items.average() * each;
        let moved = Estimate::derived(f64::from(moves_copy(model, write, action, entity)));
        let checks = Estimate::derived(checks_of_action(model, action, entity) as f64);
        most = most + items.most_known() * (each + moved) + checks;
    }
    Some((usual, most))
}

/// Whether a copy may be put under another key, so that the one under the old key is deleted with it.
fn moves_copy(model: &Model, write: &Write, action: &Action, entity: &Entity) -> bool {
    let is_deleted =
        || write.actions.iter().any(|other| other.verb == Verb::Delete && other.entity == entity.name);
    matches!(action.verb, Verb::Create | Verb::Put)
        && Copying::of_copy(model, entity).is_some_and(|copying| copying.copy_moves())
        && !is_deleted()
}

/// The items that are only checked where versions are removed: the copy of the newest, and the version before.
fn checks_of_action(model: &Model, action: &Action, entity: &Entity) -> usize {
    let is_newest = |copying: &Copying<'_>| copying.is_versioned() && copying.original.name == entity.name;
    let is_kept = Copying::of_entity(model, entity).iter().any(is_newest);
    if action.verb == Verb::Delete && is_kept { 2 } else { 0 }
}

fn index_effect(
    model: &Model,
    action: &Action,
    entity: &Entity,
    index: &Index,
    number: ItemCount,
) -> Option<Effect> {
    let mapping = TableOrIndex { index: Some(index) }.mapping(entity)?;
    let size = size::entry(model, &mapping);
    let (times, one) = (number.average, write_units(size.value as u64) as f64);
    // However large the entry is within the item, it may take the same units.
    let whole = size::item(model, entity);
    let basis = if write_units(whole.value as u64) as f64 == one { whole.basis } else { size.basis };
    let touches = |name: &str| action.set.iter().any(|set| set == name);
    let (entries, kind) = match action.verb {
        Verb::Create | Verb::Put => (1.0, EffectKind::Put),
        Verb::Delete => (1.0, EffectKind::Delete),
        Verb::Update => {
            let hashed = mapping.shard.and_then(|shard| shard.by.as_deref());
            let touched: Vec<&str> = mapping
                .fields()
                .chain(hashed.filter(|_| mapping.shards() > 1))
                .filter(|name| touches(name))
                .collect();
            // What all items there have in common moves none.
            let moves = touched.iter().any(|name| mapping.when.fixed(name).is_none());
            let key = !touched.is_empty();
            let membership = mapping.when.attributes().into_iter().any(touches);
            let data = match &index.project {
                Projection::All => !action.set.is_empty(),
                Projection::KeysOnly => false,
                Projection::Include(names) => names.iter().any(|name| touches(name)),
            };
            match (membership, key, data) {
                (true, _, _) if moves => (of_changed_entry(model, &mapping), EffectKind::MembershipOrMove),
                (true, _, _) => (1.0, EffectKind::Membership),
                (false, true, _) => (2.0, EffectKind::Move),
                (false, false, true) => (1.0, EffectKind::Put),
                (false, false, false) => return None,
            }
        }
    };
    // Which items an update concerns, in the index or not, is not declared.
    let open = if kind == EffectKind::MembershipOrMove { Basis::Assumed } else { Basis::Derived };
    Some(Effect {
        verb: action.verb,
        entity: entity.name.clone(),
        index: Some(index.name.clone()),
        times: times * entries,
        units: times * entries * one,
        basis: number.basis.and(basis).and(open),
        kind,
    })
}

/// How many entries of a sparse index an update writes that changes the key and whether there is one: it deletes one and puts one, if the items before
/// and after it are in the index as often as all items are.
fn of_changed_entry(model: &Model, mapping: &KeyMapping<'_>) -> f64 {
    let here = estimate::items_at(model, mapping, &[]).average;
    (2.0 * here / estimate::count(model, mapping.entity).max(1.0)).clamp(1.0, 2.0)
}

/// Returns the write units of one execution.
pub fn units(model: &Model, write: &Write) -> f64 {
    effects(model, write).iter().map(|effect| effect.units).sum()
}

/// Returns what the write units of one execution rest on.
pub fn basis(model: &Model, write: &Write) -> Basis {
    effects(model, write).iter().map(|effect| effect.basis).max().unwrap_or_default()
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
