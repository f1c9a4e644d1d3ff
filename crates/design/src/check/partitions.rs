//! Rules about partition keys: how many values, how even, how hot.

use super::Checker;
use crate::estimate::{self, figure};
use crate::finding::{Finding, Severity};
use crate::heat::{Heat, READS, WRITES};
use crate::model::Entity;
use crate::slot::Slot;
use crate::template::{Format, Part, SHARD, Template};
use crate::value_type::ValueType;
use std::collections::BTreeMap;

/// By place and partition key: the heat of all types, the most that one of them brings, and which one.
type SharedHeat<'m> = BTreeMap<(&'m str, Template), (Heat, Heat, &'m str)>;

/// Fewer values than this are few: 200 countries are.
const FEW: u64 = 300;
/// A collection of so many items is small, wherever it is.
const SMALL: f64 = 10_000.0;

impl<'m> Checker<'m> {
    pub fn partitions(&mut self) {
        let slots = self.slots();
        let all = self.heat_of_keys(&slots);
        for slot in slots {
            self.hot(&slot, &all);
            if slot.place.index.is_some_and(|index| index.local) {
                continue;
            }
            if is_time(&slot) {
                self.time(&slot);
            } else if let Some(values) = few_values(&slot) {
                self.few(&slot, values);
            }
            self.skewed(&slot);
            self.sequential(&slot);
        }
    }

    /// The declared rates are known and far below what a partition does.
    fn is_cool(&self, slot: &Slot<'_>) -> bool {
        let heat = self.heat_of(slot);
        self.has_rates(slot) && heat.writes <= WRITES / 2.0 && heat.reads <= READS / 2.0
    }

    /// Every write of the entity says how often it happens.
    fn has_rates(&self, slot: &Slot<'_>) -> bool {
        let writes = self.uses.writes_of(&slot.entity.name);
        !writes.is_empty() && writes.iter().all(|write| write.rps.is_some())
    }

    fn is_small(&self, entity: &Entity) -> bool {
        estimate::is_counted(self.model, entity) && estimate::count(self.model, entity) <= SMALL
    }

    fn few(&mut self, slot: &Slot<'m>, values: u64) {
        let entity = slot.entity;
        let own = entity.identity().is_some_and(|id| slot.partition.has_field(id));
        let constant_sort = slot.sort.as_ref().is_none_or(Template::is_constant);
        if own || self.is_small(entity) || (values == slot.shards() && constant_sort) {
            return;
        }
        let cool = self.is_cool(slot);
        let names = shown(values);
        let message =
            format!("{} spreads {} over {names} of {}", slot.partition, entity.name, slot.place.name());
        let hot = self.heat_of(slot).is_hot();
        let finding = match slot.place.index {
            // Shards were computed for it.
            None if slot.shards() > 1 && self.has_rates(slot) && !hot => return,
            None => {
                let severity = match values {
                    // Whether there are enough shards, rates would say.
                    _ if slot.shards() > 1 && !hot => Severity::Note,
                    0..=20 => Severity::Error,
                    _ => Severity::Warning,
                };
                self.about_slot("P207", severity, slot).helps(
                    "use an identifier as partition key; serve this question by a sparse, sharded index",
                )
            }
            Some(_) if hot || (cool && !is_boolean(slot)) => return,
            Some(_) => {
                let severity = if slot.is_sparse() { Severity::Note } else { Severity::Warning };
                self.about_slot("P308", severity, slot)
                    .helps("declare rps of the writes so that the heat is known, make it sparse with when, or add #{shard} to the key")
            }
        };
        self.report(finding.says(message));
    }

    fn time(&mut self, slot: &Slot<'m>) {
        let severity = match (self.is_cool(slot), slot.place.index) {
            (true, Some(_)) => return,
            (true, None) => Severity::Note,
            (false, _) if slot.shards() > 1 => Severity::Note,
            (false, _) => Severity::Warning,
        };
        let finding = self.about_slot("P209", severity, slot).says(format!(
            "the partition key {} of {} is the time: everything written now goes to one partition",
            slot.partition,
            slot.place.name()
        ));
        self.report(finding.helps("put an identifier before the time, or add #{shard} to the key"));
    }

    fn skewed(&mut self, slot: &Slot<'m>) {
        let fields: Vec<&str> = slot.partition.fields().filter(|name| *name != SHARD).collect();
        let [field] = fields.as_slice() else { return };
        let top = slot.entity.attribute(field).and_then(|attribute| attribute.top).unwrap_or_default();
        if top < 0.3 || slot.shards() > 1 || (slot.place.index.is_some() && self.is_cool(slot)) {
            return;
        }
        let finding = self.about_slot("P208", Severity::Warning, slot).says(format!(
            "one value of {field} takes {:.0} % of {} in {}",
            top * 100.0,
            slot.entity.name,
            slot.place.name()
        ));
        self.report(finding.helps(format!("add an identifier or #{{shard}} behind {{{field}}}")));
    }

    /// What all types under one key bring together.
    fn heat_of_keys(&self, slots: &[Slot<'m>]) -> SharedHeat<'m> {
        let mut all = SharedHeat::new();
        for slot in slots {
            let (own, name) = (self.heat_of(slot), slot.entity.name.as_str());
            let key = (slot.place.name(), slot.partition.clone());
            let (sum, most, hottest) = all.entry(key).or_insert((Heat::default(), own, name));
            sum.writes += own.writes;
            sum.reads += own.reads;
            sum.share = sum.share.max(own.share);
            if own.writes + own.reads >= most.writes + most.reads {
                (*most, *hottest) = (own, name);
            }
        }
        all
    }

    /// One partition takes what all types under one key bring. The one that brings most is told.
    fn hot(&mut self, slot: &Slot<'m>, all: &SharedHeat<'m>) {
        let own = self.heat_of(slot);
        let Some((all, _, hottest)) = all.get(&(slot.place.name(), slot.partition.clone())) else { return };
        let told = *hottest == slot.entity.name;
        let heat = if own.is_hot() { own } else { *all };
        if !heat.is_hot() || !(own.is_hot() || told) {
            return;
        }
        let (amount, limit, unit) =
            if heat.writes > WRITES { (heat.writes, WRITES, "write") } else { (heat.reads, READS, "read") };
        let shards = heat.shards() * slot.shards();
        let help = if heat.writes > WRITES {
            format!("add #{{shard}} to the key with shard = {{ by = \"…\", count = {shards} }}")
        } else {
            format!("cache these reads, or keep {shards} copies of the item")
        };
        let finding = self.about_slot("P210", Severity::Error, slot).says(format!(
            "the hottest partition key {} of {} takes {} {unit} units a second; a partition does {}",
            slot.partition,
            slot.place.name(),
            figure(amount),
            figure(limit)
        ));
        self.report(finding.helps(help));
    }

    fn sequential(&mut self, slot: &Slot<'m>) {
        let entity = slot.entity;
        let Some(id) = entity.identity().filter(|_| slot.place.index.is_none()) else { return };
        let int = entity.attribute(id).is_some_and(|attribute| attribute.kind == ValueType::Int);
        if int && slot.partition.has_field(id) {
            let finding = Finding::new("P211", Severity::Note, entity.subject(), &entity.key_span);
            let message = format!("{id} is a number: as a sequence it can be guessed and needs a counter");
            self.report(
                finding
                    .says(message)
                    .helps("a ulid or uuid needs neither; distribution is the same, keys are hashed"),
            );
        }
    }
}

/// Nothing but the time (and shards) varies.
fn is_time(slot: &Slot<'_>) -> bool {
    let mut found = false;
    for part in &slot.partition.parts {
        let Part::Field { name, format } = part else { continue };
        let time = slot.entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time());
        if name != SHARD && !time && !matches!(format, Format::Bucket(_)) {
            return false;
        }
        found |= name != SHARD;
    }
    found
}

/// A boolean alone is never a partition key.
fn is_boolean(slot: &Slot<'_>) -> bool {
    let mut fields = slot.partition.fields().filter(|name| *name != SHARD);
    let boolean = |name: &str| slot.entity.attribute(name).is_some_and(|a| a.kind == ValueType::Bool);
    fields.next().is_some_and(boolean) && fields.next().is_none() && !slot.is_sparse()
}

/// How many partition keys there are, if few: a product of types and declarations, not of other entities' numbers.
fn few_values(slot: &Slot<'_>) -> Option<u64> {
    let mut values = slot.shards();
    for part in &slot.partition.parts {
        let Part::Field { name, .. } = part else { continue };
        if name == SHARD || slot.when.fixed(name).is_some() {
            continue;
        }
        let attribute = slot.entity.attribute(name)?;
        values = values.saturating_mul(attribute.distinct()?);
    }
    (values <= FEW).then_some(values)
}

fn shown(values: u64) -> String {
    if values == 1 { "one partition key".to_owned() } else { format!("{values} partition keys") }
}
