//! A server in a child process, which is killed on drop.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Process {
    child: Child,
    /// Host and port.
    pub address: String,
    /// The time until it printed its endpoint.
    pub started_in: Duration,
}

impl Process {
    /// Starts a program that prints its endpoint as its first line.
    pub fn start(program: &Path, arguments: &[&str]) -> Result<Process, Box<dyn Error>> {
        let start = Instant::now();
        let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let started_in = start.elapsed();
        let address = line.split("://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address.ok_or_else(|| format!("no endpoint in {line:?}"))?.to_owned();
        Ok(Process { child, address, started_in })
    }

    /// Returns the current private memory in bytes. Pages mapped from files do not count: they can be evicted at any time.
    pub fn private_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
