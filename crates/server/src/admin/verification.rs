//! `/_partita/verify`: POST starts a verification of the whole database, GET returns its progress and findings.
//!
//! One runs at a time, on a thread of its own and in small pages, so that requests do not wait for it. `?after=N` leaves out
//! the first N findings, for clients that poll.

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

pub const VERIFY_PATH: &str = "/_partita/verify";
/// Further findings are counted but not stored.
const MAX_FINDINGS: usize = 10_000;
const MAX_NOTES: usize = 100;
/// How many findings a response has at most.
const MAX_RETURNED_FINDINGS: usize = 1_000;
/// Further findings are not logged one by one.
const MAX_LOGGED_FINDINGS: u64 = 20;

/// The running verification, or the last one.
#[derive(Default)]
pub struct Verification {
    report: Mutex<Report>,
    requested: Notify,
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

    /// The response to a request, as JSON.
    pub fn handle(&self, method: &Method, query: &str) -> Result<Vec<u8>, Exception> {
        match *method {
            Method::POST => self.begin(),
            Method::GET => {}
            _ => return Err(Exception::validation("Only GET and POST are supported")),
        }
        let after = query.strip_prefix("after=").and_then(|number| number.parse().ok()).unwrap_or(0);
        Ok(self.report().to_json(after).to_string().into_bytes())
    }

    fn begin(&self) {
        let mut report = self.report();
        if !report.running {
            *report = Report { running: true, ..Report::default() };
            self.requested.notify_one();
        }
    }

    /// Waits until one is requested. Returns whether to run it; otherwise the server stops.
    pub async fn is_due(&self) -> bool {
        self.requested.notified().await;
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the running verification, and the waiting for another.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.requested.notify_one();
    }

    /// Runs a verification to its end. Blocks the thread.
    pub fn run<S: Store>(&self, engine: &Engine<S>) {
        let outcome = engine.verify(Pace::SHARED, |event| self.record(event));
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

    /// Records that a run ended without an outcome.
    pub fn failed(&self) {
        let mut report = self.report();
        report.outcome = Some(Err("the verification failed; the log says why".to_owned()));
        report.running = false;
    }

    fn record(&self, event: Event) -> ControlFlow<()> {
        self.report().record(event);
        match self.stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Report {
    fn record(&mut self, event: Event) {
        match event {
            Event::Progress(progress) => self.progress = progress,
            Event::NotCompared(text) if self.notes.len() < MAX_NOTES => self.notes.push(text),
            Event::NotCompared(_) => {}
            Event::Finding(mut finding) => {
                // Nothing is repaired here, and the remedy may be large.
                finding.remedy = Vec::new();
                self.finding_count += 1;
                if self.finding_count <= MAX_LOGGED_FINDINGS {
                    tracing::error!(%finding, "the database is inconsistent");
                }
                if self.findings.len() < MAX_FINDINGS {
                    self.findings.push(finding);
                }
            }
        }
    }

    fn to_json(&self, after: usize) -> Value {
        let findings: Vec<_> =
            self.findings.iter().skip(after).take(MAX_RETURNED_FINDINGS).map(finding_json).collect();
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
