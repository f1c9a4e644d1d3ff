//! Rules about partition keys: the number of values, their distribution, the heat.

use super::Checker;
use crate::capacity::basis::Estimate;
use crate::capacity::collection::{self, MAX_COLLECTION_BYTES};
use crate::capacity::heat::{self, Heat, MAX_READS, MAX_WRITES};
use crate::capacity::key_card::{
    few_values, is_boolean, is_cool, is_crowded, is_exempt, is_hopeless, is_sharded, is_time, skew,
};
use crate::capacity::shards::{self, hashed, spreading_attribute};
use crate::finding::{Finding, Severity};
use crate::formatting::format_number;
use crate::keys::key_mapping::KeyMapping;
use crate::model::Entity;
use crate::model::shard::MAX_SHARDS;
use crate::model::value_type::ValueType;
use crate::template::{SHARD, Template};
use std::collections::BTreeMap;

/// The number of shards where nothing is known of the writes.
const USUAL_SHARDS: u64 = 10;

/// By location and partition key: the total heat, that of the hottest entity, and its name.
type SharedHeat<'m> = BTreeMap<(&'m str, Template), (Heat, Heat, &'m str)>;

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
            } else if let Some(values) = few_values(self.model, &mapping) {
                self.few(&mapping, values);
            }
            self.skewed(&mapping);
            self.sequential(&mapping);
        }
    }

    /// Returns whether the rates are declared and far below the limits of a partition.
    fn is_cool(&self, mapping: &KeyMapping<'_>) -> bool {
        let heat = self.heat_of(mapping);
        self.has_rates(mapping) && is_cool(&heat)
    }

    /// Returns whether every write of the entity has a rate.
    fn has_rates(&self, mapping: &KeyMapping<'_>) -> bool {
        let writes = self.usage.writes_of(&mapping.entity.name);
        !writes.is_empty() && writes.iter().all(|write| write.rps.is_some())
    }

    fn few(&mut self, mapping: &KeyMapping<'m>, values: Estimate) {
        let entity = mapping.entity;
        if is_exempt(self.model, mapping) {
            return;
        }
        let (cool, crowded) = (self.is_cool(mapping), is_crowded(self.model, mapping));
        let keys =
            if values.value == 1.0 { "one partition key".to_owned() } else { values.text("partition key") };
        let message = format!(
            "{} spreads {} over {keys} of {}",
            mapping.partition,
            entity.name,
            mapping.location.name()
        );
        let hot = self.heat_of(mapping).is_hot();
        let sharded = is_sharded(self.model, mapping);
        let finding = match mapping.location.index {
            // The declared rates show that there are enough shards.
            None if sharded && self.has_rates(mapping) && !hot => return,
            None => {
                let severity = match is_hopeless(values) {
                    // Without rates it is unknown whether there are enough shards.
                    _ if sharded && !hot => Severity::Note,
                    true => Severity::Error,
                    false => Severity::Warning,
                };
                self.about_mapping("P207", severity, mapping).with_help(
                    "use an identifier as partition key; serve this pattern by a sparse, sharded index",
                )
            }
            Some(_) if hot || (cool && !crowded && !is_boolean(mapping)) => return,
            Some(_) => {
                let severity = if mapping.is_sparse() { Severity::Note } else { Severity::Warning };
                self.about_mapping("P308", severity, mapping).with_help(self.more_values(mapping))
            }
        };
        self.report(finding.with_message(message));
    }

    fn time(&mut self, mapping: &KeyMapping<'m>) {
        let severity = match (self.is_cool(mapping), mapping.location.index) {
            (true, Some(_)) => return,
            (true, None) => Severity::Note,
            (false, _) if is_sharded(self.model, mapping) => Severity::Note,
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
        let Some((field, top)) = skew(self.model, mapping) else { return };
        if mapping.location.index.is_some() && self.is_cool(mapping) && !is_crowded(self.model, mapping) {
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

    /// What to do about an index key that has few values.
    fn more_values(&self, mapping: &KeyMapping<'_>) -> String {
        let mut steps = Vec::new();
        if !self.has_rates(mapping) {
            steps.push("declare the rps of the writes so that the heat can be computed".to_owned());
        } else if mapping.entity.expect.count.is_none() && mapping.count.is_none() {
            steps.push("declare expect.count so that the size of a partition can be computed".to_owned());
        }
        if !mapping.is_sparse() && !mapping.is_borrowed(self.model) {
            steps.push("make the index sparse with when".to_owned());
        }
        let place = if mapping.partition.has_field(SHARD) { 0 } else { steps.len() };
        steps.insert(place, self.more_shards(mapping, self.roomy_shards(mapping)));
        steps.join(", or ")
    }

    /// The number of shards that has room for the declared writes and items under one value.
    fn roomy_shards(&self, mapping: &KeyMapping<'_>) -> u64 {
        let share = heat::share_of_shard(self.model, mapping).likely.value;
        let bytes = collection::at_the_fullest_key(self.model, mapping).value / share;
        let for_bytes = (bytes / MAX_COLLECTION_BYTES).ceil() as u64;
        let usual = if self.has_rates(mapping) { mapping.shards() + 1 } else { USUAL_SHARDS };
        self.heat_of(mapping).shards(share).max(for_bytes).max(usual)
    }

    /// How so many shards come into use.
    fn more_shards(&self, mapping: &KeyMapping<'_>, count: u64) -> String {
        let (shards, is_sharded) = (mapping.shards(), mapping.partition.has_field(SHARD));
        if count > MAX_SHARDS {
            return format!(
                "add a value that readers know: that takes {count} shards, and a key has at most {MAX_SHARDS}"
            );
        }
        let uneven = heat::share_of_shard(self.model, mapping).likely.value > 1.0 / shards as f64;
        let uneven = hashed(mapping).map(|(_, by)| by.name.as_str()).filter(|_| uneven);
        let by = spreading_attribute(mapping).filter(|name| Some(*name) != uneven);
        let by = by.map(|name| format!("by = \"{name}\", ")).unwrap_or_default();
        let shard = format!("shard = {{ {by}count = {} }}", count.max(shards));
        match (uneven, mapping.location.index) {
            (Some(uneven), _) => format!("{uneven} does not spread the items over the shards: write {shard}"),
            (None, _) if is_sharded => format!("raise shard.count to {count}"),
            (None, Some(index)) if mapping.is_borrowed(self.model) => {
                format!(
                    "give {} key attributes of its own, and #{{shard}} in the partition key with {shard}",
                    index.name
                )
            }
            (None, _) => format!("add #{{shard}} to the key with {shard}"),
        }
    }

    /// The total heat of all entities under each key.
    fn heat_of_keys(&self, mappings: &[KeyMapping<'m>]) -> SharedHeat<'m> {
        let mut all = SharedHeat::new();
        for mapping in mappings {
            let (own, name) = (self.heat_of(mapping), mapping.entity.name.as_str());
            let key = (mapping.location.name(), mapping.partition.clone());
            let (sum, most, hottest) = all.entry(key).or_insert((Heat::default(), own, name));
            sum.add(&own);
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
        let likely = heat;
        let heat = if heat.is_proven() { heat.proven() } else { heat };
        let (amount, limit, unit) = if heat.writes > MAX_WRITES {
            (heat.writes, MAX_WRITES, "write")
        } else {
            (heat.reads, MAX_READS, "read")
        };
        let help = if heat.writes > MAX_WRITES {
            let share = heat::share_of_shard(self.model, mapping).likely.value;
            match shards::is_single(mapping) {
                true => in_parts(mapping.entity, likely.shards(share)),
                false => self.more_shards(mapping, likely.shards(share)),
            }
        } else {
            format!("cache these reads, or keep {} copies of the item", likely.copies())
        };
        // An assumption alone is no error; that few values are used unevenly is a likely one.
        let severity = match heat.is_proven() {
            true => Severity::Error,
            false if few_values(self.model, mapping).is_some() => Severity::Warning,
            false => Severity::Note,
        };
        let help = match severity {
            Severity::Error => help,
            _ => format!("declare expect, and values or top of the key's attributes; if it is true, {help}"),
        };
        let finding = self.about_mapping("P210", severity, mapping).with_message(format!(
            "the hottest partition key {} of {} takes {} {unit} units a second{}; a partition sustains {}",
            mapping.partition,
            mapping.location.name(),
            format_number(amount),
            heat.basis().mark(),
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

/// What to do about one item that takes too many writes: shards do not spread it, but parts of what changes.
fn in_parts(entity: &Entity, count: u64) -> String {
    let id = entity.identity().unwrap_or_default();
    format!(
        "one {} takes these writes, and no shard spreads one item: keep what changes so often in an entity of its own whose items are its parts, with identity = [\"{id}\"], #{{shard}} in the key and shard = {{ count = {count} }}",
        entity.name
    )
}
