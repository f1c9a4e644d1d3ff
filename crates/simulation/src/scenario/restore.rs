//! A table, its backups and its past: whatever is restored equals what the table was.

use super::{Ask, Database, Scenario, exception, is_unclear, items};
use partita_list_append::random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TABLE: &str = "Kept";
const RESTORED: &str = "Restored";
const INDEX: &str = "byWeight";
const ITEMS: usize = 12;

/// Weights by key.
type Image = BTreeMap<String, u64>;
/// `None` is a deletion.
type Writes = Vec<(String, Option<u64>)>;

#[derive(Default)]
pub struct Restore {
    /// What the table is.
    table: Image,
    /// Writes of which it is not known whether they happened.
    unclear: Option<Writes>,
    doing: Option<Doing>,
    /// What is being restored, and from where.
    restoring: Option<(Image, String)>,
    stage: Stage,
    backups: Vec<(String, Image)>,
    past: Vec<(u64, Image)>,
    /// Whether that is certain to have begun.
    is_sure: bool,
    /// When the last write had happened.
    written_until: u64,
    /// Whether there was a write since then.
    has_written: bool,
    weights: u64,
    pub restores: usize,
}

enum Doing {
    Write(Writes),
    LookAgain,
    BackUp,
    Restore(Image, String),
    Stage,
}

/// How far a restored table has been looked at.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Wait,
    Items,
    Entries,
    Delete,
    Go,
}

fn image(items: &[Value]) -> Image {
    let weight = |item: &Value| item["weight"]["N"].as_str()?.parse().ok();
    items.iter().filter_map(|item| Some((item["id"]["S"].as_str()?.to_owned(), weight(item)?))).collect()
}

fn written(mut image: Image, writes: &Writes) -> Image {
    for (key, weight) in writes {
        match weight {
            Some(weight) => image.insert(key.clone(), *weight),
            None => image.remove(key),
        };
    }
    image
}

impl Restore {
    fn write(&mut self, random: &mut Random) -> Ask {
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
        self.doing = Some(Doing::Write(writes));
        Ask::new("TransactWriteItems", json!({"TransactItems": actions}))
    }

    fn restore(&mut self, random: &mut Random) -> Option<Ask> {
        let from_backup = random.once_in(2) && !self.backups.is_empty();
        let (operation, mut body, image, what) = if from_backup {
            let (arn, image) = self.backups[random.below(self.backups.len())].clone();
            ("RestoreTableFromBackup", json!({"BackupArn": arn}), image, arn)
        } else if self.past.is_empty() {
            return None;
        } else {
            let (millis, image) = self.past[random.below(self.past.len())].clone();
            let body = json!({"SourceTableName": TABLE, "RestoreDateTime": millis as f64 / 1_000.0});
            ("RestoreTableToPointInTime", body, image, format!("time {millis}"))
        };
        body["TargetTableName"] = json!(RESTORED);
        self.doing = Some(Doing::Restore(image, what));
        Some(Ask::new(operation, body))
    }

    fn look_at_restored(&mut self) -> Ask {
        self.doing = Some(Doing::Stage);
        match self.stage {
            Stage::Wait | Stage::Go => Ask::new("DescribeTable", json!({"TableName": RESTORED})),
            Stage::Items => Ask::new("Scan", json!({"TableName": RESTORED})),
            Stage::Entries => Ask::new("Scan", json!({"TableName": RESTORED, "IndexName": INDEX})),
            Stage::Delete => Ask::new("DeleteTable", json!({"TableName": RESTORED})),
        }
    }

    /// What became of the look at a restored table.
    fn looked(&mut self, answer: &Value) -> Result<(), String> {
        let is_missing = exception(answer) == Some("ResourceNotFoundException");
        self.stage = match self.stage {
            Stage::Wait if answer["Table"]["TableStatus"] == "ACTIVE" => Stage::Items,
            Stage::Wait if is_missing && self.is_sure => {
                return Err("a table that is being restored is gone".to_owned());
            }
            Stage::Wait if is_missing => {
                self.restoring = None;
                Stage::Wait
            }
            Stage::Items | Stage::Entries => {
                let found = image(answer["Items"].as_array().map_or(&[][..], Vec::as_slice));
                match &self.restoring {
                    Some((expected, from)) if found != *expected => {
                        return Err(format!("restored from {from}: {found:?} instead of {expected:?}"));
                    }
                    _ => {}
                }
                if self.stage == Stage::Items { Stage::Entries } else { Stage::Delete }
            }
            Stage::Delete => {
                self.restores += 1;
                Stage::Go
            }
            Stage::Go if is_missing => {
                self.restoring = None;
                Stage::Wait
            }
            stage => stage,
        };
        Ok(())
    }

    /// The table is what it was, or that with what was unclear.
    fn settle(&mut self, items: &[Value]) -> Result<(), String> {
        let found = image(items);
        let possible = self.unclear.take().map(|writes| written(self.table.clone(), &writes));
        if found != self.table && possible.as_ref() != Some(&found) {
            return Err(format!("the table is {found:?} and should be {:?} or {possible:?}", self.table));
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

    fn set_up(&self) -> Vec<Ask> {
        let definition = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
        let index = json!({"IndexName": INDEX, "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "weight", "KeyType": "HASH"}]});
        let table = json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [definition("id", "S"), definition("weight", "N")],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [index]});
        let recovery = json!({"TableName": TABLE,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}});
        vec![Ask::new("CreateTable", table), Ask::new("UpdateContinuousBackups", recovery)]
    }

    fn next(&mut self, _client: usize, random: &mut Random, now: u64) -> Option<Ask> {
        if std::mem::take(&mut self.has_written) {
            self.written_until = now;
        }
        if self.unclear.is_some() {
            self.doing = Some(Doing::LookAgain);
            return Some(Ask::new("Scan", json!({"TableName": TABLE, "ConsistentRead": true})));
        }
        if now > self.written_until + 1 {
            // A moment at which nothing was being written.
            self.past.push((self.written_until + 1, self.table.clone()));
        }
        match random.below(6) {
            0 if self.restoring.is_none() => {
                self.doing = Some(Doing::BackUp);
                Some(Ask::new("CreateBackup", json!({"TableName": TABLE, "BackupName": "one"})))
            }
            1 if self.restoring.is_none() => self.restore(random),
            0..3 if self.restoring.is_some() => Some(self.look_at_restored()),
            _ => Some(self.write(random)),
        }
    }

    fn answered(&mut self, _client: usize, answer: &Value, _begun: u64, _ended: u64) -> Result<(), String> {
        let doing = self.doing.take();
        if is_unclear(answer) {
            self.doing = doing;
            self.lost(0, 0, 0);
            return Ok(());
        }
        match (doing, exception(answer)) {
            (Some(Doing::Write(writes)), None) => {
                self.table = written(std::mem::take(&mut self.table), &writes);
                self.has_written = true;
            }
            (Some(Doing::LookAgain), None) => {
                self.settle(answer["Items"].as_array().map_or(&[][..], Vec::as_slice))?;
            }
            (Some(Doing::BackUp), None) => {
                let arn = answer["BackupDetails"]["BackupArn"].as_str().unwrap_or_default();
                if self.backups.iter().any(|(other, _)| other == arn) {
                    return Err(format!("two backups are {arn}"));
                }
                self.backups.push((arn.to_owned(), self.table.clone()));
            }
            (Some(Doing::Restore(image, what)), None) => {
                self.restoring = Some((image, what));
                self.is_sure = true;
            }
            (Some(Doing::Stage), None | Some("ResourceNotFoundException" | "ResourceInUseException")) => {
                self.looked(answer)?;
            }
            _ => return Err(format!("a client is told {answer}")),
        }
        Ok(())
    }

    fn lost(&mut self, _client: usize, _begun: u64, _ended: u64) {
        match self.doing.take() {
            Some(Doing::Write(writes)) => self.unclear = Some(writes),
            Some(Doing::Restore(image, what)) => {
                self.restoring = Some((image, what));
                self.is_sure = false;
            }
            _ => {}
        }
    }

    fn check(&mut self, database: &mut dyn Database) -> Result<(), String> {
        let items = items(database, TABLE, None)?;
        self.settle(&items)?;
        let restored = database.ask("DescribeTable", &json!({"TableName": RESTORED}).to_string());
        let is_missing = exception(&restored) == Some("ResourceNotFoundException");
        let may_be_gone = matches!(self.stage, Stage::Delete | Stage::Go) || !self.is_sure;
        if is_missing && self.restoring.is_some() && !may_be_gone {
            return Err("a restore that was acknowledged is lost".to_owned());
        }
        if is_missing {
            self.restoring = None;
        }
        let is_going = restored["Table"]["TableStatus"] == "DELETING";
        self.stage = if is_going { Stage::Go } else { Stage::Wait };
        Ok(())
    }

    fn largest_jump(&self) -> i64 {
        3_600_000
    }
}
