//! Tables that infrastructure tools declare: CloudFormation, SAM and CDK templates, and Terraform.
//!
//! All of them say how a table is built and not what is in it: each attribute is drafted as it is, and the entities are asked about.

mod hcl;
mod terraform;
mod yaml;

use super::table_definition::from_description;
use crate::draft::{Asked, Confidence, Draft};
use crate::inference::KnownSchema;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model, Table};
use crate::relational::naming::{self, field_name};
use crate::template::Template;
use serde_json::{Value, json};

/// A table as a tool declares it.
#[derive(Clone, Debug)]
pub struct DeclaredTable {
    /// Its name, keys, indexes and expiry attribute.
    pub schema: KnownSchema,
    /// The key attributes and their types: `S`, `N` or `B`.
    types: Vec<(String, String)>,
    /// What the tool calls it.
    origin: String,
    /// Whether its name is written out.
    is_named: bool,
}

/// Reads the tables of a CloudFormation, SAM or CDK template in JSON or YAML.
///
/// # Errors
///
/// Returns a message if the text is not a template, or has no table.
pub fn cloudformation(text: &str) -> Result<Vec<DeclaredTable>, String> {
    let root: Value = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) if text.trim_start().starts_with('{') => return Err(format!("this is not JSON: {error}")),
        Err(_) => yaml::parse(text)?,
    };
    let resources = root["Resources"].as_object().ok_or("there are no `Resources`: is this a template?")?;
    let mut tables = Vec::new();
    for (id, resource) in resources {
        let properties = &resource["Properties"];
        let described = match resource["Type"].as_str() {
            Some("AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable") => properties.clone(),
            Some("AWS::Serverless::SimpleTable") => simple_table(properties),
            _ => continue,
        };
        tables.push(declared(&described, id, &format!("the resource {id}"))?);
    }
    if tables.is_empty() { Err("the template has no table".to_owned()) } else { Ok(tables) }
}

/// Reads the tables of Terraform: the JSON of `terraform show -json`, or resources in HCL.
///
/// # Errors
///
/// Returns a message if the text is neither, or has no table.
pub fn terraform(text: &str) -> Result<Vec<DeclaredTable>, String> {
    let resources = terraform::resources(text)?;
    if resources.is_empty() {
        return Err("there is no resource aws_dynamodb_table".to_owned());
    }
    let declare = |(name, values): &(String, Value)| {
        declared(&terraform::description(values), name, &format!("aws_dynamodb_table.{name}"))
    };
    resources.iter().map(declare).collect()
}

/// SAM's table with one key.
fn simple_table(properties: &Value) -> Value {
    let name = properties["PrimaryKey"]["Name"].as_str().unwrap_or("id");
    let kind = match properties["PrimaryKey"]["Type"].as_str() {
        Some("Number") => "N",
        Some("Binary") => "B",
        _ => "S",
    };
    json!({
        "TableName": properties["TableName"],
        "KeySchema": [{ "AttributeName": name, "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": name, "AttributeType": kind }],
    })
}

fn declared(described: &Value, id: &str, origin: &str) -> Result<DeclaredTable, String> {
    if let Some(property) = not_written_out(described) {
        return Err(format!(
            "{property} of {origin} is not written out: do so, or deploy the table and use `partita model infer --table`"
        ));
    }
    let (keys, indexes) = from_description(described);
    let schemas = indexes.iter().map(|index| &index.keys).chain([&keys]);
    if let Some(key) = schemas.filter_map(|keys| repeated(keys)).next() {
        return Err(format!("{origin} has {key} twice in a key, which DynamoDB refuses"));
    }
    // A name that is computed is known only when it is deployed.
    let name = described["TableName"].as_str().filter(|name| !name.contains("${"));
    let (table, is_named) = (name.unwrap_or(id).to_owned(), name.is_some());
    let definitions = described["AttributeDefinitions"].as_array().into_iter().flatten();
    let kind = |definition: &Value| {
        Some((
            definition["AttributeName"].as_str()?.to_owned(),
            definition["AttributeType"].as_str()?.to_owned(),
        ))
    };
    let types = definitions.filter_map(kind).collect();
    let ttl = &described["TimeToLiveSpecification"];
    let ttl = ttl["AttributeName"].as_str().filter(|_| ttl["Enabled"] != false).map(str::to_owned);
    let schema = KnownSchema { table, keys, indexes, ttl, ..KnownSchema::default() };
    Ok(DeclaredTable { schema, types, origin: origin.to_owned(), is_named })
}

/// A name that a key has twice.
fn repeated(keys: &[String]) -> Option<&String> {
    keys.iter().enumerate().find(|(number, key)| keys[..*number].contains(key)).map(|(_, key)| key)
}

/// Whether a value is written out.
type Fits<'a> = &'a dyn Fn(&Value) -> bool;

/// The first property of a table's keys and indexes that is computed, or incomplete.
fn not_written_out(described: &Value) -> Option<&'static str> {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && !text.contains("${"));
    let is_list = |value: &Value, fits: Fits<'_>| match value {
        Value::Null => true,
        Value::Array(values) => values.iter().all(fits),
        _ => false,
    };
    let is_absent_or = |value: &Value, fits: Fits<'_>| value.is_null() || fits(value);
    let is_key = |key: &Value| is_text(&key["AttributeName"]) && is_text(&key["KeyType"]);
    let is_definition = |key: &Value| is_text(&key["AttributeName"]) && is_text(&key["AttributeType"]);
    let is_projection = |projection: &Value| {
        projection.is_object()
            && is_absent_or(&projection["ProjectionType"], &is_text)
            && is_list(&projection["NonKeyAttributes"], &is_text)
    };
    let is_index = |index: &Value| {
        is_text(&index["IndexName"])
            && is_list(&index["KeySchema"], &is_key)
            && has_partition_key(index)
            && is_absent_or(&index["Projection"], &is_projection)
    };
    let fits: [(&'static str, Fits<'_>); 4] = [
        ("KeySchema", &is_key),
        ("AttributeDefinitions", &is_definition),
        ("GlobalSecondaryIndexes", &is_index),
        ("LocalSecondaryIndexes", &is_index),
    ];
    if !has_partition_key(described) {
        return Some("KeySchema");
    }
    let list = fits.into_iter().find(|(name, fits)| !is_list(&described[*name], fits));
    let ttl = &described["TimeToLiveSpecification"];
    let is_known = ttl["Enabled"] == false || is_absent_or(&ttl["AttributeName"], &is_text);
    list.map(|(name, _)| name).or_else(|| (!is_known).then_some("TimeToLiveSpecification"))
}

fn has_partition_key(described: &Value) -> bool {
    described["KeySchema"].as_array().is_some_and(|keys| keys.iter().any(|key| key["KeyType"] == "HASH"))
}

impl DeclaredTable {
    /// Returns the draft of a model with one entity, whose attributes are the keys.
    pub fn draft(&self) -> Draft {
        let schema = &self.schema;
        let table = Table {
            name: schema.table.clone(),
            keys: schema.keys.clone(),
            ttl: schema.ttl.clone(),
            ..Table::default()
        };
        let name = naming::entity(&schema.table);
        let name = if name.is_empty() { "Item".to_owned() } else { name };
        let mut entity = Entity { name: name.clone(), type_value: name.clone(), ..Entity::default() };
        let index_keys = schema.indexes.iter().flat_map(|index| &index.keys);
        for key in schema.keys.iter().chain(index_keys) {
            let name = field_name(key);
            if entity.attributes.iter().all(|attribute| attribute.name != name) {
                let optional = !schema.keys.contains(key);
                entity.attributes.push(Attribute { optional, ..Attribute::new(&name, self.kind(key)) });
            }
        }
        entity.identity = schema.keys.iter().map(|key| field_name(key)).collect();
        entity.key = entity.identity.iter().map(|name| Template::field(name)).collect();
        let model =
            Model { table, indexes: schema.indexes.clone(), entities: vec![entity], ..Model::default() };
        let about = format!(
            "Drafted from {}: add entities, patterns and writes, then run `partita model check`.",
            self.origin
        );
        let mut draft = Draft { model, about, ..Draft::default() };
        draft.note("table", Confidence::Certain, self.origin.clone());
        if !self.is_named {
            let text = format!(
                "The name of the table is computed: {} is what the declaration calls it. Write the real one.",
                schema.table
            );
            draft.remark("table", text);
        }
        let question = "The declaration does not say what is in the table: which entities, with which key templates? Items answer it: --items FILE.";
        draft.ask(Asked::EntityName(name.clone()), question, name);
        draft
    }

    fn kind(&self, key: &str) -> ValueType {
        let declared = self.types.iter().find(|(name, _)| name == key);
        match declared.map(|(_, kind)| kind.as_str()) {
            Some("N") => ValueType::Decimal,
            Some("B") => ValueType::Binary,
            _ => ValueType::String,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "
Parameters:
  Stage: { Type: String, Default: dev }
Resources:
  # The shop's table
  ShopTable:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub 'shop-${Stage}'
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - AttributeName: PK
          AttributeType: S
        - { AttributeName: SK, AttributeType: S }
        - AttributeName: weight
          AttributeType: \"N\"
      KeySchema:
      - AttributeName: PK
        KeyType: HASH
      - AttributeName: SK
        KeyType: RANGE
      GlobalSecondaryIndexes:
        - IndexName: ByWeight
          KeySchema: [ { AttributeName: PK, KeyType: HASH }, { AttributeName: weight, KeyType: RANGE } ]
          Projection:
            ProjectionType: INCLUDE
            NonKeyAttributes: [name, price]
      TimeToLiveSpecification:
        AttributeName: expires
        Enabled: true
  Small:
    Type: AWS::Serverless::SimpleTable
    Properties:
      TableName: Small
      PrimaryKey: { Name: id, Type: Number }
  Role:
    Type: AWS::IAM::Role
    Properties:
      Description: |
        several
          lines: of text
      Arn: !GetAtt ShopTable.Arn
";

    #[test]
    fn the_tables_of_a_template_are_read() {
        let tables = cloudformation(TEMPLATE).unwrap();
        let shop = &tables.iter().find(|table| table.schema.table == "ShopTable").unwrap();
        assert_eq!(shop.schema.keys, ["PK", "SK"]);
        assert_eq!(shop.schema.indexes[0].keys, ["PK", "weight"]);
        assert_eq!(shop.schema.ttl.as_deref(), Some("expires"));
        let text = shop.draft().text();
        assert!(
            text.contains("project = [\"name\", \"price\"]") && text.contains("weight = \"decimal?\""),
            "{text}"
        );
        assert!(tables.iter().any(|table| table.schema.table == "Small" && table.schema.keys == ["id"]));
        crate::read(&crate::Source::new("t.toml", text)).unwrap();
    }

    const HCL: &str = r#"
provider "aws" { region = var.region }
resource "aws_dynamodb_table" "orders" {
  name         = "${var.stage}-orders"   # computed
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "userId"
  range_key    = "orderId"
  attribute {
    name = "userId"
    type = "S"
  }
  attribute { 
    name = "orderId" 
    type = "S" 
  }
  attribute {
    name = "status"
    type = "S"
  }
  global_secondary_index {
    name            = "ByStatus"
    hash_key        = "status"
    projection_type = "KEYS_ONLY"
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  tags = merge(local.tags, { Name = "x" })
}
"#;

    #[test]
    fn terraform_is_read_as_hcl_and_as_json() {
        let tables = terraform(HCL).unwrap();
        assert_eq!((tables[0].schema.table.as_str(), tables.len()), ("orders", 1));
        assert_eq!(tables[0].schema.indexes[0].keys, ["status"]);
        assert_eq!(tables[0].schema.ttl.as_deref(), Some("expires"));
        let shown = json!({ "values": { "root_module": { "child_modules": [{ "resources": [{
            "type": "aws_dynamodb_table", "name": "t", "values": { "name": "Orders", "hash_key": "userId", "range_key": null,
            "attribute": [{ "name": "userId", "type": "S" }],
            "global_secondary_index": [{ "name": "G", "hash_key": "x", "range_key": "", "projection_type": "ALL" }] } }] }] } } });
        let tables = terraform(&shown.to_string()).unwrap();
        assert_eq!(tables[0].schema.table, "Orders");
        assert_eq!(tables[0].schema.indexes[0].keys, ["x"]);
        let draft = tables[0].draft().text();
        assert!(draft.contains("[entity.Order]") && !draft.contains("computed"), "{draft}");
        let computed = terraform(&shown.to_string().replace("\"Orders\"", "\"my-${var.stage}\"")).unwrap();
        let draft = computed[0].draft().text();
        assert!(draft.contains("! The name of the table is computed: t is"), "{draft}");
    }

    #[test]
    fn the_keys_of_an_index_of_terraform_may_be_blocks() {
        let old = "    hash_key        = \"status\"\n";
        let keys = [("status", "HASH"), ("city", "HASH"), ("day", "RANGE")];
        let block = |(name, kind): &(&str, &str)| {
            format!("key_schema {{\n attribute_name = \"{name}\"\n key_type = \"{kind}\"\n}}\n")
        };
        let tables = terraform(&HCL.replace(old, &keys.iter().map(block).collect::<String>())).unwrap();
        let index = &tables[0].schema.indexes[0];
        assert_eq!((index.keys.join(" "), index.partition_keys), ("status city day".to_owned(), 2));
        let listed = keys.map(|(name, kind)| json!({ "attribute_name": name, "key_type": kind }));
        let shown = json!({ "values": { "root_module": { "resources": [{
            "type": "aws_dynamodb_table", "name": "t", "values": { "name": "Orders", "hash_key": "userId",
            "global_secondary_index": [{ "name": "G", "hash_key": "", "range_key": null, "key_schema": listed }] } }] } } });
        let shown = terraform(&shown.to_string()).unwrap();
        assert_eq!(
            (&shown[0].schema.indexes[0].keys, shown[0].schema.indexes[0].partition_keys),
            (&index.keys, 2)
        );
        let computed = block(&("status", "HASH")).replace("\"status\"", "var.key");
        assert!(terraform(&HCL.replace(old, &computed)).unwrap_err().contains("not written out"));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        assert!(cloudformation("Resources:\n  A: &anchor\n    Type: x").unwrap_err().contains("line 2"));
        assert!(cloudformation("Resources:\n\tA: b").unwrap_err().contains("line 2"));
        assert!(
            terraform("resource \"aws_dynamodb_table\" \"t\" {\n dynamic \"attribute\" {\n }\n}")
                .unwrap_err()
                .contains("terraform show -json")
        );
        let deep = "a: \n".to_owned() + &"[".repeat(100_000);
        assert!(cloudformation(&deep).is_err());
        assert!(terraform(&"a {\n".repeat(100_000)).is_err());
    }
}
