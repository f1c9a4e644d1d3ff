//! `partita model check`.

use super::arguments::{Check, Format};
use super::{FAILED, FINE, FOUND, Outcome, file, show};
use partita_design::formatting::{plural, printable};
use partita_design::{Finding, Severity, Source, check, editor, read, repair, report};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Names are repaired first: only then is the model checked.
const ROUNDS: usize = 2;

pub fn run(arguments: &Check) -> Outcome {
    let mut worst = FINE;
    let mut documents: Vec<Value> = Vec::new();
    for path in &arguments.models {
        let mut source = file::source(path)?;
        if arguments.fix {
            source = repaired(path, source)?;
        }
        let (code, document) = match read(&source) {
            Err(findings) => (FAILED, unreadable(arguments, &source, &findings)),
            Ok(model) => {
                let report = check(&model);
                let denied = arguments.deny_warnings && report.count(Severity::Warning) > 0;
                let found = report.count(Severity::Error) > 0 || denied;
                let document = match arguments.format {
                    Format::Text => {
                        show(&report::text(&report, &source, arguments.notes));
                        Value::Null
                    }
                    Format::Json => report::json(&report, &source),
                    Format::Sarif => report::sarif(&report.findings, &source),
                };
                (if found { FOUND } else { FINE }, document)
            }
        };
        worst = worst.max(code);
        documents.push(document);
    }
    print_documents(arguments.format, documents);
    Ok(worst)
}

/// Writes the repairs of a model into its file, and says how many findings are left to the user.
fn repaired(path: &Path, source: Source) -> Result<Source, String> {
    let Source { name, mut text, .. } = source;
    let before = text.clone();
    let mut count = 0;
    for _ in 0..ROUNDS {
        let findings = editor::findings(&Source::new(name.clone(), text.clone()));
        let (after, repairs) = repair::apply_all(&text, &findings);
        (text, count) = (after, count + repairs);
    }
    if count > 0 && path.as_os_str() == "-" {
        return Err("standard input cannot be repaired; name a file".to_owned());
    }
    if count > 0 {
        file::replace(path, &text)?;
        print_written_lines(&name, &before, &text);
    }
    let source = Source::new(name, text);
    let left = editor::findings(&source).iter().filter(|finding| finding.is_problem()).count();
    let decisions = match left {
        0 => String::new(),
        1 => "; 1 finding needs a decision".to_owned(),
        _ => format!("; {left} findings need a decision"),
    };
    eprintln!("{} of {} written{decisions}", plural(count as u64, "repair"), source.name);
    Ok(source)
}

/// Prints the lines that repairs have changed or added, with their numbers.
fn print_written_lines(name: &str, before: &str, after: &str) {
    let mut former: HashMap<&str, usize> = HashMap::new();
    before.lines().for_each(|line| *former.entry(line).or_default() += 1);
    for (number, line) in after.lines().enumerate() {
        match former.get_mut(line).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => eprintln!("{name}:{}: {}", number + 1, printable(line)),
        }
    }
}

fn unreadable(arguments: &Check, source: &Source, findings: &[Finding]) -> Value {
    match arguments.format {
        Format::Text => {
            show(&report::text_of(findings, source));
            Value::Null
        }
        Format::Json => json!({ "file": source.name, "findings": report::findings_json(findings, source) }),
        Format::Sarif => report::sarif(findings, source),
    }
}

/// One model is one document; several are a list, or the runs of one SARIF file.
fn print_documents(format: Format, mut documents: Vec<Value>) {
    match format {
        Format::Text => {}
        Format::Json if documents.len() == 1 => println!("{:#}", documents[0]),
        Format::Json => println!("{:#}", Value::from(documents)),
        Format::Sarif => {
            let runs: Vec<Value> = documents.iter_mut().map(|document| document["runs"][0].take()).collect();
            if let Some(first) = documents.first_mut() {
                first["runs"] = json!(runs);
                println!("{first:#}");
            }
        }
    }
}
