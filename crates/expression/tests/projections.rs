//! Projections: their results and errors.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{ExpressionError, Projection, Usage};
use partita_value::Item;

fn projection(text: &str) -> Result<Projection, ExpressionError> {
    Projection::parse(text, &names(&[("#a", "a"), ("#d", "b.c")]), &mut Usage::new())
}

fn thing() -> Item {
    item(&[
        ("pk", s("p")),
        (
            "a",
            m(&[("b", m(&[("c", n("1")), ("d", n("2"))])), ("e", l(&[n("0"), m(&[("x", s("x"))]), n("2")]))]),
        ),
        ("b.c", s("dotted")),
        ("z", ss(&["z"])),
    ])
}

fn project(text: &str) -> Item {
    projection(text).unwrap_or_else(|error| panic!("{text}: {error}")).apply(thing().view())
}

#[test]
fn only_selected_parts_are_returned() {
    assert_eq!(project("pk"), item(&[("pk", s("p"))]));
    assert_eq!(project("z, #d ,pk"), item(&[("pk", s("p")), ("b.c", s("dotted")), ("z", ss(&["z"]))]));
    assert_eq!(project("a.b.d"), item(&[("a", m(&[("b", m(&[("d", n("2"))]))]))]));
    assert_eq!(project("#a.b.d, a.b.c"), item(&[("a", m(&[("b", m(&[("c", n("1")), ("d", n("2"))]))]))]));
    assert_eq!(
        project("a.e[1].x, a.b.c"),
        item(&[("a", m(&[("b", m(&[("c", n("1"))])), ("e", l(&[m(&[("x", s("x"))])]))]))])
    );
    assert_eq!(
        thing(),
        Projection::from_attributes(["z", "pk", "b.c", "a", "z"].map(String::from).into())
            .apply(thing().view())
    );
}

#[test]
fn selected_elements_keep_their_order_without_gaps() {
    assert_eq!(project("a.e[2], a.e[0]"), item(&[("a", m(&[("e", l(&[n("0"), n("2")]))]))]));
    assert_eq!(project("a.e[2], a.e[7]"), item(&[("a", m(&[("e", l(&[n("2")]))]))]));
    assert_eq!(project("a.e[0].x, a.e[1].y, a.e[2]"), item(&[("a", m(&[("e", l(&[n("2")]))]))]));
}

#[test]
fn missing_parts_leave_no_empty_containers() {
    for text in ["x", "x.y", "a.x", "a.b.x", "a.e[3]", "a[0]", "pk.x", "pk[0]", "a.e.x", "z[0]", "a.e[1].y"] {
        assert!(project(text).is_empty(), "{text}");
    }
    assert_eq!(project("a.e[9], pk"), item(&[("pk", s("p"))]));
    assert_eq!(project("pk").size(), 3);
}

#[test]
fn roots_are_the_top_level_attributes() {
    let projection = projection("z, a.b, a.e[0], #d").unwrap();
    assert_eq!(projection.attribute_roots().collect::<Vec<_>>(), ["a", "b.c", "z"]);
    assert!(projection.is_nested());
}

#[test]
fn invalid_projections_are_rejected() {
    for (text, expected) in [
        ("", "The expression can not be empty;"),
        ("?? x", "Syntax error; token: \"?\", near: \"??\""),
        ("a,", "Syntax error; token: \"<EOF>\", near: \",\""),
        ("a b", "Syntax error; token: \"b\", near: \"a b\""),
        ("a, :v", "Syntax error; token: \":v\", near: \", :v\""),
        ("a, size(b)", "Syntax error; token: \"(\", near: \"size(b\""),
        ("comment, #x", "Attribute name is a reserved keyword; reserved keyword: comment"),
        (
            "a, #x, a",
            "An expression attribute name used in the document path is not defined; attribute name: #x",
        ),
        (
            "a.b, #a",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
        ),
        (
            "a, c, a.b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]",
        ),
        (
            "a[0], a.b",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, [0]], path two: [a, b]",
        ),
        ("a[99999999999]", "List index is not within the allowable range; index: [99999999999]"),
    ] {
        let message = projection(text).expect_err(text).to_string();
        assert_eq!(message, format!("Invalid ProjectionExpression: {expected}"), "{text}");
    }
    assert!(projection(&format!("a{}[1]", ".b".repeat(30))).is_ok());
    assert_eq!(
        projection(&format!("a{}[1]", ".b".repeat(31))).unwrap_err().to_string(),
        "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33"
    );
    assert!(projection(&"x".repeat(4096)).is_ok());
    assert_eq!(
        projection(&"x".repeat(4097)).unwrap_err().to_string(),
        "Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size;"
    );
}
