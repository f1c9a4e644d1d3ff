//! Updates: parsing them, and applying them to items. Text and item grow together.

use crate::decoders::{list, shuffled};
use crate::expressions::{item, long_list, text, value, wide_item, wide_map};
use crate::{Case, Work};
use partita_expression::{AttributeAction, ExpressionNames, ExpressionValues, ParsedUpdate, Update, Usage};
use partita_value::{AttributeValue, Item, Value};
use std::hint::black_box;

fn parse(update: String, values: ExpressionValues) -> Work {
    Box::new(move || {
        // Bypasses the parse cache.
        let parsed = ParsedUpdate::parse(&update);
        parsed.and_then(|parsed| parsed.bind(&ExpressionNames::new(), &values, &mut Usage::new())).is_ok()
    })
}

/// Applies an update that is prepared beforehand.
#[allow(clippy::expect_used, reason = "a case with an invalid update measures nothing")]
fn apply(update: &str, values: ExpressionValues, item: Item) -> Work {
    let update = Update::parse(update, &ExpressionNames::new(), &values, &mut Usage::new()).expect(update);
    Box::new(move || black_box(update.apply(Some(item.view()), Item::default().view())).is_ok())
}

/// Returns a set of numbered strings starting at `first`.
fn set(first: usize, elements: usize) -> AttributeValue {
    AttributeValue::Ss((first..first + elements).map(|i| format!("{i:08}")).collect())
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "set_clauses",
        size: 60,
        prepare: |n| parse(format!("SET {}", list(n, |i| format!("a{i} = :v"))), value(&text("x"))),
    },
    Case {
        name: "remove_clauses",
        size: 120,
        prepare: |n| parse(format!("REMOVE {}", list(n, |i| format!("a[{i}]"))), ExpressionValues::new()),
    },
    Case {
        name: "set_nested_clauses",
        size: 60,
        prepare: |n| parse(format!("SET {}", list(n, |i| format!("a.b{i}.c = :v"))), value(&text("x"))),
    },
    Case {
        name: "set_in_wide_item",
        size: 60,
        prepare: |n| {
            let update = format!("SET {}", list(n, |i| format!("z{i} = :v")));
            apply(&update, value(&text("x")), wide_item(50 * n))
        },
    },
    Case {
        name: "set_from_wide_item",
        size: 30,
        prepare: |n| {
            let sources = list(n, |i| format!("z{i} = if_not_exists(y{i}, :v)"));
            apply(&format!("SET {sources}"), value(&text("x")), wide_item(50 * n))
        },
    },
    Case {
        name: "set_in_wide_map",
        size: 60,
        prepare: |n| {
            let update = format!("SET {}", list(n, |i| format!("a.z{i} = :v")));
            apply(&update, value(&text("x")), wide_map(50 * n))
        },
    },
    Case {
        name: "set_in_long_list",
        size: 60,
        prepare: |n| {
            let update =
                format!("SET {}", list(n, |i| format!("a[{}] = :v", 50 * n + shuffled(i) % 1_000_000)));
            apply(&update, value(&text("x")), long_list(50 * n))
        },
    },
    Case {
        name: "remove_from_long_list",
        size: 60,
        prepare: |n| {
            apply(
                &format!("REMOVE {}", list(n, |i| format!("a[{i}]"))),
                ExpressionValues::new(),
                long_list(50 * n),
            )
        },
    },
    Case {
        name: "remove_from_wide_map",
        size: 60,
        prepare: |n| {
            let update = format!("REMOVE {}", list(n, |i| format!("a.a{i:07}")));
            apply(&update, ExpressionValues::new(), wide_map(50 * n))
        },
    },
    Case {
        name: "add_to_set",
        size: 2_000,
        prepare: |n| apply("ADD a :v", value(&set(n, n)), item(set(0, n))),
    },
    Case {
        name: "delete_from_set",
        size: 2_000,
        prepare: |n| apply("DELETE a :v", value(&set(n / 2, n)), item(set(0, n))),
    },
    Case {
        name: "list_append",
        size: 4_000,
        prepare: |n| {
            let more = AttributeValue::L(vec![AttributeValue::Null; n]);
            apply("SET a = list_append(a, :v)", value(&more), long_list(n))
        },
    },
    Case {
        name: "attribute_updates_applied",
        size: 2_000,
        prepare: |n| {
            let put = |i| (format!("a{}", shuffled(i)), AttributeAction::Put(Value::string("x")));
            let update = Update::from_attribute_updates((0..n).map(put).collect());
            let item = wide_item(n);
            Box::new(move || black_box(update.apply(Some(item.view()), Item::default().view())).is_ok())
        },
    },
]];
