//! What CI checks: stages with what they depend on, run in parallel on two cores.
//!
//! Stages that only compile or count are niced, because tests that run at the same time measure time.

use crate::stages::{Stage, run_side_by_side};

/// Stages of `cargo xtask quick`.
const QUICK: [&str; 6] = ["format", "tidy", "book", "lock files", "lints", "unit tests"];

/// With `PARTITA_REQUIRE_FULL_DISK`, tests that need a disk of their own fail where they cannot have one.
const STAGES: &[Stage] = &[
    Stage { name: "format", after: &[], command: &["xtask", "format", "--check"], niceness: 0 },
    Stage { name: "tidy", after: &[], command: &["xtask", "tidy"], niceness: 0 },
    Stage { name: "book", after: &[], command: &["xtask", "book"], niceness: 0 },
    Stage {
        name: "lock files",
        // The fuzz targets have a workspace of their own, which no other stage builds.
        after: &[],
        command: &[
            "cargo",
            "tree",
            "--manifest-path",
            "fuzz/Cargo.toml",
            "--locked",
            "--depth",
            "0",
            "--quiet",
        ],
        niceness: 0,
    },
    Stage { name: "release build", after: &["format", "tidy"], command: &["xtask", "release"], niceness: 5 },
    Stage {
        name: "lints",
        after: &["format", "tidy"],
        command: &["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        niceness: 10,
    },
    Stage {
        name: "program alone",
        // With the features of its own dependencies only, as `cargo run` builds it.
        after: &["lints"],
        command: &["cargo", "check", "--package", "partita", "--quiet"],
        niceness: 10,
    },
    Stage { name: "dependencies", after: &["lints"], command: &["xtask", "dependencies"], niceness: 15 },
    Stage {
        name: "build of unit tests",
        after: &["lints"],
        command: &["cargo", "test", "--workspace", "--no-run", "--quiet"],
        niceness: 10,
    },
    Stage {
        name: "unit tests",
        after: &["build of unit tests"],
        command: &["env", "PARTITA_REQUIRE_FULL_DISK=1", "cargo", "test", "--workspace", "--quiet"],
        niceness: 0,
    },
    Stage {
        name: "Python clients",
        after: &["release build"],
        command: &["bash", "tests/blackbox/run.sh", "python"],
        niceness: 0,
    },
    Stage {
        name: "JavaScript client",
        after: &["release build"],
        command: &["bash", "tests/blackbox/run.sh", "javascript"],
        niceness: 0,
    },
    Stage {
        name: "Rust client",
        after: &["JavaScript client"],
        command: &["bash", "tests/blackbox/run.sh", "rust"],
        niceness: 10,
    },
    Stage {
        name: "instructions",
        after: &["Rust client"],
        command: &["xtask", "instructions"],
        niceness: 10,
    },
    Stage { name: "complexity", after: &["instructions"], command: &["xtask", "complexity"], niceness: 10 },
    Stage {
        name: "list-append",
        after: &["complexity", "Python clients"],
        command: &["xtask", "list-append"],
        niceness: 0,
    },
    Stage { name: "kill -9", after: &["list-append"], command: &["bash", "tests/crash/run.sh"], niceness: 0 },
];

pub fn all() -> Result<(), String> {
    run_side_by_side(STAGES)
}

/// The quick checks, one after the other, with their output passed through.
pub fn quick() -> Result<(), String> {
    for name in QUICK {
        let stage = STAGES.iter().find(|stage| stage.name == name);
        stage.ok_or_else(|| format!("no stage is called {name}"))?.run_alone()?;
    }
    Ok(())
}
