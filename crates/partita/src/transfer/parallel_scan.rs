//! All items of a table, read in segments at the same time.

use crate::arguments::Endpoint;
use crate::client::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::mpsc::{SyncSender, sync_channel};

/// How far a segment is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cursor {
    Start,
    Behind(Value),
    Done,
}

/// What is done about rows that the database cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    Fail,
    PassOver,
}

/// What a page was made into, and where its segment goes on.
pub struct Read<T> {
    pub segment: usize,
    pub next: Cursor,
    pub items: u64,
    pub made: T,
    /// What the database could not read.
    pub damaged: Vec<Value>,
}

/// Makes something of a page's items; each segment has one of its own.
pub type Stage<T> = Box<dyn FnMut(Vec<Value>) -> Result<T, String>>;

/// Reads all segments that are not done. `stage` works beside the others; `take` sees one page after another.
#[expect(clippy::disallowed_methods, reason = "starts the threads that scan")]
pub fn each_page<T: Send>(
    source: &Endpoint,
    (table, on_damage): (&str, OnDamage),
    cursors: &[Cursor],
    stage: impl Fn() -> Result<Stage<T>, String> + Sync,
    mut take: impl FnMut(Read<T>) -> Result<(), String>,
) -> Result<(), String> {
    let (sender, receiver) = sync_channel(cursors.len() * 2);
    std::thread::scope(|scope| {
        for (segment, cursor) in cursors.iter().enumerate().filter(|(_, cursor)| **cursor != Cursor::Done) {
            let (sender, stage) = (sender.clone(), &stage);
            let part = Part { source, table, on_damage, segment, segments: cursors.len() };
            scope.spawn(move || {
                if let Err(message) = part.read(cursor.clone(), stage, &sender) {
                    // Nobody listens any more if another segment has failed.
                    let _ = sender.send(Err(message));
                }
            });
        }
        drop(sender);
        // Leaving drops the receiver, which ends the segments.
        receiver.into_iter().try_for_each(|read| take(read?))
    })
}

struct Part<'a> {
    source: &'a Endpoint,
    table: &'a str,
    on_damage: OnDamage,
    segment: usize,
    segments: usize,
}

impl Part<'_> {
    fn read<T>(
        &self,
        mut cursor: Cursor,
        stage: &impl Fn() -> Result<Stage<T>, String>,
        sender: &SyncSender<Result<Read<T>, String>>,
    ) -> Result<(), String> {
        let mut client = Client::new(self.source)?;
        let mut stage = stage()?;
        while cursor != Cursor::Done {
            let mut request = json!({
                "TableName": self.table, "ConsistentRead": true,
                "Segment": self.segment, "TotalSegments": self.segments,
            });
            if self.on_damage == OnDamage::PassOver {
                request["PartitaPastDamage"] = Value::Bool(true);
            }
            if let Cursor::Behind(key) = cursor {
                request["ExclusiveStartKey"] = key;
            }
            let mut page = client.call("Scan", &request).map_err(|failure| failure.to_string())?;
            cursor = match page["LastEvaluatedKey"].take() {
                Value::Null => Cursor::Done,
                key => Cursor::Behind(key),
            };
            let Value::Array(items) = page["Items"].take() else {
                return Err(format!("the answer to a Scan of {} has no items", self.table));
            };
            let damaged = page["PartitaDamaged"].as_array().cloned().unwrap_or_default();
            let count = items.len() as u64;
            let made = stage(items)?;
            let read = Read { segment: self.segment, next: cursor.clone(), items: count, made, damaged };
            if sender.send(Ok(read)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
