//! Items generated from models, and models from items and from other tools' files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::exchange::{onetable, workbench};
use partita_design::generate::Generator;
use partita_design::inference::{KnownSchema, infer};
use partita_design::item::{Item, Value};
use partita_design::model::Entity;
use partita_design::template::Template;
use partita_design::{Model, Source, read, report, toml_writer};
use std::collections::BTreeSet;

/// All models of the project, by file name.
fn all() -> Vec<(String, Model)> {
    let mut models = Vec::new();
    for folder in ["models", "crates/design/tests/good"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".toml") {
                models.push((name, support::model(&std::fs::read_to_string(&path).unwrap())));
            }
        }
    }
    models
}

fn named(name: &str) -> Model {
    all().into_iter().find(|(own, _)| own == name).unwrap().1
}

fn read_back(name: &str, text: &str) -> Model {
    let source = Source::new(name, text);
    read(&source).unwrap_or_else(|findings| panic!("{}\n{text}", report::text_of(&findings, &source)))
}

fn string(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn keys(entity: &Entity) -> Vec<String> {
    entity.key.iter().map(Template::to_string).collect()
}

#[test]
fn generated_items_have_distinct_keys_that_match_their_templates() {
    for (name, model) in all() {
        let generator = Generator::new(&model, 7, 400);
        let mut seen = BTreeSet::new();
        let mut count = 0;
        for entity in &model.entities {
            for number in 0..generator.count(entity) {
                let item = generator.item(entity, number);
                let key: Vec<String> = model
                    .table
                    .keys
                    .iter()
                    .map(|key| {
                        let value =
                            item.get(key).unwrap_or_else(|| panic!("{name} {} lacks {key}", entity.name));
                        value.as_text().unwrap().to_owned()
                    })
                    .collect();
                for (template, text) in entity.key.iter().zip(&key) {
                    assert!(template.matches(text, entity).is_some(), "{name}: {text} is not {template}");
                }
                count += usize::from(seen.insert(key));
            }
        }
        let total = generator.total() as usize;
        assert!(count * 100 >= total * 90, "{name}: {count} of {total} keys are distinct");
        assert!(generator.items().take(20).eq(Generator::new(&model, 7, 400).items().take(20)), "repeatable");
        assert!(!generator.items().take(20).eq(Generator::new(&model, 8, 400).items().take(20)), "by seed");
    }
}

#[test]
fn generated_items_are_in_a_sparse_index_if_they_meet_its_condition() {
    let model = named("shop-orders.toml");
    let order = model.entity("Order").unwrap();
    let generator = Generator::new(&model, 1, 2000);
    let mut pending = 0;
    for number in 0..generator.count(order) {
        let item = generator.item(order, number);
        assert_eq!(item.contains_key("GSI2PK"), item["status"] == string("PENDING"));
        assert_eq!(item["GSI1PK"], string(&format!("ORDER#{}", item["orderId"].as_text().unwrap())));
        pending += usize::from(item.contains_key("GSI2PK"));
    }
    assert!(pending > 0);
}

#[test]
fn a_model_written_as_toml_reads_back_the_same() {
    for (name, model) in all() {
        let again = read_back(&name, &toml_writer::write(&model, "written"));
        assert_eq!(model.table.keys, again.table.keys);
        for entity in &model.entities {
            let other = again.entity(&entity.name).unwrap();
            assert_eq!(keys(entity), keys(other), "{name}");
            for index_key in &entity.indexes {
                let twin = other.index_key(&index_key.index).unwrap();
                assert_eq!((&index_key.key, &index_key.when), (&twin.key, &twin.when), "{name}");
            }
        }
    }
}

#[test]
fn workbench_models_round_trip() {
    for (name, model) in all() {
        let text = workbench::export(&model).to_string();
        let again = workbench::import(&text).unwrap();
        assert_eq!(again.table.name, model.table.name);
        for entity in &model.entities {
            assert_eq!(keys(entity), keys(again.entity(&entity.name).unwrap()), "{name}");
        }
        read_back(&name, &toml_writer::write(&again, "imported"));
    }
    assert!(workbench::import("{}").unwrap_err().contains("NoSQL Workbench"));
    assert!(workbench::import("not json").unwrap_err().contains("not JSON"));
}

#[test]
fn onetable_schemas_round_trip() {
    for (name, model) in all() {
        let text = onetable::export(&model).to_string();
        let again = onetable::import(&text, &model.table.name).unwrap();
        for entity in &model.entities {
            let other = again.entity(&entity.name).unwrap();
            let plain = !keys(entity).iter().any(|key| key.contains(":month") || key.contains(":escaped"));
            assert!(!plain || keys(entity) == keys(other), "{name} {:?} {:?}", keys(entity), keys(other));
            assert_eq!(entity.unique, other.unique);
        }
    }
    let schema = r#"{ "indexes": { "primary": { "hash": "pk", "sort": "sk" } },
        "models": { "User": { "pk": { "type": "String", "value": "user#${id}" }, "sk": { "value": "v#${version:8:0}" },
                              "id": { "type": "String", "generate": "ulid" }, "version": { "type": "Number" } } } }"#;
    let model = onetable::import(schema, "T").unwrap();
    assert_eq!(keys(&model.entities[0]), ["user#{id}", "v#{version:08}"]);
    assert!(onetable::import("{}", "T").unwrap_err().contains("OneTable"));
}

#[test]
fn a_model_is_inferred_from_its_own_items() {
    let model = named("shop-orders.toml");
    let items: Vec<_> = Generator::new(&model, 3, 400).items().collect();
    let known = KnownSchema { table: "Shop".to_owned(), ..KnownSchema::default() };
    let found = infer(&items, &known).unwrap();
    for entity in &model.entities {
        assert_eq!(keys(entity), keys(found.entity(&entity.name).unwrap()));
    }
    let order = found.entity("Order").unwrap();
    assert_eq!(order.index_key("GSI1").unwrap().key[0].to_string(), "ORDER#{orderId}");
    assert_eq!(order.index_key("GSI2").unwrap().when.to_string(), "status == 'PENDING'");
    assert!(found.patterns.iter().any(|pattern| pattern.name == "ordersByUserId"));
}

#[test]
fn inferred_models_can_be_read_and_their_patterns_are_served() {
    for (name, model) in all() {
        let items: Vec<_> = Generator::new(&model, 3, 300).items().collect();
        let known = KnownSchema {
            table: model.table.name.clone(),
            keys: model.table.keys.clone(),
            indexes: model.indexes.clone(),
        };
        let found = infer(&items, &known).unwrap();
        let again = read_back(&name, &toml_writer::write(&found, "inferred"));
        let report = partita_design::check(&again);
        for (pattern, plan) in &report.plans {
            assert!(plan.is_ok(), "{name}: {pattern}\n{}", toml_writer::write(&found, "inferred"));
        }
    }
    assert!(infer(&[], &KnownSchema::default()).is_err());
}

#[test]
fn items_migrate_to_the_next_version_and_back() {
    use partita_design::migration::{Rewrite, preserves_origin, rewrite};
    let old = named("shop-orders.toml");
    let text = std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap();
    let new = text
        .replace("key = [\"USER#{userId}\", \"USER#{userId}\"]", "key = [\"USER#{userId}\", \"PROFILE\"]")
        .replace("\"{createdAt}#{orderId}\"], when", "\"PENDING#{createdAt}#{orderId}\"], when");
    let new = read_back("new.toml", &new);
    let (mut moved, mut put) = (0, 0);
    for item in Generator::new(&old, 9, 300).items() {
        assert_eq!(rewrite(&old, &old, &item), Rewrite::Keep);
        let made = match rewrite(&old, &new, &item) {
            Rewrite::Keep => continue,
            Rewrite::Put(made) => {
                put += 1;
                made
            }
            Rewrite::Move { put, delete } => {
                moved += 1;
                assert_eq!(delete.len(), 2);
                put
            }
            Rewrite::Unknown(reason) | Rewrite::Removed(reason) => panic!("{reason}: {item:?}"),
        };
        assert!(preserves_origin(&old, &new, &item, &made), "{made:?}");
        assert_eq!(rewrite(&old, &new, &made), Rewrite::Keep, "migration is idempotent");
        match rewrite(&new, &old, &made) {
            Rewrite::Put(back) | Rewrite::Move { put: back, .. } => assert_eq!(back, item, "and back"),
            other => panic!("{other:?}"),
        }
    }
    assert!(moved > 0 && put > 0, "{moved} {put}");
}

#[test]
fn an_attribute_that_only_the_old_key_contained_is_lost() {
    use partita_design::migration::{Rewrite, preserves_origin, rewrite};
    let old = named("shop-orders.toml");
    let text = std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap();
    let new = read_back("new.toml", &text.replace("\"ITEM#{itemId}\"", "\"ITEM\""));
    let is_line = |item: &Item| item["EntityType"] == string("OrderItem");
    let mut item = Generator::new(&old, 9, 300).items().find(is_line).unwrap();
    for has_id in [true, false] {
        if !has_id {
            item.remove("itemId");
        }
        let Rewrite::Move { put: made, .. } = rewrite(&old, &new, &item) else { panic!("{item:?}") };
        assert_eq!(preserves_origin(&old, &new, &item, &made), has_id, "{made:?}");
    }
}
