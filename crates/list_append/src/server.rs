//! The server as a process that is killed and restarted, each time at another address.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    durability: String,
    running: Mutex<Option<Running>>,
    started: Condvar,
}

struct Running {
    process: Child,
    address: String,
}

impl Server {
    pub fn start(program: &Path, folder: &Path, durability: &str) -> Result<Server, Box<dyn Error>> {
        let server = Server {
            program: program.to_owned(),
            folder: folder.to_owned(),
            durability: durability.to_owned(),
            running: Mutex::new(None),
            started: Condvar::new(),
        };
        server.run()?;
        Ok(server)
    }

    /// The server's address. Waits while it is down; `None` if it does not come back.
    pub fn address(&self) -> Option<String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let absent = |running: &mut Option<Running>| running.is_none();
        let waited = self.started.wait_timeout_while(running, Duration::from_secs(60), absent);
        let (running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        running.as_ref().map(|running| running.address.clone())
    }

    /// Kills the server with SIGKILL and restarts it on the same folder.
    pub fn kill(&self) -> Result<(), Box<dyn Error>> {
        self.end();
        self.run()
    }

    fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut process = Command::new(&self.program)
            .args(["serve", "--port", "0", "--durability", &self.durability, "--data"])
            .arg(&self.folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("the server has no output")?).read_line(&mut line)?;
        let address = line.split("://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address.ok_or_else(|| format!("the server did not start: {line:?}"))?.to_owned();
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { process, address });
        self.started.notify_all();
        Ok(())
    }

    fn end(&self) {
        if let Some(mut running) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A server that exited by itself is as good as killed.
            let _ = running.process.kill();
            let _ = running.process.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
