//! PartiQL statements: parsing them, determining what they read, and applying them to items.

use crate::decoders::list;
use crate::expressions::{long_list, wide_map};
use crate::{Case, Work};
use partita_partiql::{KeyPart, KeyParts, ReadAccess, Select, Statement, read_access};
use partita_value::limits::STATEMENT_CHARACTERS;
use partita_value::{Item, ScalarType, Value};
use std::hint::black_box;

/// Makes a statement too long for the parse cache.
fn padded(statement: String) -> String {
    statement + &" ".repeat(600)
}

/// Parses a statement within the length limit.
fn parsed(statement: &str, parameters: &[Value]) -> Option<Statement> {
    let statement = Some(statement).filter(|text| text.len() <= STATEMENT_CHARACTERS);
    statement.and_then(|text| Statement::parse(text, parameters).ok())
}

fn parse(statement: String) -> Work {
    let statement = padded(statement);
    Box::new(move || black_box(parsed(&statement, &[])).is_some())
}

/// Decomposes a SELECT on a table with the key `pk`, `sk` into ranges.
fn access(statement: String) -> Work {
    let statement = padded(statement);
    Box::new(move || {
        let Some(Statement::Select(select)) = parsed(&statement, &[]) else { return false };
        let part = |name| vec![KeyPart { name, kind: Some(ScalarType::N) }];
        let key = KeyParts { partition: part("pk"), sort: part("sk") };
        matches!(black_box(read_access(select.condition.as_ref(), &key)), Ok(ReadAccess::Ranges(_)))
    })
}

/// Applies the projection of a SELECT to an item.
fn select(statement: &str, item: Item) -> Work {
    let statement = parsed(statement, &[]);
    Box::new(move || match statement {
        Some(Statement::Select(Select { projection: Some(columns), .. })) => {
            black_box(columns.apply(item.view()).size()) < usize::MAX
        }
        _ => false,
    })
}

/// Applies an UPDATE to an item.
fn update(statement: &str, parameters: &[Value], item: Item) -> Work {
    let statement = parsed(statement, parameters);
    Box::new(move || match statement {
        Some(Statement::Update(update)) => {
            black_box(update.update.apply(Some(item.view()), Item::default().view())).is_ok()
        }
        _ => false,
    })
}

fn joined(n: usize, operator: &str, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect::<Vec<_>>().join(operator)
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "select_in",
        size: 25,
        prepare: |n| parse(format!("SELECT * FROM Music WHERE a IN [{}]", list(n, |i| i.to_string()))),
    },
    Case {
        name: "select_or",
        size: 37,
        prepare: |n| {
            parse(format!("SELECT * FROM Music WHERE {}", joined(n, " OR ", |i| format!("a{i} = 1"))))
        },
    },
    Case {
        name: "select_columns",
        size: 300,
        prepare: |n| parse(format!("SELECT {} FROM Music", list(n, |i| format!("a{i}")))),
    },
    Case {
        name: "select_not",
        size: 20,
        prepare: |n| parse(format!("SELECT * FROM Music WHERE {}a = 1", "NOT ".repeat(n))),
    },
    Case {
        name: "ranges_and_filters",
        size: 60,
        prepare: |n| {
            let keys = list(40, |i| i.to_string());
            access(format!(
                "SELECT * FROM Music WHERE pk IN [{keys}] AND {}",
                joined(n, " AND ", |i| format!("a{i} > {i}"))
            ))
        },
    },
    Case {
        name: "or_of_keys",
        size: 12,
        prepare: |n| {
            access(format!(
                "SELECT * FROM Music WHERE {}",
                joined(n, " OR ", |i| format!("(pk = {i} AND sk > 1)"))
            ))
        },
    },
    Case {
        name: "select_from_wide_map",
        size: 150,
        prepare: |n| {
            select(&format!("SELECT {} FROM Music", list(n, |i| format!("a.z{i}"))), wide_map(50 * n))
        },
    },
    Case {
        name: "select_from_long_list",
        size: 150,
        prepare: |n| {
            let columns = list(n, |i| format!("a[{}]", 50 * n - 1 - i));
            select(&format!("SELECT {columns} FROM Music"), long_list(50 * n))
        },
    },
    Case {
        name: "insert_attributes",
        size: 120,
        prepare: |n| parse(format!("INSERT INTO Music VALUE {{{}}}", list(n, |i| format!("'a{i}': 1")))),
    },
    Case {
        name: "insert_map",
        size: 120,
        prepare: |n| {
            parse(format!("INSERT INTO Music VALUE {{'a': {{{}}}}}", list(n, |i| format!("'a{i}': 1"))))
        },
    },
    Case {
        name: "insert_set",
        size: 300,
        prepare: |n| parse(format!("INSERT INTO Music VALUE {{'a': <<{}>>}}", list(n, |i| i.to_string()))),
    },
    Case {
        name: "update_sets",
        size: 60,
        prepare: |n| {
            parse(format!("UPDATE Music {} WHERE pk = 1", joined(n, " ", |i| format!("SET a{i} = 1"))))
        },
    },
    Case {
        name: "update_removes",
        size: 120,
        prepare: |n| {
            let removes = joined(n, " ", |i| format!("REMOVE a[{i}]"));
            update(&format!("UPDATE Music {removes} WHERE pk = 1"), &[], long_list(50 * n))
        },
    },
    Case {
        name: "set_add",
        size: 300,
        prepare: |n| {
            parse(format!("UPDATE Music SET a = set_add(a, <<{}>>) WHERE pk = 1", list(n, |i| i.to_string())))
        },
    },
    Case {
        name: "nested_list_append",
        size: 20,
        prepare: |n| {
            let appends = format!("{}a{}", "list_append(a, ".repeat(n), ")".repeat(n));
            update(&format!("UPDATE Music SET a = {appends} WHERE pk = 1"), &[], long_list(1_000))
        },
    },
    Case {
        name: "statement_text",
        size: 800,
        prepare: |n| parse(format!("SELECT * FROM Music WHERE a = '{}'", "''".repeat(n))),
    },
    Case {
        name: "statement_comments",
        size: 700,
        prepare: |n| parse(format!("SELECT * FROM Music {}", "/**/ ".repeat(n / 2))),
    },
]];
