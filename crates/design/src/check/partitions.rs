//! Rules about partition keys: the number of values, their distribution, the heat.

use super::Checker;
use crate::capacity::estimate;
use crate::capacity::heat::{Heat, MAX_READS, MAX_WRITES};
use crate::finding::{Finding, Severity};
use crate::formatting::format_number;
use crate::keys::key_mapping::KeyMapping;
use crate::model::Entity;
use crate::model::value_type::ValueType;
use crate::template::{Format, Part, SHARD, Template};
use std::collections::BTreeMap;

/// By location and partition key: the total heat, that of the hottest entity, and its name.
type SharedHeat<'m> = BTreeMap<(&'m str, Template), (Heat, Heat, &'m str)>;

/// Up to this many values are few; 200 countries are.
const FEW: u64 = 300;
/// An entity of up to this many items is small wherever it is.
const SMALL: f64 = 10_000.0;

impl<'m> Checker<'m> {
    pub fn partitions(&mut self) {
        let mappings = self.mappings();
        let all = self.heat_of_keys(&mappings);
        for mapping in mappings {
            self.hot(&mapping, &all);
            if mapping.location.index.is_some_and(|index| index.local) {
                continue;
            }
            if is_time(&mapping) {
                self.time(&mapping);
            } else if let Some(values) = few_values(&mapping) {
                self.few(&mapping, values);
            }
            self.skewed(&mapping);
            self.sequential(&mapping);
        }
    }

    /// Returns whether the rates are declared and far below the limits of a partition.
    fn is_cool(&self, mapping: &KeyMapping<'_>) -> bool {
        let heat = self.heat_of(mapping);
        self.has_rates(mapping) && heat.writes <= MAX_WRITES / 2.0 && heat.reads <= MAX_READS / 2.0
    }

    /// Returns whether every write of the entity has a rate.
    fn has_rates(&self, mapping: &KeyMapping<'_>) -> bool {
        let writes = self.usage.writes_of(&mapping.entity.name);
        !writes.is_empty() && writes.iter().all(|write| write.rps.is_some())
    }

    fn is_small(&self, entity: &Entity) -> bool {
        estimate::is_counted(self.model, entity) && estimate::count(self.model, entity) <= SMALL
    }

    fn few(&mut self, mapping: &KeyMapping<'m>, values: u64) {
        let entity = mapping.entity;
        let own = entity.identity().is_some_and(|id| mapping.partition.has_field(id));
        let constant_sort = mapping.sort.as_ref().is_none_or(Template::is_constant);
        if own || self.is_small(entity) || (values == mapping.shards() && constant_sort) {
            return;
        }
        let cool = self.is_cool(mapping);
        let keys = key_count_text(values);
        let message = format!(
            "{} spreads {} over {keys} of {}",
            mapping.partition,
            entity.name,
            mapping.location.name()
        );
        let hot = self.heat_of(mapping).is_hot();
        let finding = match mapping.location.index {
            // The declared rates show that there are enough shards.
            None if mapping.shards() > 1 && self.has_rates(mapping) && !hot => return,
            None => {
                let severity = match values {
                    // Without rates it is unknown whether there are enough shards.
                    _ if mapping.shards() > 1 && !hot => Severity::Note,
                    0..=20 => Severity::Error,
                    _ => Severity::Warning,
                };
                self.about_mapping("P207", severity, mapping).with_help(
                    "use an identifier as partition key; serve this pattern by a sparse, sharded index",
                )
            }
            Some(_) if hot || (cool && !is_boolean(mapping)) => return,
            Some(_) => {
                let severity = if mapping.is_sparse() { Severity::Note } else { Severity::Warning };
                self.about_mapping("P308", severity, mapping)
                    .with_help("declare the rps of the writes so that the heat can be computed, make the index sparse with when, or add #{shard} to the key")
            }
        };
        self.report(finding.with_message(message));
    }

    fn time(&mut self, mapping: &KeyMapping<'m>) {
        let severity = match (self.is_cool(mapping), mapping.location.index) {
            (true, Some(_)) => return,
            (true, None) => Severity::Note,
            (false, _) if mapping.shards() > 1 => Severity::Note,
            (false, _) => Severity::Warning,
        };
        let finding = self.about_mapping("P209", severity, mapping).with_message(format!(
            "the partition key {} of {} is the time: all current writes go to one partition",
            mapping.partition,
            mapping.location.name()
        ));
        self.report(finding.with_help("put an identifier before the time, or add #{shard} to the key"));
    }

    fn skewed(&mut self, mapping: &KeyMapping<'m>) {
        let fields: Vec<&str> = mapping.partition.fields().filter(|name| *name != SHARD).collect();
        let [field] = fields.as_slice() else { return };
        let top = mapping.entity.attribute(field).and_then(|attribute| attribute.top).unwrap_or_default();
        if top < 0.3 || mapping.shards() > 1 || (mapping.location.index.is_some() && self.is_cool(mapping)) {
            return;
        }
        let finding = self.about_mapping("P208", Severity::Warning, mapping).with_message(format!(
            "one value of {field} takes {:.0} % of {} in {}",
            top * 100.0,
            mapping.entity.name,
            mapping.location.name()
        ));
        self.report(finding.with_help(format!("add an identifier or #{{shard}} after {{{field}}}")));
    }

    /// The total heat of all entities under each key.
    fn heat_of_keys(&self, mappings: &[KeyMapping<'m>]) -> SharedHeat<'m> {
        let mut all = SharedHeat::new();
        for mapping in mappings {
            let (own, name) = (self.heat_of(mapping), mapping.entity.name.as_str());
            let key = (mapping.location.name(), mapping.partition.clone());
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

    /// All entities under one key share a partition. The finding is about the hottest.
    fn hot(&mut self, mapping: &KeyMapping<'m>, all: &SharedHeat<'m>) {
        let own = self.heat_of(mapping);
        let Some((all, _, hottest)) = all.get(&(mapping.location.name(), mapping.partition.clone())) else {
            return;
        };
        let is_hottest = *hottest == mapping.entity.name;
        let heat = if own.is_hot() { own } else { *all };
        if !heat.is_hot() || !(own.is_hot() || is_hottest) {
            return;
        }
        let (amount, limit, unit) = if heat.writes > MAX_WRITES {
            (heat.writes, MAX_WRITES, "write")
        } else {
            (heat.reads, MAX_READS, "read")
        };
        let shards = heat.shards() * mapping.shards();
        let help = if heat.writes > MAX_WRITES {
            format!("add #{{shard}} to the key with shard = {{ by = \"…\", count = {shards} }}")
        } else {
            format!("cache these reads, or keep {shards} copies of the item")
        };
        let finding = self.about_mapping("P210", Severity::Error, mapping).with_message(format!(
            "the hottest partition key {} of {} takes {} {unit} units a second; a partition sustains {}",
            mapping.partition,
            mapping.location.name(),
            format_number(amount),
            format_number(limit)
        ));
        self.report(finding.with_help(help));
    }

    fn sequential(&mut self, mapping: &KeyMapping<'m>) {
        let entity = mapping.entity;
        let Some(id) = entity.identity().filter(|_| mapping.location.index.is_none()) else { return };
        let int = entity.attribute(id).is_some_and(|attribute| attribute.kind == ValueType::Int);
        if int && mapping.partition.has_field(id) {
            let finding = Finding::new("P211", Severity::Note, entity.subject(), &entity.key_span);
            let message = format!("{id} is a number: as a sequence it can be guessed and needs a counter");
            self.report(
                finding
                    .with_message(message)
                    .with_help("a ulid or uuid needs neither; distribution is the same, keys are hashed"),
            );
        }
    }
}

/// Returns whether only the time (and the shard) varies.
fn is_time(mapping: &KeyMapping<'_>) -> bool {
    let mut found = false;
    for part in &mapping.partition.parts {
        let Part::Field { name, format } = part else { continue };
        let time = mapping.entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time());
        if name != SHARD && !time && !matches!(format, Format::Bucket(_)) {
            return false;
        }
        found |= name != SHARD;
    }
    found
}

/// Returns whether the partition key is a single boolean.
fn is_boolean(mapping: &KeyMapping<'_>) -> bool {
    let mut fields = mapping.partition.fields().filter(|name| *name != SHARD);
    let boolean = |name: &str| mapping.entity.attribute(name).is_some_and(|a| a.kind == ValueType::Bool);
    fields.next().is_some_and(boolean) && fields.next().is_none() && !mapping.is_sparse()
}

/// The number of partition keys, if small: a product of types and declarations, not of other entities' counts.
fn few_values(mapping: &KeyMapping<'_>) -> Option<u64> {
    let mut values = mapping.shards();
    for part in &mapping.partition.parts {
        let Part::Field { name, .. } = part else { continue };
        if name == SHARD || mapping.when.fixed(name).is_some() {
            continue;
        }
        let attribute = mapping.entity.attribute(name)?;
        values = values.saturating_mul(attribute.distinct()?);
    }
    (values <= FEW).then_some(values)
}

fn key_count_text(values: u64) -> String {
    if values == 1 { "one partition key".to_owned() } else { format!("{values} partition keys") }
}
