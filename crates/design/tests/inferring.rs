//! Random models in many styles of keys → items → the model that is inferred from them: it can be checked, its items fit it, and it serves
//! the lookups and collections of the model that the items were made with.
//!
//! `PARTITA_SEEDS=1000` tries that many models.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "planting/draft.rs"]
#[allow(dead_code, reason = "the planted mistakes use the rest")]
mod draft;
#[path = "planting/good.rs"]
#[allow(dead_code, reason = "the planted mistakes use the rest")]
mod good;
#[path = "planting/options.rs"]
mod options;
#[path = "inferring/styled.rs"]
mod styled;
mod support;

use good::Good;
use partita_design::audit::{MARKER, recognise};
use partita_design::draft::Draft;
use partita_design::inference::{KnownSchema, infer};
use partita_design::item::{Attributes, Item, Value, attributes};
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::model::{Entity, Pattern, Target};
use partita_design::template::{SHARD, Template};
use partita_design::{Model, Severity, Source, check, read, report};
use std::collections::{BTreeMap, BTreeSet};
use styled::Styled;
use support::{as_read, items_of, violations};

fn seeds() -> u64 {
    std::env::var("PARTITA_SEEDS").map_or(24, |text| text.parse().unwrap())
}

/// A model that has no error and whose items fit it.
fn good_model(text: &str) -> Option<(Model, Vec<Item>)> {
    let source = Source::new("model.toml", text);
    let model = read(&source).unwrap_or_else(|found| panic!("{}\n{text}", report::text_of(&found, &source)));
    if check(&model).count(Severity::Error) > 0 {
        return None;
    }
    let items = items_of(&model, 400);
    let is_good = violations(&model, &items).is_empty() && can_tell(&model, &items);
    is_good.then_some((model, items))
}

/// Returns whether no two attributes in keys of an entity have the same values in all of its items: nobody could tell them apart.
fn can_tell(model: &Model, items: &[Item]) -> bool {
    originals(model, items, items).iter().all(|original| {
        let fields: BTreeSet<&str> = original.entity.key.iter().flat_map(Template::fields).collect();
        let column = |field: &str| original.items.iter().map(|(item, _)| item.get(field)).collect::<Vec<_>>();
        let columns: Vec<Vec<Option<&Value>>> = fields.iter().map(|field| column(field)).collect();
        (0..columns.len())
            .all(|left| (0..left).all(|right| columns[left] != columns[right] || original.items.len() < 2))
    })
}

/// The attributes of an item, with those that only its keys contain.
fn values(model: &Model, entity: &Entity, item: &Item) -> Attributes {
    let mut values = attributes(item);
    for mapping in TableOrIndex::all(model).iter().filter_map(|location| location.mapping(entity)) {
        for (name, template) in mapping.location.key_names(model).iter().zip(mapping.key) {
            let text = item.get(name).and_then(Value::as_text);
            for (field, value) in text.and_then(|text| template.matches(text, entity)).unwrap_or_default() {
                values.entry(field).or_insert(value);
            }
        }
    }
    values
}

/// Removes the attributes whose values the primary key has too.
fn hide(model: &Model, items: &mut [Item]) {
    let fields: BTreeSet<&str> = model
        .entities
        .iter()
        .filter(|entity| entity.copies.is_none() && model.copies_of(&entity.name).next().is_none())
        .flat_map(|entity| entity.key.iter().flat_map(Template::fields))
        .filter(|field| field.ends_with("Id"))
        .collect();
    for item in items.iter_mut() {
        item.retain(|name, _| !fields.contains(name.as_str()) || model.table.keys.contains(name));
    }
}

/// One entity of the original with its items, before and after what only keys contain was removed.
struct Original<'m> {
    entity: &'m Entity,
    items: Vec<(&'m Item, &'m Item)>,
}

fn originals<'m>(model: &'m Model, full: &'m [Item], bare: &'m [Item]) -> Vec<Original<'m>> {
    let mut found: BTreeMap<&str, Vec<(&Item, &Item)>> = BTreeMap::new();
    for pair in full.iter().zip(bare) {
        let key = pair.0.get(&model.table.keys[0]).and_then(Value::as_text).unwrap_or_default();
        if !key.starts_with(MARKER) {
            let entity = recognise(model, &attributes(pair.0)).unwrap();
            found.entry(&entity.name).or_default().push(pair);
        }
    }
    let originals = found.into_iter();
    originals.map(|(name, items)| Original { entity: model.entity(name).unwrap(), items }).collect()
}

/// The field of the inferred entity that has the values of a field of the original.
fn twin(original: &Original<'_>, models: [&Model; 2], entity: &Entity, field: &str) -> Option<String> {
    let mut names: Vec<&str> = entity.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    names.sort_by_key(|name| *name != field);
    for (full, bare) in &original.items {
        let Some(wanted) = values(models[0], original.entity, full).remove(field) else { continue };
        let found = values(models[1], entity, bare);
        names.retain(|name| found.get(*name) == Some(&wanted));
    }
    names.first().map(|name| (*name).to_owned())
}

/// The lookups and collections of an entity, in the words of the inferred model.
fn patterns(original: &Original<'_>, models: [&Model; 2], entity: &Entity) -> Result<Vec<Pattern>, String> {
    let mut patterns = Vec::new();
    for mapping in
        TableOrIndex::all(models[0]).iter().filter_map(|location| location.mapping(original.entity))
    {
        let index = mapping.location.index.map(|index| index.name.clone());
        let fixed = |field: &&str| *field != SHARD && mapping.when.fixed(field).is_none();
        let twins = |fields: BTreeSet<&str>| -> Result<Vec<String>, String> {
            let find = |field: &str| {
                twin(original, models, entity, field).ok_or(format!("{}: {field} is lost", entity.name))
            };
            fields.into_iter().map(find).collect()
        };
        let partition: BTreeSet<&str> = mapping.partition.fields().filter(fixed).collect();
        let sort = mapping.sort.iter().flat_map(Template::fields).filter(fixed);
        let all: BTreeSet<&str> = partition.iter().copied().chain(sort).collect();
        let is_open = mapping.partition.fields().all(|field| field != SHARD);
        for (many, fields) in [(false, all), (true, partition)] {
            if (!many && index.is_some()) || (fields.is_empty() && mapping.when.is_empty()) {
                continue;
            }
            if !many && !is_open {
                continue;
            }
            // Shards show themselves only where their numbers recur.
            let key = index.as_ref().and_then(|name| models[0].index(name)).map(|index| &index.keys[0]);
            let entries =
                || original.items.iter().filter(|(full, _)| key.is_none_or(|key| full.contains_key(key)));
            if !is_open && entries().count() <= SHARDS {
                continue;
            }
            patterns.push(Pattern {
                name: format!("{}{}{many}", original.entity.name, index.clone().unwrap_or_default()),
                inputs: twins(fields)?,
                targets: vec![Target { entity: entity.name.clone(), many }],
                filter: mapping.when.clone(),
                hydrate: true,
                ..Pattern::default()
            });
        }
    }
    Ok(patterns)
}

/// The number of shards of the models here.
const SHARDS: usize = 4;

/// What the inferred model does not serve.
fn lost(model: &Model, inferred: &Model, full: &[Item], bare: &[Item]) -> Vec<String> {
    let mut lost = Vec::new();
    let mut wanted = Vec::new();
    for original in originals(model, full, bare) {
        let found = original.items.iter().map(|(_, bare)| recognise(inferred, &attributes(bare)));
        let names: BTreeSet<Option<&str>> =
            found.map(|found| found.map(|found| found.name.as_str())).collect();
        match Vec::from_iter(names).as_slice() {
            [Some(name)] => {
                let entity = inferred.entity(name).unwrap();
                match patterns(&original, [model, inferred], entity) {
                    Ok(patterns) => wanted.extend(patterns),
                    Err(error) => lost.push(error),
                }
            }
            names => lost.push(format!("{} is {names:?}", original.entity.name)),
        }
    }
    let mut asking = inferred.clone();
    asking.patterns = wanted;
    let report = check(&asking);
    let unserved = report
        .plans
        .iter()
        .filter(|(_, plan)| plan.is_err())
        .map(|(name, _)| format!("{name} is not served"));
    lost.extend(unserved);
    lost
}

/// What is wrong with the model that is inferred.
fn faults(styled: &Styled) -> Option<Vec<String>> {
    let (model, full) = good_model(&styled.text)?;
    let mut bare = full.clone();
    if styled.is_hidden {
        hide(&model, &mut bare);
    }
    let known = KnownSchema {
        table: model.table.name.clone(),
        keys: model.table.keys.clone(),
        indexes: if styled.knows_indexes { model.indexes.clone() } else { Vec::new() },
        ..KnownSchema::default()
    };
    let draft = match infer(&bare, &known) {
        Ok(draft) => draft,
        Err(error) => return Some(vec![error]),
    };
    let mut faults = Vec::new();
    let Ok(inferred) = std::panic::catch_unwind(|| as_read(&draft)) else { return Some(vec![draft.text()]) };
    let report = check(&inferred);
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    faults.extend(errors.map(|finding| format!("{} {}: {}", finding.code, finding.subject, finding.message)));
    let found = violations(&inferred, &bare);
    faults.extend((!found.is_empty()).then_some(found));
    faults.extend(lost(&model, &inferred, &full, &bare));
    if !faults.is_empty() {
        faults.push(shown(&draft));
    }
    Some(faults)
}

fn shown(draft: &Draft) -> String {
    let text = draft.text();
    text.lines().filter(|line| !line.contains(".rps")).collect::<Vec<_>>().join("\n")
}

fn assert_all(models: impl Iterator<Item = Styled>, least: usize) {
    let (mut tried, mut faulty) = (0, 0);
    let mut first = String::new();
    for styled in models {
        let Some(faults) = faults(&styled) else { continue };
        tried += 1;
        if !faults.is_empty() {
            faulty += 1;
            first += &format!("\n=== {}\n--- {}\n", styled.text, faults.join("\n"));
        }
    }
    assert!(tried >= least, "only {tried} models are good");
    assert!(faulty == 0, "{faulty} of {tried}\n{first}");
}

#[test]
fn shared_tables_in_every_style_are_understood() {
    assert_all((0..seeds()).map(styled::shared), seeds() as usize / 3);
}

#[test]
fn tables_of_one_entity_in_every_style_are_understood() {
    assert_all((0..seeds()).map(styled::alone), seeds() as usize / 3);
}

#[test]
fn good_models_are_understood() {
    let models = (0..seeds()).map(|seed| Styled {
        text: Good::new(seed).draft.text(),
        is_hidden: seed % 3 == 0,
        knows_indexes: true,
    });
    assert_all(models, seeds() as usize / 3);
}
