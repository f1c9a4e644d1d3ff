//! `partita verify`: checks a database, in a folder that no process has open or on a running server.
//!
//! Exits with 0 if the database is intact, with 3 if something is damaged or inconsistent, and with 2 if it could not be read.

use crate::arguments::Verify;
use crate::client::{Client, VERIFY_PATH};
use crate::progress_bar::ProgressBar;
use partita_engine::clock::Clock;
use partita_engine::verify::{self, Event, Finding, Pace, verify};
use partita_store::StoreError;
use partita_store_embedded::{EmbeddedStore, OpenError, Options};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const CLEAN: u8 = 0;
const FAILED: u8 = 2;
const FOUND: u8 = 3;
/// How often a running server is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Repairing entries changes totals, which are repaired in the next round.
const MAX_ROUNDS: usize = 20;
/// How many findings are repaired in one round.
const MAX_REPAIRS_PER_ROUND: usize = 100_000;

/// How many rows were checked, and how many findings there are.
#[derive(Default)]
struct Summary {
    rows: u64,
    findings: u64,
}

pub fn run(arguments: &Verify) -> ExitCode {
    let verified = match (&arguments.folder, &arguments.endpoint.endpoint) {
        (Some(folder), _) => verify_folder(folder, arguments.repair),
        (None, Some(_)) => verify_server(arguments),
        (None, None) => Err("name the folder of a database, or --endpoint".to_owned()),
    };
    match verified {
        Ok(Summary { rows, findings: 0 }) => {
            println!("{rows} rows were checked; no findings");
            ExitCode::from(CLEAN)
        }
        Ok(Summary { rows, findings }) => {
            println!("{rows} rows were checked, {findings} findings; docs/damage.md says what to do");
            ExitCode::from(FOUND)
        }
        Err(error) => {
            eprintln!("partita: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn verify_folder(folder: &Path, repair: bool) -> Result<Summary, String> {
    if !folder.join("FORMAT").exists() {
        return Err(format!("{} is not the data folder of a database", folder.display()));
    }
    let damaged_pages = check_pages(folder)?;
    for _ in 0..MAX_ROUNDS {
        let store = match EmbeddedStore::open(folder, Options::default()) {
            Ok(store) => store,
            Err(error @ OpenError::Damaged { .. }) => {
                println!("damaged: {error}");
                return Ok(Summary { rows: 0, findings: damaged_pages + 1 });
            }
            Err(error) => return Err(error.to_string()),
        };
        let (summary, repairable) = check_rows(&store)?;
        if !repair {
            return Ok(Summary { findings: summary.findings + damaged_pages, ..summary });
        }
        if !repair_findings(&store, repairable)? {
            store.close();
            let findings = summary.findings + check_pages(folder)?;
            if findings > 0 {
                println!(
                    "the remaining findings cannot be repaired: put the items again or delete them, or copy the rest with partita salvage"
                );
            }
            return Ok(Summary { findings, ..summary });
        }
        println!("checking again:");
    }
    Err(format!("after {MAX_ROUNDS} rounds there is still something to repair"))
}

/// Repairs findings, and gives up what was lost with damaged pages. Returns whether there was anything to do.
fn repair_findings(store: &EmbeddedStore, repairable: Vec<Finding>) -> Result<bool, String> {
    let text = |error: StoreError| error.to_string();
    let given_up = store.forget_damage().map_err(text)?;
    if given_up > 0 {
        println!("what was lost in {given_up} ranges of keys is given up");
    }
    if repairable.is_empty() {
        return Ok(given_up > 0);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    let rows = runtime.block_on(verify::repair(store, repairable)).map_err(text)?;
    println!("{rows} rows were repaired");
    Ok(true)
}

/// Checks every page of the data file, below the rows. Data files of early versions have no checksums.
fn check_pages(folder: &Path) -> Result<u64, String> {
    if !folder.join("sums").exists() {
        return Ok(0);
    }
    let mut bar = TotalsBar::new("pages");
    let verified = partita_store_embedded::verify(folder, |done, all| bar.advance_to(done, all));
    bar.finish();
    let verified = verified.map_err(|error| error.to_string())?;
    verified.findings.iter().for_each(|finding| println!("damaged: {finding}"));
    println!("{} pages were checked", verified.pages);
    Ok(verified.findings.len() as u64)
}

/// Checks the rows of a store that nothing else uses, and prints findings. Returns those that can be repaired.
fn check_rows(store: &EmbeddedStore) -> Result<(Summary, Vec<Finding>), String> {
    let (mut bar, mut repairable) = (TotalsBar::new("rows"), Vec::new());
    let verified = verify(store, &Clock::System, Pace::EXCLUSIVE, |event| {
        match event {
            Event::Finding(finding) => {
                println!("{finding}");
                if !finding.remedy.is_empty() && repairable.len() < MAX_REPAIRS_PER_ROUND {
                    repairable.push(finding);
                }
            }
            Event::NotCompared(text) => println!("not compared: {text}"),
            Event::Progress(progress) => bar.advance_to(progress.rows, progress.expected_rows),
        }
        ControlFlow::Continue(())
    });
    bar.finish();
    let summary = verified.map_err(|error| error.to_string())?;
    Ok((Summary { rows: summary.rows, findings: summary.findings }, repairable))
}

fn verify_server(arguments: &Verify) -> Result<Summary, String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let mut report = client.administer(VERIFY_PATH, "POST", &[], b"")?;
    let mut bar = TotalsBar::new("rows");
    let mut printed = 0;
    loop {
        let number = |name: &str| report[name].as_u64().unwrap_or_default();
        let findings = list(&report["findings"]);
        findings.iter().for_each(|finding| println!("{}", finding["line"].as_str().unwrap_or_default()));
        printed += findings.len();
        bar.advance_to(number("rows"), number("expectedRows"));
        if findings.is_empty() && report["running"] == false {
            break;
        }
        if findings.is_empty() {
            std::thread::sleep(POLL_INTERVAL);
        }
        report = client.administer(VERIFY_PATH, "GET", &[("after", &printed.to_string())], b"")?;
    }
    bar.finish();
    list(&report["notCompared"])
        .iter()
        .for_each(|text| println!("not compared: {}", text.as_str().unwrap_or_default()));
    match (report["failure"].as_str(), report["finished"].as_bool()) {
        (Some(failure), _) => Err(failure.to_owned()),
        (None, Some(true)) => Ok(Summary {
            rows: report["rows"].as_u64().unwrap_or_default(),
            findings: report["findingCount"].as_u64().unwrap_or_default(),
        }),
        (None, _) => Err("the server stopped the verification".to_owned()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A progress bar that is advanced by totals, and created at the first.
struct TotalsBar {
    bar: Option<ProgressBar>,
    done: u64,
    unit: &'static str,
}

impl TotalsBar {
    fn new(unit: &'static str) -> TotalsBar {
        TotalsBar { bar: None, done: 0, unit }
    }

    fn advance_to(&mut self, done: u64, expected: u64) {
        if done <= self.done {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| ProgressBar::counting(expected, self.unit));
        bar.advance(done - self.done);
        self.done = done;
    }

    fn finish(&self) {
        self.bar.iter().for_each(|bar| {
            bar.finish();
        });
    }
}
