//! Model files, read and checked: many entities, patterns, attributes, and keys that nobody knows.

use crate::{Case, Work};
use partita_design::{Source, check, read, report};
use std::fmt::Write;
use std::hint::black_box;

/// Reads and checks a model, and tells what was found as `partita model check` does.
fn judge(rest: String) -> Work {
    Box::new(move || {
        let table = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n";
        let source = Source::new("model.toml", table.to_owned() + &rest);
        match read(&source) {
            Ok(model) => !black_box(report::text(&check(&model), &source, true)).is_empty(),
            Err(findings) => black_box(report::text_of(&findings, &source)).is_empty(),
        }
    })
}

fn lines(n: usize, line: impl Fn(&mut String, usize)) -> String {
    let mut text = String::new();
    (0..n).for_each(|i| line(&mut text, i));
    text
}

fn entities(n: usize) -> String {
    lines(n, |text, i| {
        // Writing into a String never fails.
        let _ = write!(
            text,
            "[entity.E{i}]\nattributes = {{ id{i} = \"ulid\", name = \"string\" }}\nkey = [\"E{i}#{{id{i}}}\", \"E{i}\"]\n"
        );
    })
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "model_unknown_keys_refused",
        size: 500,
        prepare: |n| {
            judge(lines(n, |text, i| {
                let _ = writeln!(text, "unknown{i} = 1");
            }))
        },
    },
    Case { name: "model_entities", size: 25, prepare: |n| judge(entities(n)) },
    Case {
        name: "model_patterns",
        size: 50,
        prepare: |n| {
            let patterns = lines(n, |text, i| {
                let _ = writeln!(text, "p{i} = {{ in = [\"id0\"], out = \"E0\" }}");
            });
            judge(format!("{}[pattern]\n{patterns}", entities(1)))
        },
    },
    Case {
        name: "model_entities_and_patterns",
        size: 15,
        prepare: |n| {
            let patterns = lines(n, |text, i| {
                let _ = writeln!(text, "p{i} = {{ in = [\"id{i}\"], out = \"E{i}\" }}");
            });
            judge(format!("{}[pattern]\n{patterns}", entities(n)))
        },
    },
    Case {
        name: "model_attributes",
        size: 100,
        prepare: |n| {
            let attributes = lines(n, |text, i| {
                let _ = write!(text, "a{i} = \"string\", ");
            });
            judge(format!(
                "[entity.E]\nattributes = {{ {attributes} id = \"ulid\" }}\nkey = [\"E#{{id}}\", \"E\"]\n"
            ))
        },
    },
]];
