//! Conditions, filters and projections: parsing them, and applying them to items.

use crate::decoders::{list, shuffled};
use crate::{Case, Work};
use partita_expression::{
    Condition, ExpressionKind, ExpressionNames, ExpressionValues, LegacyCondition, LegacyOperator,
    LogicalOperator, ParsedCondition, ParsedProjection, Projection, Usage,
};
use partita_value::{AttributeValue, Encoder, Item, Value};
use std::collections::BTreeSet;
use std::hint::black_box;

pub fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// An item with one attribute, `a`.
pub fn item(value: AttributeValue) -> Item {
    [("a", value)].into_iter().collect()
}

/// An item with this many small attributes.
pub fn wide_item(attributes: usize) -> Item {
    Item::build(|encoder| write_members(encoder, attributes))
}

/// An item with one attribute, `a`, with this many small members.
pub fn wide_map(members: usize) -> Item {
    Item::build(|encoder| {
        encoder.name("a");
        let mark = encoder.begin_map();
        write_members(encoder, members);
        encoder.end_map(mark);
    })
}

fn write_members(encoder: &mut Encoder, members: usize) {
    for i in 0..members {
        encoder.name(&format!("a{i:07}"));
        encoder.null();
    }
}

/// An item with one attribute, `a`, with this many elements.
pub fn long_list(elements: usize) -> Item {
    item(AttributeValue::L(vec![AttributeValue::Null; elements]))
}

/// Values with only `:v`.
pub fn value(value: &AttributeValue) -> ExpressionValues {
    let mut values = ExpressionValues::new();
    values.insert(":v", Value::from(value));
    values
}

fn names() -> ExpressionNames {
    ExpressionNames::new()
}

/// Parses and binds a filter.
fn parse(filter: String, values: ExpressionValues) -> Work {
    Box::new(move || {
        // Bypasses the parse cache.
        let parsed = ParsedCondition::parse(ExpressionKind::Filter, &filter);
        parsed.and_then(|parsed| parsed.bind(&names(), &values, &mut Usage::new())).is_ok()
    })
}

fn bind_projection(paths: &str) -> bool {
    ParsedProjection::parse(paths).and_then(|parsed| parsed.bind(&names(), &mut Usage::new())).is_ok()
}

/// Evaluates a filter on an item; both are prepared beforehand.
#[allow(clippy::expect_used, reason = "a case with an invalid filter measures nothing")]
fn matches(filter: &str, values: ExpressionValues, item: Item) -> Work {
    let filter =
        Condition::parse(ExpressionKind::Filter, filter, &names(), &values, &mut Usage::new()).expect(filter);
    Box::new(move || black_box(filter.matches(Some(item.view()))).is_ok())
}

#[allow(clippy::expect_used, reason = "a case with an invalid projection measures nothing")]
fn project(projection: &str, item: Item) -> Work {
    let projection = Projection::parse(projection, &names(), &mut Usage::new()).expect(projection);
    Box::new(move || black_box(projection.apply(item.view()).size()) < usize::MAX)
}

fn joined(n: usize, operator: &str, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect::<Vec<_>>().join(operator)
}

fn strings(n: usize) -> BTreeSet<String> {
    (0..n).map(|i| format!("{i:08}")).collect()
}

pub const CASES: [&[Case]; 3] = [TEXTS, FUNCTIONS, PATHS];

const TEXTS: &[Case] = &[
    Case {
        name: "or_chain",
        size: 37,
        prepare: |n| parse(joined(n, " OR ", |i| format!("a{i} = :v")), value(&text("x"))),
    },
    Case {
        name: "and_chain",
        size: 37,
        prepare: |n| {
            parse(joined(n, " AND ", |i| format!("attribute_exists(a{i})")), ExpressionValues::new())
        },
    },
    Case {
        name: "not_chain",
        size: 60,
        prepare: |n| parse(format!("{}a = :v", "NOT ".repeat(n)), value(&text("x"))),
    },
    Case {
        name: "parentheses",
        size: 37,
        prepare: |n| parse(format!("{}a = :v{}", "(a = :v OR ".repeat(n), ")".repeat(n)), value(&text("x"))),
    },
    Case {
        name: "open_parentheses_rejected",
        size: 500,
        prepare: |n| parse("(".repeat(n), ExpressionValues::new()),
    },
    Case {
        name: "in_operands",
        size: 25,
        prepare: |n| parse(format!("a IN ({})", list(n, |i| format!("b{i}"))), ExpressionValues::new()),
    },
    Case {
        name: "in_too_many_operands_rejected",
        size: 200,
        prepare: |n| parse(format!("a IN ({})", list(n, |i| format!("b{i}"))), ExpressionValues::new()),
    },
    Case {
        name: "deep_path",
        size: 6,
        prepare: |n| parse(format!("a{} = :v", ".b[1]".repeat(n / 2)), value(&text("x"))),
    },
    Case {
        name: "too_deep_path_rejected",
        size: 400,
        prepare: |n| parse(format!("a{} = :v", ".b".repeat(n)), value(&text("x"))),
    },
    Case {
        name: "projection_paths",
        size: 150,
        prepare: |n| {
            let paths = list(n, |i| format!("a{i}"));
            Box::new(move || bind_projection(&paths))
        },
    },
    Case {
        name: "projection_elements",
        size: 120,
        prepare: |n| {
            let paths = list(n, |i| format!("a[{i}]"));
            Box::new(move || bind_projection(&paths))
        },
    },
    Case {
        name: "projection_overlap_rejected",
        size: 120,
        prepare: |n| {
            let paths = format!("{},a[0].b", list(n, |i| format!("a[{i}]")));
            Box::new(move || bind_projection(&paths))
        },
    },
];

const FUNCTIONS: &[Case] = &[
    Case {
        name: "contains_text",
        size: 50_000,
        prepare: |n| {
            let needle = format!("{}b", "a".repeat(n / 2));
            matches("contains(a, :v)", value(&text(needle)), item(text("a".repeat(n))))
        },
    },
    Case {
        name: "contains_text_at_the_end",
        size: 50_000,
        prepare: |n| {
            let needle = format!("b{}", "a".repeat(n / 2));
            matches("contains(a, :v)", value(&text(needle)), item(text("a".repeat(n))))
        },
    },
    Case {
        name: "contains_periods",
        size: 50_000,
        prepare: |n| {
            let needle = format!("{}c", "ab".repeat(n / 4));
            matches("contains(a, :v)", value(&text(needle)), item(text("ab".repeat(n / 2))))
        },
    },
    Case {
        name: "contains_binary",
        size: 50_000,
        prepare: |n| {
            let needle = [vec![0; n / 2], vec![1], vec![0; n / 4]].concat();
            matches("contains(a, :v)", value(&AttributeValue::B(needle)), item(AttributeValue::B(vec![0; n])))
        },
    },
    Case {
        name: "contains_in_set",
        size: 4_000,
        prepare: |n| matches("contains(a, :v)", value(&text("~")), item(AttributeValue::Ss(strings(n)))),
    },
    Case {
        name: "contains_in_list",
        size: 4_000,
        prepare: |n| {
            let all = strings(n).into_iter().map(AttributeValue::S).collect();
            matches("contains(a, :v)", value(&text("~")), item(AttributeValue::L(all)))
        },
    },
    Case {
        name: "contains_size",
        size: 4_000,
        prepare: |n| matches("contains(a, size(:v))", value(&text("xx")), long_list(n)),
    },
    Case {
        name: "begins_with",
        size: 50_000,
        prepare: |n| {
            matches("begins_with(a, :v)", value(&text("a".repeat(n / 2))), item(text("a".repeat(n))))
        },
    },
    Case {
        name: "size_of_text",
        size: 50_000,
        prepare: |n| matches("size(a) = size(:v)", value(&text("x")), item(text("ä".repeat(n / 2)))),
    },
    Case {
        name: "size_of_set",
        size: 4_000,
        prepare: |n| matches("size(a) = size(:v)", value(&text("x")), item(AttributeValue::Ss(strings(n)))),
    },
    Case {
        name: "attribute_type",
        size: 4_000,
        prepare: |n| matches("attribute_type(a, :v)", value(&text("M")), wide_map(n)),
    },
    Case {
        name: "between",
        size: 50_000,
        prepare: |n| matches("a BETWEEN :v AND :v", value(&text("a".repeat(n))), item(text("a".repeat(n)))),
    },
    Case {
        name: "equal_sets",
        size: 4_000,
        prepare: |n| {
            let set = AttributeValue::Ss(strings(n));
            matches("a = :v", value(&set), item(set))
        },
    },
    Case {
        name: "equal_maps",
        size: 4_000,
        prepare: |n| {
            let map = wide_map(n).get("a").map(AttributeValue::from).unwrap_or(AttributeValue::Null);
            matches("a = :v", value(&map), item(map))
        },
    },
    Case {
        name: "legacy_contains",
        size: 50_000,
        prepare: |n| {
            let operands = vec![Value::string(&format!("{}b", "a".repeat(n / 2)))];
            let operator = LegacyOperator::NotContains;
            let condition = LegacyCondition { attribute: "a".into(), operator, operands };
            let condition = Condition::from_legacy(vec![condition], LogicalOperator::And);
            let item = item(text("a".repeat(n)));
            Box::new(move || condition.is_ok_and(|all| black_box(all.matches(Some(item.view()))).is_ok()))
        },
    },
];

/// Expression and item grow together.
const PATHS: &[Case] = &[
    Case {
        name: "paths_in_wide_item",
        size: 36,
        prepare: |n| {
            let filter = joined(n, " OR ", |i| format!("z{} = :v", shuffled(i) % 1_000_000));
            matches(&filter, value(&text("x")), wide_item(50 * n))
        },
    },
    Case {
        name: "paths_in_wide_map",
        size: 36,
        prepare: |n| {
            let filter = joined(n, " OR ", |i| format!("a.z{} = :v", i));
            matches(&filter, value(&text("x")), wide_map(50 * n))
        },
    },
    Case {
        name: "paths_in_long_list",
        size: 36,
        prepare: |n| {
            let last = 50 * n - 1;
            matches(
                &joined(n, " OR ", |i| format!("a[{}] = :v", last - i)),
                value(&text("x")),
                long_list(50 * n),
            )
        },
    },
    Case {
        name: "projection_of_wide_item",
        size: 150,
        prepare: |n| project(&list(n, |i| format!("z{i}")), wide_item(50 * n)),
    },
    Case {
        name: "projection_of_wide_map",
        size: 120,
        prepare: |n| project(&list(n, |i| format!("a.z{i}")), wide_map(50 * n)),
    },
    Case {
        name: "projection_of_long_list",
        size: 100,
        prepare: |n| {
            let last = 50 * n - 1;
            project(&list(n, |i| format!("a[{}]", last - i)), long_list(50 * n))
        },
    },
    Case {
        name: "projection_of_many_attributes",
        size: 4_000,
        prepare: |n| {
            let projection = Projection::from_attributes((0..n).map(|i| format!("a{:07}", n - i)).collect());
            let item = wide_item(n);
            Box::new(move || black_box(projection.apply(item.view()).size()) < usize::MAX)
        },
    },
];
