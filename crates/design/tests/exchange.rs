//! Items generated from models, and models from items and from other tools' files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::exchange::{library, onetable, workbench};
use partita_design::generate::Generator;
use partita_design::inference::{KnownSchema, infer};
use partita_design::item::Value;
use partita_design::model::Entity;
use partita_design::template::Template;
use partita_design::{Model, Severity, Source, check, read, report, toml_writer};
use serde_json::json;
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
            for number in generator.numbers(entity) {
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
    for number in generator.numbers(order) {
        let item = generator.item(order, number);
        assert_eq!(item.contains_key("GSI2PK"), item["status"] == string("PENDING"));
        assert_eq!(item["GSI1PK"], string(&format!("ORDER#{}", item["orderId"].as_text().unwrap())));
        pending += usize::from(item.contains_key("GSI2PK"));
    }
    assert!(pending > 0);
}

/// What a file says, without the positions at which it says it.
fn content(model: &Model) -> String {
    let entity = |entity: &Entity| {
        let key = (
            &entity.name,
            &entity.type_value,
            &entity.attributes,
            &entity.key,
            &entity.shard,
            &entity.indexes,
        );
        let rules = (&entity.unique, &entity.lock, &entity.versions, &entity.copies, &entity.edge);
        let history = (&entity.was, &entity.latest, &entity.aggregates);
        format!("{key:#?}{rules:#?}{history:#?}{:#?}", (&entity.identity, &entity.ttl, &entity.expect))
    };
    let entities: String = model.entities.iter().map(entity).collect();
    let rest =
        (&model.table, &model.context, &model.indexes, &model.patterns, &model.writes, &model.allowances);
    let text = format!("{entities}{rest:#?}{:#?}", model.traffic);
    text.lines()
        .filter(|line| !line.contains("span:") && !line.contains("_at:"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_model_written_as_toml_reads_back_the_same() {
    for (name, model) in all() {
        let again = read_back(&name, &toml_writer::write(&model, "written"));
        let (before, after) = (content(&model), content(&again));
        let difference = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        assert!(before == after, "{name}: {difference:?}");
    }
}

#[test]
fn any_text_can_be_written() {
    let mut model = named("shop-orders.toml");
    let all: String = (0..0x3000).filter_map(char::from_u32).collect();
    model.patterns[0].about.clone_from(&all);
    let again = read_back("any.toml", &toml_writer::write(&model, &all));
    assert_eq!(again.patterns[0].about, all);
}

#[test]
fn indexes_of_workbench_may_share_attributes_and_facets_names() {
    let facet = |name: &str, key: &str| {
        let aliases = serde_json::json!({ "PartitionKeyAlias": key, "SortKeyAlias": "X" });
        serde_json::json!({ "FacetName": name, "KeyAttributeAlias": aliases, "NonKeyAttributes": ["a", "b", "c"] })
    };
    let index = |name: &str, keys: [&str; 2]| {
        let keys = keys.map(|key| serde_json::json!({ "AttributeName": key }));
        serde_json::json!({ "IndexName": name, "KeyAttributes": { "PartitionKey": keys[0], "SortKey": keys[1] } })
    };
    let table = serde_json::json!({
        "TableName": "T",
        "KeyAttributes": { "PartitionKey": { "AttributeName": "PK" }, "SortKey": { "AttributeName": "SK" } },
        "NonKeyAttributes": [{ "AttributeName": "c", "AttributeType": "N" }],
        "GlobalSecondaryIndexes": [index("G1", ["a", "b"]), index("G2", ["a", "c"])],
        "TableFacets": [facet("Order (new)", "N#{a}"), facet("Order new", "O#{a}"), facet("--", "P#{a}")],
    });
    let text = serde_json::json!({ "DataModel": [table] }).to_string();
    let model = support::as_read(&workbench::import(&text).unwrap()[0]);
    let names: Vec<&str> = model.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["Ordernew", "Ordernew2", "Entity"]);
    assert_eq!(model.entities[0].attribute("c").unwrap().kind.print(), "decimal");
}

#[test]
fn entities_of_a_library_are_told_apart() {
    let entity = |name: &str| {
        serde_json::json!({ "name": name, "attributes": { "id": { "type": "string", "optional": true } },
            "key": [format!("{name}#{{id}}"), "X"] })
    };
    let entities = ["order-1", "order1", "--", "order1"].map(entity);
    let table = serde_json::json!({ "name": "T", "keys": ["pk", "sk"], "indexes": [], "entities": entities });
    let drafts = library::import(&serde_json::json!({ "tables": [table] }).to_string(), "ElectroDB").unwrap();
    let model = support::as_read(&drafts[0]);
    let names: Vec<&str> = model.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["Order1", "Order12", "Entity"]);
    assert!(!model.entities[0].attribute("id").unwrap().optional, "a key has all its parts");
}

/// An alias may be a template, the name of the key attribute, or its text; what no data decide is asked.
#[test]
fn aliases_of_facets_without_data_are_names_or_templates() {
    for (alias, template, is_asked) in [
        ("userId", "{userId}", true),
        ("PK", "{PK}", true),
        ("", "{PK}", true),
        ("PROFILE", "PROFILE", true),
        ("USER#<user id>", "{PK}", true),
        ("USER#${userId}", "USER#{userId}", false),
        ("USER#<userId>", "USER#{userId}", false),
    ] {
        let facet = json!({ "FacetName": "User", "KeyAttributeAlias": { "PartitionKeyAlias": alias }, "TableData": [] });
        let keys = json!({ "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" } });
        let table = json!({ "TableName": "Shop", "KeyAttributes": keys, "TableFacets": [facet] });
        let text = json!({ "DataModel": [table] }).to_string();
        let mut draft = workbench::import(&text).unwrap().remove(0);
        let key = support::as_read(&draft).entities[0].key[0].to_string();
        let asked = draft.questions.iter().any(|question| question.id == "entity.User.key.0");
        assert_eq!((key.as_str(), asked), (template, is_asked), "{alias}");
        if template == "{PK}" {
            draft.answer(&[("entity.User.key.0".to_owned(), "USER#{userId}".to_owned())].into()).unwrap();
            assert_eq!(support::as_read(&draft).entities[0].key[0].to_string(), "USER#{userId}");
        }
    }
}

#[test]
fn workbench_models_round_trip() {
    for (name, model) in all() {
        let text = workbench::export(&model).document.to_string();
        let again = workbench::import(&text).unwrap().remove(0).model;
        assert_eq!(again.table.name, model.table.name);
        for entity in &model.entities {
            assert_eq!(keys(entity), keys(again.entity(&entity.name).unwrap()), "{name}");
        }
        read_back(&name, &toml_writer::write(&again, "imported"));
    }
    assert!(workbench::import("{}").unwrap_err().contains("NoSQL Workbench"));
    assert!(workbench::import("not json").unwrap_err().contains("not JSON"));
}

/// Workbench has texts and numbers; the formats of keys say more of what these hold.
#[test]
fn formats_of_workbench_keys_show_times_and_whole_numbers() {
    for (name, model) in all() {
        let text = workbench::export(&model).document.to_string();
        let again = support::as_read(&workbench::import(&text).unwrap()[0]);
        let report = partita_design::check(&again);
        let misfits = report.findings.iter().filter(|finding| finding.code == "P222");
        assert_eq!(misfits.map(|finding| &finding.message).collect::<Vec<_>>(), [""; 0], "{name}");
    }
    let facet = json!({
        "FacetName": "Score", "TableData": [], "NonKeyAttributes": ["at", "points", "level"],
        "KeyAttributeAlias": { "PartitionKeyAlias": "GAME#{at:month}", "SortKeyAlias": "{points:06.2}#{level:+03}" },
    });
    let keys = ["PK", "SK"].map(|name| json!({ "AttributeName": name, "AttributeType": "S" }));
    let types = [("at", "S"), ("points", "N"), ("level", "N")];
    let types = types.map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }));
    let table = json!({
        "TableName": "Game", "KeyAttributes": { "PartitionKey": keys[0], "SortKey": keys[1] },
        "NonKeyAttributes": types, "TableFacets": [facet],
    });
    let text = json!({ "DataModel": [table] }).to_string();
    let model = support::as_read(&workbench::import(&text).unwrap()[0]);
    let kinds = ["at", "points", "level"].map(|name| model.entities[0].attribute(name).unwrap().kind.print());
    assert_eq!(kinds, ["timestamp", "decimal", "int"]);
}

#[test]
fn onetable_schemas_round_trip() {
    for (name, model) in all() {
        let exported = onetable::export(&model);
        let draft = onetable::import(&exported.document.to_string(), &model.table.name).unwrap();
        let again = support::as_read(&draft);
        for entity in &model.entities {
            let other = again.entity(&entity.name).unwrap();
            // What OneTable cannot write is left to the application, which is said.
            for ((own, found), key) in entity.key.iter().zip(&other.key).zip(&model.table.keys) {
                let start = format!("{}.{key} has no value", entity.name);
                let is_left = exported.remarks.iter().any(|remark| remark.starts_with(&start));
                let expected = if is_left { Template::field(key) } else { own.clone() };
                assert_eq!(*found, expected, "{name}");
            }
            // OneTable has markers of its own, and none for several attributes together.
            for attribute in entity.unique.iter().filter(|unique| unique.len() == 1).flatten() {
                let id = format!("entity.{}.unique.{attribute}", entity.name);
                assert!(draft.questions.iter().any(|question| question.id == id), "{id}");
            }
            // What OneTable generates is never absent, and keys need their parts.
            let is_key = |name: &String| model.indexes.iter().any(|index| index.keys.contains(name));
            let optional = |entity: &Entity| -> BTreeSet<String> {
                let own = entity.attributes.iter().filter(|own| own.optional && !own.kind.has_fixed_width());
                own.map(|own| own.name.clone()).filter(|name| !is_key(name)).collect()
            };
            assert_eq!(optional(entity), optional(other), "{name}");
        }
    }
    assert!(onetable::import("{}", "T").unwrap_err().contains("OneTable"));
}

#[test]
fn the_keys_of_onetable_have_patterns() {
    let schema = json!({
        "indexes": { "primary": { "hash": "pk", "sort": "sk" }, "gs1": { "hash": "gs1pk", "sort": "gs1sk" } },
        "models": { "User": {
            "pk": { "type": "string", "value": "user#${id}" },
            "sk": { "type": "string", "value": "user#" },
            "gs1pk": { "type": "string", "value": "type#user" },
            "gs1sk": { "type": "string", "value": "user#${name}#${id}" },
            "id": { "type": "string", "required": true },
            "name": { "type": "string", "required": true },
        } },
    });
    let draft = onetable::import(&schema.to_string(), "Users").unwrap();
    let names: Vec<&str> = draft.model.patterns.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["userById", "users"], "{}", draft.text());
    let model = read_back("users", &draft.text());
    assert!(partita_design::check(&model).plans.values().all(Result::is_ok), "{}", draft.text());
}

#[test]
fn the_type_in_a_key_of_onetable_is_the_name_of_the_model() {
    for (params, field) in [("{}", "_type"), (r#"{"typeField": "kind"}"#, "kind")] {
        let schema = r#"{"indexes": {"primary": {"hash": "pk", "sort": "sk"}}, "params": PARAMS, "models": {
            "User": {"pk": {"value": "${TYPE}#${id}"}, "sk": {"value": "${TYPE}#"}, "id": {"generate": "ulid"}},
            "Pet": {"pk": {"value": "${TYPE}#${id}"}, "sk": {"value": "${TYPE}#"}, "id": {"generate": "ulid"}}}}"#;
        let draft =
            onetable::import(&schema.replace("PARAMS", params).replace("TYPE", field), "Zoo").unwrap();
        let text = draft.text();
        assert!(text.contains("key = [\"User#{id}\", \"User#\"]"), "{text}");
        assert!(text.contains("key = [\"Pet#{id}\", \"Pet#\"]"), "{text}");
        assert!(draft.questions.iter().all(|question| !question.text.contains("look like")), "{text}");
        assert!(!support::has(&text, "P202", Severity::Error), "{text}");
    }
}

#[test]
fn a_key_of_onetable_without_the_id_identifies_its_items() {
    let schema = r#"{"format": "onetable:1.1.0", "version": "0.0.1", "indexes": {"primary": {"hash": "pk", "sort": "sk"}},
        "models": {"Account": {"pk": {"type": "string", "value": "account:${name}"}, "sk": {"type": "string", "value": "account:"},
        "id": {"type": "string", "generate": "uuid"}, "name": {"type": "string", "required": true}}}}"#;
    let draft = onetable::import(schema, "Shop").unwrap();
    assert_eq!(draft.model.entities[0].identity, ["name"]);
    assert!(!support::has(&draft.text(), "P203", Severity::Error), "{}", draft.text());
}

#[test]
fn what_onetable_cannot_write_is_said() {
    let exported = onetable::export(&named("sensor-readings.toml"));
    assert!(exported.document["models"]["Reading"]["PK"]["value"].is_null(), "{:#}", exported.document);
    assert!(exported.remarks[0].contains("{time:month}"), "{:?}", exported.remarks);
    let exported = onetable::export(&named("write-sharding.toml"));
    assert!(exported.remarks.iter().any(|remark| remark.contains("{shard}")), "{:?}", exported.remarks);
    let exported = workbench::export(&named("document-versions.toml"));
    assert!(exported.remarks.iter().any(|remark| remark.contains("ByDate")), "{:?}", exported.remarks);
}

/// Fields stored under other names, expiry, times, unique values, and keys that no template makes.
#[test]
fn onetable_stores_what_its_schema_says() {
    let schema = r#"{ "indexes": { "primary": { "hash": "pk", "sort": "sk" }, "gs1": { "hash": "gs1pk", "sort": "gs1sk" } },
        "models": { "User": { "pk": { "type": "String", "value": "user#${id}" }, "sk": { "value": "v#${version:8:0}" },
            "id": { "type": "String", "generate": "ulid", "map": "i" }, "version": { "type": "Number" },
            "email": { "type": "String", "required": true, "unique": true }, "expires": { "type": "Date", "ttl": true },
            "address": { "type": "Object" }, "born": { "type": "Date" },
            "gs1pk": { "value": "zip#${address.zip}" }, "gs1sk": { "value": "user#${email}" } } },
        "params": { "timestamps": true, "isoDates": true } }"#;
    let mut draft = onetable::import(schema, "Shop").unwrap();
    let model = support::as_read(&draft);
    assert_eq!(check(&model).count(Severity::Error), 0, "{}", draft.text());
    let user = model.entity("User").unwrap();
    assert_eq!(keys(user), ["user#{i}", "v#{version:08}"]);
    assert_eq!(model.table.ttl.as_deref(), Some("expires"));
    let kinds =
        ["version", "expires", "born", "created"].map(|name| user.attribute(name).unwrap().kind.print());
    assert_eq!(kinds, ["int", "int", "timestamp", "timestamp"]);
    assert!(user.unique.is_empty() && model.entities.iter().any(|entity| entity.type_value == "_Unique"));
    assert_eq!(user.index_key("gs1").unwrap().key[0].to_string(), "{gs1pk}");
    let answers = [("entity.User.index.gs1.0", "zip#{zip}"), ("entity.User.unique.email", "yes")];
    draft.answer(&answers.map(|(id, text)| (id.to_owned(), text.to_owned())).into()).unwrap();
    let model = support::as_read(&draft);
    let user = model.entity("User").unwrap();
    assert_eq!(user.index_key("gs1").unwrap().key[0].to_string(), "zip#{zip}");
    assert!(user.attribute("gs1pk").is_none() && user.unique == [["email"]], "{}", draft.text());
}

#[test]
fn a_model_is_inferred_from_its_own_items() {
    let model = named("shop-orders.toml");
    let items: Vec<_> = Generator::new(&model, 3, 400).items().collect();
    let known = KnownSchema { table: "Shop".to_owned(), ..KnownSchema::default() };
    let found = infer(&items, &known).unwrap().model;
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
            ..KnownSchema::default()
        };
        let text = infer(&items, &known).unwrap().text();
        let again = read_back(&name, &text);
        let report = partita_design::check(&again);
        for (pattern, plan) in &report.plans {
            assert!(plan.is_ok(), "{name}: {pattern}\n{text}");
        }
    }
    assert!(infer(&[], &KnownSchema::default()).is_err());
}
