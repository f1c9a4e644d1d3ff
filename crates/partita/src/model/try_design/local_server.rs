//! A database in memory that runs as long as a trial.

use crate::arguments::Endpoint;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

pub struct LocalServer {
    process: Child,
    url: String,
    /// Kept open: the server writes to it.
    _output: BufReader<ChildStdout>,
}

impl LocalServer {
    /// Starts this program as a server and waits for its address. Settings of another server in the environment do not concern it.
    pub fn start() -> Result<LocalServer, String> {
        let failed = |error: std::io::Error| format!("cannot start a database in memory: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("PARTITA_")) {
            command.env_remove(name);
        }
        let mut process = command
            .args(["serve", "--in-memory", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let output = process.stdout.take().ok_or("a database in memory has no output")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).map_err(failed)?;
        let url = line.split_whitespace().find(|word| word.contains("://")).map(str::to_owned);
        let url = url.ok_or_else(|| format!("a database in memory does not start: {line}"))?;
        Ok(LocalServer { process, url, _output: output })
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            endpoint: Some(self.url.clone()),
            access_key: None,
            secret_key_file: None,
            only_profile: false,
            profile: "default".to_owned(),
            region: None,
        }
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // A server that is already gone needs no signal.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
