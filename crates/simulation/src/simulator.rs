//! Who is next: clients, the store's steps, the engine's upkeep, the clock, a fault, the end. One thread, one seed.

use crate::disk::{Disk, Faults};
use crate::image::Image;
use crate::intercept;
use crate::plant::{Plant, PlantedStore};
use crate::scenario::{Ask, Database, Scenario};
use partita_api::Operation;
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_list_append::random::Random;
use partita_store::StoreError;
use partita_store_embedded::{Durability, EmbeddedStore, OpenError, Options, Steps, compact_stepwise};
use partita_wire::Rejection;
use serde_json::Value;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// 2026-11-15T00:00:00Z.
const START_MILLIS: u64 = 1_794_700_800_000;
/// The server has more patience, and as little chance then.
const FAILURES_BEFORE_THE_END: usize = 4;
/// More turns than any request takes.
const MOST_TURNS: usize = 10_000;

/// When the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crashes {
    Never,
    /// At this call of the disk, and then never again.
    At(u64),
    /// At this call of the first life, then at this call of the second, and then never again.
    Twice(u64, u64),
    /// Again and again.
    Often,
}

/// All that a run depends on, beside the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub turns: usize,
    pub crashes: Crashes,
    pub faults: Faults,
    /// Whether the disk may fail during a start as well, which then is given up.
    pub failing_starts: bool,
    /// Whether the data file is compacted between two lives, with the power going meanwhile.
    pub compacts: bool,
    /// The process is killed, and the power stays.
    pub only_kills: bool,
    /// Whether files of the log are lost or damaged between two lives.
    pub damage: bool,
    pub durability: Durability,
    pub plant: Option<Plant>,
}

impl Plan {
    pub fn of_seed(seed: u64) -> Plan {
        Plan {
            seed,
            turns: 600,
            crashes: Crashes::Often,
            faults: Faults::default(),
            failing_starts: false,
            compacts: false,
            only_kills: false,
            damage: false,
            durability: Durability::Full,
            plant: None,
        }
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sum and number of all that happened.
    pub trace: (u64, u64),
    pub crashes: usize,
    /// Calls of the disk.
    pub calls: u64,
    /// How many there were until the first request was answered.
    pub calls_until_answer: u64,
    pub answers: usize,
    /// The store found damage and did not open.
    pub refused: bool,
    /// Starts that were given up because the disk failed.
    pub failed_starts: usize,
    /// How often the data file was compacted, with a crash or without.
    pub compactions: usize,
}

/// Runs a scenario. An error says what does not hold, with the last of what happened.
pub fn simulate(scenario: &mut dyn Scenario, plan: &Plan) -> Result<Summary, String> {
    // On a thread of its own: what a thread keeps from one run would tell in the next.
    std::thread::scope(|scope| {
        let run = scope.spawn(|| simulate_here(scenario, plan));
        run.join().unwrap_or_else(|_| Err(format!("a panic\n{plan:?}")))
    })
}

fn simulate_here(scenario: &mut dyn Scenario, plan: &Plan) -> Result<Summary, String> {
    let mut random = Random::new(plan.seed);
    let mut disk = Disk::new(PathBuf::from("/nowhere"), Random::new(random.number()), plan.plant);
    // Damage to the last record cannot be told from a power loss.
    disk.only_kills = plan.damage || plan.only_kills;
    intercept::install(disk);
    let folders =
        tempfile::Builder::new().prefix("simulation").tempdir().map_err(|error| error.to_string())?;
    let root = folders.path().canonicalize().map_err(|error| error.to_string())?;
    std::fs::create_dir(root.join("0")).map_err(|error| error.to_string())?;
    intercept::with(|disk| disk.root = root.join("0"));
    let mut simulator = Simulator {
        plan: *plan,
        random,
        clock: Arc::new(AtomicU64::new(START_MILLIS)),
        turn: 0,
        lives: 0,
        folders: root,
        is_damaged: false,
        summary: Summary::default(),
    };
    let outcome = simulator.run(scenario);
    let disk = intercept::uninstall();
    let mut summary = simulator.summary;
    let last = disk.map_or_else(String::new, |disk| {
        (summary.trace, summary.calls) = (disk.trace.sum(), disk.calls);
        disk.trace.last()
    });
    outcome.map(|()| summary).map_err(|what| format!("{what}\n{plan:?}\nwhat happened last:\n{last}"))
}

struct Simulator {
    plan: Plan,
    random: Random,
    clock: Arc<AtomicU64>,
    turn: u64,
    lives: u64,
    /// Each life has a folder of its own in this one.
    folders: PathBuf,
    /// Whether a file was damaged since the last start.
    is_damaged: bool,
    summary: Summary,
}

type Answering = Pin<Box<dyn Future<Output = Value>>>;

/// A request under way.
struct Task {
    begun: u64,
    answer: Answering,
}

/// The database from a start to the next crash.
struct Life {
    engine: Arc<Engine<PlantedStore>>,
    steps: Steps,
    tasks: Vec<Option<Task>>,
    upkeep: Option<Answering>,
    /// How often in a row the tree could not be brought up to date.
    failures: usize,
}

/// Why a life ended.
enum End {
    Crash,
    /// There are no more turns.
    Time,
}

impl Simulator {
    fn run(&mut self, scenario: &mut dyn Scenario) -> Result<(), String> {
        while self.turn < self.plan.turns as u64 {
            self.arm();
            let Some(mut life) = self.open(scenario.clients())? else { return Ok(()) };
            let end = self.live(&mut life, scenario)?;
            self.end(life, &end, scenario)?;
            if self.plan.compacts && self.random.once_in(3) {
                self.compact()?;
            }
        }
        disarm();
        let Some(mut life) = self.open(scenario.clients())? else { return Ok(()) };
        scenario.finish(&mut life)?;
        Ok(())
    }

    /// Chooses when the power goes next.
    fn arm(&mut self) {
        let ahead = 1 + self.random.below(250) as u64;
        let crashes = self.plan.crashes;
        let life = self.lives;
        intercept::with(|disk| {
            disk.crash_at = match crashes {
                Crashes::Never => None,
                Crashes::At(call) | Crashes::Twice(call, _) if life == 0 => Some(call),
                Crashes::Twice(_, call) if life == 1 => Some(disk.calls + call),
                Crashes::At(_) | Crashes::Twice(..) => None,
                Crashes::Often => Some(disk.calls + ahead),
            };
        });
    }

    /// Opens the store. Nothing but damage, or a disk that fails just then, may keep it from that.
    fn open(&mut self, clients: usize) -> Result<Option<Life>, String> {
        if self.plan.failing_starts {
            let faults = self.plan.faults;
            intercept::with(|disk| disk.faults = faults);
            let opened = self.try_to_open(clients);
            intercept::with(|disk| disk.faults = Faults::default());
            match opened {
                Ok(life) => return Ok(Some(life)),
                Err(error) => note(format!("a start is given up: {error}")),
            }
            self.summary.failed_starts += 1;
            intercept::with(Disk::crash);
            self.go_on_with_what_is_left()?;
        }
        match self.try_to_open(clients) {
            Ok(life) => {
                self.is_damaged = false;
                Ok(Some(life))
            }
            Err(error @ OpenError::Damaged { .. }) if self.is_damaged => {
                note(format!("refused: {error}"));
                self.summary.refused = true;
                Ok(None)
            }
            Err(error) => Err(format!("the store does not open: {error}")),
        }
    }

    fn folder(&self) -> PathBuf {
        self.folders.join(self.lives.to_string())
    }

    fn try_to_open(&mut self, clients: usize) -> Result<Life, OpenError> {
        let folder = self.folder();
        note(format!("open {}", self.lives));
        let options = Options { durability: self.plan.durability };
        let (store, steps) = EmbeddedStore::open_stepwise(&folder, options)?;
        let store = PlantedStore::new(store, self.plan.plant);
        let clock = Clock::Manual(Arc::clone(&self.clock));
        let unreadable = |error: StoreError| OpenError::Io { folder, source: std::io::Error::other(error) };
        let engine = Engine::open(store, "us-east-1", clock).map_err(unreadable)?;
        // Secrets of tables come from the process, not from the seed.
        let engine = engine.with_fixed_tokens();
        let tasks = (0..clients).map(|_| None).collect();
        Ok(Life { engine: Arc::new(engine), steps, tasks, upkeep: None, failures: 0 })
    }

    /// Compacts the data file; the power may go meanwhile.
    fn compact(&mut self) -> Result<(), String> {
        let ahead = 1 + self.random.below(60) as u64;
        intercept::with(|disk| disk.crash_at = Some(disk.calls + ahead));
        note("compact".to_owned());
        self.summary.compactions += 1;
        let compacted = compact_stepwise(&self.folder());
        if has_crashed() {
            return self.go_on_with_what_is_left();
        }
        compacted.map_err(|error| format!("the data file cannot be compacted: {error}"))
    }

    fn live(&mut self, life: &mut Life, scenario: &mut dyn Scenario) -> Result<End, String> {
        for Ask { operation, body } in scenario.set_up() {
            life.ask(operation, &body);
            if self.summary.calls_until_answer == 0 {
                self.summary.calls_until_answer = intercept::with(|disk| disk.calls).unwrap_or_default();
            }
            if has_crashed() {
                return Ok(End::Crash);
            }
        }
        scenario.check(life)?;
        if has_crashed() {
            return Ok(End::Crash);
        }
        // What is read meanwhile is read through maps, and they are not simulated.
        let faults = Faults { read: 0, ..self.plan.faults };
        intercept::with(|disk| disk.faults = faults);
        while self.turn < self.plan.turns as u64 {
            self.turn += 1;
            self.take_turn(life, scenario)?;
            if has_crashed() {
                return Ok(End::Crash);
            }
        }
        Ok(End::Time)
    }

    fn take_turn(&mut self, life: &mut Life, scenario: &mut dyn Scenario) -> Result<(), String> {
        match self.random.below(100) {
            0..50 => return self.serve(life, scenario),
            50..72 => {
                life.steps.write();
            }
            72..84 => {
                let applied = match self.plan.plant {
                    Some(Plant::ApplyOutOfOrder) => life.steps.apply_position_first(),
                    _ => life.steps.apply(),
                };
                // What fails is tried again. When LMDB has given up that does not help: the process ends.
                life.failures = if applied.is_err() { life.failures + 1 } else { 0 };
                if life.failures == FAILURES_BEFORE_THE_END {
                    intercept::with(Disk::kill);
                }
            }
            84..87 => {
                life.steps.flush();
                // One that fails is made up for later.
                if self.plan.faults.flush == 0 && !has_crashed() {
                    scenario.durable();
                }
            }
            87..93 => life.keep_up(),
            93..97 => self.pass_time(scenario.largest_jump()),
            97..99 => scenario.look(life)?,
            _ => {
                let full = self.plan.faults.write > 0 && self.random.once_in(2);
                intercept::with(|disk| disk.faults.full = full);
            }
        }
        Ok(())
    }

    /// Lets a client go on, or begin something new.
    fn serve(&mut self, life: &mut Life, scenario: &mut dyn Scenario) -> Result<(), String> {
        let client = self.random.below(life.tasks.len());
        let mut task = match life.tasks[client].take() {
            Some(task) => task,
            None => {
                let now = self.clock.load(Ordering::Relaxed);
                let Some(Ask { operation, body }) = scenario.next(client, &mut self.random, now) else {
                    return Ok(());
                };
                intercept::with(|disk| {
                    disk.trace.note_with(format!("client {client}: {operation} "), &body);
                });
                Task { begun: self.turn, answer: life.begin(operation, &body) }
            }
        };
        match poll(&mut task.answer) {
            Poll::Pending => life.tasks[client] = Some(task),
            Poll::Ready(answer) => {
                note(format!("client {client} is answered: {}", answer["__type"]));
                self.summary.answers += 1;
                scenario.answered(client, &answer, task.begun, self.turn)?;
                if self.plan.durability == Durability::Full || self.plan.only_kills {
                    scenario.durable();
                }
            }
        }
        Ok(())
    }

    fn pass_time(&mut self, largest_jump: i64) {
        let millis = match self.random.below(10) {
            0 if largest_jump != 0 => {
                let far = self.random.below(largest_jump.unsigned_abs() as usize) as i64;
                // Scenarios that allow it also see the clock go back, not so far.
                if largest_jump < 0 && self.random.once_in(2) { -far / 100 } else { far }
            }
            1..4 => 1_000,
            _ => self.random.below(20) as i64,
        };
        note(format!("the clock moves by {millis} ms"));
        self.clock.fetch_add(millis as u64, Ordering::Relaxed);
    }

    /// The end of a life, and what is left of it.
    fn end(&mut self, mut life: Life, end: &End, scenario: &mut dyn Scenario) -> Result<(), String> {
        let crashed = has_crashed();
        if matches!(end, End::Time) && !crashed && self.random.once_in(2) {
            disarm();
            note("close".to_owned());
            life.close();
        }
        intercept::with(|disk| {
            disk.faults = Faults::default();
            if !disk.has_crashed() {
                disk.crash();
            }
        });
        for (client, task) in life.tasks.iter_mut().enumerate() {
            if let Some(task) = task.take() {
                scenario.lost(client, task.begun, self.turn);
            }
        }
        drop(life);
        self.summary.crashes += usize::from(crashed);
        self.go_on_with_what_is_left()
    }

    fn go_on_with_what_is_left(&mut self) -> Result<(), String> {
        let Some(mut image) = intercept::with(|disk| disk.left.take()).flatten() else {
            return Err("nothing is left".to_owned());
        };
        if self.plan.damage {
            self.damage(&mut image);
        }
        self.start_again(&image).map_err(|error| error.to_string())
    }

    fn start_again(&mut self, image: &Image) -> std::io::Result<()> {
        // What a life left behind is of no more use, and what is done here is not simulated.
        let Some(mut disk) = intercept::uninstall() else { return Ok(()) };
        std::fs::remove_dir_all(self.folder())?;
        self.lives += 1;
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
        let way = self.random.below(4);
        note(format!("damage {} in way {way}", path.display()));
        self.is_damaged = true;
        match way {
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

impl Life {
    fn begin(&self, operation: &str, body: &str) -> Answering {
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

    /// One turn of the engine's upkeep, or of waiting for its writes.
    fn keep_up(&mut self) {
        let engine = Arc::clone(&self.engine);
        let mut upkeep = self.upkeep.take().unwrap_or_else(|| {
            Box::pin(async move {
                // What fails is tried again.
                let _ = engine.maintain().await;
                Value::Null
            })
        });
        if poll(&mut upkeep).is_pending() {
            self.upkeep = Some(upkeep);
        }
    }

    /// A clean end: all requests are over, and the tree has everything.
    fn close(&mut self) {
        self.upkeep = None;
        // If it fails the next start looks through the log.
        let _ = self.steps.close();
    }
}

impl Database for Life {
    fn ask(&mut self, operation: &str, body: &str) -> Value {
        let mut answer = self.begin(operation, body);
        for _ in 0..MOST_TURNS {
            if let Poll::Ready(answer) = poll(&mut answer) {
                return answer;
            }
            self.steps.write();
            if has_crashed() {
                break;
            }
        }
        Value::Null
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // Before the engine that they borrow a part of: else the store would not end here.
        self.tasks.clear();
        self.upkeep = None;
    }
}

fn poll(answer: &mut Answering) -> Poll<Value> {
    answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn has_crashed() -> bool {
    intercept::with(|disk| disk.has_crashed()).unwrap_or_default()
}

/// From here on neither the power goes nor anything fails.
fn disarm() {
    intercept::with(|disk| {
        disk.crash_at = None;
        disk.faults = Faults::default();
    });
}

fn note(event: String) {
    intercept::with(|disk| disk.trace.note(event));
}
