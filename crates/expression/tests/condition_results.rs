//! Which items a condition matches.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_value::{AttributeValue, Item};

fn thing() -> Item {
    item(&[
        ("pk", s("p")),
        ("txt", s("hello")),
        ("wide", s("aä😀")),
        ("num", n("10")),
        ("bin", b(b"hi there")),
        ("flag", yes()),
        ("nothing", null()),
        ("tags", ss(&["red", "green"])),
        ("nums", ns(&["1", "5"])),
        ("bins", bs(&[b"x", b"yz"])),
        ("lst", l(&[s("a"), n("3"), l(&[n("7")]), ns(&["1", "2"])])),
        (
            "doc",
            m(&[("inside", m(&[("deep", s("x"))])), ("arr", l(&[m(&[("v", n("1"))]), m(&[("v", n("2"))])]))]),
        ),
        ("a.b", s("dotted")),
    ])
}

fn holds(text: &str, value_entries: &[(&str, AttributeValue)]) -> bool {
    let condition = filter(text, &[], value_entries).unwrap_or_else(|error| panic!("{text}: {error}"));
    condition.matches(Some(thing().view())).unwrap()
}

/// Returns whether `text` holds with one value, `:v`.
fn holds_with(text: &str, value: AttributeValue) -> bool {
    holds(text, &[(":v", value)])
}

#[test]
fn equal_values_are_equal_whatever_their_type() {
    for value in one_of_each() {
        let there = item(&[("x", value.clone())]);
        let matches =
            |text: &str| filter(text, &[], &[(":v", value.clone())]).unwrap().matches(Some(there.view()));
        assert_eq!(matches("x = :v"), Ok(true), "{value:?}");
        assert_eq!(matches("x <> :v"), Ok(false), "{value:?}");
        assert_eq!(matches("x IN (:v)"), Ok(true), "{value:?}");
    }
    assert!(holds_with("num = :v", n("1e1")));
    assert!(!holds_with("num = :v", s("10")));
    assert!(holds_with("num <> :v", s("10")));
}

#[test]
fn only_values_of_one_type_are_ordered() {
    for (text, value, expected) in [
        ("num > :v", n("9"), true),
        ("num < :v", n("100"), true),
        ("num < :v", s("99"), false),
        ("num > :v", s("0"), false),
        ("num >= :v", n("10"), true),
        ("num <= :v", n("9.99"), false),
        ("txt < :v", s("help"), true),
        ("txt > :v", s("hell"), true),
        ("bin > :v", b(b"hi"), true),
        (":v < num", n("9"), true),
        ("lst < :v", n("1"), false),
        ("flag < :v", n("1"), false),
    ] {
        assert_eq!(holds_with(text, value.clone()), expected, "{text} {value:?}");
    }
}

#[test]
fn missing_values_are_unequal_and_unordered() {
    for text in
        ["x = :v", "x < :v", "x >= :v", ":v > x", "x IN (:v)", "begins_with(x, :v)", "contains(x, :v)"]
    {
        assert!(!holds_with(text, s("a")), "{text}");
    }
    assert!(holds_with("x <> :v", s("a")));
    assert!(holds("x <> y", &[]));
    assert!(!holds("x = y", &[]));
    assert!(!holds("x BETWEEN y AND z", &[]));
    assert!(!holds("lst[9] = txt", &[]) && holds("lst[9] <> txt", &[]));
    let none = |text: &str| filter(text, &[], &[(":v", n("1"))]).unwrap().matches(None).unwrap();
    assert!(none("attribute_not_exists(pk)") && none("num <> :v") && none("NOT num = :v"));
    assert!(!none("attribute_exists(pk)") && !none("num = :v") && !none("size(num) = :v"));
}

#[test]
fn between_includes_its_bounds() {
    let between =
        |text: &str, low: AttributeValue, high: AttributeValue| holds(text, &[(":l", low), (":h", high)]);
    assert!(between("num BETWEEN :l AND :h", n("10"), n("20")));
    assert!(between("num between :l and :h", n("1"), n("10")));
    assert!(!between("num BETWEEN :l AND :h", n("11"), n("20")));
    assert!(!between("num BETWEEN :l AND :h", s("0"), s("99")));
    assert!(between(
        "NOT num BETWEEN :l AND :h AND num = :l OR num = num2 OR txt = text2 OR pk <> x",
        n("1"),
        n("2")
    ));
    assert!(holds_with("num BETWEEN doc.arr[0].v AND :v", n("10")));
    assert!(!holds_with("num BETWEEN :v AND doc.arr[1].v", n("1")));
}

#[test]
fn operators_follow_their_precedence() {
    let both = |text: &str| holds(text, &[(":yes", n("10")), (":no", n("11"))]);
    assert!(both("num = :yes OR num = :yes AND num = :no"));
    assert!(!both("(num = :yes OR num = :yes) AND num = :no"));
    assert!(both("NOT num = :no AND num = :yes"));
    assert!(!both("not (num = :yes)"));
    assert!(both("NOT NOT num = :yes"));
    assert!(both("((num = :yes) AND (NOT (num = :no)))"));
    assert!(both("(num) = (:yes)"));
    assert!(both("num In (:no, :yes)") && !both("num IN (:no)") && both("num IN ((:no), (:yes))"));
}

#[test]
fn existence_and_types_are_tested() {
    assert!(holds("attribute_exists(num) AND attribute_not_exists(x) AND attribute_exists(nothing)", &[]));
    assert!(holds("attribute_exists(doc.inside.deep) AND attribute_not_exists(doc.inside.x)", &[]));
    assert!(holds("attribute_not_exists(lst[4]) AND attribute_exists((doc.arr)[1].v)", &[]));
    for (attribute, type_name) in [
        ("txt", "S"),
        ("num", "N"),
        ("bin", "B"),
        ("flag", "BOOL"),
        ("nothing", "NULL"),
        ("tags", "SS"),
        ("nums", "NS"),
        ("bins", "BS"),
        ("lst", "L"),
        ("doc", "M"),
    ] {
        assert!(holds_with(&format!("attribute_type({attribute}, :v)"), s(type_name)), "{attribute}");
        assert!(!holds_with("attribute_type(x, :v)", s(type_name)));
    }
    assert!(!holds_with("attribute_type(num, :v)", s("S")));
    assert!(holds("attribute_type(:a, :v)", &[(":a", n("1")), (":v", s("N"))]));
}

#[test]
fn begins_with_matches_text_and_binary() {
    assert!(holds_with("begins_with(txt, :v)", s("hell")) && holds_with("begins_with(txt, :v)", s("")));
    assert!(!holds_with("begins_with(txt, :v)", s("ello")));
    assert!(holds_with("begins_with(bin, :v)", b(b"hi")));
    assert!(!holds_with("begins_with(bin, :v)", s("hi")));
    assert!(!holds_with("begins_with(num, :v)", s("1")));
    assert!(holds_with("begins_with(:v, txt)", s("hello world")));
}

#[test]
fn contains_matches_substrings_and_elements() {
    for (text, value, expected) in [
        ("contains(txt, :v)", s("ell"), true),
        ("contains(txt, :v)", s(""), true),
        ("contains(txt, :v)", s("elk"), false),
        ("contains(txt, :v)", n("1"), false),
        ("contains(bin, :v)", b(b"there"), true),
        ("contains(bin, :v)", ss(&["a"]), false),
        ("contains(tags, :v)", s("red"), true),
        ("contains(tags, :v)", s("re"), false),
        ("contains(nums, :v)", n("5.0"), true),
        ("contains(nums, :v)", s("5"), false),
        ("contains(bins, :v)", b(b"yz"), true),
        ("contains(lst, :v)", n("3"), true),
        ("contains(lst, :v)", l(&[n("7")]), true),
        ("contains(lst, :v)", ns(&["2", "1"]), true),
        ("contains(lst, :v)", n("7"), false),
        ("contains(doc, :v)", s("inside"), false),
        ("contains(:v, txt)", s("hello world"), true),
    ] {
        assert_eq!(holds_with(text, value.clone()), expected, "{text} {value:?}");
    }
    assert!(holds("contains(nums, size(bins)) OR contains(nums, size(txt))", &[]));
}

#[test]
fn sizes_are_counted_by_type() {
    for (attribute, size) in
        [("txt", 5), ("wide", 4), ("bin", 8), ("tags", 2), ("nums", 2), ("bins", 2), ("lst", 4), ("doc", 2)]
    {
        assert!(holds_with(&format!("size({attribute}) = :v"), n(&size.to_string())), "{attribute}");
        assert!(holds_with(&format!("size({attribute}) < :v"), n("8.5")));
        assert!(holds_with(&format!(":v <= size({attribute})"), n("1")));
    }
    for attribute in ["num", "flag", "nothing", "x"] {
        assert!(!holds_with(&format!("size({attribute}) > :v"), n("0")), "{attribute}");
    }
    assert!(!holds_with("size(txt) = :v", s("5")) && holds_with("size(txt) <> :v", s("5")));
    assert!(holds("size(txt) > size(tags)", &[]));
    assert!(holds_with("size(:v) = doc.arr[1].v", s("ab")));
    assert!(holds("size(lst) BETWEEN size(tags) AND size(txt)", &[]));
}

#[test]
fn placeholders_name_whole_attributes() {
    let condition = filter(
        "#d = :v AND doc.#i.deep = :x",
        &[("#d", "a.b"), ("#i", "inside")],
        &[(":v", s("dotted")), (":x", s("x"))],
    )
    .unwrap();
    assert_eq!(condition.matches(Some(thing().view())), Ok(true));
    assert_eq!(condition.attribute_roots().collect::<Vec<_>>(), ["a.b", "doc"]);
}

#[test]
fn roots_are_listed_once_also_inside_size() {
    let condition = filter(
        "a.b = :v AND (size(c) > :v OR a.c IN (d, e[0])) AND attribute_exists(f)",
        &[],
        &[(":v", n("1"))],
    )
    .unwrap();
    assert_eq!(condition.attribute_roots().collect::<Vec<_>>(), ["a", "c", "d", "e", "f"]);
}
