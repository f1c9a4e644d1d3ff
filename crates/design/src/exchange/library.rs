//! Schemas of client libraries, in the JSON that the scripts in `integrations/schemas` print: tables with their keys and indexes, and
//! entities with attributes and key templates.

mod shared_table;

use crate::draft::{Asked, Confidence, Draft, Question};
use crate::formatting::upper_first;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Index, IndexKey, Model, Projection, Table};
use crate::relational::naming::{camel, field_name, free_name};
use crate::template::{Format, Part, Template};
use serde_json::Value;
use shared_table::SharedTable;

/// Imports the tables of a schema; `library` is its name. What several models declare about one table is one draft.
///
/// # Errors
///
/// Returns a message if the text is not the output of a script.
pub fn import(text: &str, library: &str) -> Result<Vec<Draft>, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let tables = root["tables"].as_array().filter(|tables| !tables.is_empty());
    let tables =
        tables.ok_or("there are no `tables`: print the schema with the script in integrations/schemas")?;
    let shared = SharedTable::all(tables)?;
    shared.iter().map(|table| draft(table, library)).collect()
}

fn draft(table: &SharedTable<'_>, library: &str) -> Result<Draft, String> {
    let model = model(table)?;
    let about =
        format!("Imported from {library}: correct it, add the writes, then run `partita model check`.");
    let mut draft = Draft { model, about, ..Draft::default() };
    draft.note("table", Confidence::Certain, format!("the schema of {library}"));
    ask_about_keys(&mut draft, table);
    ask_about_indexes(&mut draft, table);
    remark_on_unknown_types(&mut draft, table);
    ask_about_casing(&mut draft);
    draft.derive_patterns();
    Ok(draft)
}

/// Keys that the schema does not explain, and keys of several entities that only their values tell apart.
fn ask_about_keys(draft: &mut Draft, table: &SharedTable<'_>) {
    let is_key = |template: &Template, name: &String| template.bare_field() == Some(name);
    let keys = &draft.model.table.keys;
    let natural =
        |entity: &Entity| entity.key.iter().zip(keys).all(|(template, name)| is_key(template, name));
    let several = draft.model.entities.iter().filter(|entity| natural(entity)).count() > 1;
    let mut questions = Vec::new();
    for (entity, own) in draft.model.entities.iter().zip(&table.entities) {
        for (position, name) in keys.iter().enumerate().filter(|(at, name)| is_key(&entity.key[*at], name)) {
            let computed = own["key"][position].is_null();
            let shared = several && natural(entity);
            if !computed && !shared {
                continue;
            }
            let why = if computed {
                "a function computes it from more than the values themselves"
            } else {
                "other entities have the same key attributes"
            };
            let asked = Asked::Template { entity: entity.name.clone(), index: None, position };
            let text = format!(
                "What does {name} of {} look like ({why})? For example {}#{{id}}.",
                entity.name,
                entity.name.to_uppercase()
            );
            questions.push(Question::new(asked, text, format!("{{{name}}}, any text")));
        }
    }
    draft.questions.extend(questions);
}

/// Index keys that the schema does not explain, that are not written as a whole, or that only some items have.
fn ask_about_indexes(draft: &mut Draft, table: &SharedTable<'_>) {
    let mut questions = Vec::new();
    for (entity, own) in draft.model.entities.iter().zip(&table.entities) {
        let name = &entity.name;
        for index_key in &entity.indexes {
            let index = &index_key.index;
            let declared = &own["index"][index];
            let keys = draft.model.index(index).map(|index| index.keys.as_slice()).unwrap_or_default();
            for (position, key) in keys.iter().enumerate() {
                let is_open = index_key.key[position].bare_field() == Some(&field_name(key));
                let (text, choices) = match &declared[position] {
                    Value::Null if !declared.is_null() => (
                        format!(
                            "What does {key} of {name} look like? A function computes it from more than the values themselves."
                        ),
                        Vec::new(),
                    ),
                    Value::String(template) if is_partial(own, index, position) => (
                        format!(
                            "{key} of {name} ends where the first attribute of {template} is missing: are all there wherever it is?"
                        ),
                        vec![template.clone()],
                    ),
                    _ => continue,
                };
                let asked = Asked::Template { entity: name.clone(), index: Some(index.clone()), position };
                let question = Question::new(asked, text, format!("{{{}}}, any text", field_name(key)));
                questions.extend(is_open.then(|| question.with_choices(choices)));
            }
            if texts(&own["conditional"]).contains(index) {
                let asked = Asked::When { entity: name.clone(), index: index.clone() };
                let text =
                    format!("A function decides which items of {name} are in {index}: which are they?");
                let assumed =
                    if index_key.when.is_empty() { "always".to_owned() } else { index_key.when.to_string() };
                questions.push(Question::new(asked, text, assumed));
            }
        }
    }
    draft.questions.extend(questions);
}

/// Whether a sort key is written only as far as there are attributes for it.
fn is_partial(entity: &Value, index: &str, position: usize) -> bool {
    position > 0 && texts(&entity["partial"]).iter().any(|own| own == index)
}

/// Attributes whose type the schema does not say are not declared.
fn remark_on_unknown_types(draft: &mut Draft, table: &SharedTable<'_>) {
    let mut remarks = Vec::new();
    for (entity, own) in draft.model.entities.iter().zip(&table.entities) {
        let names = own["attributes"].as_object().into_iter().flatten().map(|(name, _)| name);
        let type_attribute = draft.model.table.type_attribute.as_ref();
        for name in names.filter(|name| entity.attribute(name).is_none() && type_attribute != Some(name)) {
            remarks.push((entity.subject(), format!("{name} may be of any type, and is not declared.")));
        }
    }
    remarks.into_iter().for_each(|(subject, remark)| draft.remark(subject, remark));
}

/// Values that keys hold in lower case, if their type admits upper-case letters.
fn ask_about_casing(draft: &mut Draft) {
    let free = |entity: &&Entity| {
        let indexes = entity.indexes.iter().flat_map(|index_key| &index_key.key);
        entity.key.iter().chain(indexes).flat_map(|template| &template.parts).any(|part| match part {
            Part::Field { name, format } => {
                let kind = entity.attribute(name).map(|attribute| &attribute.kind);
                *format == Format::Lower && !matches!(kind, Some(ValueType::Choice(_)))
            }
            Part::Text(_) => false,
        })
    };
    let Some(entity) = draft.model.entities.iter().find(free) else { return };
    let text = format!(
        "Keys hold values in lower case, as in {}: do values have upper-case letters?",
        entity.key.iter().map(Template::to_string).collect::<Vec<_>>().join(" / ")
    );
    let question = Question::new(Asked::Casing, text, "yes").with_choices(["no".to_owned()]);
    draft.questions.push(question);
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn model(shared: &SharedTable<'_>) -> Result<Model, String> {
    let table = Table {
        name: shared.name.clone(),
        keys: shared.keys.clone(),
        type_attribute: shared.type_attribute.clone(),
        ttl: shared.ttl.clone(),
        ..Table::default()
    };
    let mut model = Model { table, ..Model::default() };
    for index in &shared.indexes {
        let name = text(&index["name"]).ok_or("an index has no `name`")?;
        let keys = texts(&index["keys"]);
        if !(1..=2).contains(&keys.len()) {
            return Err(format!("index {name} needs one or two `keys`"));
        }
        model.indexes.push(Index {
            name,
            local: index["local"] == true,
            keys,
            partition_keys: 1,
            project: match &index["project"] {
                Value::Array(_) => Projection::Include(texts(&index["project"])),
                Value::String(word) if word == "KEYS_ONLY" => Projection::KeysOnly,
                _ => Projection::All,
            },
            span: 0..0,
        });
    }
    for own in &shared.entities {
        let mut entity = entity(own, &model)?;
        entity.name = free_name(&entity.name, |name| model.entities.iter().any(|own| own.name == name));
        model.entities.push(entity);
    }
    Ok(model)
}

fn entity(own: &Value, model: &Model) -> Result<Entity, String> {
    let named = text(&own["name"]).ok_or("an entity has no `name`")?;
    let is_shouted = named.chars().count() > 1 && !named.chars().any(char::is_lowercase);
    let name = if is_shouted { camel(&named.to_lowercase()) } else { upper_first(&named) };
    let name: String =
        name.chars().filter(|character| character.is_alphanumeric() || *character == '_').collect();
    let name = if name.is_empty() { "Entity".to_owned() } else { name };
    let type_attribute = model.table.type_attribute.as_deref();
    let only = type_attribute.and_then(|name| text(&own["attributes"][name]["only"]));
    let type_value = text(&own["type"]).or(only).unwrap_or(named);
    let mut entity = Entity { name, type_value, lock: text(&own["lock"]), ..Entity::default() };
    let attributes = own["attributes"].as_object().into_iter().flatten();
    let keys = [&own["key"], &own["index"]].map(Value::to_string).concat();
    for (attribute, definition) in attributes.filter(|(name, _)| Some(name.as_str()) != type_attribute) {
        let is_in_key = || keys.contains(&format!("{{{attribute}"));
        let kind = match (&definition["choices"], &definition["type"]) {
            (Value::Array(_), _) => Some(choice(&texts(&definition["choices"]))),
            (_, Value::Null) if is_in_key() => Some(ValueType::String),
            (_, Value::Null) => continue,
            (_, kind) => kind.as_str().and_then(ValueType::parse),
        };
        let kind =
            kind.ok_or_else(|| format!("{}.{attribute} has a type that is not one of a model", entity.name))?;
        let optional = definition["optional"] == true;
        entity.attributes.push(Attribute { optional, ..Attribute::new(attribute, kind) });
    }
    entity.key = templates(&own["key"], &model.table.keys, &mut entity)?;
    if entity.key.len() != model.table.keys.len() {
        return Err(format!("the key of {} has not one template for each key of the table", entity.name));
    }
    require_key_fields(&mut entity);
    for index in &model.indexes {
        let declared = &own["index"][&index.name];
        let natural = index.keys.iter().all(|key| entity.attribute(key).is_some() && field_name(key) == *key);
        let key = match declared {
            Value::Null if natural => index.keys.iter().map(|key| Template::field(key)).collect(),
            _ => {
                let whole = declared.as_array().into_iter().flatten().enumerate();
                let known =
                    whole.map(|(at, key)| if is_partial(own, &index.name, at) { &Value::Null } else { key });
                let known: Value = known.cloned().collect();
                let before = entity.attributes.len();
                let key = templates(&known, &index.keys, &mut entity)?;
                // Whether items have a computed key is not known; a part of a sort key is there whenever the partition key is.
                let optional =
                    declared[0].is_null() || !entity.presence_of(&key[..key.len().min(1)]).is_empty();
                entity.attributes[before..].iter_mut().for_each(|attribute| attribute.optional = optional);
                key
            }
        };
        if key.len() == index.keys.len() {
            entity.indexes.push(index_key(&entity, &index.name, key));
        }
    }
    make_padded_whole(&mut entity);
    if entity.identity().is_none_or(|id| !entity.has_key_field(id)) {
        entity.identity = entity.key_fields().map(str::to_owned).collect();
    }
    Ok(entity)
}

/// The type of one of several texts; text, if a model has no type for them.
fn choice(choices: &[String]) -> ValueType {
    let type_of = ValueType::parse(&choices.join("|"));
    let is_exact = |kind: &ValueType| matches!(kind, ValueType::Choice(own) if **own == *choices);
    type_of.filter(is_exact).unwrap_or(ValueType::String)
}

/// No library writes an item whose key lacks a part.
pub(super) fn require_key_fields(entity: &mut Entity) {
    let required: Vec<String> = entity.key_fields().map(str::to_owned).collect();
    for attribute in entity.attributes.iter_mut().filter(|own| required.contains(&own.name)) {
        attribute.optional = false;
    }
}

/// Numbers that keys write without decimals are whole.
pub(super) fn make_padded_whole(entity: &mut Entity) {
    let indexes = entity.indexes.iter().flat_map(|index_key| &index_key.key);
    let parts = entity.key.iter().chain(indexes).flat_map(|template| &template.parts);
    let padded: Vec<String> = parts
        .filter_map(|part| match part {
            Part::Field { name, format: Format::Padded { decimals: 0, .. } } => Some(name.clone()),
            _ => None,
        })
        .collect();
    for attribute in entity.attributes.iter_mut().filter(|own| padded.contains(&own.name)) {
        attribute.kind = ValueType::Int;
    }
}

/// The key in an index; items that lack one of its attributes are not in it.
pub(super) fn index_key(entity: &Entity, index: &str, key: Vec<Template>) -> IndexKey {
    let when = entity.presence_of(&key);
    IndexKey { when, ..IndexKey::new(index, key, 0..0) }
}

/// Key templates, whose fields are attributes of the entity. One that is not known is the key attribute itself.
fn templates(list: &Value, keys: &[String], entity: &mut Entity) -> Result<Vec<Template>, String> {
    let mut templates = Vec::new();
    for (own, key) in list.as_array().into_iter().flatten().zip(keys) {
        let Some(text) = own.as_str() else {
            let name = field_name(key);
            if entity.attribute(&name).is_none() {
                entity.attributes.push(Attribute::new(&name, ValueType::String));
            }
            templates.push(Template::field(&name));
            continue;
        };
        let mut template = Template::parse(text).map_err(|error| format!("`{text}`: {}", error.message))?;
        if let Some(field) = template.fields().find(|field| entity.attribute(field).is_none()) {
            return Err(format!(
                "`{text}` has the field `{field}`, which is no attribute of {}",
                entity.name
            ));
        }
        template.parts.iter_mut().for_each(|part| keep_lower_case(part, entity));
        templates.push(template);
    }
    Ok(templates)
}

/// Values that have no upper-case letters are written as they are.
fn keep_lower_case(part: &mut Part, entity: &Entity) {
    let Part::Field { name, format } = part else { return };
    let plain = match entity.attribute(name).map(|attribute| &attribute.kind) {
        Some(ValueType::Choice(choices)) => choices.iter().all(|choice| choice.to_lowercase() == *choice),
        Some(kind) => kind.is_number() || matches!(kind, ValueType::Bool | ValueType::Date),
        None => false,
    };
    if plain && *format == Format::Lower {
        *format = Format::Plain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    const SCHEMA: &str = r##"{ "tables": [{ "name": "Shop", "keys": ["pk", "sk"], "type_attribute": "__edb_e__", "ttl": null,
        "indexes": [{ "name": "gsi1", "keys": ["gsi1pk", "gsi1sk"], "project": "KEYS_ONLY" }],
        "entities": [{ "name": "order", "attributes": { "orderId": { "type": "string" }, "userId": { "type": "string" },
            "state": { "type": "NEW|PAID" }, "total": { "type": "decimal", "optional": true } },
            "key": ["$shop#userid_{userId:lower}", "$order_1#orderid_{orderId:lower}"],
            "index": { "gsi1": ["$shop#orderid_{orderId:lower}", "$order_1#{state:lower}"] } }] }] }"##;

    #[test]
    fn a_schema_becomes_a_model_of_its_entities() {
        let drafts = import(SCHEMA, "ElectroDB").unwrap();
        let text = drafts[0].text();
        let model = read(&Source::new("m.toml", text.as_str())).unwrap();
        assert_eq!(model.entities[0].type_value, "order");
        assert!(
            text.contains(
                "index.gsi1 = { key = [\"$shop#orderid_{orderId:lower}\", \"$order_1#{state:lower}\"] }"
            ),
            "{text}"
        );
        assert!(
            text.contains("state = \"NEW|PAID\", total = \"decimal?\"") && text.contains("? table.casing"),
            "{text}"
        );
        assert!(text.contains("ordersByUserId = { in = [\"userId\"], out = \"Order*\" }"), "{text}");
    }

    #[test]
    fn text_without_upper_case_letters_is_written_as_it_is() {
        let mut draft = import(SCHEMA, "ElectroDB").unwrap().remove(0);
        draft.answer(&[("table.casing".to_owned(), "no".to_owned())].into()).unwrap();
        let text = draft.text();
        assert!(text.contains("[\"$shop#orderid_{orderId}\", \"$order_1#{state:lower}\"]"), "{text}");
    }

    /// Choices that a type cannot list, attributes of any type, sort keys that end early, and indexes that a function fills.
    #[test]
    fn what_a_schema_does_not_say_is_asked_about() {
        let schema = SCHEMA
            .replace("\"type\": \"NEW|PAID\"", "\"choices\": [\"NEW\", \"PAID\"]")
            .replace("\"total\": {", "\"one\": { \"choices\": [\"on\"] }, \"odd\": { \"choices\": [\"a|b\", \"\"] }, \"any\": { \"type\": null }, \"total\": {")
            .replace("\"name\": \"order\"", "\"name\": \"ORDER\", \"conditional\": [\"gsi1\"], \"partial\": [\"gsi1\"]");
        let mut draft = import(&schema, "ElectroDB").unwrap().remove(0);
        let text = draft.text();
        for part in [
            "[entity.Order]\ntype = \"ORDER\"",
            "odd = \"string\", one = \"string\"",
            "state = \"NEW|PAID\"",
            "! any may be of any type, and is not declared.",
            "index.gsi1 = { key = [\"$shop#orderid_{orderId:lower}\", \"{gsi1sk}\"] }",
            "? entity.Order.index.gsi1.when: ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        read(&Source::new("m.toml", text.as_str())).unwrap();
        let sort = ("entity.Order.index.gsi1.1".to_owned(), "$order_1#{state:lower}".to_owned());
        draft.answer(&[sort].into()).unwrap();
        assert_eq!(draft.text().matches("gsi1sk").count(), 1, "{}", draft.text());
        let computed = schema.replace("[\"$shop#orderid_{orderId:lower}\", ", "[null, ");
        let text = import(&computed, "ElectroDB").unwrap().remove(0).text();
        assert!(
            text.contains("? entity.Order.index.gsi1.0: ") && text.contains("gsi1pk = \"string?\""),
            "{text}"
        );
    }

    #[test]
    fn models_of_one_table_are_one_draft() {
        let schema = r##"{ "tables": [
            { "name": "Gym", "keys": ["pk", "sk"], "type_attribute": "kind", "indexes": [{ "name": "byCity", "keys": ["city"] }],
              "entities": [{ "name": "Member", "type": "MEMBER", "attributes": { "pk": { "type": "string" }, "sk": { "type": "string" },
                "city": { "type": "string", "optional": true } }, "key": ["{pk}", "{sk}"] }] },
            { "name": "Gym", "keys": ["pk", "sk"], "ttl": "until", "indexes": [], "entities": [{ "name": "Visit", "type": "VISIT", "attributes": {
                "pk": { "type": "string" }, "sk": { "type": "string" }, "until": { "type": "int" } }, "key": [null, "{sk}"] }] }] }"##;
        let mut drafts = import(schema, "PynamoDB").unwrap();
        assert_eq!(drafts.len(), 1);
        let answers = [
            ("entity.Member.key.0", "MEMBER#{memberId}"),
            ("entity.Member.key.1", "MEMBER"),
            ("entity.Visit.key.0", "MEMBER#{memberId}"),
            ("entity.Visit.key.1", "VISIT#{visitId}"),
        ];
        let answers = answers.map(|(id, text)| (id.to_owned(), text.to_owned())).into();
        drafts[0].answer(&answers).unwrap();
        let text = drafts[0].text();
        for expected in [
            "type_attribute = \"kind\"",
            "ttl = \"until\"",
            "type = \"MEMBER\"",
            "key = [\"MEMBER#{memberId}\", \"VISIT#{visitId}\"]",
            "index.byCity = { key = [\"{city}\"], when = \"exists(city)\" }",
            "visitsByMemberId",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let model = read(&Source::new("m.toml", text.as_str())).unwrap();
        let errors =
            crate::check(&model).findings.into_iter().filter(|own| own.severity == crate::Severity::Error);
        assert_eq!(errors.count(), 0, "{text}");
        let differs = schema.replacen("[\"pk\", \"sk\"]", "[\"pk\"]", 1);
        assert!(import(&differs, "PynamoDB").unwrap_err().contains("Gym"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (from, to, message) in [
            ("\"type\": \"decimal\"", "\"type\": \"money\"", "Order.total"),
            ("{userId:lower}\", \"$order", "{buyer}\", \"$order", "`buyer`"),
            ("\"keys\": [\"pk\", \"sk\"]", "\"keys\": []", "one or two `keys`"),
            ("\"tables\"", "\"models\"", "no `tables`"),
        ] {
            let refused = import(&SCHEMA.replace(from, to), "ElectroDB").unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
