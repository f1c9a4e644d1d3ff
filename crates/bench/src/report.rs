//! The results as text for the terminal and as Markdown for docs/benchmarks.md.

use crate::client::load::Measurement;
use std::fmt;
use std::fmt::Write;
use std::time::Duration;

/// The results of one workload at one number of connections.
pub struct WorkloadResult {
    pub workload: &'static str,
    pub connections: usize,
    pub durable: Measurement,
    /// The same at half that rate, for reads.
    pub half: Option<Measurement>,
    pub bare: Measurement,
    pub relaxed: Option<Measurement>,
    pub verified: Measurement,
    pub tls: Measurement,
}

impl fmt::Display for WorkloadResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<14} c={:<3} {:>7.0}/s  bare {:>7.0}/s  ratio {:.2}  verified {:.2}  TLS {:.2}  p50 {:.3} ms  p99 {:.3} ms  max {:.1} ms",
            self.workload,
            self.connections,
            self.durable.rate,
            self.bare.rate,
            self.durable.rate / self.bare.rate,
            self.verified.rate / self.durable.rate,
            self.tls.rate / self.durable.rate,
            millis(self.durable.p50),
            millis(self.durable.p99),
            millis(self.durable.max),
        )?;
        if let Some(half) = &self.half {
            write!(f, "  at half the rate p99 {:.3} ms", millis(half.p99))?;
        }
        if let Some(relaxed) = &self.relaxed {
            write!(f, "  relaxed {:.0}/s", relaxed.rate)?;
        }
        if self.durable.failed > 0 {
            write!(f, "  failed {}", self.durable.failed)?;
        }
        Ok(())
    }
}

pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

pub struct Report {
    sync_rate: f64,
    items: u64,
    started_in: Duration,
    idle_bytes: u64,
    resident_bytes: u64,
    lines: Vec<WorkloadResult>,
}

impl Report {
    pub fn new(sync_rate: f64, items: u64) -> Report {
        println!("the disk syncs {sync_rate:.0} times per second");
        let zero = Duration::ZERO;
        Report { sync_rate, items, started_in: zero, idle_bytes: 0, resident_bytes: 0, lines: Vec::new() }
    }

    pub fn started(&mut self, started_in: Duration, idle_bytes: u64) {
        println!(
            "started in {:.1} ms, {:.1} MB of private memory when idle",
            millis(started_in),
            megabytes(idle_bytes)
        );
        (self.started_in, self.idle_bytes) = (started_in, idle_bytes);
    }

    pub fn resident(&mut self, bytes: u64) {
        println!("{:.1} MB of private memory at the end", megabytes(bytes));
        self.resident_bytes = bytes;
    }

    pub fn add(&mut self, line: WorkloadResult) {
        self.lines.push(line);
    }

    pub fn to_markdown(&self) -> String {
        let mut text = String::from(HEADING);
        let _ = writeln!(
            text,
            "- Machine: {} cores, {}, shared by the client, Partita and the bare server.",
            std::thread::available_parallelism().map_or(0, usize::from),
            processor()
        );
        let _ = writeln!(text, "- Date: {}. Items in the table: {}, about 1 KB each.", today(), self.items);
        let _ = writeln!(
            text,
            "- The disk syncs {:.0} times per second (4 KB writes to a file of fixed size).",
            self.sync_rate
        );
        let _ = writeln!(
            text,
            "- Start with an empty folder: {:.1} ms. Private memory when idle: {:.1} MB; at the end: {:.1} MB.\n",
            millis(self.started_in),
            megabytes(self.idle_bytes),
            megabytes(self.resident_bytes)
        );
        text.push_str("| workload | connections | Partita /s | bare hyper /s | ratio | signatures verified | TLS | relaxed /s | p50 ms | p99 ms | max ms | p99 at half the rate |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        for line in &self.lines {
            let half = line.half.as_ref().map_or("–".to_owned(), |half| format!("{:.3}", millis(half.p99)));
            let relaxed =
                line.relaxed.as_ref().map_or("–".to_owned(), |relaxed| format!("{:.0}", relaxed.rate));
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {relaxed} | {:.3} | {:.3} | {:.1} | {half} |",
                line.workload,
                line.connections,
                line.durable.rate,
                line.bare.rate,
                line.durable.rate / line.bare.rate,
                line.verified.rate / line.durable.rate,
                line.tls.rate / line.durable.rate,
                millis(line.durable.p50),
                millis(line.durable.p99),
                millis(line.durable.max)
            );
        }
        text
    }
}

const HEADING: &str = "\
# Benchmarks

Written by `cargo xtask bench`. Each line is one run on one machine. It compares Partita, with every write on disk before it
is acknowledged, with a bare hyper server that returns the same number of bytes to the same requests. The columns for verified
signatures and TLS are ratios to the first figure; another column shows `--durability relaxed`. The servers are measured in turn,
three rounds each, and the median round counts. Rates are requests per second.

";

pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    model.unwrap_or("unknown processor").to_owned()
}

fn today() -> String {
    let output = std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Replaces a section of a text, or adds it at the end. Sections begin with a `## …` line.
pub fn replace_section(text: &str, heading: &str, section: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.get(1..).and_then(|rest| rest.find("\n## ")) {
        parts.push(rest[..at + 2].trim_end());
        rest = &rest[at + 2..];
    }
    parts.push(rest.trim_end());
    match parts.iter().position(|part| part.lines().next() == Some(heading)) {
        Some(at) => parts[at] = section.trim_end(),
        None => parts.push(section.trim_end()),
    }
    parts.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::replace_section;

    #[test]
    fn other_sections_are_kept() {
        let text = "# Title\n\nintro\n\n## One\n\n1\n\n## Two\n\n2\n";
        assert_eq!(
            replace_section(text, "## One", "## One\n\nnew\n"),
            "# Title\n\nintro\n\n## One\n\nnew\n\n## Two\n\n2\n"
        );
        assert_eq!(replace_section(text, "## Three", "## Three\n"), format!("{text}\n## Three\n"));
    }
}
