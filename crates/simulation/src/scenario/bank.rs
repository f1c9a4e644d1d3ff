//! A bank: transfers between accounts, each with a receipt. The total never changes, and receipts explain all balances.

use super::{Database, Request, Scenario, exception, is_outcome_unknown, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = "Bank";
const INDEX: &str = "byFrom";
const ACCOUNTS: usize = 5;
const BEGINNING: i64 = 100;
const CLIENTS: usize = 4;

#[derive(Default)]
pub struct Bank {
    in_flight: [Option<InFlight>; CLIENTS],
    receipts: u64,
    acknowledged: BTreeSet<u64>,
    refused: BTreeSet<u64>,
}

enum InFlight {
    Transfer(u64),
    Sum,
}

fn account(number: usize) -> Value {
    json!({"id": {"S": format!("A{number}")}})
}

fn number(item: &Value, attribute: &str) -> Option<i64> {
    item[attribute]["N"].as_str()?.parse().ok()
}

impl Bank {
    fn transfer(&mut self, random: &mut Random) -> (u64, Request) {
        let (from, step) = (random.below(ACCOUNTS), 1 + random.below(ACCOUNTS - 1));
        let (to, amount) = ((from + step) % ACCOUNTS, 1 + random.below(40));
        let receipt = self.receipts;
        self.receipts += 1;
        let change = |account: Value, expression: &str| {
            json!({"TableName": TABLE, "Key": account, "UpdateExpression": expression,
                "ExpressionAttributeValues": {":x": {"N": amount.to_string()}}})
        };
        let mut take = change(account(from), "SET amount = amount - :x");
        take["ConditionExpression"] = json!("amount >= :x");
        let give = change(account(to), "SET amount = amount + :x");
        // Some are long, so that rows have chunks and log records several blocks.
        let note = "n".repeat(if random.once_in(4) { 9_000 } else { 20 });
        let item = json!({"id": {"S": format!("R{receipt}")}, "from": {"S": format!("A{from}")},
            "to": {"S": format!("A{to}")}, "x": {"N": amount.to_string()}, "note": {"S": note}});
        let put =
            json!({"TableName": TABLE, "Item": item, "ConditionExpression": "attribute_not_exists(id)"});
        let body = json!({"TransactItems": [{"Update": take}, {"Update": give}, {"Put": put}]});
        (receipt, Request::new("TransactWriteItems", body))
    }

    fn check_balances(&self, all: &[Value]) -> Result<(), String> {
        let mut owed: BTreeMap<String, i64> =
            (0..ACCOUNTS).map(|account| (format!("A{account}"), BEGINNING)).collect();
        let mut found = BTreeSet::new();
        for receipt in all.iter().filter(|item| item.get("from").is_some()) {
            let (Some(from), Some(to), Some(x)) =
                (receipt["from"]["S"].as_str(), receipt["to"]["S"].as_str(), number(receipt, "x"))
            else {
                return Err(format!("not a receipt: {receipt}"));
            };
            *owed.entry(from.to_owned()).or_default() -= x;
            *owed.entry(to.to_owned()).or_default() += x;
            found.extend(receipt["id"]["S"].as_str().and_then(|id| id[1..].parse::<u64>().ok()));
        }
        if let Some(lost) = self.acknowledged.difference(&found).next() {
            return Err(format!("transfer {lost} was acknowledged and is lost"));
        }
        if let Some(revived) = self.refused.intersection(&found).next() {
            return Err(format!("transfer {revived} was rejected and exists"));
        }
        for account in all.iter().filter(|item| item.get("amount").is_some()) {
            let name = account["id"]["S"].as_str().unwrap_or_default();
            let (actual, expected) = (number(account, "amount"), owed.get(name).copied());
            if actual != expected {
                return Err(format!("account {name} has {actual:?}, its receipts say {expected:?}"));
            }
        }
        Ok(())
    }
}

impl Scenario for Bank {
    fn clients(&self) -> usize {
        CLIENTS
    }

    fn set_up(&self) -> Vec<Request> {
        let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
        let index = json!({"IndexName": INDEX, "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "from", "KeyType": "HASH"}]});
        let table = json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [definition("id"), definition("from")],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [index]});
        let mut requests = vec![Request::new("CreateTable", table)];
        requests.extend((0..ACCOUNTS).map(|number| {
            let mut item = account(number);
            item["amount"] = json!({"N": BEGINNING.to_string()});
            let put =
                json!({"TableName": TABLE, "Item": item, "ConditionExpression": "attribute_not_exists(id)"});
            Request::new("PutItem", put)
        }));
        requests
    }

    fn next(&mut self, client: usize, random: &mut Random, _now: u64) -> Option<Request> {
        let (in_flight, request) = if random.once_in(4) {
            let get = |number| json!({"Get": {"TableName": TABLE, "Key": account(number)}});
            let gets: Vec<Value> = (0..ACCOUNTS).map(get).collect();
            (InFlight::Sum, Request::new("TransactGetItems", json!({"TransactItems": gets})))
        } else {
            let (receipt, request) = self.transfer(random);
            (InFlight::Transfer(receipt), request)
        };
        self.in_flight[client] = Some(in_flight);
        Some(request)
    }

    fn on_response(
        &mut self,
        client: usize,
        answer: &Value,
        _started: u64,
        _ended: u64,
    ) -> Result<(), String> {
        let in_flight = self.in_flight[client].take();
        if is_outcome_unknown(answer) {
            return Ok(());
        }
        match (in_flight, exception(answer)) {
            (Some(InFlight::Transfer(receipt)), None) => {
                self.acknowledged.insert(receipt);
            }
            (Some(InFlight::Transfer(receipt)), Some("TransactionCanceledException")) => {
                self.refused.insert(receipt);
            }
            (Some(InFlight::Sum), None) => {
                let responses = answer["Responses"].as_array().map_or(&[][..], Vec::as_slice);
                let sum: i64 = responses.iter().filter_map(|got| number(&got["Item"], "amount")).sum();
                if sum != ACCOUNTS as i64 * BEGINNING {
                    return Err(format!("the accounts add up to {sum}: {answer}"));
                }
            }
            _ => return Err(format!("a client receives {answer}")),
        }
        Ok(())
    }

    fn on_lost(&mut self, client: usize, _started: u64, _ended: u64) {
        self.in_flight[client] = None;
    }

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let all = items(database, TABLE, None)?;
        self.check_balances(&all)?;
        let sorted = |mut items: Vec<Value>| {
            items.sort_by_key(|item| item["id"]["S"].as_str().map(str::to_owned));
            items
        };
        let receipts = all.into_iter().filter(|item| item.get("from").is_some()).collect();
        if sorted(items(database, TABLE, Some(INDEX))?) != sorted(receipts) {
            return Err("the index does not match the table".to_owned());
        }
        let described = database.call("DescribeTable", &json!({"TableName": TABLE}).to_string());
        let count = described["Table"]["ItemCount"].as_u64();
        let actual = items(database, TABLE, None)?.len() as u64;
        if count != Some(actual) {
            return Err(format!("{actual} items are counted as {count:?}"));
        }
        Ok(())
    }

    fn observe(&mut self, database: &mut dyn Database) -> Result<(), String> {
        self.check(database)
    }

    fn max_clock_jump(&self) -> i64 {
        -30 * 86_400_000
    }
}
