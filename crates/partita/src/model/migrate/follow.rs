//! `--follow`: carries over what the application changes meanwhile, by the tables' streams, until the user stops it.
//!
//! The streams only say which items have changed: these are read again and compared with their new form, so that records may come twice
//! or in any order. What a stream does not show is found when everything is compared at the end.

use super::Migration;
use super::actions::Action;
use super::own_writes::{OwnWrite, OwnWrites};
use super::pass::MAX_ATTEMPTS;
use super::summary::MigrationSummary;
use super::tables::Work;
use crate::client::{Client, Failure};
use crate::clock;
use crate::model::{items, table_check};
use partita_design::exchange::item_json::decode;
use partita_design::formatting::plural;
use partita_design::item::Item;
use partita_design::migration::contents::key_hash;
use partita_design::migration::{Image, is_same, key_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// The tag of a table whose stream was enabled for a migration: the stream.
const TAG: &str = "partita:stream";
const INTERVAL: Duration = Duration::from_millis(200);
/// A page of a stream with fewer records, and fewer bytes, is taken for the last one that there is now: a page ends at 1,000 records, or before
/// a record, of at most 801 KB, with which it would have more than 1 MB.
const SHORT_PAGE: usize = 100;
const SHORT_PAGE_BYTES: usize = 100_000;
/// The most pages of a shard that are read at a time.
const MAX_PAGES: u32 = 20;
/// Changes that are carried over within this time leave the application no later than it can be switched.
const SHORT_ROUND: Duration = Duration::from_secs(2);
/// What a stream must show for a table to be migrated in place while the application writes.
const IMAGES: &str = "NEW_AND_OLD_IMAGES";
/// How many more times the streams are read after the user has stopped it, or at their end, if changes do not end.
const MAX_LAST_ROUNDS: u32 = 50;

/// An item that has changed.
pub struct StreamChange {
    pub source: usize,
    pub is_deletion: bool,
    /// Its place among the changes of all shards of a stream.
    pub sequence: u128,
    pub key: Item,
    /// What it was.
    pub old: Option<Item>,
    /// What it became.
    pub new: Option<Item>,
    /// Whether it may have been shown before.
    pub may_be_repeated: bool,
    /// The write of the migration that it shows, if it is none of the application.
    pub own: Option<OwnWrite>,
}

/// The streams of the sources, and how far they were read.
pub struct Follower {
    client: Client,
    streams: Vec<Stream>,
    /// Whether the last time everything was read that there was.
    is_at_end: bool,
    /// The highest sequence number that was read.
    last_sequence: u128,
    /// Changes that were read while others were carried over, and wait for their turn.
    rest: Vec<StreamChange>,
}

struct Stream {
    arn: String,
    /// By their names, older ones first.
    shards: BTreeMap<String, Shard>,
}

/// How far a shard was read.
struct Shard {
    /// Where to continue; `None` if the shard has ended.
    iterator: Option<String>,
    /// The sequence number of the last record, from which the shard is read on when the iterator has expired.
    last: Option<String>,
    /// Whether it is read again from its beginning.
    is_repeated: bool,
}

impl Migration<'_> {
    /// Fails if the table has a stream that does not show its items: what they were when they moved, and what aggregates count, would not be known.
    pub(super) fn check_stream(&mut self) -> Result<(), String> {
        let target = &self.tables.targets[0];
        if !self.options.follow {
            return Ok(());
        }
        let description = items::describe(&mut self.client, &target.table)?;
        let stream = &description["StreamSpecification"];
        let view = stream["StreamViewType"].as_str().unwrap_or_default();
        if stream["StreamEnabled"] != true || view == IMAGES {
            return Ok(());
        }
        Err(format!(
            "the stream of table {} shows {view}: what the application writes while items move can be carried over only if it shows {IMAGES}.\n\
             Disable the stream (the migration then enables one of its own), enable it with {IMAGES}, or leave out --follow. \
             Nothing was written",
            target.table
        ))
    }

    /// Enables the sources' streams where they are not, and remembers where they are now.
    pub(super) fn start_following(&mut self) -> Result<Follower, String> {
        let tables = self.tables;
        let client = Client::for_streams(self.options.endpoint)?;
        let mut follower =
            Follower { client, streams: Vec::new(), is_at_end: false, last_sequence: 0, rest: Vec::new() };
        for source in &tables.sources {
            let mut description = items::describe(&mut self.client, &source.table)?;
            if description["StreamSpecification"]["StreamEnabled"] != true {
                let specification = json!({ "StreamEnabled": true, "StreamViewType": IMAGES });
                let request = json!({ "TableName": source.table, "StreamSpecification": specification });
                self.call("UpdateTable", &request)?;
                description = table_check::wait_until_active(&mut self.client, &source.table)?;
                let arn = description["LatestStreamArn"].as_str().unwrap_or_default();
                self.set_tag(&description, TAG, arn)?;
            }
            let arn = description["LatestStreamArn"].as_str().unwrap_or_default().to_owned();
            let mut stream = Stream { arn, shards: BTreeMap::new() };
            follower.find_shards(&mut stream, "LATEST")?;
            follower.streams.push(stream);
        }
        self.own_writes = tables.is_in_place().then(OwnWrites::default);
        Ok(follower)
    }

    /// Disables the streams that were enabled for this migration.
    pub(super) fn restore_streams(&mut self) -> Result<(), String> {
        let tables = self.tables;
        for source in &tables.sources {
            let description = items::describe(&mut self.client, &source.table)?;
            let Some(own) = self.tag(&description, TAG) else { continue };
            let is_enabled = description["StreamSpecification"]["StreamEnabled"] == true;
            if is_enabled && description["LatestStreamArn"] == own.as_str() {
                let specification = json!({ "StreamEnabled": false });
                let request = json!({ "TableName": source.table, "StreamSpecification": specification });
                self.call("UpdateTable", &request)?;
                table_check::wait_until_active(&mut self.client, &source.table)?;
            }
            self.remove_tag(&description, TAG)?;
        }
        Ok(())
    }

    /// Carries changes over until the user stops it.
    pub(super) fn follow(&mut self, follower: &mut Follower) -> Result<(), String> {
        let stop = stop_signal();
        let (mut was_announced, mut last_rounds) = (false, 0);
        while last_rounds < MAX_LAST_ROUNDS {
            let is_stopped = stop.load(Ordering::Acquire);
            let start = clock::monotonic_now();
            let changes = self.carry_changes(follower)?;
            last_rounds += u32::from(is_stopped);
            // An application that writes all the time always leaves something to carry.
            let has_caught_up = changes.is_empty() || (follower.is_at_end && start.elapsed() < SHORT_ROUND);
            if !has_caught_up {
                continue;
            }
            if !was_announced {
                was_announced = true;
                println!(
                    "caught up: changes are carried over as they come. Switch the application, then stop this command (Ctrl-C)"
                );
            }
            if is_stopped && follower.rest.is_empty() {
                break;
            }
            std::thread::sleep(INTERVAL);
        }
        println!("{} of the application carried over", plural(self.carried, "change"));
        Ok(())
    }

    /// Carries over what has changed since the last time.
    pub(super) fn carry_changes(&mut self, follower: &mut Follower) -> Result<Vec<StreamChange>, String> {
        let mut changes = std::mem::take(&mut follower.rest);
        changes.extend(self.new_changes(follower)?);
        // What is read beyond them is carried over the next time: an application that writes all the time never lets this end.
        let count = changes.len();
        let in_place = self.tables.is_in_place();
        // How many changes had been read when an item was carried.
        let mut known: HashMap<(usize, u128), usize> = HashMap::new();
        let mut number = 0;
        while let Some(change) = changes.get(number).filter(|_| number < count) {
            number += 1;
            // What is written again belongs to something.
            self.orphans.remove(&key_hash(&change.key));
            if change.own.is_some() {
                self.carry_unread(change)?;
                continue;
            }
            // In place, an item is carried once for the changes up to then, as it is now. Elsewhere, everything that it was leaves something to
            // delete.
            let item = (change.source, key_hash(&change.key));
            let is_known = || known.get(&item).is_some_and(|read| number <= *read);
            if in_place && (self.is_settled(change) || is_known()) {
                continue;
            }
            known.insert(item, changes.len());
            self.carried += 1;
            self.is_carrying = true;
            let written = self.written;
            let (source, key, is_blocked) = (change.source, change.key.clone(), self.carry(change)?);
            self.is_carrying = false;
            if is_blocked {
                self.carry_pair(follower, source, &key, &mut changes)?;
            }
            // What this migration has not moved may have been deleted, also while it was carried.
            if self.written == written
                && let Some(form) = self.deleted_form(&changes[number - 1])?
            {
                changes.extend(self.new_changes(follower)?);
                // If the item has moved, that is among the changes up to here.
                if follower.is_at_end {
                    self.delete_form(&form, &changes)?;
                }
            }
        }
        follower.rest = changes.split_off(count);
        Ok(changes)
    }

    /// Gives the new form of an item the values of the old one, if there are both.
    fn carry_pair(
        &mut self,
        follower: &mut Follower,
        source: usize,
        key: &Item,
        changes: &mut Vec<StreamChange>,
    ) -> Result<(), String> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(pair) = self.both_forms(source, key)? else { break };
            changes.extend(self.new_changes(follower)?);
            if self.unite(&pair, changes)? {
                break;
            }
        }
        Ok(())
    }

    /// What has changed since the last time, with the migration's own writes told from those of the application.
    fn new_changes(&mut self, follower: &mut Follower) -> Result<Vec<StreamChange>, String> {
        let mut changes = follower.changes()?;
        self.own_writes.iter_mut().for_each(|own_writes| own_writes.mark(&mut changes));
        let of_application = changes.iter().filter(|change| change.own.is_none());
        of_application
            .filter_map(|change| change.new.as_ref())
            .try_for_each(|new| self.note_form_shown(new))?;
        Ok(changes)
    }

    /// Carries over what has changed since the last time, and what changes meanwhile, and shows it. Returns a sequence number up to which
    /// everything was shown, or `None` if the streams' end was not reached.
    ///
    /// The shards are read one after another, so that a transaction may be seen in one and not yet in another. What was seen anywhere by the time
    /// that all of them were read to their end is complete once they have all been read to their end again.
    pub(super) fn carry_to_end(
        &mut self,
        follower: &mut Follower,
        mut show: impl FnMut(StreamChange),
    ) -> Result<Option<u128>, String> {
        let (mut ends, mut complete) = (0, None);
        while ends < MAX_LAST_ROUNDS {
            let (written, seen) = (self.written, follower.last_sequence);
            self.carry_changes(follower)?.into_iter().for_each(&mut show);
            // What was written is a change too.
            let is_quiet = self.written == written;
            complete = complete.filter(|_| is_quiet);
            if follower.is_at_end && follower.rest.is_empty() {
                if complete.is_some() || (is_quiet && follower.last_sequence == seen) {
                    return Ok(complete.or(Some(seen)));
                }
                complete = is_quiet.then_some(follower.last_sequence);
                ends += 1;
            }
        }
        Ok(None)
    }

    /// Whether a change in place leaves nothing to write: a deletion, or an item that has its new form and needs nothing beside it.
    fn is_settled(&self, change: &StreamChange) -> bool {
        let Some(item) = &change.new else { return change.is_deletion };
        match &self.tables.work(change.source, item.clone()).image {
            Image::Item(new) => {
                is_same(&new.item, item) && new.companions.is_empty() && new.obsolete.is_empty()
            }
            _ => false,
        }
    }

    /// Writes what an item has become, and deletes from another table what it was. Returns whether another item has its new key: often its own
    /// new form.
    fn carry(&mut self, change: &StreamChange) -> Result<bool, String> {
        let source = change.source;
        let now = self.read(source, &change.key)?;
        if let (Some(old), false) = (&change.old, self.tables.is_in_place()) {
            let before = self.tables.work(source, old.clone());
            let stays = now.iter().filter(|work| work.target == before.target);
            let wanted: HashSet<u128> =
                stays.flat_map(|work| self.new_keys(work)).map(|key| key_hash(&key)).collect();
            let stale: Vec<Item> =
                self.new_keys(&before).into_iter().filter(|key| !wanted.contains(&key_hash(key))).collect();
            let found = self.look_up(std::slice::from_ref(&before))?;
            let table = &self.tables.targets[before.target].table;
            for key in stale {
                if let Some(item) = found.get(table, &key) {
                    self.execute(&[Action::delete(table, key.clone(), item.clone())])?;
                }
            }
        }
        let Some(work) = now else { return Ok(false) };
        let mut summary = MigrationSummary::default();
        self.process_now(work, &mut summary)?;
        Ok(summary.is_blocked() || summary.has_pairs())
    }

    /// The keys of what an item becomes, and of its companions.
    fn new_keys(&self, work: &Work<'_>) -> Vec<Item> {
        let Image::Item(new) = &work.image else { return Vec::new() };
        let model = &self.tables.targets[work.target].model;
        let companions = new.companions.iter().map(|companion| key_of(model, &companion.item));
        companions.chain([new.key(model)]).collect()
    }
}

impl Follower {
    /// What has changed since the last time.
    fn changes(&mut self) -> Result<Vec<StreamChange>, String> {
        let mut changes = Vec::new();
        self.is_at_end = true;
        let mut streams = std::mem::take(&mut self.streams);
        for (source, stream) in streams.iter_mut().enumerate() {
            self.find_shards(stream, "TRIM_HORIZON")?;
            for (id, shard) in &mut stream.shards {
                let place = (stream.arn.as_str(), id.as_str());
                self.is_at_end &= self.read_shard(source, place, shard, &mut changes)?;
            }
        }
        self.streams = streams;
        Ok(changes)
    }

    /// Reads on in a shard of a stream; returns whether its end was reached.
    fn read_shard(
        &mut self,
        source: usize,
        (arn, id): (&str, &str),
        shard: &mut Shard,
        changes: &mut Vec<StreamChange>,
    ) -> Result<bool, String> {
        for _ in 0..MAX_PAGES {
            let Some(start) = &shard.iterator else { return Ok(true) };
            let page = match self.client.call_streams("GetRecords", &json!({ "ShardIterator": start })) {
                // An iterator is valid for 15 minutes. Without a record that was read, everything that the shard has is read: changes may come twice.
                Err(failure) if failure.is("ExpiredIteratorException") => {
                    shard.is_repeated |= shard.last.is_none();
                    shard.iterator = self.iterator(arn, id, shard.last.as_deref(), "TRIM_HORIZON")?;
                    continue;
                }
                Err(failure) if failure.is("TrimmedDataAccessException") => {
                    println!(
                        "the stream has lost changes older than 24 hours; the items that they were about are found at the end"
                    );
                    shard.is_repeated = true;
                    shard.iterator = self.iterator(arn, id, None, "TRIM_HORIZON")?;
                    continue;
                }
                outcome => outcome.map_err(|failure| failure.to_string())?,
            };
            shard.iterator = page["NextShardIterator"].as_str().map(str::to_owned);
            let records = page["Records"].as_array().map_or(&[] as &[Value], Vec::as_slice);
            for record in records {
                let is_deletion = record["eventName"] == "REMOVE";
                let record = &record["dynamodb"];
                let Some(key) = decode(&record["Keys"]) else { continue };
                let (old, new) = (decode(&record["OldImage"]), decode(&record["NewImage"]));
                shard.last = record["SequenceNumber"].as_str().map(str::to_owned);
                let sequence = shard.last.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default();
                self.last_sequence = self.last_sequence.max(sequence);
                let may_be_repeated = shard.is_repeated;
                let own = None;
                changes.push(StreamChange {
                    source,
                    is_deletion,
                    sequence,
                    key,
                    old,
                    new,
                    may_be_repeated,
                    own,
                });
            }
            if records.len() < SHORT_PAGE && page.to_string().len() < SHORT_PAGE_BYTES {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An iterator after the last record that was read, or at a position if none was. `None` if the shard has ended and is gone.
    fn iterator(
        &mut self,
        arn: &str,
        id: &str,
        last: Option<&str>,
        position: &str,
    ) -> Result<Option<String>, String> {
        let mut request = json!({ "StreamArn": arn, "ShardId": id, "ShardIteratorType": position });
        if let Some(last) = last {
            request["ShardIteratorType"] = json!("AFTER_SEQUENCE_NUMBER");
            request["SequenceNumber"] = json!(last);
        }
        match self.client.call_streams("GetShardIterator", &request) {
            Err(failure) if failure.is("TrimmedDataAccessException") && last.is_some() => {
                self.iterator(arn, id, None, position)
            }
            Err(failure) if failure.is("ResourceNotFoundException") => Ok(None),
            outcome => {
                let answer = outcome.map_err(|failure| failure.to_string())?;
                Ok(answer["ShardIterator"].as_str().map(str::to_owned))
            }
        }
    }

    /// Adds the shards that are not known yet.
    fn find_shards(&mut self, stream: &mut Stream, position: &str) -> Result<(), String> {
        let mut start = Value::Null;
        loop {
            let mut request = json!({ "StreamArn": stream.arn });
            if !start.is_null() {
                request["ExclusiveStartShardId"] = start;
            }
            let description = self.call("DescribeStream", &request)?["StreamDescription"].clone();
            for shard in description["Shards"].as_array().into_iter().flatten() {
                let id = shard["ShardId"].as_str().unwrap_or_default().to_owned();
                if !stream.shards.contains_key(&id) {
                    let iterator = self.iterator(&stream.arn, &id, None, position)?;
                    stream.shards.insert(id, Shard { iterator, last: None, is_repeated: false });
                }
            }
            start = description["LastEvaluatedShardId"].clone();
            if start.is_null() {
                return Ok(());
            }
        }
    }

    fn call(&mut self, operation: &str, request: &Value) -> Result<Value, String> {
        self.client.call_streams(operation, request).map_err(|failure: Failure| failure.to_string())
    }
}

/// Becomes true when the user or the system stops the command.
#[expect(clippy::disallowed_methods, reason = "a thread that waits for signals")]
fn stop_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            flag.store(true, Ordering::Release);
        });
    });
    stop
}
