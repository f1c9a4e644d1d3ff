//! PartiQL statements: their texts, what they read, and items that they are held against.

use crate::decoders::list;
use crate::expressions::{long_list, wide_map};
use crate::{Case, Work};
use partita_partiql::{KeyPart, KeyParts, ReadAccess, Statement, read_access};
use partita_value::{Item, ScalarType, Value};

/// Too long to be kept with what was parsed before.
fn padded(statement: String) -> String {
    statement + &" ".repeat(600)
}

fn parse(statement: String) -> Work {
    let statement = padded(statement);
    Box::new(move || usize::from(Statement::parse(&statement, &[]).is_ok()))
}

/// Takes a SELECT of a table with the key `pk` apart into ranges.
fn access(statement: String) -> Work {
    let statement = padded(statement);
    Box::new(move || {
        let Ok(Statement::Select(select)) = Statement::parse(&statement, &[]) else { return 0 };
        let part = |name| vec![KeyPart { name, kind: Some(ScalarType::N) }];
        let key = KeyParts { partition: part("pk"), sort: part("sk") };
        match read_access(select.condition.as_ref(), &key) {
            Ok(ReadAccess::Ranges(ranges)) => ranges.len(),
            _ => 0,
        }
    })
}

/// Projects an item as a SELECT does.
#[allow(clippy::panic, reason = "a case that is no SELECT measures nothing")]
fn select(statement: &str, item: Item) -> Work {
    let Ok(Statement::Select(select)) = Statement::parse(statement, &[]) else { panic!("{statement}") };
    Box::new(move || select.projection.map_or(0, |columns| columns.apply(item.view()).size()))
}

/// Applies an UPDATE to an item.
#[allow(clippy::panic, reason = "a case that is no UPDATE measures nothing")]
fn update(statement: &str, parameters: &[Value], item: Item) -> Work {
    let Ok(Statement::Update(update)) = Statement::parse(statement, parameters) else {
        panic!("{statement}")
    };
    Box::new(move || {
        update.update.apply(Some(item.view()), Item::default().view()).map_or(0, |item| item.size())
    })
}

fn joined(n: usize, operator: &str, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect::<Vec<_>>().join(operator)
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "select_in",
        size: 400,
        prepare: |n| parse(format!("SELECT * FROM T WHERE a IN [{}]", list(n, |i| i.to_string()))),
    },
    Case {
        name: "select_or",
        size: 150,
        prepare: |n| parse(format!("SELECT * FROM T WHERE {}", joined(n, " OR ", |i| format!("a{i} = 1")))),
    },
    Case {
        name: "select_columns",
        size: 300,
        prepare: |n| parse(format!("SELECT {} FROM T", list(n, |i| format!("a{i}")))),
    },
    Case {
        name: "select_not",
        size: 20,
        prepare: |n| parse(format!("SELECT * FROM T WHERE {}a = 1", "NOT ".repeat(n))),
    },
    Case {
        name: "ranges_and_filters",
        size: 60,
        prepare: |n| {
            let keys = list(40, |i| i.to_string());
            access(format!(
                "SELECT * FROM T WHERE pk IN [{keys}] AND {}",
                joined(n, " AND ", |i| format!("a{i} > {i}"))
            ))
        },
    },
    Case {
        name: "or_of_keys",
        size: 12,
        prepare: |n| {
            access(format!(
                "SELECT * FROM T WHERE {}",
                joined(n, " OR ", |i| format!("(pk = {i} AND sk > 1)"))
            ))
        },
    },
    Case {
        name: "select_from_wide_map",
        size: 200,
        prepare: |n| select(&format!("SELECT {} FROM T", list(n, |i| format!("a.z{i}"))), wide_map(50 * n)),
    },
    Case {
        name: "select_from_long_list",
        size: 150,
        prepare: |n| {
            let columns = list(n, |i| format!("a[{}]", 50 * n - 1 - i));
            select(&format!("SELECT {columns} FROM T"), long_list(50 * n))
        },
    },
    Case {
        name: "insert_attributes",
        size: 200,
        prepare: |n| parse(format!("INSERT INTO T VALUE {{{}}}", list(n, |i| format!("'a{i}': 1")))),
    },
    Case {
        name: "insert_map",
        size: 200,
        prepare: |n| parse(format!("INSERT INTO T VALUE {{'a': {{{}}}}}", list(n, |i| format!("'a{i}': 1")))),
    },
    Case {
        name: "insert_set",
        size: 300,
        prepare: |n| parse(format!("INSERT INTO T VALUE {{'a': <<{}>>}}", list(n, |i| i.to_string()))),
    },
    Case {
        name: "update_sets",
        size: 150,
        prepare: |n| parse(format!("UPDATE T {} WHERE pk = 1", joined(n, " ", |i| format!("SET a{i} = 1")))),
    },
    Case {
        name: "update_removes",
        size: 120,
        prepare: |n| {
            let removes = joined(n, " ", |i| format!("REMOVE a[{i}]"));
            update(&format!("UPDATE T {removes} WHERE pk = 1"), &[], long_list(50 * n))
        },
    },
    Case {
        name: "set_add",
        size: 300,
        prepare: |n| {
            parse(format!("UPDATE T SET a = set_add(a, <<{}>>) WHERE pk = 1", list(n, |i| i.to_string())))
        },
    },
    Case {
        name: "nested_list_append",
        size: 20,
        prepare: |n| {
            let appends = format!("{}a{}", "list_append(a, ".repeat(n), ")".repeat(n));
            update(&format!("UPDATE T SET a = {appends} WHERE pk = 1"), &[], long_list(20_000))
        },
    },
    Case {
        name: "statement_text",
        size: 1_500,
        prepare: |n| parse(format!("SELECT * FROM T WHERE a = '{}'", "''".repeat(n))),
    },
    Case {
        name: "statement_comments",
        size: 1_500,
        prepare: |n| parse(format!("SELECT * FROM T {}", "/**/ ".repeat(n / 2))),
    },
]];
