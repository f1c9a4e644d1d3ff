//! `partita model` as a user runs it: golden outputs, exit codes, and a live table.
//!
//! `PARTITA_WRITE=1 cargo test -p partita --test model` rewrites the golden files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

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
fn names_do_not_move_the_cursor() {
    let escape = r"\u001b[31m";
    let model = format!(
        "format = 1\n[table]\nname = \"T{escape}\"\nkeys = [\"PK\"]\n[entity.\"A{escape}\"]\nattributes = {{ a = \"id\" }}\nkey = [\"A#{{a}}\"]\n"
    );
    let path = std::env::temp_dir().join(format!("partita-escape-{}.toml", std::process::id()));
    std::fs::write(&path, model).unwrap();
    for task in ["check", "keys", "explain", "cost"] {
        let (_, out, err) = partita(&[task, path.to_str().unwrap()]);
        assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{task}: {out}{err}");
        assert!(task != "check" || out.contains(r"\u{1b}[31m"), "{out}");
    }
    std::fs::remove_file(path).unwrap();
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
fn growth_shows_every_month_and_what_breaks() {
    golden("growth", 0, &["growth", "crates/partita/tests/golden/growing.toml"]);
    let (_, out, _) = partita(&["growth", "crates/partita/tests/golden/growing.toml", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["months"].as_array().unwrap().len(), 13);
    assert_eq!(document["breaks"][0]["limit"], "1 MB page");
}

#[test]
fn every_partition_key_has_a_card() {
    golden("keys", 0, &["keys", "models/shop-orders.toml"]);
    let (_, out, _) = partita(&["keys", "models/shop-orders.toml", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["keys"][0]["verdict"], "excellent");
    assert_eq!(document["keys"][0]["values"]["basis"], "derived");
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
    for arguments in [&["audit", "models/blog.toml"][..], &["infer"], &["attach", "models/blog.toml"]] {
        let (code, _, err) = partita(arguments);
        assert!(code == 2 && err.contains("add --endpoint http://127.0.0.1:8000"), "{err}");
    }
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
    let (_, out, remarks) = partita(&["export", "--to", "create-table", "models/document-versions.toml"]);
    assert!(out.contains("LocalSecondaryIndexes"));
    assert_eq!(remarks, "");
    let (_, _, remarks) =
        partita(&["export", "--to", "create-table", "crates/design/tests/good/sessions.toml"]);
    assert!(
        remarks.contains("UpdateTimeToLive: {\"TableName\":") && remarks.contains("\"AttributeName\":"),
        "{remarks}"
    );
    let (_, out, _) = partita(&["schema"]);
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
}

#[test]
fn questions_are_printed_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let row = |number: u32| {
        format!(
            "{{\"PK\":{{\"S\":\"zz|{number}a\"}},\"SK\":{{\"S\":\"INFO\"}},\"note\":{{\"S\":\"a b\"}}}}\n"
        )
    };
    std::fs::write(path("items"), (0..9).map(row).collect::<String>()).unwrap();
    let (code, out, _) = partita(&["infer", &path("items"), "--questions", "json"]);
    assert_eq!(code, 0, "{out}");
    let questions: serde_json::Value = serde_json::from_str(&out).unwrap();
    let ids: Vec<&str> =
        questions.as_array().unwrap().iter().map(|question| question["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["entity.Zz.name", "pattern.zzByZzId.rps"]);
    std::fs::write(path("answers"), "{\"entity.Zz.name\": \"Device\", \"pattern.zzByZzId.rps\": \"7\"}")
        .unwrap();
    let (code, out, err) = partita(&["infer", &path("items"), "--answers", &path("answers")]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("[entity.Device]") && out.contains("rps = 7"), "{out}");
    std::fs::write(path("model"), &out).unwrap();
    let (code, out, _) = partita(&["audit", &path("model"), &path("items")]);
    assert_eq!((code, out.as_str()), (0, "9 items read, 0 violations\n"));
    std::fs::write(path("answers"), "{\"entity.Zy.name\": \"Device\"}").unwrap();
    let (code, _, err) = partita(&["infer", &path("items"), "--answers", &path("answers")]);
    assert!(code == 2 && err.contains("did you mean entity.Zz.name?"), "{err}");
    let (code, _, err) = partita(&["infer", &path("items"), "--ask"]);
    assert!(code == 2 && err.contains("--ask needs a terminal"), "{err}");
}

#[test]
fn several_tables_of_a_workbench_file_are_several_models() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let table = |name: &str| {
        serde_json::json!({
            "TableName": name,
            "KeyAttributes": { "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" } },
            "TableData": [{ "PK": { "S": "x#1" } }],
        })
    };
    let file = serde_json::json!({ "DataModel": [table("One"), table("Two")] });
    std::fs::write(path("file"), file.to_string()).unwrap();
    let (code, _, err) = partita(&["import", "--from", "workbench", &path("file")]);
    assert!(code == 2 && err.contains("One, Two"), "{err}");
    let (code, out, _) = partita(&["import", "--from", "workbench", "--table", "Two", &path("file")]);
    assert!(code == 0 && out.contains("name = \"Two\""), "{out}");
    let (code, _, err) = partita(&["import", "--from", "workbench", "--out", &path("models"), &path("file")]);
    assert_eq!(code, 0, "{err}");
    let (code, out, _) = partita(&["check", &path("models/One.toml"), &path("models/Two.toml")]);
    assert!(code < 2, "{out}");
}

#[test]
fn a_live_table_is_seeded_and_inferred() {
    let server = support::Server::start(&[]);
    let filled = server.model(0, &["seed", "models/shop-orders.toml", "--items", "700"]);
    let understood = server.model(0, &["infer", "--table", "Shop"]);
    assert!(filled.contains("items in table Shop"), "{filled}");
    let key = "key = [\"USER#{userId}\", \"ORDER#{createdAt}#{orderId}\"]";
    assert!(understood.contains(key), "{understood}");
    assert!(understood.contains("when = \"status == 'PENDING'\""), "{understood}");
}

#[test]
fn a_seeded_table_lets_its_items_expire_as_the_model_says() {
    let server = support::Server::start(&[]);
    server.model(0, &["seed", "crates/design/tests/good/sessions.toml", "--items", "50"]);
    let text = std::fs::read_to_string(root().join("crates/design/tests/good/sessions.toml")).unwrap();
    let quoted = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    let table = serde_json::json!({ "TableName": quoted("name") });
    let (_, answer) = server.call("DescribeTimeToLive", &table);
    assert_eq!(answer["TimeToLiveDescription"]["AttributeName"], quoted("ttl"), "{answer}");
    let (_, answer) = server.call("Scan", &table);
    let items = answer["Items"].as_array().unwrap().iter();
    let times = items.filter_map(|item| item.get(quoted("ttl"))?["N"].as_str()?.parse::<u64>().ok());
    assert!(times.clone().count() > 0 && times.into_iter().all(|time| time > 2_000_000_000), "{answer}");
}

/// Values are too few for all keys: of some batches, every item is left out.
#[test]
fn batches_without_items_are_not_sent() {
    let server = support::Server::start(&[]);
    let text = r#"
format = 1
[table]
name = "CodeHost"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Account]
attributes = { account = "id", email = "string", plan = "FREE|TEAM|ENTERPRISE" }
identity = ["account"]
key = ["ACCOUNT#{account}", "ACCOUNT#{account}"]
expect = { count = 500000, bytes = 700 }
[entity.Repo]
attributes = { owner = "id", repo = "id", updatedAt = "timestamp", stars = "int", readme = "string?" }
identity = ["owner", "repo"]
key = ["REPO#{owner}#{repo}", "REPO#{owner}#{repo}"]
expect = { per = "Account", average = 6, max = 3000, bytes = 1500 }
[pattern]
account = { in = ["account"], out = "Account" }
"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("code-host.toml");
    std::fs::write(&path, text).unwrap();
    let filled = server.model(0, &["seed", path.to_str().unwrap(), "--items", "300"]);
    assert!(filled.contains("items in table CodeHost"), "{filled}");
}

/// Only some of the items have markers, so that batches of them differ in size.
#[test]
fn items_whose_unique_values_are_optional_are_seeded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.toml");
    let text = "format = 1\n[table]\nname = \"Notes\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
                [entity.Note]\nattributes = { noteId = \"id\", v = \"string?\", w = \"timestamp?\" }\nkey = [\"NOTE#{noteId}\", \"NOTE\"]\nunique = [[\"v\", \"w\"]]\n";
    std::fs::write(&file, text).unwrap();
    let (server, file) = (support::Server::start(&[]), file.to_str().unwrap());
    server.model(0, &["seed", file, "--items", "300"]);
    let audit = server.model(0, &["audit", file]);
    assert!(audit.contains("0 violations"), "{audit}");
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

#[test]
fn a_design_is_tried_before_there_is_an_application() {
    let (code, out, err) = partita(&["try", "models/shop-orders.toml", "--items", "300"]);
    assert_eq!(code, 0, "{out}{err}");
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    let words = |name: &str| line(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("userById ")[1..7], ["1", "1", "1", "1", "0.5", "0.5"], "{out}");
    assert_eq!(words("orderById ")[3..5], ["2", "2"], "{out}");
    // What is predicted is for the items that were seeded.
    assert_eq!(words("pendingOrders ")[1], words("pendingOrders ")[2], "{out}");
    assert!(out.contains(" expected items; predictions are for those seeded"), "{out}");
    assert!(out.contains("EntityType=User") && !out.contains("did not return"), "{out}");
    assert_eq!(words("userWithOrders ")[5], words("userWithOrders ")[6], "{out}");
    assert!(out.contains("bytes of the declared 1024: no text of it can be extended"), "{out}");
    assert!(words("ordersBetween ")[1].starts_with('~'), "how many orders are in a range is assumed: {out}");
}

#[test]
fn a_trial_counts_the_values_that_the_model_does_not_declare() {
    for (model, pattern) in [("blog", "postsOfCategory"), ("tenant-documents", "documentsOfTenant")] {
        let (code, out, err) = partita(&["try", &format!("models/{model}.toml"), "--items", "300"]);
        assert_eq!(code, 0, "{out}{err}");
        let line = out.lines().find(|line| line.starts_with(pattern)).unwrap();
        let figures: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        assert!((figures[0] - figures[1]).abs() <= 0.2 * figures[1], "{out}");
    }
}

#[test]
fn a_trial_does_not_take_the_settings_of_another_server() {
    let output = Command::new(env!("CARGO_BIN_EXE_partita"))
        .args(["model", "try", "models/shop-orders.toml", "--items", "50"])
        .current_dir(root())
        .env_remove("PARTITA_ENDPOINT")
        .env("PARTITA_DATA", "/does/not/exist")
        .env("PARTITA_PORT", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_declared_mix_is_driven_and_the_hottest_key_named() {
    let rate = ["--rate", "declared", "--scale", "0.1", "--for", "2s", "--items", "300"];
    let (code, out, err) = partita(&[&["try", "models/shop-orders.toml"], rate.as_slice()].concat());
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("done/s") && out.contains("times the declared rates"), "{out}");
    assert!(!out.contains("failed"), "{out}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_command_in_silence() {
    for arguments in
        [&["explain-code"][..], &["explain", "models/shop-orders.toml"], &["seed", "models/shop-orders.toml"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
        command
            .arg("model")
            .args(arguments)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(141), &b""[..]), "{arguments:?}");
    }
}

#[test]
fn a_trial_that_is_interrupted_deletes_its_table() {
    let server = support::Server::start(&[]);
    let mut trial = Command::new(env!("CARGO_BIN_EXE_partita"))
        .args(["model", "try", "models/shop-orders.toml", "--items", "100000"])
        .args(["--endpoint", &format!("http://{}", server.address)])
        .current_dir(root())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let tables = || server.call("ListTables", &serde_json::json!({})).1["TableNames"].clone();
    while tables() != serde_json::json!(["Shop-try"]) {
        assert!(trial.try_wait().unwrap().is_none(), "the trial is over");
    }
    let items = || server.call("Scan", &serde_json::json!({ "TableName": "Shop-try" })).1["Count"].as_u64();
    while items() == Some(0) {}
    let interrupted = Command::new("kill").args(["-INT", &trial.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let ended = trial.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("interrupted; table Shop-try is deleted"), "{said}");
    assert_eq!((ended.status.code(), tables()), (Some(130), serde_json::json!([])));
}

#[test]
fn relations_that_fail_leave_an_earlier_export_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let out = path("relations");
    let arguments = ["relations", "models/shop-orders.toml", "--out", out.to_str().unwrap()];
    let server = support::Server::start(&[]);
    server.seed();
    server.model(0, &arguments);
    let files = |folder: &std::path::Path| -> Vec<(String, String)> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let text = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(path).unwrap());
        let mut files: Vec<_> = entries.map(text).collect();
        files.sort();
        files
    };
    let before = files(&out);
    assert!(before.iter().any(|(name, text)| name.ends_with("User.csv") && text.lines().count() > 1));
    server.model(2, &[&arguments[..], &["--table", "Nowhere"]].concat());
    assert_eq!(files(&out), before);
    let other = path("other");
    server.model(
        2,
        &["relations", "models/shop-orders.toml", "--table", "Nowhere", "--out", other.to_str().unwrap()],
    );
    assert!(!other.exists(), "no folder of empty files");
}

#[test]
fn fix_says_what_it_has_written_and_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.toml");
    let fixed = |text: &str| {
        std::fs::write(&path, text).unwrap();
        partita(&["check", "--fix", path.to_str().unwrap()]).2
    };
    let via = ", via = \"Like\"";
    let model = format!(
        "format = 1\n[table]\nname = \"Cms\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
         [entity.Article]\nattributes = {{ articleId = \"ulid\", body = \"string\" }}\nkey = [\"ARTICLE#{{articleId}}\", \"ARTICLE\"]\n\
         [entity.Like]\nattributes = {{ fanId = \"ulid\", articleId = \"ulid\" }}\nedge = [\"articleId\", \"fanId\"]\n\
         key = [\"ARTICLE#{{articleId}}\", \"LIKE#{{fanId}}\"]\nindex.GSI1 = {{ key = [\"FAN#{{fanId}}\", \"LIKE#{{articleId}}\"] }}\n\
         [index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [pattern]\narticle = {{ in = [\"articleId\"], out = [\"Article\", \"Like*\"], rps = 10 }}\n\
         liked = {{ in = [\"fanId\"], out = \"Article*\"{via}, rps = 1 }}\n"
    );
    let said = fixed(&model);
    assert!(said.starts_with("0 repairs of ") && said.ends_with(" written\n"), "{said}");
    let said = fixed(&model.replace(via, ""));
    assert!(said.contains("\n1 repair of ") && said.ends_with(" written\n"), "{said}");
    assert!(said.contains(".toml:"), "the written lines are shown: {said}");
    let said = fixed(&format!("\u{feff}{}", model.replace(via, "").replace("\"Article*\"", "\"Artikle*\"")));
    assert!(said.contains("\n2 repairs of ") && said.ends_with(" written\n"), "names first: {said}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with('\u{feff}') && written.contains("via = \"Like\""), "{written}");
    let said = fixed(&std::fs::read_to_string(root().join(MISTAKES)).unwrap());
    assert!(said.ends_with("findings need a decision\n"), "{said}");
}
