//! One line of a log: when which request was sent, and what it reads and writes.

use crate::exchange::item_json;
use crate::item::{Attributes, Item, Value as ItemValue, attributes};
use crate::model::expression::{Aliases, ConditionExpression, Operand, Test, UpdateExpression};
use serde_json::Value as Json;

/// A recorded request.
pub(super) struct Recorded {
    /// Seconds since 1970.
    pub time: Option<f64>,
    pub operation: String,
    pub request: Json,
}

/// What a request does to one table.
pub(super) struct Sent {
    pub table: String,
    pub access: Access,
}

pub(super) enum Access {
    Read(Box<Read>),
    Scan {
        index: Option<String>,
        filter: String,
    },
    /// The writes, and whether they are a transaction.
    Write(Vec<Written>, bool),
}

/// A GetItem, a key of a BatchGetItem, or a Query.
pub(super) struct Read {
    pub query: bool,
    pub batch: bool,
    pub index: Option<String>,
    pub terms: Vec<(String, Comparison)>,
    pub forward: bool,
    pub limit: Option<u64>,
    pub strong: bool,
    pub filter: String,
    pub fields: Vec<String>,
    /// Whether it continues an earlier one.
    pub continues: bool,
}

/// How a key attribute is compared.
pub(super) enum Comparison {
    Equals(String),
    BeginsWith(String),
    Range(Option<String>, Option<String>),
}

/// A written item, or the key of one.
pub(super) struct Written {
    pub attributes: Attributes,
    pub item: Item,
    pub change: Change,
}

pub(super) enum Change {
    /// A put, and the attributes that its condition requires to be absent.
    Put(Option<ConditionExpression>),
    /// An update, and the whole attributes that it changes, with their new values.
    Update(Vec<(String, Option<ItemValue>)>),
    Delete,
}

/// Reads a line; `None` if it is not a recorded request.
pub(super) fn parse(text: &str) -> Option<Recorded> {
    let Json::Object(mut line) = serde_json::from_str(text).ok()? else { return None };
    let named = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or_default();
        name.strip_suffix("Command").unwrap_or(name).to_owned()
    };
    let Some(operation) = line.get("operation").and_then(Json::as_str).map(named) else {
        let (operation, request) = line.into_iter().next()?;
        let is_operation = operation.starts_with(|first: char| first.is_ascii_uppercase());
        return (is_operation && request.is_object()).then(|| Recorded {
            time: None,
            operation: named(&operation),
            request,
        });
    };
    let request = line.remove("request").filter(Json::is_object)?;
    let time = line.get("time").and_then(|time| time.as_f64().or_else(|| seconds(time.as_str()?)));
    Some(Recorded { time, operation, request })
}

/// Seconds since 1970 of an ISO 8601 time in UTC.
fn seconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', ' '])?;
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00")).unwrap_or(time);
    let part = |text: Option<&str>| text?.parse::<f64>().ok().filter(|number| number.is_finite());
    let (mut date, mut time) = (date.splitn(3, '-'), time.splitn(3, ':'));
    let (year, month, day) = (part(date.next())?, part(date.next())?, part(date.next())?);
    let clock = part(time.next())? * 3_600.0 + part(time.next())? * 60.0 + part(time.next())?;
    // Years start in March, so that the leap day is their last.
    let (year, month) = if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leap_days = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days = 365.0 * year + leap_days + ((153.0 * month + 2.0) / 5.0).floor() + day - 1.0 - 719_468.0;
    Some(days * 86_400.0 + clock)
}

/// What a request reads and writes; `None` if it is not an operation on items, or cannot be read.
pub(super) fn accesses(operation: &str, request: &Json) -> Option<Vec<Sent>> {
    let table = || request["TableName"].as_str().map(table_name);
    let one = |access: Access| Some(vec![Sent { table: table()?, access }]);
    match operation {
        "GetItem" => one(Access::Read(Box::new(get(&request["Key"], request, false)?))),
        "Query" => one(Access::Read(Box::new(query(request)?))),
        "Scan" => {
            let index = request["IndexName"].as_str().map(str::to_owned);
            one(Access::Scan { index, filter: filter(request) })
        }
        "PutItem" => one(Access::Write(vec![put(request)?], false)),
        "UpdateItem" => one(Access::Write(vec![update(request)?], false)),
        "DeleteItem" => one(Access::Write(vec![written(&request["Key"], Change::Delete)?], false)),
        "BatchGetItem" => batch_get(request),
        "BatchWriteItem" => batch_write(request),
        "TransactGetItems" => {
            let gets = request["TransactItems"].as_array()?.iter().map(|item| &item["Get"]);
            gets.map(|sent| {
                let read = Box::new(get(&sent["Key"], sent, false)?);
                Some(Sent { table: table_name(sent["TableName"].as_str()?), access: Access::Read(read) })
            })
            .collect()
        }
        "TransactWriteItems" => transaction(request),
        _ => None,
    }
}

/// The name of a table that may be given as an ARN.
fn table_name(text: &str) -> String {
    text.rsplit("table/").next().unwrap_or(text).to_owned()
}

fn batch_get(request: &Json) -> Option<Vec<Sent>> {
    let mut sent = Vec::new();
    for (table, of_table) in request["RequestItems"].as_object()? {
        for key in of_table["Keys"].as_array()? {
            let read = Box::new(get(key, of_table, true)?);
            sent.push(Sent { table: table_name(table), access: Access::Read(read) });
        }
    }
    Some(sent)
}

/// The writes of a batch are independent of each other.
fn batch_write(request: &Json) -> Option<Vec<Sent>> {
    let mut sent = Vec::new();
    for (table, writes) in request["RequestItems"].as_object()? {
        for write in writes.as_array()? {
            let one = match write.get("PutRequest") {
                Some(put) => written(&put["Item"], Change::Put(None)),
                None => written(&write["DeleteRequest"]["Key"], Change::Delete),
            };
            sent.push(Sent { table: table_name(table), access: Access::Write(vec![one?], false) });
        }
    }
    Some(sent)
}

fn transaction(request: &Json) -> Option<Vec<Sent>> {
    let mut sent: Vec<Sent> = Vec::new();
    for action in request["TransactItems"].as_array()? {
        let (kind, body) = action.as_object()?.iter().next()?;
        let one = match kind.as_str() {
            "Put" => put(body)?,
            "Update" => update(body)?,
            "Delete" => written(&body["Key"], Change::Delete)?,
            "ConditionCheck" => continue,
            _ => return None,
        };
        let table = table_name(body["TableName"].as_str()?);
        match sent.iter_mut().find(|other| other.table == table) {
            Some(Sent { access: Access::Write(writes, _), .. }) => writes.push(one),
            _ => sent.push(Sent { table, access: Access::Write(vec![one], true) }),
        }
    }
    Some(sent)
}

fn written(item: &Json, change: Change) -> Option<Written> {
    let item = item_json::decode(item)?;
    Some(Written { attributes: attributes(&item), item, change })
}

fn put(request: &Json) -> Option<Written> {
    let condition = request["ConditionExpression"].as_str();
    let condition = condition.and_then(|text| ConditionExpression::parse(text, &aliases(request)).ok());
    written(&request["Item"], Change::Put(condition))
}

fn update(request: &Json) -> Option<Written> {
    let mut changed = Vec::new();
    if let Some(text) = request["UpdateExpression"].as_str() {
        for change in UpdateExpression::parse(text, &aliases(request)).ok()?.changes {
            let value = match (change.value, change.path.inside.chars().next()) {
                (value, None) => value.and_then(|value| computed(request, &value)),
                (_, Some('[')) => Some(ItemValue::List(Vec::new())),
                (_, Some(_)) => Some(ItemValue::Map(Default::default())),
            };
            changed.push((change.path.attribute, value));
        }
    }
    let legacy = request["AttributeUpdates"].as_object().into_iter().flatten();
    changed.extend(legacy.map(|(name, update)| (name.clone(), decoded(&update["Value"]))));
    written(&request["Key"], Change::Update(changed))
}

/// A value of the type of an operand, if the request says it: that of the values it is computed from.
fn computed(request: &Json, operand: &Operand) -> Option<ItemValue> {
    match operand {
        Operand::Path(_) => None,
        Operand::Value(placeholder) => value(request, placeholder),
        Operand::Call(name, operands) => {
            let found = operands.iter().find_map(|operand| computed(request, operand));
            found.or_else(|| (name == "list_append").then(|| ItemValue::List(Vec::new())))
        }
        Operand::Sum(left, _, right) => {
            let found = [left, right].into_iter().find_map(|operand| computed(request, operand));
            found.or_else(|| Some(ItemValue::Number("0".to_owned())))
        }
    }
}

fn get(key: &Json, request: &Json, batch: bool) -> Option<Read> {
    let key = attributes(&item_json::decode(key)?);
    Some(Read {
        query: false,
        batch,
        index: None,
        terms: key.into_iter().map(|(name, value)| (name, Comparison::Equals(value))).collect(),
        forward: true,
        limit: None,
        strong: request["ConsistentRead"] == true,
        filter: String::new(),
        fields: fields(request),
        continues: false,
    })
}

fn query(request: &Json) -> Option<Read> {
    let terms = match request["KeyConditionExpression"].as_str() {
        Some(text) => {
            let condition = ConditionExpression::parse(text, &aliases(request)).ok()?;
            condition.conjuncts().into_iter().map(|test| term(test, request)).collect::<Option<Vec<_>>>()?
        }
        None => legacy_terms(request)?,
    };
    Some(Read {
        query: true,
        batch: false,
        index: request["IndexName"].as_str().map(str::to_owned),
        terms,
        forward: request["ScanIndexForward"] != false,
        limit: request["Limit"].as_u64(),
        strong: request["ConsistentRead"] == true,
        filter: filter(request),
        fields: fields(request),
        continues: request["ExclusiveStartKey"].is_object(),
    })
}

fn term(test: &Test, request: &Json) -> Option<(String, Comparison)> {
    let text = |operand: &Operand| match operand {
        Operand::Value(placeholder) => value(request, placeholder)?.to_text(),
        _ => None,
    };
    match test {
        Test::Compare(left, comparator, right) => {
            let value = text(right)?;
            let comparison = match comparator.as_str() {
                "=" => Comparison::Equals(value),
                "<" | "<=" => Comparison::Range(None, Some(value)),
                ">" | ">=" => Comparison::Range(Some(value), None),
                _ => return None,
            };
            Some((left.attribute()?.to_owned(), comparison))
        }
        Test::Between(operand, bounds) => {
            let [from, to] = bounds.as_ref();
            Some((operand.attribute()?.to_owned(), Comparison::Range(Some(text(from)?), Some(text(to)?))))
        }
        Test::Call(function, operands) => match operands.as_slice() {
            [path, start] if function == "begins_with" => {
                Some((path.attribute()?.to_owned(), Comparison::BeginsWith(text(start)?)))
            }
            _ => None,
        },
        _ => None,
    }
}

fn legacy_terms(request: &Json) -> Option<Vec<(String, Comparison)>> {
    let conditions = request["KeyConditions"].as_object()?.iter();
    let term = |(name, condition): (&String, &Json)| {
        let text = |position: usize| decoded(&condition["AttributeValueList"][position])?.to_text();
        let first = text(0)?;
        let comparison = match condition["ComparisonOperator"].as_str()? {
            "EQ" => Comparison::Equals(first),
            "BEGINS_WITH" => Comparison::BeginsWith(first),
            "LT" | "LE" => Comparison::Range(None, Some(first)),
            "GT" | "GE" => Comparison::Range(Some(first), None),
            "BETWEEN" => Comparison::Range(Some(first), Some(text(1)?)),
            _ => return None,
        };
        Some((name.clone(), comparison))
    };
    conditions.map(term).collect()
}

fn aliases(request: &Json) -> Aliases {
    let names = request["ExpressionAttributeNames"].as_object().into_iter().flatten();
    names.filter_map(|(alias, name)| Some((alias.clone(), name.as_str()?.to_owned()))).collect()
}

fn value(request: &Json, placeholder: &str) -> Option<ItemValue> {
    decoded(&request["ExpressionAttributeValues"][placeholder])
}

fn decoded(value: &Json) -> Option<ItemValue> {
    item_json::decode(&serde_json::json!({ "value": value }))?.remove("value")
}

/// The filter of a read, with its aliases replaced.
fn filter(request: &Json) -> String {
    let Some(text) = request["FilterExpression"].as_str() else {
        let legacy = ["QueryFilter", "ScanFilter"].iter().filter_map(|name| request[*name].as_object());
        return legacy.flatten().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    };
    // Longer aliases come first, because a shorter one may be their start.
    let mut aliases: Vec<(String, String)> = aliases(request).into_iter().collect();
    aliases.sort_by_key(|(alias, _)| std::cmp::Reverse(alias.len()));
    aliases.iter().take(20).fold(text.to_owned(), |text, (alias, name)| text.replace(alias, name))
}

/// The attributes that a projection names.
fn fields(request: &Json) -> Vec<String> {
    let aliases = aliases(request);
    let text = request["ProjectionExpression"].as_str().unwrap_or_default();
    let names = text.split(',').filter_map(|path| path.trim().split(['.', '[']).next());
    let mut fields: Vec<String> = names
        .filter(|name| !name.is_empty())
        .map(|name| aliases.get(name).map_or(name, String::as_str).to_owned())
        .collect();
    fields.sort();
    fields.dedup();
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_epoch_seconds_or_iso_8601() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2026-03-01T12:30:01.5Z"), Some(1_772_368_201.5));
        assert_eq!(seconds("2024-02-29 00:00:00+00:00"), Some(1_709_164_800.0));
        assert_eq!(seconds("yesterday"), None);
    }
}
