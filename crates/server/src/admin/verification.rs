//! `/_partita/verify`: POST begins a verification of the whole database, GET tells how far it has come and what it found.
//!
//! One runs at a time, on a thread of its own and in small pages, so that nobody waits for it. `?after=N` leaves out the
//! first N findings, for whoever asks again and again.

use hyper::Method;
use partita_api::Exception;
use partita_engine::Engine;
use partita_engine::verify::{Event, Finding, Pace, Progress, Summary, hex};
use partita_store::Store;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Where it is.
pub const VERIFY_PATH: &str = "/_partita/verify";
/// More findings are counted but not kept.
const KEPT_FINDINGS: usize = 10_000;
const KEPT_NOTES: usize = 100;
/// So many findings of one answer.
const TOLD_FINDINGS: usize = 1_000;
/// More findings are not in the log one by one.
const LOGGED_FINDINGS: u64 = 20;

/// The verification that runs, or the last one.
#[derive(Default)]
pub struct Verification {
    report: Mutex<Report>,
    asked: Notify,
    stopped: AtomicBool,
}

#[derive(Default)]
struct Report {
    running: bool,
    progress: Progress,
    findings: Vec<Finding>,
    finding_count: u64,
    notes: Vec<String>,
    outcome: Option<Result<Summary, String>>,
}

impl Verification {
    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a request, as JSON.
    pub fn administer(&self, method: &Method, query: &str) -> Result<Vec<u8>, Exception> {
        match *method {
            Method::POST => self.begin(),
            Method::GET => {}
            _ => return Err(Exception::validation("GET or POST")),
        }
        let after = query.strip_prefix("after=").and_then(|number| number.parse().ok()).unwrap_or(0);
        Ok(self.report().to_json(after).to_string().into_bytes())
    }

    fn begin(&self) {
        let mut report = self.report();
        if !report.running {
            *report = Report { running: true, ..Report::default() };
            self.asked.notify_one();
        }
    }

    /// Waits until one is asked for; says whether to run it, or to end.
    pub async fn is_due(&self) -> bool {
        self.asked.notified().await;
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the one that runs, and the waiting for another.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.asked.notify_one();
    }

    /// Runs to the end. Takes a thread.
    pub fn run<S: Store>(&self, engine: &Engine<S>) {
        let outcome = engine.verify(Pace::BESIDE_OTHERS, |event| self.hear(event));
        match &outcome {
            Ok(summary) => {
                tracing::info!(rows = summary.rows, findings = summary.findings, "the database was verified");
            }
            Err(error) => tracing::error!(%error, "the database could not be verified"),
        }
        let mut report = self.report();
        report.outcome = Some(outcome.map_err(|error| error.to_string()));
        report.running = false;
    }

    /// A run ended without an outcome.
    pub fn failed(&self) {
        let mut report = self.report();
        report.outcome = Some(Err("the verification failed; the log says why".to_owned()));
        report.running = false;
    }

    fn hear(&self, event: Event) -> ControlFlow<()> {
        self.report().take(event);
        match self.stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Report {
    fn take(&mut self, event: Event) {
        match event {
            Event::Progress(progress) => self.progress = progress,
            Event::NotCompared(text) if self.notes.len() < KEPT_NOTES => self.notes.push(text),
            Event::NotCompared(_) => {}
            Event::Finding(mut finding) => {
                // Nothing is mended here, and what it would be mended by may be large.
                finding.remedy = Vec::new();
                self.finding_count += 1;
                if self.finding_count <= LOGGED_FINDINGS {
                    tracing::error!(%finding, "the database is not as it should be");
                }
                if self.findings.len() < KEPT_FINDINGS {
                    self.findings.push(finding);
                }
            }
        }
    }

    fn to_json(&self, after: usize) -> Value {
        let findings: Vec<_> =
            self.findings.iter().skip(after).take(TOLD_FINDINGS).map(finding_json).collect();
        let outcome = self.outcome.as_ref();
        json!({
            "running": self.running,
            "finished": outcome.is_some_and(|outcome| outcome.as_ref().is_ok_and(|summary| summary.finished)),
            "failure": outcome.and_then(|outcome| outcome.as_ref().err()),
            "rows": self.progress.rows,
            "expectedRows": self.progress.expected_rows,
            "at": self.progress.at,
            "findingCount": self.finding_count,
            "findings": findings,
            "notCompared": self.notes,
        })
    }
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(), "table": finding.table, "key": hex(&finding.key), "text": finding.text,
        "line": finding.to_string(),
    })
}
