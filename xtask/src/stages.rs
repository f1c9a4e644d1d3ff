//! Runs stages in parallel, each after the stages it depends on.
//!
//! A stage is a command. What it prints is kept in target/stages and printed whole when it ends, so that stages that run at the
//! same time do not interleave. After the first failure no further stage starts.

use crate::step::root;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the command and prints its CPU seconds, user and system, on a line of their own at the end.
const TIMED: &str = r#"TIMEFORMAT="%U %S"; time "$@""#;

#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub name: &'static str,
    /// The stages that must have passed before this one starts.
    pub after: &'static [&'static str],
    /// The program and its arguments; `xtask` is this program.
    pub command: &'static [&'static str],
    /// As of nice(1): stages that only compute yield to stages that measure time.
    pub niceness: u8,
}

impl Stage {
    /// Runs the stage by itself, with its output passed through.
    pub fn run_alone(&self) -> Result<(), String> {
        println!("\n=== {}: {}", self.name, self.command.join(" "));
        let start = Instant::now();
        let status = self.status(self.command_line(&[])?)?;
        println!("=== {}: {:.0} s", self.name, start.elapsed().as_secs_f64());
        if status.success() { Ok(()) } else { Err(self.name.to_owned()) }
    }

    fn command_line(&self, before: &[&str]) -> Result<Command, String> {
        let itself = std::env::current_exe().map_err(|error| format!("xtask's path: {error}"))?;
        let itself = itself.to_string_lossy();
        let niceness = self.niceness.to_string();
        let (program, arguments) = self.command.split_first().ok_or("a stage has no command")?;
        let program = if *program == "xtask" { &itself } else { *program };
        let niced = ["nice", "-n", &niceness, program];
        let mut words = before.iter().chain(&niced).chain(arguments);
        let mut command = Command::new(words.next().ok_or("a stage has no command")?);
        command.args(words).current_dir(root());
        Ok(command)
    }

    fn status(&self, mut command: Command) -> Result<ExitStatus, String> {
        command.status().map_err(|error| format!("{}: did not start: {error}", self.name))
    }

    fn log(&self) -> PathBuf {
        root().join("target/stages").join(format!("{}.log", self.name.replace(' ', "_")))
    }

    /// Runs the stage with its output kept in its log.
    fn run_logged(&self) -> Result<ExitStatus, String> {
        let no_log = |error: std::io::Error| format!("{}: no log: {error}", self.name);
        let log = File::create(self.log()).map_err(no_log)?;
        let mut command = self.command_line(&["bash", "-c", TIMED, "stage"])?;
        command.stdout(log.try_clone().map_err(no_log)?).stderr(log);
        self.status(command)
    }
}

/// A stage that has ended.
struct Ended {
    stage: Stage,
    outcome: Result<ExitStatus, String>,
    began: Duration,
    took: Duration,
    cpu_seconds: f64,
}

impl Ended {
    fn has_passed(&self) -> bool {
        self.outcome.as_ref().is_ok_and(ExitStatus::success)
    }

    fn verdict(&self) -> &'static str {
        if self.has_passed() { "passed" } else { "FAILED" }
    }
}

/// Runs all stages, and prints a table of how long they took.
pub fn run_side_by_side(stages: &[Stage]) -> Result<(), String> {
    fs::create_dir_all(root().join("target/stages")).map_err(|error| format!("target/stages: {error}"))?;
    let begin = Instant::now();
    let (sender, receiver) = channel();
    let mut waiting = stages.to_vec();
    let mut running = 0;
    let mut ended: Vec<Ended> = Vec::new();
    loop {
        let is_ready = |stage: &Stage| stage.after.iter().all(|name| has_passed(&ended, name));
        if ended.iter().all(Ended::has_passed) {
            for stage in waiting.extract_if(.., |stage| is_ready(stage)) {
                println!("--- {:>4.0} s: {} starts", begin.elapsed().as_secs_f64(), stage.name);
                start(stage, begin, sender.clone());
                running += 1;
            }
        }
        if running == 0 {
            break;
        }
        let Ok(mut last) = receiver.recv() else { break };
        running -= 1;
        show(&mut last);
        ended.push(last);
    }
    print_table(&ended, begin.elapsed());
    verdict(&ended, &waiting)
}

fn has_passed(ended: &[Ended], name: &str) -> bool {
    ended.iter().any(|stage| stage.stage.name == name && stage.has_passed())
}

fn start(stage: Stage, begin: Instant, sender: Sender<Ended>) {
    thread::spawn(move || {
        let began = begin.elapsed();
        let outcome = stage.run_logged();
        let took = begin.elapsed() - began;
        // There is no receiver only if this program is ending.
        let _ = sender.send(Ended { stage, outcome, began, took, cpu_seconds: 0.0 });
    });
}

/// Prints what a stage has printed, and takes its CPU seconds from the last line.
fn show(ended: &mut Ended) {
    let log = fs::read(ended.stage.log()).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let (output, cpu) = log.trim_end().rsplit_once('\n').unwrap_or(("", log.trim_end()));
    ended.cpu_seconds = cpu.split(' ').filter_map(|seconds| seconds.parse::<f64>().ok()).sum();
    println!("\n=== {}: {}", ended.stage.name, ended.stage.command.join(" "));
    println!("{output}");
    if let Err(failure) = &ended.outcome {
        println!("{failure}");
    }
    println!("=== {}: {}, {:.0} s", ended.stage.name, ended.verdict(), ended.took.as_secs_f64());
}

fn print_table(ended: &[Ended], total: Duration) {
    println!("\n{:<24} {:>7} {:>7} {:>7}", "stage", "from s", "took s", "CPU s");
    for stage in ended {
        println!(
            "{:<24} {:>7.0} {:>7.0} {:>7.0} {}",
            stage.stage.name,
            stage.began.as_secs_f64(),
            stage.took.as_secs_f64(),
            stage.cpu_seconds,
            stage.verdict()
        );
    }
    let cpu: f64 = ended.iter().map(|stage| stage.cpu_seconds).sum();
    println!("{:<24} {:>7} {:>7.0} {cpu:>7.0}", "total", 0, total.as_secs_f64());
}

fn verdict(ended: &[Ended], waiting: &[Stage]) -> Result<(), String> {
    let failed: Vec<&str> =
        ended.iter().filter(|stage| !stage.has_passed()).map(|stage| stage.stage.name).collect();
    let skipped: Vec<&str> = waiting.iter().map(|stage| stage.name).collect();
    match (failed.is_empty(), skipped.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("never started: {}", skipped.join(", "))),
        (false, true) => Err(failed.join(", ")),
        (false, false) => Err(format!("{}; not run: {}", failed.join(", "), skipped.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &'static str, after: &'static [&'static str], command: &'static [&'static str]) -> Stage {
        Stage { name, after, command, niceness: 0 }
    }

    #[test]
    fn a_failed_stage_fails_the_run_and_stops_what_depends_on_it() {
        let stages = [
            stage("test good", &[], &["true"]),
            stage("test bad", &["test good"], &["false"]),
            stage("test after bad", &["test bad"], &["true"]),
        ];
        assert_eq!(run_side_by_side(&stages), Err("test bad; not run: test after bad".to_owned()));
    }

    #[test]
    fn a_program_that_does_not_exist_fails_the_run() {
        let stages = [stage("test missing", &[], &["no-such-program-of-partita"])];
        assert_eq!(run_side_by_side(&stages), Err("test missing".to_owned()));
    }

    #[test]
    fn a_stage_that_waits_for_an_unknown_one_fails_the_run() {
        let stages = [stage("test waits", &["test nobody"], &["true"])];
        assert_eq!(run_side_by_side(&stages), Err("never started: test waits".to_owned()));
    }

    #[test]
    fn stages_that_depend_on_nothing_run_at_the_same_time() {
        // Each waits for the file that the other makes.
        let folder = root().join("target/stages");
        let _ = (fs::remove_file(folder.join("test-a")), fs::remove_file(folder.join("test-b")));
        let stages = [
            stage(
                "test a",
                &[],
                &[
                    "bash",
                    "-c",
                    "cd target/stages; touch test-a; for _ in {1..200}; do [ -e test-b ] && exit; sleep 0.05; done; exit 1",
                ],
            ),
            stage(
                "test b",
                &[],
                &[
                    "bash",
                    "-c",
                    "cd target/stages; touch test-b; for _ in {1..200}; do [ -e test-a ] && exit; sleep 0.05; done; exit 1",
                ],
            ),
        ];
        assert_eq!(run_side_by_side(&stages), Ok(()));
    }

    #[test]
    fn the_last_line_of_a_log_is_the_cpu_time() {
        let stages = [stage("test output", &[], &["echo", "said"])];
        assert_eq!(run_side_by_side(&stages), Ok(()));
        let log = fs::read_to_string(stages[0].log()).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines[0], "said");
        assert_eq!(lines[1].split(' ').filter(|seconds| seconds.parse::<f64>().is_ok()).count(), 2);
    }
}
