//! A table, its backups and its history: whatever is restored equals the table at that time.

use super::{Database, Request, Scenario, exception, is_outcome_unknown, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TABLE: &str = "Kept";
const RESTORED: &str = "Restored";
const INDEX: &str = "byWeight";
const ITEMS: usize = 12;

/// The weights of all items, by key.
type TableState = BTreeMap<String, u64>;
/// `None` is a deletion.
type Writes = Vec<(String, Option<u64>)>;

#[derive(Default)]
pub struct Restore {
    /// The expected table.
    table: TableState,
    /// Writes whose outcome is unknown.
    unknown: Option<Writes>,
    in_flight: Option<InFlight>,
    /// What is being restored, and from where.
    restoring: Option<(TableState, String)>,
    stage: Stage,
    backups: Vec<(String, TableState)>,
    past: Vec<(u64, TableState)>,
    /// Whether the restore is known to have started.
    is_started: bool,
    /// When the last write had happened.
    written_until: u64,
    /// Whether there was a write since then.
    has_written: bool,
    weights: u64,
    pub restores: usize,
}

enum InFlight {
    Write(Writes),
    Reread,
    BackUp,
    Restore(TableState, String),
    Stage,
}

/// How far the check of a restored table has progressed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    AwaitActive,
    CheckItems,
    CheckIndex,
    Delete,
    AwaitDeleted,
}

fn table_state(items: &[Value]) -> TableState {
    let weight = |item: &Value| item["weight"]["N"].as_str()?.parse().ok();
    items.iter().filter_map(|item| Some((item["id"]["S"].as_str()?.to_owned(), weight(item)?))).collect()
}

fn written(mut state: TableState, writes: &Writes) -> TableState {
    for (key, weight) in writes {
        match weight {
            Some(weight) => state.insert(key.clone(), *weight),
            None => state.remove(key),
        };
    }
    state
}

impl Restore {
    fn write(&mut self, random: &mut Random) -> Request {
        self.weights += 1;
        let mut writes = Writes::new();
        for _ in 0..1 + random.below(4) {
            let key = format!("k{}", random.below(ITEMS));
            if !writes.iter().any(|(other, _)| *other == key) {
                writes.push((key, (!random.once_in(3)).then_some(self.weights)));
            }
        }
        let action = |(key, weight): &(String, Option<u64>)| match weight {
            Some(weight) => {
                let item = json!({"id": {"S": key}, "weight": {"N": weight.to_string()}});
                json!({"Put": {"TableName": TABLE, "Item": item}})
            }
            None => json!({"Delete": {"TableName": TABLE, "Key": {"id": {"S": key}}}}),
        };
        let actions: Vec<Value> = writes.iter().map(action).collect();
        self.in_flight = Some(InFlight::Write(writes));
        Request::new("TransactWriteItems", json!({"TransactItems": actions}))
    }

    fn restore(&mut self, random: &mut Random) -> Option<Request> {
        let from_backup = random.once_in(2) && !self.backups.is_empty();
        let (operation, mut body, state, what) = if from_backup {
            let (arn, state) = self.backups[random.below(self.backups.len())].clone();
            ("RestoreTableFromBackup", json!({"BackupArn": arn}), state, arn)
        } else if self.past.is_empty() {
            return None;
        } else {
            let (millis, state) = self.past[random.below(self.past.len())].clone();
            let body = json!({"SourceTableName": TABLE, "RestoreDateTime": millis as f64 / 1_000.0});
            ("RestoreTableToPointInTime", body, state, format!("time {millis}"))
        };
        body["TargetTableName"] = json!(RESTORED);
        self.in_flight = Some(InFlight::Restore(state, what));
        Some(Request::new(operation, body))
    }

    fn check_restored(&mut self) -> Request {
        self.in_flight = Some(InFlight::Stage);
        match self.stage {
            Stage::AwaitActive | Stage::AwaitDeleted => {
                Request::new("DescribeTable", json!({"TableName": RESTORED}))
            }
            Stage::CheckItems => Request::new("Scan", json!({"TableName": RESTORED})),
            Stage::CheckIndex => Request::new("Scan", json!({"TableName": RESTORED, "IndexName": INDEX})),
            Stage::Delete => Request::new("DeleteTable", json!({"TableName": RESTORED})),
        }
    }

    /// Handles the response to a check of the restored table.
    fn on_restored_checked(&mut self, answer: &Value) -> Result<(), String> {
        let is_missing = exception(answer) == Some("ResourceNotFoundException");
        self.stage = match self.stage {
            Stage::AwaitActive if answer["Table"]["TableStatus"] == "ACTIVE" => Stage::CheckItems,
            Stage::AwaitActive if is_missing && self.is_started => {
                return Err("a table that is being restored is gone".to_owned());
            }
            Stage::AwaitActive if is_missing => {
                self.restoring = None;
                Stage::AwaitActive
            }
            Stage::CheckItems | Stage::CheckIndex => {
                let found = table_state(answer["Items"].as_array().map_or(&[][..], Vec::as_slice));
                match &self.restoring {
                    Some((expected, from)) if found != *expected => {
                        return Err(format!("restored from {from}: {found:?} instead of {expected:?}"));
                    }
                    _ => {}
                }
                if self.stage == Stage::CheckItems { Stage::CheckIndex } else { Stage::Delete }
            }
            Stage::Delete => {
                self.restores += 1;
                Stage::AwaitDeleted
            }
            Stage::AwaitDeleted if is_missing => {
                self.restoring = None;
                Stage::AwaitActive
            }
            stage => stage,
        };
        Ok(())
    }

    /// The table is as expected, with or without the writes of unknown outcome.
    fn reconcile(&mut self, items: &[Value]) -> Result<(), String> {
        let found = table_state(items);
        let possible = self.unknown.take().map(|writes| written(self.table.clone(), &writes));
        if found != self.table && possible.as_ref() != Some(&found) {
            return Err(format!("the table is {found:?} instead of {:?} or {possible:?}", self.table));
        }
        self.table = found;
        self.has_written = true;
        Ok(())
    }
}

impl Scenario for Restore {
    fn clients(&self) -> usize {
        1
    }

    fn set_up(&self) -> Vec<Request> {
        let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
        let index = json!({"IndexName": INDEX, "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "weight", "KeyType": "HASH"}]});
        let table = json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [definition("id", "S"), definition("weight", "N")],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [index]});
        let recovery = json!({"TableName": TABLE,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}});
        vec![Request::new("CreateTable", table), Request::new("UpdateContinuousBackups", recovery)]
    }

    fn next(&mut self, _client: usize, random: &mut Random, now: u64) -> Option<Request> {
        if std::mem::take(&mut self.has_written) {
            self.written_until = now;
        }
        if self.unknown.is_some() {
            self.in_flight = Some(InFlight::Reread);
            return Some(Request::new("Scan", json!({"TableName": TABLE, "ConsistentRead": true})));
        }
        if now > self.written_until + 1 {
            // A moment at which nothing was being written.
            self.past.push((self.written_until + 1, self.table.clone()));
        }
        match random.below(6) {
            0 if self.restoring.is_none() => {
                self.in_flight = Some(InFlight::BackUp);
                Some(Request::new("CreateBackup", json!({"TableName": TABLE, "BackupName": "one"})))
            }
            1 if self.restoring.is_none() => self.restore(random),
            0..3 if self.restoring.is_some() => Some(self.check_restored()),
            _ => Some(self.write(random)),
        }
    }

    fn on_response(
        &mut self,
        _client: usize,
        answer: &Value,
        _started: u64,
        _ended: u64,
    ) -> Result<(), String> {
        let in_flight = self.in_flight.take();
        if is_outcome_unknown(answer) {
            self.in_flight = in_flight;
            self.on_lost(0, 0, 0);
            return Ok(());
        }
        match (in_flight, exception(answer)) {
            (Some(InFlight::Write(writes)), None) => {
                self.table = written(std::mem::take(&mut self.table), &writes);
                self.has_written = true;
            }
            (Some(InFlight::Reread), None) => {
                self.reconcile(answer["Items"].as_array().map_or(&[][..], Vec::as_slice))?;
            }
            (Some(InFlight::BackUp), None) => {
                let arn = answer["BackupDetails"]["BackupArn"].as_str().unwrap_or_default();
                if self.backups.iter().any(|(other, _)| other == arn) {
                    return Err(format!("two backups have the ARN {arn}"));
                }
                self.backups.push((arn.to_owned(), self.table.clone()));
            }
            (Some(InFlight::Restore(state, what)), None) => {
                self.restoring = Some((state, what));
                self.is_started = true;
            }
            (Some(InFlight::Stage), None | Some("ResourceNotFoundException" | "ResourceInUseException")) => {
                self.on_restored_checked(answer)?;
            }
            _ => return Err(format!("a client receives {answer}")),
        }
        Ok(())
    }

    fn on_lost(&mut self, _client: usize, _started: u64, _ended: u64) {
        match self.in_flight.take() {
            Some(InFlight::Write(writes)) => self.unknown = Some(writes),
            Some(InFlight::Restore(state, what)) => {
                self.restoring = Some((state, what));
                self.is_started = false;
            }
            _ => {}
        }
    }

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let items = items(database, TABLE, None)?;
        self.reconcile(&items)?;
        let restored = database.call("DescribeTable", &json!({"TableName": RESTORED}).to_string());
        let is_missing = exception(&restored) == Some("ResourceNotFoundException");
        let may_be_gone = matches!(self.stage, Stage::Delete | Stage::AwaitDeleted) || !self.is_started;
        if is_missing && self.restoring.is_some() && !may_be_gone {
            return Err("an acknowledged restore is lost".to_owned());
        }
        if is_missing {
            self.restoring = None;
        }
        let is_going = restored["Table"]["TableStatus"] == "DELETING";
        self.stage = if is_going { Stage::AwaitDeleted } else { Stage::AwaitActive };
        Ok(())
    }

    fn max_clock_jump(&self) -> i64 {
        3_600_000
    }
}
