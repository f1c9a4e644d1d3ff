//! Drives the declared mix of patterns and writes at their rates, with skewed keys, and shows what would break first.
//!
//! A write is carried out as a put of the whole items of its entities. A partition of DynamoDB sustains 3,000 read units and 1,000 write units a
//! second: the keys that receive most of them say at which multiple of the rates they would throttle.

use super::page;
use crate::arguments::Endpoint;
use crate::client::Client;
use crate::clock;
use crate::model::arguments::Try;
use crate::model::seed;
use partita_design::Model;
use partita_design::capacity::heat::{MAX_READS, MAX_WRITES};
use partita_design::formatting::format_number;
use partita_design::generate::Generator;
use partita_design::item::item_size;
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::{Pattern, Write};
use partita_design::plan::scatter::MAX_REQUESTS;
use partita_design::plan::trial::{Call, Known, PreparedPlan, calls};
use partita_design::plan::{Plan, plan};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Connections that send at the same time.
const WORKERS: u64 = 8;
/// How many different calls of a pattern there are.
const CALLS: usize = 500;
/// The share of the wanted rate that counts as reached.
const REACHED: f64 = 0.9;
/// How many hot keys are shown.
const SHOWN: usize = 5;

/// One thing that the application does.
enum Work<'a, 'm> {
    Read { prepared: PreparedPlan<'a, 'm>, calls: Vec<Call> },
    Write { write: &'m Write },
}

struct Task<'a, 'm> {
    work: Work<'a, 'm>,
    name: &'m str,
    /// How often a second, scaled.
    rate: f64,
    sent: AtomicU64,
}

/// What a task and all keys received.
#[derive(Default)]
struct Counts {
    times: BTreeMap<String, Vec<Duration>>,
    failures: BTreeMap<String, String>,
    /// Read and write units by table or index and partition key.
    keys: BTreeMap<String, (f64, f64)>,
}

struct Driver<'a, 'm> {
    model: &'m Model,
    generator: &'a Generator<'m>,
    tasks: Vec<Task<'a, 'm>>,
    counts: Mutex<Counts>,
    start: Instant,
    end: Instant,
}

pub fn drive(
    arguments: &Try,
    generator: &Generator<'_>,
    all: &[Known<'_>],
    endpoint: &Endpoint,
) -> Result<(), String> {
    let model = generator.model;
    let keys = Keyspace::new(model);
    let plans: Vec<(&Pattern, Plan<'_>)> =
        model.patterns.iter().filter_map(|pattern| Some((pattern, plan(&keys, pattern).ok()?))).collect();
    let tasks = tasks(model, &plans, all, arguments.scale);
    let start = clock::monotonic_now();
    let end = start + Duration::from_secs_f64(arguments.duration);
    let driver = Driver { model, generator, tasks, counts: Mutex::default(), start, end };
    driver.run(endpoint)?;
    driver.print(arguments.scale);
    Ok(())
}

fn tasks<'a, 'm>(
    model: &'m Model,
    plans: &'a [(&'m Pattern, Plan<'m>)],
    all: &[Known<'_>],
    scale: f64,
) -> Vec<Task<'a, 'm>> {
    let reads = plans.iter().filter_map(|(pattern, plan)| {
        let prepared = PreparedPlan::new(model, pattern, plan, all);
        let mut calls = calls(pattern, all, CALLS);
        calls.retain(|call| prepared.most_requests(call) <= MAX_REQUESTS);
        let work = Work::Read { prepared, calls };
        Some(Task { work, name: &pattern.name, rate: pattern.rps? * scale, sent: AtomicU64::new(0) })
    });
    let writes = model.writes.iter().filter_map(|write| {
        let work = Work::Write { write };
        Some(Task { work, name: &write.name, rate: write.rps? * scale, sent: AtomicU64::new(0) })
    });
    reads
        .filter(|task| task.rate > 0.0)
        .filter(|task| !matches!(&task.work, Work::Read { calls, .. } if calls.is_empty()))
        .chain(writes.filter(|task| task.rate > 0.0))
        .collect()
}

/// The multiple of the declared rates that was reached: the heat that is measured is that of these rates.
fn reached_scale(scale: f64, done: f64, wanted: f64) -> f64 {
    scale * (done / wanted.max(1e-9)).min(1.0)
}

/// Says that the wanted rate was not reached; `None` if it was.
fn shortfall(done: f64, wanted: f64) -> Option<String> {
    (done < wanted * REACHED).then(|| {
        format!(
            "{} of {} requests a second were done: this machine and {WORKERS} connections do no more; the figures are for that rate",
            format_number(done),
            format_number(wanted)
        )
    })
}

impl Driver<'_, '_> {
    #[expect(clippy::disallowed_methods, reason = "starts the threads that send")]
    fn run(&self, endpoint: &Endpoint) -> Result<(), String> {
        std::thread::scope(|scope| {
            let start = |worker: u64| scope.spawn(move || self.work(worker, endpoint));
            let handles: Vec<_> = (0..WORKERS).map(start).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, Result<(), String>>| {
                handle.join().unwrap_or_else(|_| Err("a sending thread failed".to_owned()))
            };
            handles.into_iter().map(join).collect::<Result<Vec<()>, String>>().map(|_| ())
        })
    }

    /// Sends whatever is most behind its rate, in time, so that the mix stays as declared where the machine cannot keep up.
    fn work(&self, worker: u64, endpoint: &Endpoint) -> Result<(), String> {
        let mut client = Client::new(endpoint)?;
        let mut random = Random(worker + 1);
        loop {
            let now = clock::monotonic_now();
            if now >= self.end {
                return Ok(());
            }
            let seconds = now.duration_since(self.start).as_secs_f64();
            let behind = |task: &Task<'_, '_>| seconds - task.sent.load(Ordering::Relaxed) as f64 / task.rate;
            let due = self.tasks.iter().max_by(|one, two| behind(one).total_cmp(&behind(two)));
            let Some(task) = due.filter(|task| behind(task) > 0.0) else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            task.sent.fetch_add(1, Ordering::Relaxed);
            let outcome = match &task.work {
                Work::Read { prepared, calls } => {
                    self.read(&mut client, prepared, &calls[random.skewed(calls.len())])
                }
                Work::Write { write } => self.write(&mut client, write, &mut random),
            };
            let mut counts = self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match outcome {
                Ok(time) => counts.times.entry(task.name.to_owned()).or_default().push(time),
                Err(message) => _ = counts.failures.insert(task.name.to_owned(), message),
            }
        }
    }

    /// Carries out a call, and returns how long its requests took.
    fn read(
        &self,
        client: &mut Client,
        prepared: &PreparedPlan<'_, '_>,
        call: &Call,
    ) -> Result<Duration, String> {
        let mut time = Duration::ZERO;
        let send = |operation: &'static str, body: &Value| {
            let start = clock::monotonic_now();
            let page = page(client, operation, body)?;
            time += start.elapsed();
            let place = body["IndexName"].as_str().unwrap_or("table");
            let key = &body["ExpressionAttributeValues"][":pk"];
            let key = if key.is_null() { &body["Key"][&self.model.table.keys[0]] } else { key };
            if let Some(text) = key["S"].as_str().or(key["N"].as_str()) {
                self.count(format!("{place} {text}"), page.units, 0.0);
            }
            Ok::<_, String>(page)
        };
        prepared.execute(call, send)?;
        Ok(time)
    }

    /// Carries out a write, and returns how long its requests took.
    fn write(&self, client: &mut Client, write: &Write, random: &mut Random) -> Result<Duration, String> {
        let mut time = Duration::ZERO;
        for action in &write.actions {
            let Some(entity) = self.model.entity(&action.entity) else { continue };
            let number = random.skewed(usize::try_from(self.generator.count(entity)).unwrap_or(1)) as u64;
            let bundle = self.generator.bundle(entity, number);
            for item in &bundle {
                let units = (item_size(item) as f64 / 1024.0).ceil();
                let locations = self.model.indexes.iter().map(|index| (index.name.as_str(), &index.keys));
                for (place, keys) in locations.chain([("table", &self.model.table.keys)]) {
                    if let Some(key) = keys.first().and_then(|name| item.get(name)?.to_text()) {
                        self.count(format!("{place} {key}"), 0.0, units);
                    }
                }
            }
            let start = clock::monotonic_now();
            seed::write_batch(client, self.model, bundle.into_iter())?;
            time += start.elapsed();
        }
        Ok(time)
    }

    fn count(&self, key: String, reads: f64, writes: f64) {
        let mut counts = self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let own = counts.keys.entry(key).or_default();
        own.0 += reads;
        own.1 += writes;
    }

    fn print(&self, scale: f64) {
        let mut counts = self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let width = self.tasks.iter().map(|task| task.name.len()).max().unwrap_or_default().max(8);
        println!("\n{:width$} {:>10} {:>10} {:>9} {:>9}", "", "wanted/s", "done/s", "p50 ms", "p99 ms");
        for task in &self.tasks {
            let times = counts.times.entry(task.name.to_owned()).or_default();
            times.sort();
            let at = |share: usize| {
                times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3)
            };
            println!(
                "{:width$} {:>10} {:>10} {:>9.2} {:>9.2}",
                task.name,
                format_number(task.rate),
                format_number(times.len() as f64 / seconds),
                at(50),
                at(99)
            );
        }
        for (name, message) in &counts.failures {
            println!("{name} failed: {message}");
        }
        let wanted: f64 = self.tasks.iter().map(|task| task.rate * seconds).sum();
        let done: usize = counts.times.values().map(Vec::len).sum();
        let reached = reached_scale(scale, done as f64, wanted);
        if let Some(text) = shortfall(done as f64 / seconds, wanted / seconds) {
            println!("\n{text}");
        }
        println!(
            "\nhottest partition keys (a partition sustains {MAX_READS} read and {MAX_WRITES} write units a second):"
        );
        let heat =
            |(reads, writes): &(f64, f64)| (reads / seconds / MAX_READS).max(writes / seconds / MAX_WRITES);
        let mut keys: Vec<(&String, &(f64, f64))> = counts.keys.iter().collect();
        keys.sort_by(|one, two| heat(two.1).total_cmp(&heat(one.1)));
        for (key, units) in keys.into_iter().take(SHOWN) {
            let breaks = reached / heat(units).max(1e-9);
            println!(
                "  {key}: {} read and {} write units a second; throttled from {} times the declared rates",
                format_number(units.0 / seconds),
                format_number(units.1 / seconds),
                format_number(breaks)
            );
        }
    }
}

/// A generator of numbers, reproducible by its seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        number ^ (number >> 31)
    }

    /// A number below `count`, small ones more often: a fifth of the keys receive about three fifths of the requests.
    fn skewed(&mut self, count: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((unit.powi(3) * count as f64) as usize).min(count.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_slow_machine_sends_counts_as_what_it_is() {
        assert!((reached_scale(10.0, 500.0, 1_500.0) - 10.0 / 3.0).abs() < 1e-9);
        assert!((reached_scale(10.0, 1_600.0, 1_500.0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_rate_that_is_not_reached_is_said() {
        let text = shortfall(22.0, 3_000.0).unwrap();
        assert!(text.starts_with("22 of 3000 requests a second were done"), "{text}");
        assert_eq!(shortfall(2_900.0, 3_000.0), None);
    }
}
