//! Reads all items of a table in parallel segments.

use crate::arguments::Endpoint;
use crate::client::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::mpsc::{SyncSender, sync_channel};

/// The position in a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cursor {
    Start,
    Behind(Value),
    Done,
}

/// What to do about rows that the database cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    Fail,
    Skip,
}

/// A processed page, and where its segment continues.
pub struct ScannedPage<T> {
    pub segment: usize,
    pub next: Cursor,
    pub items: u64,
    pub output: T,
    /// Rows that the database could not read.
    pub damaged: Vec<Value>,
}

/// Processes a page's items; each segment has one of its own.
pub type Stage<T> = Box<dyn FnMut(Vec<Value>) -> Result<T, String>>;

/// Reads all unfinished segments. Stages run in parallel; `take` is called with one page after another.
#[expect(clippy::disallowed_methods, reason = "starts the threads that scan")]
pub fn each_page<T: Send>(
    source: &Endpoint,
    (table, on_damage): (&str, OnDamage),
    cursors: &[Cursor],
    stage: impl Fn() -> Result<Stage<T>, String> + Sync,
    mut take: impl FnMut(ScannedPage<T>) -> Result<(), String>,
) -> Result<(), String> {
    let (sender, receiver) = sync_channel(cursors.len() * 2);
    std::thread::scope(|scope| {
        for (segment, cursor) in cursors.iter().enumerate().filter(|(_, cursor)| **cursor != Cursor::Done) {
            let (sender, stage) = (sender.clone(), &stage);
            let segment_scan = SegmentScan { source, table, on_damage, segment, segments: cursors.len() };
            scope.spawn(move || {
                if let Err(message) = segment_scan.run(cursor.clone(), stage, &sender) {
                    // The receiver is gone if another segment has failed.
                    let _ = sender.send(Err(message));
                }
            });
        }
        drop(sender);
        // Leaving drops the receiver, which ends the segments.
        receiver.into_iter().try_for_each(|page| take(page?))
    })
}

struct SegmentScan<'a> {
    source: &'a Endpoint,
    table: &'a str,
    on_damage: OnDamage,
    segment: usize,
    segments: usize,
}

impl SegmentScan<'_> {
    fn run<T>(
        &self,
        mut cursor: Cursor,
        stage: &impl Fn() -> Result<Stage<T>, String>,
        sender: &SyncSender<Result<ScannedPage<T>, String>>,
    ) -> Result<(), String> {
        let mut client = Client::new(self.source)?;
        let mut stage = stage()?;
        while cursor != Cursor::Done {
            let mut request = json!({
                "TableName": self.table, "ConsistentRead": true,
                "Segment": self.segment, "TotalSegments": self.segments,
            });
            if self.on_damage == OnDamage::Skip {
                request["PartitaPastDamage"] = Value::Bool(true);
            }
            if let Cursor::Behind(key) = cursor {
                request["ExclusiveStartKey"] = key;
            }
            let mut response = client.call("Scan", &request).map_err(|failure| failure.to_string())?;
            cursor = match response["LastEvaluatedKey"].take() {
                Value::Null => Cursor::Done,
                key => Cursor::Behind(key),
            };
            let Value::Array(items) = response["Items"].take() else {
                return Err(format!("the response to a Scan of {} has no items", self.table));
            };
            let damaged = response["PartitaDamaged"].as_array().cloned().unwrap_or_default();
            let count = items.len() as u64;
            let output = stage(items)?;
            let page =
                ScannedPage { segment: self.segment, next: cursor.clone(), items: count, output, damaged };
            if sender.send(Ok(page)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
