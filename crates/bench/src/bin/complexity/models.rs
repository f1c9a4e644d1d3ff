//! Model files, read, checked, explained and compared: many types, patterns, attributes and unknown names; and keys that
//! are matched against a model's templates.

use crate::{Case, Work};
use partita_design::cost::cost;
use partita_design::difference::difference;
use partita_design::price::{CARRIED, Prices};
use partita_design::template::{BORDER, Template};
use partita_design::value_type::ValueType;
use partita_design::{Model, Source, check, explain, read, report};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;

fn source(rest: &str) -> Source {
    let table = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n";
    Source::new("model.toml", table.to_owned() + rest)
}

/// Reads and checks a model and prints the findings like `partita model check`.
fn check_model(rest: String) -> Work {
    Box::new(move || {
        let source = source(&rest);
        match read(&source) {
            Ok(model) => !black_box(report::text(&check(&model), &source, true)).is_empty(),
            Err(findings) => black_box(report::text_of(&findings, &source)).is_empty(),
        }
    })
}

/// Reads a model and runs work on it.
fn with(rest: String, work: fn(&Model) -> usize) -> Work {
    Box::new(move || read(&source(&rest)).is_ok_and(|model| black_box(work(&model)) < usize::MAX))
}

/// Runs work with the built-in prices.
fn priced(work: impl Fn(&Prices) -> usize) -> usize {
    Prices::parse(CARRIED).map_or(usize::MAX, |prices| work(&prices))
}

/// Repeats a line with numbers in place of `%`.
fn lines(n: usize, line: &str) -> String {
    let mut text = String::new();
    for i in 0..n {
        // Writing to a String never fails.
        let _ = writeln!(text, "{}", line.replace('%', &i.to_string()));
    }
    text
}

const ENTITY: &str =
    "[entity.E%]\nattributes = { id% = \"ulid\", name = \"string\" }\nkey = [\"E%#{id%}\", \"E%\"]";
const PATTERN: &str = "p% = { in = [\"id%\"], out = \"E%\" }";

fn entities_and_patterns(n: usize) -> String {
    format!("{}[pattern]\n{}", lines(n, ENTITY), lines(n, PATTERN))
}

/// Types under one partition key, each read by two patterns.
fn one_collection(n: usize) -> String {
    let entity = "[entity.E%]\nattributes = { userId = \"ulid\", at% = \"timestamp\" }\nkey = [\"USER#{userId}\", \"E%#{at%}\"]\nexpect.max = 10";
    let index = "[index.L]\nkeys = [\"PK\", \"LSK\"]\nlocal = true\n";
    let pattern = "p% = { in = [\"userId\"], out = \"E%*\" }\nr% = { in = [\"userId\"], out = \"E%*\", request = { condition = \"PK = 'USER#{userId}'\" } }";
    format!("{index}{}[pattern]\n{}", lines(n, entity), lines(n, pattern))
}

/// Types whose keys differ after a field that all have.
fn tenants(n: usize) -> String {
    let entity = "[entity.E%]\nattributes = { tenantId = \"id\", id% = \"ulid\" }\nkey = [\"TENANT#{tenantId}#E%#{id%}\", \"META\"]";
    let pattern = "p% = { in = [\"tenantId\", \"id%\"], out = \"E%\" }";
    format!("{}[pattern]\n{}", lines(n, entity), lines(n, pattern))
}

/// Types whose identifiers have the same name.
fn same_identifier(n: usize) -> String {
    let entity = "[entity.E%]\nattributes = { id = \"ulid\", name = \"string\", mail = \"string\" }\nkey = [\"E%#{id}\", \"META\"]";
    let pattern = "p% = { in = [\"id\"], out = \"E%\" }";
    format!("{}[pattern]\n{}", lines(n, entity), lines(n, pattern))
}

fn copies_and_writes(n: usize) -> String {
    let copy = "[entity.C%]\nattributes = { id% = \"ulid\", name = \"string\" }\nkey = [\"C%#{id%}\", \"C%\"]\ncopies = \"E%\"";
    let write = "w% = { transact = [\"create E%\", \"update C% set name\"], rps = 5 }\nv% = { update = \"E%\", set = [\"name\"] }";
    format!("{}{}[write]\n{}", lines(n, ENTITY), lines(n, copy), lines(n, write))
}

/// Matches a key against a template of strings that may contain the delimiter.
fn match_key(template: &'static str, key: String) -> Work {
    let types: BTreeMap<String, ValueType> =
        ["a", "b", "c"].map(|name| (name.to_owned(), ValueType::String)).into();
    let template = Template::parse(template);
    Box::new(move || template.is_ok_and(|template| black_box(template.matches(&key, &types)).is_some()))
}

/// Types whose keys have a long common part after a field that may match any part of it.
fn long_templates(n: usize) -> String {
    let entity = "[entity.E%]\nattributes = { a = \"string\" }\nkey = [\"{a}LONG%\", \"E\"]";
    lines(2, entity).replace("LONG", &"a".repeat(n))
}

pub const CASES: [&[Case]; 3] = [CHECKS, COMMANDS, KEYS];

const CHECKS: &[Case] = &[
    Case {
        name: "model_unknown_keys_rejected",
        size: 200,
        prepare: |n| check_model(lines(n, "unknown% = 1")),
    },
    Case {
        name: "model_unknown_names_rejected",
        size: 100,
        prepare: |n| {
            let patterns = lines(n, "p% = { in = [\"zzzzzzzz%\"], out = \"yyyyyyyy%\" }");
            check_model(format!("{}[pattern]\n{patterns}", lines(n, ENTITY)))
        },
    },
    Case { name: "model_too_many_entities_rejected", size: 600, prepare: |n| check_model(lines(n, ENTITY)) },
    Case { name: "model_entities", size: 100, prepare: |n| check_model(lines(n, ENTITY)) },
    Case {
        name: "model_patterns",
        size: 150,
        prepare: |n| {
            let patterns = lines(n, "p% = { in = [\"id0\"], out = \"E0\" }");
            check_model(format!("{}[pattern]\n{patterns}", lines(1, ENTITY)))
        },
    },
    Case {
        name: "model_entities_and_patterns",
        size: 100,
        prepare: |n| check_model(entities_and_patterns(n)),
    },
    Case {
        name: "model_unserved_patterns",
        size: 100,
        prepare: |n| {
            let patterns = lines(n, "p% = { in = [\"name\"], out = \"E%*\", order = \"id% desc\" }");
            check_model(format!("{}[pattern]\n{patterns}", lines(n, ENTITY)))
        },
    },
    Case { name: "model_one_collection", size: 100, prepare: |n| check_model(one_collection(n)) },
    Case { name: "model_tenants", size: 100, prepare: |n| check_model(tenants(n)) },
    Case { name: "model_same_identifier", size: 100, prepare: |n| check_model(same_identifier(n)) },
    Case {
        name: "model_same_key",
        size: 100,
        prepare: |n| {
            check_model(lines(n, "[entity.E%]\nattributes = { id% = \"ulid\" }\nkey = [\"E#{id%}\", \"E\"]"))
        },
    },
    Case { name: "model_copies_and_writes", size: 50, prepare: |n| check_model(copies_and_writes(n)) },
    Case {
        name: "model_attributes",
        size: 200,
        prepare: |n| {
            let attributes = lines(n, "a% = \"string\", ").replace('\n', "");
            check_model(format!(
                "[entity.E]\nattributes = {{ {attributes} id = \"ulid\" }}\nkey = [\"E#{{id}}\", \"E\"]\n"
            ))
        },
    },
    Case { name: "model_long_templates", size: 500, prepare: |n| check_model(long_templates(n)) },
    Case {
        name: "model_allowances",
        size: 200,
        prepare: |n| check_model(lines(n, "[[allow]]\ncode = \"P115\"\non = \"pattern.p%\"\nreason = \"x\"")),
    },
];

const COMMANDS: &[Case] = &[
    Case {
        name: "model_explain",
        size: 100,
        prepare: |n| with(entities_and_patterns(n), |model| explain::text(model, None).len()),
    },
    Case {
        name: "model_cost",
        size: 100,
        prepare: |n| {
            with(entities_and_patterns(n), |model| priced(|prices| cost(model, prices).patterns.len()))
        },
    },
    Case {
        name: "model_difference",
        size: 50,
        prepare: |n| {
            with(entities_and_patterns(n), |model| {
                priced(|prices| difference(model, model, prices).text(prices).len())
            })
        },
    },
];

/// A key of four attributes has at most 8,195 bytes.
const KEYS: &[Case] = &[
    Case { name: "key_of_delimiters", size: 2_000, prepare: |n| match_key("{a}#{b}#{c}", "#".repeat(n)) },
    Case {
        name: "key_of_delimiters_rejected",
        size: 2_000,
        prepare: |n| match_key("{a}#{b}#{c}", format!("{}{BORDER}", "#".repeat(n))),
    },
    Case {
        name: "key_with_fields_twice_rejected",
        size: 2_000,
        prepare: |n| match_key("{a}{b}#{a}1", format!("{}21", "#".repeat(n))),
    },
    Case {
        name: "key_of_kilobytes_rejected",
        size: 100_000,
        prepare: |n| match_key("{a}#{b}", format!("{}{BORDER}", "#".repeat(n))),
    },
];
