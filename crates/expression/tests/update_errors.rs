//! Errors of updates found in the text, the values or the item.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::AttributeAction;
use partita_value::{AttributeValue, Item, Value};

fn error(text: &str, name_entries: &[(&str, &str)], value_entries: &[(&str, AttributeValue)]) -> String {
    match update(text, name_entries, value_entries) {
        Ok(update) => panic!("{text} was accepted: {update:?}"),
        Err(error) => error.to_string().replacen("Invalid UpdateExpression: ", "", 1),
    }
}

#[test]
fn syntax_errors_name_the_token() {
    for text in [
        "k",
        "SET k",
        "ADD k",
        "DELETE k",
        "SET k = add",
        "REMOVE k = :v",
        "ADD k = :v",
        "DELETE k = :v",
        "DELETE k m",
        "DELETE k if_not_exists(m, x)",
        "ADD status m",
        "ADD k size(m)",
        "REMOVE k m",
        "SET k :v",
        "SET :v = k",
        "ADD :v k",
        "DELETE :v :w",
        "REMOVE :v",
        "SET k = m / x",
        "SET k = m % x",
        "SET k[0] = 'seven'",
        "SET k[0] = 7",
        "SET k = if_not_exists(k, 0)",
        "SET list_append(k, m) = x",
        "SET (k = m)",
        "SET k = (m.x).y - z",
        "SET k = (m.x)[3] - z",
        "SET k = m - x + y",
        "SET k = (m - x) + y",
        "SET k = if_not_exists(m, x + y)",
        "SET",
        "SET k =",
        "SET k = :v,",
        "SET k = :v m = :v",
        "REMOVE",
        "k = m",
    ] {
        assert!(error(text, &[], &[]).starts_with("Syntax error; "), "{text}: {}", error(text, &[], &[]));
    }
    for (text, token, near) in [
        ("CHANGE k TO m", "CHANGE", "CHANGE k"),
        ("ADD visits : one", ":", "visits : one"),
        ("REMOVE k,", "<EOF>", ","),
        ("set _k = :v", "_", "set _k"),
        ("SET k = #, m", "#", "= #,"),
    ] {
        assert_eq!(error(text, &[], &[]), format!("Syntax error; token: \"{token}\", near: \"{near}\""));
    }
    assert_eq!(error("", &[], &[]), "The expression can not be empty;");
    let long = |spaces: usize| format!("SET {}a = :v", " ".repeat(spaces));
    assert!(update(&long(4086), &[], &[(":v", n("1"))]).is_ok());
    assert_eq!(error(&long(4087), &[], &[]), "Expression size has exceeded the maximum allowed size;");
}

#[test]
fn the_text_is_checked_before_its_placeholders() {
    for (text, expected) in [
        (
            " SET #x = nope(:y) SET taBle = m ",
            "Attribute name is a reserved keyword; reserved keyword: taBle",
        ),
        ("REMOVE k, m.Zone", "Attribute name is a reserved keyword; reserved keyword: Zone"),
        ("SET #x = append(:y) SET k = m", "Invalid function name; function: append"),
        ("SET k = size(m)", "The function is not allowed in an update expression; function: size"),
        ("SET k = #x SET m = :y", "The \"SET\" section can only be used once in an update expression;"),
        (
            "REMOVE #x ADD k :y REMOVE m",
            "The \"REMOVE\" section can only be used once in an update expression;",
        ),
        ("ADD #x :y REMOVE k ADD m :z", "The \"ADD\" section can only be used once in an update expression;"),
        (
            "DELETE #x :y REMOVE k DELETE m :z",
            "The \"DELETE\" section can only be used once in an update expression;",
        ),
        (
            "SET k = list_append(:v, list_append(k, :v))",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        (
            "SET #x = list_append(:y)",
            "An expression attribute name used in the document path is not defined; attribute name: #x",
        ),
        (
            "SET k = :y, #x = :v",
            "An expression attribute name used in the document path is not defined; attribute name: #x",
        ),
        (
            "SET #a = list_append(:y)",
            "An expression attribute value used in expression is not defined; attribute value: :y",
        ),
        ("REMOVE k[99999999999]", "List index is not within the allowable range; index: [99999999999]"),
    ] {
        assert_eq!(error(text, &[("#a", "a")], &[(":v", l(&[]))]), expected, "{text}");
    }
}

#[test]
fn targets_must_not_collide() {
    for (text, sort, one, two) in [
        ("SET k[0] = m, k.x = m, y.z[4] = m, #c = list_append(m)", "overlap", "[y, z, [4]]", "[y]"),
        ("REMOVE #c.#d[1], #c.#d", "overlap", "[y, [0], [1]]", "[y, [0]]"),
        ("SET k = :v REMOVE k", "overlap", "[k]", "[k]"),
        ("ADD k.m :v SET k.m.x = :v", "overlap", "[k, m]", "[k, m, x]"),
        ("SET k[2] = m, k.#d = if_not_exists(m)", "conflict", "[k, [2]]", "[k, [0]]"),
        ("REMOVE k.#c SET k[1] = #d", "conflict", "[k, y]", "[k, [1]]"),
    ] {
        let expected = format!(
            "Two document paths {sort} with each other; must remove or rewrite one of these paths; path one: {one}, path two: {two}"
        );
        assert_eq!(error(text, &[("#c", "y"), ("#d", "[0]")], &[(":v", n("1"))]), expected, "{text}");
    }
}

#[test]
fn if_not_exists_operands_must_be_distinct() {
    for (text, path) in [
        ("SET k = if_not_exists(k, k)", "[k]"),
        ("SET k = if_not_exists(m[0].x, m[0].#x)", "[m, [0], x]"),
        ("SET k = if_not_exists(m, if_not_exists(x, x))", "[x]"),
    ] {
        let expected = format!(
            "The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: {path}"
        );
        let names = if text.contains('#') { &[("#x", "x")][..] } else { &[] };
        assert_eq!(error(text, names, &[]), expected, "{text}");
    }
    assert!(update("SET k = if_not_exists(m, k)", &[], &[]).is_ok());
    assert!(update("SET k = list_append(m, m)", &[], &[]).is_ok());
}

#[test]
fn operands_of_actions_and_functions_are_checked() {
    let named = [
        (s("a"), "STRING"),
        (n("1"), "NUMBER"),
        (b(b"a"), "BINARY"),
        (yes(), "BOOLEAN"),
        (null(), "NULL"),
        (l(&[]), "LIST"),
        (m(&[]), "MAP"),
    ];
    for (value, name) in named {
        let expected = |action: &str| {
            format!(
                "Incorrect operand type for operator or function; operator: {action}, operand type: {name}"
            )
        };
        if name != "NUMBER" {
            let text = "SET k = list_append(:n, m), x = if_not_exists(m) ADD y[1] :a";
            assert_eq!(error(text, &[], &[(":a", value.clone()), (":n", n("1"))]), expected("ADD"));
        }
        assert_eq!(error("DELETE y[1] :a", &[], &[(":a", value)]), expected("DELETE"));
    }
    for value in one_of_each() {
        let type_name = Value::from(&value).view().type_name();
        for (text, operator, taken) in [
            ("SET k = list_append(:a, k)", "list_append", "L"),
            ("SET k = list_append(m, :a)", "list_append", "L"),
            ("SET k = m + :a", "+", "N"),
            ("SET k = :a - m", "-", "N"),
        ] {
            if type_name == taken {
                assert!(update(text, &[], &[(":a", value.clone())]).is_ok());
                continue;
            }
            let expected = format!(
                "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {type_name}"
            );
            assert_eq!(error(text, &[], &[(":a", value.clone())]), expected, "{text}");
        }
    }
    for (text, expected) in [
        (
            "SET k = if_not_exists(m)",
            "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1",
        ),
        (
            "SET k = list_append(m, x, y)",
            "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 3",
        ),
        (
            "SET k = if_not_exists(:a, m)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET k = if_not_exists(if_not_exists(m, x), y)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
    ] {
        assert_eq!(error(text, &[], &[(":a", s("a"))]), expected, "{text}");
    }
}

fn thing() -> Item {
    item(&[
        ("pk", s("p")),
        ("txt", s("x")),
        ("doc", m(&[("0", s("a")), ("bag", ss(&["q"]))])),
        ("lst", l(&[s("a"), s("b")])),
        ("num", n("1")),
        ("nums", ns(&["1"])),
        ("big", n("9e125")),
    ])
}

fn failure(text: &str, value: AttributeValue) -> String {
    let update =
        update(text, &[("#0", "0")], &[(":a", value)]).unwrap_or_else(|error| panic!("{text}: {error}"));
    let key = item(&[("pk", s("p"))]);
    update.apply(Some(thing().view()), key.view()).expect_err(text).to_string()
}

#[test]
fn paths_must_exist() {
    let places = ["txt.x", "txt[0]", "nope.x", "nope[0]", "doc[0]", "lst.#0", "doc.nope.x", "lst[9].x"];
    let actions = places.map(|place| {
        [
            format!("SET {place} = :a"),
            format!("REMOVE {place}"),
            format!("ADD {place} :a"),
            format!("DELETE {place} :a"),
        ]
    });
    for text in actions.as_flattened() {
        let expected = "The document path provided in the update expression is invalid for update";
        assert_eq!(failure(text, ss(&["a"])), expected, "{text}");
    }
}

#[test]
fn stored_operands_must_have_the_right_type() {
    let expected = "An operand in the update expression has an incorrect data type";
    for (text, value) in [
        ("DELETE nums :a", bs(&[b"1"])),
        ("DELETE doc :a", ss(&["q"])),
        ("DELETE doc.bag :a", ns(&["1"])),
        ("DELETE num :a", ns(&["1"])),
        ("ADD doc :a", n("1")),
        ("ADD nums :a", n("1")),
        ("ADD txt :a", n("1")),
        ("SET k = txt + :a", n("1")),
        ("SET k = :a - lst", n("1")),
        ("SET k = list_append(if_not_exists(k, :a), nums)", l(&[])),
    ] {
        assert_eq!(failure(text, value), expected, "{text}");
    }
    let expected = "The provided expression refers to an attribute that does not exist in the item";
    for text in
        ["SET k = x", "SET k = list_append(lst, x)", "SET k = num - x", "SET k = doc.x", "SET k = lst[2]"]
    {
        let update = update(text, &[], &[]).unwrap();
        let error = update.apply(Some(thing().view()), thing().view()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn limits_of_numbers_nesting_and_size_are_enforced() {
    assert_eq!(
        failure("SET big = big + :a", n("9e125")),
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    );
    // AWS also reports an overflow if a sum has more digits than a number can have.
    assert_eq!(
        failure("ADD big :a", n("1")),
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    );
    let nested = |levels: usize| (1..levels).fold(s("leaf"), |value, _| m(&[("m", value)]));
    assert!(
        failure("SET doc.x = :a", nested(32)).starts_with("Nesting Levels have exceeded supported limits")
    );
    let accepted = update("SET doc.x = :a", &[], &[(":a", nested(31))]).unwrap();
    assert!(accepted.apply(Some(thing().view()), thing().view()).is_ok());
    let text = format!("SET {}", (0..300).map(|i| format!("a{i} = :a")).collect::<Vec<_>>().join(","));
    assert_eq!(
        failure(&text, s(&"x".repeat(2000))),
        "Item size to update has exceeded the maximum allowed size"
    );
}

#[test]
fn legacy_actions_check_types() {
    let message = |action: AttributeAction| action.check().err().map(|error| error.to_string());
    for value in one_of_each() {
        let value = Value::from(&value);
        let type_name = value.view().type_name();
        let add = format!(
            "One or more parameter values were invalid: ADD action is not supported for the type {type_name}"
        );
        let adds = ["N", "SS", "NS", "BS", "L"].contains(&type_name);
        assert_eq!(message(AttributeAction::Add(value.clone())), (!adds).then_some(add));
        let delete = format!(
            "One or more parameter values were invalid: DELETE action with value is not supported for the type {type_name}"
        );
        let deletes = ["SS", "NS", "BS"].contains(&type_name);
        assert_eq!(message(AttributeAction::Delete(Some(value.clone()))), (!deletes).then_some(delete));
        assert_eq!(message(AttributeAction::Put(value)), None);
    }
}
