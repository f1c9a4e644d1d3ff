//! `partita model` as a user runs it: golden outputs, exit codes, and a live table.
//!
//! `PARTITA_WRITE=1 cargo test -p partita --test model` rewrites the golden files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Exit code, standard output, standard error.
fn partita(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
    let output = command
        .arg("model")
        .args(arguments)
        .current_dir(root())
        .env_remove("PARTITA_ENDPOINT")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn golden(name: &str, code: i32, arguments: &[&str]) {
    let (found, out, err) = partita(arguments);
    let path = root().join(format!("crates/partita/tests/golden/{name}.txt"));
    // How old the prices are depends on the day.
    let err: String =
        err.lines().filter(|line| !line.contains("months old")).map(|line| format!("{line}\n")).collect();
    let text = format!("{out}{err}");
    if std::env::var_os("PARTITA_WRITE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(found, code, "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{name}");
}

const MISTAKES: &str = "crates/partita/tests/golden/mistakes.toml";

#[test]
fn a_check_shows_every_mistake() {
    golden("check-mistakes", 1, &["check", MISTAKES, "--notes"]);
}

#[test]
fn a_clean_model_passes() {
    golden("check-clean", 0, &["check", "models/content-management.toml", "--deny-warnings"]);
}

#[test]
fn a_typo_is_shown_with_a_caret() {
    golden("check-typing", 2, &["check", "crates/partita/tests/golden/typing.toml"]);
}

#[test]
fn plans_are_explained() {
    golden("explain", 0, &["explain", "models/shop-orders.toml"]);
}

#[test]
fn cost_is_computed_from_dated_prices() {
    golden("cost", 0, &["cost", "models/shop-orders.toml"]);
}

#[test]
fn versions_are_compared() {
    golden("diff", 0, &["diff", "models/shop-catalogue.toml", "models/shop-pending-orders.toml"]);
    assert_eq!(partita(&["diff", "models/blog.toml", MISTAKES]).0, 1);
}

#[test]
fn codes_are_explained() {
    golden("explain-code", 0, &["explain-code", "P203"]);
    golden("explain-code-list", 0, &["explain-code"]);
    assert_eq!(partita(&["explain-code", "P999"]).0, 2);
}

#[test]
fn findings_are_machine_readable() {
    let (code, out, _) = partita(&["check", MISTAKES, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, document["errors"].as_u64().unwrap() > 3), (1, true));
    let (_, out, _) = partita(&["check", MISTAKES, "models/blog.toml", "--format", "sarif"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["version"], "2.1.0");
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    assert_eq!(
        document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"],
        14
    );
}

#[test]
fn failures_are_explained() {
    let (code, _, err) = partita(&["check", "nowhere.toml"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read nowhere.toml"), "{err}");
    let (code, _, err) = partita(&["explain", "models/blog.toml", "postsOfAutor"]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean postsOfAuthor?"), "{err}");
    let nobody =
        ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].iter().all(|name| std::env::var_os(name).is_none());
    let (code, _, err) =
        partita(&["infer", "--endpoint", "aws", "--profile", "nobody-has-this", "--table", "T"]);
    assert!(!nobody || (code == 2 && err.contains("no credentials for https://dynamodb.")), "{err}");
    let (code, _, err) = partita(&["infer", "--endpoint", "gopher://x", "--table", "T"]);
    assert_eq!(code, 2);
    assert!(err.contains("http:// or https://"), "{err}");
    let (code, _, err) = partita(&["import", "--from", "workbench", "Cargo.toml"]);
    assert_eq!(code, 2);
    assert!(err.contains("not JSON"), "{err}");
}

#[test]
fn models_are_exported_to_other_tools_and_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    for tool in ["workbench", "onetable"] {
        let (code, out, _) = partita(&["export", "--to", tool, "models/blog.toml"]);
        assert_eq!(code, 0);
        let path = folder.path().join(tool);
        std::fs::write(&path, out).unwrap();
        let (code, out, _) = partita(&["import", "--from", tool, "--table", "Blog", path.to_str().unwrap()]);
        assert_eq!(code, 0);
        assert!(out.contains("key = [\"POST#{postId}\", \"COMMENT#{createdAt}#{commentId}\"]"), "{out}");
    }
    let (_, out, _) = partita(&["export", "--to", "create-table", "models/document-versions.toml"]);
    assert!(out.contains("LocalSecondaryIndexes"));
    let (_, out, _) = partita(&["schema"]);
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
}

#[test]
fn a_live_table_is_seeded_and_inferred() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_partita"))
        .args(["serve", "--in-memory", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    // Stays open: the server prints more later.
    let mut greeting = BufReader::new(server.stdout.take().unwrap());
    greeting.read_line(&mut line).unwrap();
    let endpoint = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    let filled = partita(&["seed", "models/shop-orders.toml", "--items", "700", "--endpoint", &endpoint]);
    let understood = partita(&["infer", "--endpoint", &endpoint, "--table", "Shop"]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(filled.0, 0, "{}", filled.2);
    assert!(filled.1.contains("items in table Shop"), "{}", filled.1);
    assert!(
        understood.1.contains("key = [\"USER#{userId}\", \"ORDER#{createdAt}#{orderId}\"]"),
        "{}{}",
        understood.1,
        understood.2
    );
    assert!(understood.1.contains("when = \"status == 'PENDING'\""), "{}", understood.1);
}

/// Runs every `console` block of the document and checks every `toml` block as a model.
#[test]
fn the_examples_in_the_model_documentation_work() {
    let document = std::fs::read_to_string(root().join("docs/models.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("models"), folder.path().join("models")).unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_partita"), bin.join("partita")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let shell = |line: &str| {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let mut blocks = document.split("```");
    let mut run = 0;
    while let (Some(_), Some(block)) = (blocks.next(), blocks.next()) {
        let (language, body) = block.split_once('\n').unwrap();
        if language == "toml" {
            std::fs::write(folder.path().join("model.toml"), body).unwrap();
            let (code, out) = shell("partita model check model.toml --deny-warnings");
            assert_eq!(code, 0, "{body}\n{out}");
            run += 1;
        }
        for command in body.split("$ ").skip(1).filter(|_| language == "console") {
            let (line, expected) = command.split_once('\n').unwrap();
            let (code, out) = shell(line);
            assert!(code < 2, "{line}: {out}");
            assert!(expected.trim().is_empty() || out.trim() == expected.trim(), "{line}:\n{out}");
            run += 1;
        }
    }
    assert!(run >= 10);
}
