//! Model files, read, checked, explained and compared: many types, patterns, attributes and unknown names; and keys that
//! are matched against a model's templates.

use crate::{Case, Work};
use partita_design::audit::judge::{Change, judge};
use partita_design::audit::observed_read::{ObservedRead, ObservedSort, attribute_read, request_shapes};
use partita_design::capacity::cost::cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::item::{Item, Value};
use partita_design::model::value_type::ValueType;
use partita_design::report::difference::difference;
use partita_design::report::explain;
use partita_design::template::{ATTRIBUTE_SEPARATOR, Template};
use partita_design::{Model, Source, check, read, report};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;

fn source(rest: &str) -> Source {
    let table = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n";
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
    Prices::parse(DEFAULT_PRICES).map_or(usize::MAX, |prices| work(&prices))
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
    let index = "[index.Local]\nkeys = [\"PK\", \"LSK\"]\nlocal = true\n";
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

/// Entities that a user's edges lead to, each followed, and each asked for without saying how.
fn relationships(n: usize) -> String {
    let entity =
        "[entity.E%]\nattributes = { id% = \"ulid\", name = \"string\" }\nkey = [\"E%#{id%}\", \"E%\"]";
    let edge = "[entity.L%]\nedge = [\"userId\", \"id%\"]\nattributes = { userId = \"id\", id% = \"ulid\" }\nkey = [\"USER#{userId}\", \"L%#{id%}\"]";
    let pattern =
        "p% = { in = [\"userId\"], out = \"E%*\", via = \"L%\" }\nq% = { in = [\"userId\"], out = \"E%*\" }";
    format!("{}{}[pattern]\n{}", lines(n, entity), lines(n, edge), lines(n, pattern))
}

/// Patterns and a sparse index with conditions of many tests.
fn long_conditions(n: usize) -> String {
    let tests = |joint: &str, test: &str| lines(20, test).trim_end().replace('\n', joint);
    let attributes = tests(", ", "a% = \"int\"");
    let pattern = format!("p% = {{ out = \"E*\", where = \"{}\" }}", tests(" and ", "(a% > 7 or a% < 3)"));
    format!(
        "[index.GSI]\nkeys = [\"GPK\", \"GSK\"]\n[entity.E]\nattributes = {{ id = \"ulid\", {attributes} }}\nkey = [\"E#{{id}}\", \"E\"]\n\
         index.GSI = {{ key = [\"ALL\", \"{{id}}\"], when = \"{}\" }}\n[pattern]\n{}",
        tests(" or ", "a% > 5"),
        lines(n, &pattern),
    )
}

/// Sparse indexes whose conditions have many tests, and a pattern for a value of each.
fn many_tests(n: usize) -> String {
    let when = lines(n, "a == 'v%'").trim_end().replace('\n', " or ");
    let own = format!("index.I% = {{ key = [\"X%#{{b}}\", \"{{id}}\"], when = \"{when}\" }}");
    let pattern = "p% = { in = [\"b\"], where = \"a == 'v%'\", out = \"E*\" }";
    format!(
        "{}[entity.E]\nattributes = {{ id = \"ulid\", a = \"string\", b = \"string\" }}\nkey = [\"E#{{id}}\", \"E\"]\n{}[pattern]\n{}",
        lines(5, "[index.I%]\nkeys = [\"P%\", \"S%\"]"),
        lines(5, &own),
        lines(5, pattern),
    )
}

/// Entities of one partition with the same attributes, and patterns that filter all of them by each.
fn common_filters(n: usize) -> String {
    let list = |part: &str| lines(n, part).trim_end().replace('\n', ", ");
    let attributes = list("a% = \"string\"");
    let entity = |number: usize| {
        format!(
            "[entity.E{number}]\nattributes = {{ userId = \"id\", e{number}Id = \"ulid\", {attributes} }}\n\
             key = [\"USER#{{userId}}\", \"E{number}#{{e{number}Id}}\"]\n"
        )
    };
    let pattern =
        format!("p% = {{ in = [\"userId\", {}], out = [\"E0*\", \"E1*\", \"E2*\"] }}", list("\"a%\""));
    format!("{}[pattern]\n{}", (0..3).map(entity).collect::<String>(), lines(3, &pattern))
}

/// Attributes reads of entities that only their types tell apart; each has a pattern.
fn attribute_reads(n: usize) -> Work {
    let entity = "[entity.E%]\nattributes = { x = \"id\" }\nkey = [\"{x}\", \"S\"]";
    let pattern = "p% = { in = [\"x\"], out = \"E%\" }";
    let model = read(&source(&format!("{}[pattern]\n{}", lines(n, entity), lines(n, pattern))));
    let shapes = model.map(|model| request_shapes(&model));
    let read = ObservedRead {
        query: false,
        batch: false,
        index: None,
        partition: "k",
        sort: ObservedSort::Equals("S"),
        forward: true,
        limit: None,
    };
    Box::new(move || shapes.is_ok_and(|shapes| black_box(attribute_read(&shapes, &read)).is_some()))
}

/// Parents with aggregates, and writes that keep them.
fn aggregates(n: usize) -> String {
    let parent = "[entity.P%]\nattributes = { p%Id = \"ulid\" }\nidentity = \"p%Id\"\nkey = [\"P%#{p%Id}\", \"P\"]\naggregates = { total = \"sum C%.amount where amount > 1\", number = \"count C%\" }";
    let child = "[entity.C%]\nattributes = { p%Id = \"ulid\", c%Id = \"ulid\", amount = \"int\" }\nidentity = \"c%Id\"\nkey = [\"P%#{p%Id}\", \"C#{c%Id}\"]";
    let write =
        "w% = { transact = [\"create C%\", \"update P% set total, number\"] }\nv% = { create = \"C%\" }";
    format!("{}{}[write]\n{}", lines(n, parent), lines(n, child), lines(n, write))
}

/// Updates as the application sends them, with long expressions.
fn long_expressions(n: usize) -> String {
    let list = |part: &str| lines(n, part).trim_end().replace('\n', ", ");
    format!(
        "[entity.E]\nattributes = {{ id = \"ulid\", {} }}\nkey = [\"E#{{id}}\", \"E\"]\n\
         [write]\nw = {{ update = \"E\", expression = \"SET {}\", condition = \"attribute_exists(PK)\" }}\n",
        list("a% = \"int\""),
        list("a% = a% + :v%"),
    )
}

/// Judges a transaction of items with unique values, copies and aggregates: each changes with its companions.
fn judge_items(n: usize) -> Work {
    let rest = "[entity.User]\nattributes = { userId = \"id\", mail = \"string\", name = \"string\" }\nkey = [\"USER#{userId}\", \"USER\"]\nunique = [\"mail\"]\n\
        [entity.ByName]\ncopies = \"User\"\nattributes = { userId = \"id\", name = \"string\" }\nkey = [\"NAME#{name}\", \"USER#{userId}\"]\n";
    let model = read(&source(&format!("{rest}{}", lines(400, ENTITY))));
    let text = |text: String| Value::String(text);
    let item = |pairs: &[(&str, String)]| -> Item {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), text(value.clone()))).collect()
    };
    let put = |pairs: &[(&str, String)]| Change { key: item(&pairs[..2]), old: None, new: Some(item(pairs)) };
    let changes: Vec<Change> = (0..n)
        .flat_map(|i| {
            let (id, name, mail) = (format!("u{i}"), format!("n{i}"), format!("{i}@b"));
            let marker = format!("UNIQUE#User#mail#{mail}");
            let user = [("PK", format!("USER#{id}")), ("SK", "USER".to_owned()), ("type", "User".to_owned())];
            let copy =
                [("PK", format!("NAME#{name}")), ("SK", format!("USER#{id}")), ("type", "ByName".to_owned())];
            let own = [("userId", id), ("name", name)];
            [
                put(&[&user[..], &own, &[("mail", mail)]].concat()),
                put(&[&copy[..], &own].concat()),
                put(&[("PK", marker.clone()), ("SK", marker)]),
            ]
        })
        .collect();
    Box::new(move || model.is_ok_and(|model| black_box(judge(&model, &changes)).is_empty()))
}

/// Matches a key against a template of strings that may contain the delimiter.
fn match_key(template: &'static str, key: String) -> Work {
    let types: BTreeMap<String, ValueType> =
        ["a", "b", "c"].map(|name| (name.to_owned(), ValueType::String)).into();
    let template = Template::parse(template);
    Box::new(move || template.is_ok_and(|template| black_box(template.matches(&key, &types)).is_some()))
}

/// Matches a key that many choices resemble.
fn match_choice(n: usize) -> Work {
    let choices: Vec<String> = (0..n).map(|number| format!("x{number}")).collect();
    let types: BTreeMap<String, ValueType> = [("a".to_owned(), ValueType::Choice(choices.into()))].into();
    let template = Template::parse("{a}");
    // The choices are sorted once.
    let _ = template.as_ref().map(|template| template.matches("x1", &types));
    let key = "x".repeat(2_000);
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
    Case { name: "model_same_identifier", size: 60, prepare: |n| check_model(same_identifier(n)) },
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
    Case { name: "model_relationships", size: 25, prepare: |n| check_model(relationships(n)) },
    // From ten patterns on, as many repairs are tried as are tried at all.
    Case { name: "model_long_conditions", size: 10, prepare: |n| check_model(long_conditions(n)) },
    Case { name: "model_many_tests", size: 25, prepare: |n| check_model(many_tests(n)) },
    Case { name: "model_common_filters", size: 50, prepare: |n| check_model(common_filters(n)) },
    Case { name: "model_attributed_reads", size: 100, prepare: attribute_reads },
    Case { name: "model_aggregates", size: 25, prepare: |n| check_model(aggregates(n)) },
    Case { name: "model_long_expressions", size: 50, prepare: |n| check_model(long_expressions(n)) },
    Case { name: "model_judged_items", size: 10, prepare: judge_items },
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
    Case { name: "key_of_a_choice_rejected", size: 10_000, prepare: match_choice },
    Case { name: "key_of_delimiters", size: 2_000, prepare: |n| match_key("{a}#{b}#{c}", "#".repeat(n)) },
    Case {
        name: "key_of_delimiters_rejected",
        size: 2_000,
        prepare: |n| match_key("{a}#{b}#{c}", format!("{}{ATTRIBUTE_SEPARATOR}", "#".repeat(n))),
    },
    Case {
        name: "key_with_fields_twice_rejected",
        size: 2_000,
        prepare: |n| match_key("{a}{b}#{a}1", format!("{}21", "#".repeat(n))),
    },
    Case {
        name: "key_of_kilobytes_rejected",
        size: 100_000,
        prepare: |n| match_key("{a}#{b}", format!("{}{ATTRIBUTE_SEPARATOR}", "#".repeat(n))),
    },
];
