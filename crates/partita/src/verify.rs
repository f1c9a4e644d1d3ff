//! `partita verify`: checks a database, in a folder that nobody has open or on a running server.
//!
//! Exits with 0 if all is as it should be, with 3 if something is damaged or wrong, and with 2 if it could not be looked at.

use crate::arguments::Verify;
use crate::client::{Client, VERIFY_PATH};
use crate::progress_bar::Progress;
use partita_engine::clock::Clock;
use partita_engine::verify::{Event, Finding, Pace, mend, verify};
use partita_store::StoreError;
use partita_store_embedded::{EmbeddedStore, OpenError, Options};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const CLEAN: u8 = 0;
const TROUBLE: u8 = 2;
const WRONG: u8 = 3;
/// How often a running server is asked.
const PAUSE: Duration = Duration::from_millis(200);
/// Mending entries changes totals, which are mended in the next round.
const MOST_ROUNDS: usize = 20;
/// So many findings are mended in one round.
const MENDED_AT_ONCE: usize = 100_000;

/// What was looked at.
#[derive(Default)]
struct Sum {
    rows: u64,
    findings: u64,
}

pub fn run(arguments: &Verify) -> ExitCode {
    let verified = match (&arguments.folder, &arguments.endpoint.endpoint) {
        (Some(folder), _) => in_folder(folder, arguments.repair),
        (None, Some(_)) => on_server(arguments),
        (None, None) => Err("name the folder of a database, or --endpoint".to_owned()),
    };
    match verified {
        Ok(Sum { rows, findings: 0 }) => {
            println!("{rows} rows were looked at, and all is as it should be");
            ExitCode::from(CLEAN)
        }
        Ok(Sum { rows, findings }) => {
            println!("{rows} rows were looked at, {findings} findings; docs/damage.md says what to do");
            ExitCode::from(WRONG)
        }
        Err(trouble) => {
            eprintln!("partita: {trouble}");
            ExitCode::from(TROUBLE)
        }
    }
}

fn in_folder(folder: &Path, repair: bool) -> Result<Sum, String> {
    if !folder.join("FORMAT").exists() {
        return Err(format!("{} is not the data folder of a database", folder.display()));
    }
    let damaged_pages = look_at_pages(folder)?;
    for _ in 0..MOST_ROUNDS {
        let store = match EmbeddedStore::open(folder, Options::default()) {
            Ok(store) => store,
            Err(error @ OpenError::Damaged { .. }) => {
                println!("damaged: {error}");
                return Ok(Sum { rows: 0, findings: damaged_pages + 1 });
            }
            Err(error) => return Err(error.to_string()),
        };
        let (sum, mendable) = look(&store)?;
        if !repair {
            return Ok(Sum { findings: sum.findings + damaged_pages, ..sum });
        }
        if !mended(&store, mendable)? {
            store.close();
            let findings = sum.findings + look_at_pages(folder)?;
            if findings > 0 {
                println!(
                    "what is left cannot be mended: put the items anew or delete them, or copy the rest with partita salvage"
                );
            }
            return Ok(Sum { findings, ..sum });
        }
        println!("once more from the beginning:");
    }
    Err(format!("after {MOST_ROUNDS} rounds there is still something to mend"))
}

/// Mends what can be mended, and takes what was lost with damaged pages for lost. Says whether there was anything.
fn mended(store: &EmbeddedStore, mendable: Vec<Finding>) -> Result<bool, String> {
    let told = |error: StoreError| error.to_string();
    let given_up = store.forget_damage().map_err(told)?;
    if given_up > 0 {
        println!("what was lost in {given_up} ranges of keys is given up");
    }
    if mendable.is_empty() {
        return Ok(given_up > 0);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    let rows = runtime.block_on(mend(store, mendable)).map_err(told)?;
    println!("{rows} rows were mended");
    Ok(true)
}

/// What is below the rows: every page of the data file. Those of early versions have no checksums yet.
fn look_at_pages(folder: &Path) -> Result<u64, String> {
    if !folder.join("sums").exists() {
        return Ok(0);
    }
    let mut shown = Shown::of("pages");
    let verified = partita_store_embedded::verify(folder, |done, all| shown.advance_to(done, all));
    shown.finish();
    let verified = verified.map_err(|error| error.to_string())?;
    verified.findings.iter().for_each(|finding| println!("damaged: {finding}"));
    println!("{} pages were looked at", verified.pages);
    Ok(verified.findings.len() as u64)
}

/// Verifies a store that nobody else uses, and shows what it finds. What can be mended comes back.
fn look(store: &EmbeddedStore) -> Result<(Sum, Vec<Finding>), String> {
    let (mut shown, mut mendable) = (Shown::of("rows"), Vec::new());
    let verified = verify(store, &Clock::System, Pace::ALONE, |event| {
        match event {
            Event::Finding(finding) => {
                println!("{finding}");
                if !finding.remedy.is_empty() && mendable.len() < MENDED_AT_ONCE {
                    mendable.push(finding);
                }
            }
            Event::NotCompared(text) => println!("not compared: {text}"),
            Event::Progress(progress) => shown.advance_to(progress.rows, progress.expected_rows),
        }
        ControlFlow::Continue(())
    });
    shown.finish();
    let summary = verified.map_err(|error| error.to_string())?;
    Ok((Sum { rows: summary.rows, findings: summary.findings }, mendable))
}

fn on_server(arguments: &Verify) -> Result<Sum, String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let mut report = client.administer(VERIFY_PATH, "POST", &[], b"")?;
    let mut shown = Shown::of("rows");
    let mut told = 0;
    loop {
        let number = |name: &str| report[name].as_u64().unwrap_or_default();
        let findings = list(&report["findings"]);
        findings.iter().for_each(|finding| println!("{}", finding["line"].as_str().unwrap_or_default()));
        told += findings.len();
        shown.advance_to(number("rows"), number("expectedRows"));
        if findings.is_empty() && report["running"] == false {
            break;
        }
        if findings.is_empty() {
            std::thread::sleep(PAUSE);
        }
        report = client.administer(VERIFY_PATH, "GET", &[("after", &told.to_string())], b"")?;
    }
    shown.finish();
    list(&report["notCompared"])
        .iter()
        .for_each(|text| println!("not compared: {}", text.as_str().unwrap_or_default()));
    match (report["failure"].as_str(), report["finished"].as_bool()) {
        (Some(failure), _) => Err(failure.to_owned()),
        (None, Some(true)) => Ok(Sum {
            rows: report["rows"].as_u64().unwrap_or_default(),
            findings: report["findingCount"].as_u64().unwrap_or_default(),
        }),
        (None, _) => Err("the server stopped the verification".to_owned()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A bar that is told totals.
struct Shown {
    bar: Option<Progress>,
    done: u64,
    /// Of what.
    unit: &'static str,
}

impl Shown {
    fn of(unit: &'static str) -> Shown {
        Shown { bar: None, done: 0, unit }
    }

    fn advance_to(&mut self, done: u64, expected: u64) {
        if done <= self.done {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| Progress::counting(expected, self.unit));
        bar.advance(done - self.done);
        self.done = done;
    }

    fn finish(&self) {
        self.bar.iter().for_each(|bar| {
            bar.finish();
        });
    }
}
