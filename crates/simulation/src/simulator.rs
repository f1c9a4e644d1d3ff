//! Decides what happens next: a client, a step of the store, the engine's maintenance, the clock, a fault, or the end. One
//! thread, one seed.

use crate::disk::{Disk, Faults};
use crate::image::Image;
use crate::intercept;
use crate::planted_bug::{BuggyStore, PlantedBug};
use crate::scenario::{Database, Request, Scenario};
use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_list_append::random::Random;
use partita_store::StoreError;
use partita_store_embedded::{
    Driver, Durability, EmbeddedStore, OpenError, Options, compact_single_threaded,
};
use partita_wire::Rejection;
use serde_json::Value;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// 2026-11-15T00:00:00Z.
const START_MILLIS: u64 = 1_794_700_800_000;
/// The store's own applier retries more often; here that would not help either.
const MAX_FAILURES: usize = 4;
/// More turns than any request takes.
const MAX_TURNS: usize = 10_000;

/// When the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crashes {
    Never,
    /// At this call of the disk, and then never again.
    At(u64),
    /// At this call of the first process, then at this call of the second, and then never again.
    Twice(u64, u64),
    /// Repeatedly.
    Often,
}

/// Everything that a run depends on, besides the scenario.
#[derive(Clone, Copy, Debug)]
pub struct RunConfig {
    pub seed: u64,
    pub turns: usize,
    pub crashes: Crashes,
    pub faults: Faults,
    /// Whether the disk may also fail during a start, which is then aborted.
    pub failing_starts: bool,
    /// Whether the data file is compacted between two processes, with a possible power loss meanwhile.
    pub compacts: bool,
    /// Crashes kill the process, and the power stays on.
    pub only_kills: bool,
    /// Whether files of the log are lost or damaged between two processes.
    pub damage: bool,
    pub durability: Durability,
    pub planted_bug: Option<PlantedBug>,
}

impl RunConfig {
    pub fn from_seed(seed: u64) -> RunConfig {
        RunConfig {
            seed,
            turns: 600,
            crashes: Crashes::Often,
            faults: Faults::default(),
            failing_starts: false,
            compacts: false,
            only_kills: false,
            damage: false,
            durability: Durability::Full,
            planted_bug: None,
        }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Hash and number of all events.
    pub trace: (u64, u64),
    pub crashes: usize,
    /// Calls of the disk.
    pub calls: u64,
    /// Calls of the disk until the first request was answered.
    pub calls_until_answer: u64,
    pub answers: usize,
    /// The store found damage and did not open.
    pub refused: bool,
    /// Starts that were aborted because the disk failed.
    pub failed_starts: usize,
    /// How often the data file was compacted, with a crash or without.
    pub compactions: usize,
}

/// Runs a scenario. An error says what does not hold, followed by the last events.
pub fn simulate(scenario: &mut dyn Scenario, config: &RunConfig) -> Result<Summary, String> {
    // On a thread of its own: thread-local state of one run would affect the next.
    std::thread::scope(|scope| {
        let run = scope.spawn(|| simulate_here(scenario, config));
        run.join().unwrap_or_else(|_| Err(format!("a panic\n{config:?}")))
    })
}

fn simulate_here(scenario: &mut dyn Scenario, config: &RunConfig) -> Result<Summary, String> {
    let mut random = Random::new(config.seed);
    let mut disk = Disk::new(PathBuf::from("/nowhere"), Random::new(random.number()), config.planted_bug);
    // Damage to the last record cannot be distinguished from a power loss.
    disk.only_kills = config.damage || config.only_kills;
    intercept::install(disk);
    let folders =
        tempfile::Builder::new().prefix("simulation").tempdir().map_err(|error| error.to_string())?;
    let root = folders.path().canonicalize().map_err(|error| error.to_string())?;
    std::fs::create_dir(root.join("0")).map_err(|error| error.to_string())?;
    intercept::with(|disk| disk.root = root.join("0"));
    let mut simulator = Simulator {
        config: *config,
        random,
        clock: Arc::new(AtomicU64::new(START_MILLIS)),
        turn: 0,
        process_number: 0,
        folders: root,
        is_damaged: false,
        summary: Summary::default(),
    };
    let outcome = simulator.run(scenario);
    let disk = intercept::uninstall();
    let mut summary = simulator.summary;
    let last = disk.map_or_else(String::new, |disk| {
        (summary.trace, summary.calls) = (disk.trace.hash(), disk.calls);
        disk.trace.last()
    });
    outcome.map(|()| summary).map_err(|what| format!("{what}\n{config:?}\nlast events:\n{last}"))
}

struct Simulator {
    config: RunConfig,
    random: Random,
    clock: Arc<AtomicU64>,
    turn: u64,
    process_number: u64,
    /// Each process has a folder of its own in this one.
    folders: PathBuf,
    /// Whether a file was damaged since the last start.
    is_damaged: bool,
    summary: Summary,
}

type ResponseFuture = Pin<Box<dyn Future<Output = Value>>>;

/// A request in flight.
struct Task {
    started: u64,
    answer: ResponseFuture,
}

/// The database from a start to the next crash.
struct Process {
    engine: Arc<Engine<BuggyStore>>,
    driver: Driver,
    tasks: Vec<Option<Task>>,
    maintenance: Option<ResponseFuture>,
    /// How often in a row the tree could not be brought up to date.
    failures: usize,
}

/// Why a process ended.
enum ProcessEnd {
    Crash,
    /// There are no more turns.
    Time,
}

impl Simulator {
    fn run(&mut self, scenario: &mut dyn Scenario) -> Result<(), String> {
        while self.turn < self.config.turns as u64 {
            self.schedule_crash();
            let Some(mut process) = self.open(scenario.clients())? else { return Ok(()) };
            let end = self.run_process(&mut process, scenario)?;
            self.end(process, &end, scenario)?;
            if self.config.compacts && self.random.once_in(3) {
                self.compact()?;
            }
        }
        disable_faults();
        let Some(mut process) = self.open(scenario.clients())? else { return Ok(()) };
        scenario.finish(&mut process)?;
        Ok(())
    }

    /// Chooses when the power fails next.
    fn schedule_crash(&mut self) {
        let ahead = 1 + self.random.below(250) as u64;
        let crashes = self.config.crashes;
        let process = self.process_number;
        intercept::with(|disk| {
            disk.crash_at = match crashes {
                Crashes::Never => None,
                Crashes::At(call) | Crashes::Twice(call, _) if process == 0 => Some(call),
                Crashes::Twice(_, call) if process == 1 => Some(disk.calls + call),
                Crashes::At(_) | Crashes::Twice(..) => None,
                Crashes::Often => Some(disk.calls + ahead),
            };
        });
    }

    /// Opens the store. Only damage, or a disk that fails just then, may prevent that.
    fn open(&mut self, clients: usize) -> Result<Option<Process>, String> {
        if self.config.failing_starts {
            let faults = self.config.faults;
            intercept::with(|disk| disk.faults = faults);
            let opened = self.try_to_open(clients);
            intercept::with(|disk| disk.faults = Faults::default());
            match opened {
                Ok(process) => return Ok(Some(process)),
                Err(error) => record_event(format!("a start is aborted: {error}")),
            }
            self.summary.failed_starts += 1;
            intercept::with(Disk::crash);
            self.continue_with_remains()?;
        }
        match self.try_to_open(clients) {
            Ok(process) => {
                self.is_damaged = false;
                Ok(Some(process))
            }
            Err(error @ OpenError::Damaged { .. }) if self.is_damaged => {
                record_event(format!("refused: {error}"));
                self.summary.refused = true;
                Ok(None)
            }
            Err(error) => Err(format!("the store does not open: {error}")),
        }
    }

    fn folder(&self) -> PathBuf {
        self.folders.join(self.process_number.to_string())
    }

    fn try_to_open(&mut self, clients: usize) -> Result<Process, OpenError> {
        let folder = self.folder();
        record_event(format!("open {}", self.process_number));
        let options = Options { durability: self.config.durability };
        let (store, driver) = EmbeddedStore::open_single_threaded(&folder, options)?;
        let store = BuggyStore::new(store, self.config.planted_bug);
        let clock = Clock::Manual(Arc::clone(&self.clock));
        let unreadable = |error: StoreError| OpenError::Io { folder, source: std::io::Error::other(error) };
        let engine = Engine::open(store, "us-east-1", clock).map_err(unreadable)?;
        // Without table secrets, stored keys are the same in every run.
        let engine = engine.with_fixed_tokens();
        let tasks = (0..clients).map(|_| None).collect();
        Ok(Process { engine: Arc::new(engine), driver, tasks, maintenance: None, failures: 0 })
    }

    /// Compacts the data file; the power may fail meanwhile.
    fn compact(&mut self) -> Result<(), String> {
        let ahead = 1 + self.random.below(60) as u64;
        intercept::with(|disk| disk.crash_at = Some(disk.calls + ahead));
        record_event("compact".to_owned());
        self.summary.compactions += 1;
        let compacted = compact_single_threaded(&self.folder());
        if has_crashed() {
            return self.continue_with_remains();
        }
        compacted.map_err(|error| format!("the data file cannot be compacted: {error}"))
    }

    fn run_process(
        &mut self,
        process: &mut Process,
        scenario: &mut dyn Scenario,
    ) -> Result<ProcessEnd, String> {
        for Request { operation, body } in scenario.set_up() {
            process.call(operation, &body);
            if self.summary.calls_until_answer == 0 {
                self.summary.calls_until_answer = intercept::with(|disk| disk.calls).unwrap_or_default();
            }
            if has_crashed() {
                return Ok(ProcessEnd::Crash);
            }
        }
        scenario.check(process)?;
        if has_crashed() {
            return Ok(ProcessEnd::Crash);
        }
        // Reads go through maps from here on, which are not simulated.
        let faults = Faults { read: 0, ..self.config.faults };
        intercept::with(|disk| disk.faults = faults);
        while self.turn < self.config.turns as u64 {
            self.turn += 1;
            self.take_turn(process, scenario)?;
            if has_crashed() {
                return Ok(ProcessEnd::Crash);
            }
        }
        Ok(ProcessEnd::Time)
    }

    fn take_turn(&mut self, process: &mut Process, scenario: &mut dyn Scenario) -> Result<(), String> {
        match self.random.below(100) {
            0..50 => return self.serve(process, scenario),
            50..72 => {
                process.driver.write();
            }
            72..84 => {
                let applied = match self.config.planted_bug {
                    Some(PlantedBug::ApplyOutOfOrder) => process.driver.apply_position_first(),
                    _ => process.driver.apply(),
                };
                // Failures are retried. If LMDB has given up that does not help: the process ends.
                process.failures = if applied.is_err() { process.failures + 1 } else { 0 };
                if process.failures == MAX_FAILURES {
                    intercept::with(Disk::kill);
                }
            }
            84..87 => {
                process.driver.sync();
                // A failed sync is repeated later.
                if self.config.faults.sync == 0 && !has_crashed() {
                    scenario.on_durable();
                }
            }
            87..93 => process.run_maintenance(),
            93..97 => self.advance_clock(scenario.max_clock_jump()),
            97..99 => scenario.observe(process)?,
            _ => {
                let full = self.config.faults.write > 0 && self.random.once_in(2);
                intercept::with(|disk| disk.faults.full = full);
            }
        }
        Ok(())
    }

    /// Lets a client continue, or start a new request.
    fn serve(&mut self, process: &mut Process, scenario: &mut dyn Scenario) -> Result<(), String> {
        let client = self.random.below(process.tasks.len());
        let mut task = match process.tasks[client].take() {
            Some(task) => task,
            None => {
                let now = self.clock.load(Ordering::Relaxed);
                let Some(Request { operation, body }) = scenario.next(client, &mut self.random, now) else {
                    return Ok(());
                };
                intercept::with(|disk| {
                    disk.trace.record_with(format!("client {client}: {operation} "), &body);
                });
                Task { started: self.turn, answer: process.begin(operation, &body) }
            }
        };
        match poll(&mut task.answer) {
            Poll::Pending => process.tasks[client] = Some(task),
            Poll::Ready(answer) => {
                record_event(format!("client {client} receives {}", answer["__type"]));
                self.summary.answers += 1;
                scenario.on_response(client, &answer, task.started, self.turn)?;
                if self.config.durability == Durability::Full || self.config.only_kills {
                    scenario.on_durable();
                }
            }
        }
        Ok(())
    }

    fn advance_clock(&mut self, max_clock_jump: i64) {
        let millis = match self.random.below(10) {
            0 if max_clock_jump != 0 => {
                let far = self.random.below(max_clock_jump.unsigned_abs() as usize) as i64;
                // Scenarios that allow it also see the clock go back, though not as far.
                if max_clock_jump < 0 && self.random.once_in(2) { -far / 100 } else { far }
            }
            1..4 => 1_000,
            _ => self.random.below(20) as i64,
        };
        record_event(format!("the clock moves by {millis} ms"));
        self.clock.fetch_add(millis as u64, Ordering::Relaxed);
    }

    /// Ends a process, and keeps what is left of it.
    fn end(
        &mut self,
        mut process: Process,
        end: &ProcessEnd,
        scenario: &mut dyn Scenario,
    ) -> Result<(), String> {
        let crashed = has_crashed();
        if matches!(end, ProcessEnd::Time) && !crashed && self.random.once_in(2) {
            disable_faults();
            record_event("close".to_owned());
            process.close();
        }
        intercept::with(|disk| {
            disk.faults = Faults::default();
            if !disk.has_crashed() {
                disk.crash();
            }
        });
        for (client, task) in process.tasks.iter_mut().enumerate() {
            if let Some(task) = task.take() {
                scenario.on_lost(client, task.started, self.turn);
            }
        }
        drop(process);
        self.summary.crashes += usize::from(crashed);
        self.continue_with_remains()
    }

    fn continue_with_remains(&mut self) -> Result<(), String> {
        let Some(mut image) = intercept::with(|disk| disk.left.take()).flatten() else {
            return Err("nothing is left".to_owned());
        };
        if self.config.damage {
            self.damage(&mut image);
        }
        self.restart_in_new_folder(&image).map_err(|error| error.to_string())
    }

    fn restart_in_new_folder(&mut self, image: &Image) -> std::io::Result<()> {
        // The old folder is no longer needed, and what is done here is not simulated.
        let Some(mut disk) = intercept::uninstall() else { return Ok(()) };
        std::fs::remove_dir_all(self.folder())?;
        self.process_number += 1;
        let folder = self.folder();
        image.write(&folder)?;
        disk.restart(folder, image, intercept::inode_of);
        intercept::install(disk);
        Ok(())
    }

    /// Loses or damages a file of the log.
    fn damage(&mut self, image: &mut Image) {
        let log: Vec<PathBuf> = image.0.keys().filter(|path| path.starts_with("log")).cloned().collect();
        if log.is_empty() || self.random.once_in(2) {
            return;
        }
        let path = &log[self.random.below(log.len())];
        let Some(Some(bytes)) = image.0.get_mut(path) else { return };
        let kind = self.random.below(4);
        record_event(format!("damage {} (kind {kind})", path.display()));
        self.is_damaged = true;
        match kind {
            0 => {
                image.0.remove(path);
            }
            1 => bytes.truncate(self.random.below(bytes.len() + 1)),
            _ if bytes.is_empty() => {}
            2 => {
                // Most of a segment is empty: damage what is not.
                let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
                let at = self.random.below(used);
                bytes[at] ^= 1 << self.random.below(8);
            }
            _ => {
                let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
                let block = self.random.below(used.div_ceil(4_096)) * 4_096;
                let end = (block + 4_096).min(bytes.len());
                bytes[block..end].fill(0);
            }
        }
    }
}

impl Process {
    fn begin(&self, operation: &str, body: &str) -> ResponseFuture {
        let engine = Arc::clone(&self.engine);
        let operation = Operation::from_name(operation).expect("scenarios know the operations");
        let request = partita_wire::decode(operation, body.as_bytes());
        Box::pin(async move {
            let outcome = match request {
                Ok(request) => engine.execute(request).await,
                Err(Rejection::Malformed(exception) | Rejection::Invalid(exception)) => Err(exception),
            };
            let json = match outcome {
                Ok(response) => partita_wire::encode(&response),
                Err(exception) => partita_wire::encode_exception(&exception),
            };
            serde_json::from_slice(&json).unwrap_or_default()
        })
    }

    /// One turn of the engine's maintenance, or of waiting for its writes.
    fn run_maintenance(&mut self) {
        let engine = Arc::clone(&self.engine);
        let mut maintenance = self.maintenance.take().unwrap_or_else(|| {
            Box::pin(async move {
                // Failures are retried.
                let _ = engine.maintain().await;
                Value::Null
            })
        });
        if poll(&mut maintenance).is_pending() {
            self.maintenance = Some(maintenance);
        }
    }

    /// Clean shutdown: all requests are done, and the tree is up to date.
    fn close(&mut self) {
        self.maintenance = None;
        // If it fails, the next start scans the log.
        let _ = self.driver.close();
    }
}

impl Database for Process {
    fn call(&mut self, operation: &str, body: &str) -> Value {
        let mut answer = self.begin(operation, body);
        for _ in 0..MAX_TURNS {
            if let Poll::Ready(answer) = poll(&mut answer) {
                return answer;
            }
            self.driver.write();
            if has_crashed() {
                break;
            }
        }
        Value::Null
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Before the engine that they share: otherwise the store would not be closed here.
        self.tasks.clear();
        self.maintenance = None;
    }
}

fn poll(answer: &mut ResponseFuture) -> Poll<Value> {
    answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn has_crashed() -> bool {
    intercept::with(|disk| disk.has_crashed()).unwrap_or_default()
}

/// From here on neither the power nor anything else fails.
fn disable_faults() {
    intercept::with(|disk| {
        disk.crash_at = None;
        disk.faults = Faults::default();
    });
}

fn record_event(event: String) {
    intercept::with(|disk| disk.trace.record(event));
}
