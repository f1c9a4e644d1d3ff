//! Sources that models are drafted from: SQL with long lines and many columns, and items whose keys have many explanations.

use crate::{Case, Work};
use partita_design::inference::{KnownSchema, infer};
use partita_design::item::{Item, Value};
use partita_design::relational::{Observations, draft};
use std::hint::black_box;

/// Drafts a model from a schema.
fn sql(schema: String) -> Work {
    Box::new(move || {
        draft(&schema, &Observations::default(), "Table")
            .is_ok_and(|draft| !black_box(draft.text()).is_empty())
    })
}

/// Infers a model from one item whose key repeats a date that many attributes have.
fn repeated_date(n: usize) -> Work {
    let day = "2026-04-01";
    let text = |text: String| Value::String(text);
    let mut item =
        Item::from([("PK".to_owned(), text(day.repeat(12) + "!z")), ("SK".to_owned(), text("X".to_owned()))]);
    item.extend((0..n).map(|number| (format!("day{number}"), text(day.to_owned()))));
    Box::new(move || {
        infer(&[item], &KnownSchema::default()).is_ok_and(|draft| !black_box(draft.text()).is_empty())
    })
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "sql_long_line",
        size: 2_000,
        prepare: |n| {
            sql(format!("CREATE TABLE t (id int); INSERT INTO t VALUES {};", "(1, 'a'), ".repeat(n)))
        },
    },
    Case {
        name: "sql_columns",
        size: 100,
        prepare: |n| {
            let columns: String = (0..n).map(|number| format!(", c{number} int")).collect();
            sql(format!("CREATE TABLE t (id int PRIMARY KEY{columns});"))
        },
    },
    Case { name: "inferred_repeated_date", size: 20, prepare: repeated_date },
]];
