//! `cargo xtask dependencies`: cargo-deny checks bans, licences and sources, by deny.toml.
//!
//! Advisories need a database from the network; the workflow on GitHub checks them.

use crate::step::{root, run};

/// Pinned, so that a new version of cargo-deny does not fail the build.
const VERSION: &str = "0.20.2";
const TOOLS: &str = "target/tools";
/// Workspaces with a lock file of their own.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];

pub fn check() -> Result<(), String> {
    let program = root().join(TOOLS).join("bin/cargo-deny");
    if !program.exists() {
        install()?;
    }
    for manifest in MANIFESTS {
        let program = program.to_string_lossy();
        // Not every workspace has every version that deny.toml lets through.
        let of_one_workspace = ["--allow", "unmatched-skip", "--allow", "unnecessary-skip"];
        let arguments = [&["--manifest-path", manifest, "--locked", "check"], &of_one_workspace[..]].concat();
        run("cargo deny", &program, &[&arguments[..], &["bans", "licenses", "sources"]].concat())?;
    }
    Ok(())
}

/// Without optimizations and symbols: it runs for a second and takes a minute or two of one core to build.
fn install() -> Result<(), String> {
    let target = format!("{TOOLS}/build");
    run(
        "install",
        "env",
        &[
            "CARGO_PROFILE_DEV_DEBUG=0",
            "cargo",
            "install",
            "--quiet",
            "cargo-deny",
            "--version",
            VERSION,
            "--locked",
            "--debug",
            "--root",
            TOOLS,
            "--target-dir",
            &target,
        ],
    )
}
