//! Errors of conditions, with AWS's messages.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{Condition, ExpressionKind, ParsedCondition, Usage};
use partita_value::AttributeValue;

fn error(text: &str, name_entries: &[(&str, &str)], value_entries: &[(&str, AttributeValue)]) -> String {
    match filter(text, name_entries, value_entries) {
        Ok(condition) => panic!("{text} was accepted: {condition:?}"),
        Err(error) => error.to_string().replacen("Invalid FilterExpression: ", "", 1),
    }
}

#[test]
fn syntax_errors_name_the_token() {
    for (text, token, near) in [
        ("some words without sense", "words", "some words without"),
        ("k > 7", "7", "> 7"),
        ("attribute_exists(first-second)", "-", "first-second"),
        ("begins_with('k', :v)", "'", "('k"),
        ("attribute_exists(m..x)", ".", "..x"),
        ("contains(na#me, :v)", "#me", "na#me,"),
        ("m[k] = :v", "k", "[k]"),
        ("k IN :v", ":v", "IN :v"),
        ("k = AND", "AND", "= AND"),
        ("k IN (:v, :w,)", ")", ",)"),
        ("k IN ()", ")", "()"),
        ("k BETWEEN m.(x) AND :v", "(", ".(x"),
        ("k = ((:v)", "<EOF>", ")"),
        ("#! = :v", "#", "#!"),
        ("k < :v.m", ".", ":v.m"),
        ("m[:i] = k", ":i", "[:i]"),
        ("m[#i] = k", "#i", "[#i]"),
        ("é = k", "é", "é ="),
        ("m[1.5] = k", ".", "1.5"),
        ("size(k).m = :v", ".", ").m"),
        ("(size(k)).m = :v", ".", ").m"),
        ("size(k)[2] = :v", "[", ")[2"),
        ("(size(k))[2] = :v", "[", ")[2"),
        ("_k = :v", "_", "_k"),
        ("k = :v OR", "<EOF>", "OR"),
        ("NOT #flag  ", "<EOF>", "#flag"),
        ("k", "<EOF>", "k"),
        ("(k)", "<EOF>", ")"),
        ("(k) OR m = x", "OR", ") OR m"),
        ("k = m)", ")", "m)"),
        ("k <> <> m", "<>", "<> <> m"),
        ("size()", ")", "()"),
        ("k = m x", "x", "m x"),
        ("(k = m) = x", "=", ") = x"),
        (" ", "<EOF>", ""),
    ] {
        let expected = format!("Syntax error; token: \"{token}\", near: \"{near}\"");
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
}

#[test]
fn the_kind_of_expression_is_named() {
    let message = |kind, text: &str| ParsedCondition::parse(kind, text).unwrap_err().to_string();
    assert_eq!(
        message(ExpressionKind::Condition, ""),
        "Invalid ConditionExpression: The expression can not be empty;"
    );
    assert_eq!(
        message(ExpressionKind::KeyCondition, "a-b"),
        "Invalid KeyConditionExpression: Syntax error; token: \"-\", near: \"a-b\""
    );
    assert_eq!(
        message(ExpressionKind::Filter, &"x".repeat(4097)),
        "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"
    );
    assert!(message(ExpressionKind::Filter, &"x".repeat(4096)).contains("Syntax error"));
}

#[test]
fn redundant_parentheses_are_rejected() {
    let expected = "The expression has redundant parentheses;";
    for text in [
        "((k = :v))",
        "(((k = :v)))",
        "((NOT k = :v))",
        "k < ((m))",
        "((m.x)).y = k",
        "size(((k))) > m",
        "k = m OR ((m = x AND x = y))",
        "NOT ((k = m))",
        "k IN (((:v)))",
        "((attribute_exists(k)))",
    ] {
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    for text in
        ["(a = b)", "(a = b) AND (b = c)", "((a = b) AND (b = c))", "(NOT (a = b))", "attribute_exists((a))"]
    {
        assert!(filter(text, &[], &[]).is_ok(), "{text}");
    }
}

#[test]
fn unknown_and_misplaced_functions_are_rejected() {
    for (text, expected) in [
        ("k = m AND length((:v)) > k", "Invalid function name; function: length"),
        ("Attribute_Exists((status), #m)", "Invalid function name; function: Attribute_Exists"),
        (
            "k < if_not_exists(m)",
            "The function is not allowed in a filter expression; function: if_not_exists",
        ),
    ] {
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    for (text, function) in [
        ("k = m OR attribute_exists((status), (#x)) = :v", "attribute_exists"),
        ("m = attribute_not_exists(k)", "attribute_not_exists"),
        ("attribute_type(k, :v) <> :v", "attribute_type"),
        ("m <= begins_with(k, :v)", "begins_with"),
        ("contains(:v, k) >= m", "contains"),
        ("size(begins_with(k, m)) < x", "begins_with"),
        ("size(k)", "size"),
        ("k BETWEEN attribute_exists(m) AND x", "attribute_exists"),
        ("k IN (contains(m, x), y)", "contains"),
        ("NOT size(k)", "size"),
        ("(begins_with(k, m)) = x", "begins_with"),
    ] {
        let expected =
            format!("The function is not allowed to be used this way in an expression; function: {function}");
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
}

#[test]
fn reserved_words_and_undefined_placeholders_are_reported() {
    for (text, expected) in [
        ("contains(status, #x, :y)", "Attribute name is a reserved keyword; reserved keyword: status"),
        ("tAbLe >= :v", "Attribute name is a reserved keyword; reserved keyword: tAbLe"),
        ("k.zone = :v", "Attribute name is a reserved keyword; reserved keyword: zone"),
    ] {
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    for (text, name) in [
        ("contains(#x.m, :v) OR k = k", "#x"),
        ("attribute_type(m.#x)", "#x"),
        ("(#1 IN (:v, :w)) AND #2 BETWEEN :v AND :w", "#1"),
        ("k = #_x", "#_x"),
        ("(k) BETWEEN (m[7].y.#z) AND (:v)", "#z"),
    ] {
        let expected = format!(
            "An expression attribute name used in the document path is not defined; attribute name: {name}"
        );
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    for (text, value) in [("contains(:x, #m, #k)", ":x"), (":x >= :y", ":x"), ("k <> :_1", ":_1")] {
        let expected = format!(
            "An expression attribute value used in expression is not defined; attribute value: {value}"
        );
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
}

#[test]
fn operands_are_counted() {
    for (text, function, count) in [
        ("attribute_exists(k, m, x) OR k = k", "attribute_exists", 3),
        ("attribute_not_exists(k, m)", "attribute_not_exists", 2),
        ("attribute_type(k)", "attribute_type", 1),
        ("begins_with(k)", "begins_with", 1),
        ("contains(k, size(m), x)", "contains", 3),
        ("m = size(k, x)", "size", 2),
    ] {
        let expected = format!(
            "Incorrect number of operands for operator or function; operator or function: {function}, number of operands: {count}"
        );
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    let candidates = |count: usize| format!("a IN ({})", vec![":v"; count].join(","));
    assert!(filter(&candidates(100), &[], &[(":v", n("1"))]).is_ok());
    assert_eq!(
        error(&candidates(101), &[], &[(":v", n("1"))]),
        "The IN operator is provided with too many operands; number of operands: 101"
    );
}

#[test]
fn operand_types_are_checked() {
    for value in one_of_each() {
        let type_name = partita_value::Value::from(&value).view().type_name();
        let expected = |operator: &str| {
            format!(
                "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {type_name}"
            )
        };
        let check = |text: &str, operator: &str, allowed: &[&str]| match filter(
            text,
            &[],
            &[(":a", value.clone())],
        ) {
            Ok(_) => assert!(allowed.contains(&type_name), "{text} {type_name}"),
            Err(error) => {
                assert!(!allowed.contains(&type_name), "{text} {type_name}");
                assert_eq!(error.to_string(), format!("Invalid FilterExpression: {}", expected(operator)));
            }
        };
        check("begins_with(k, :a)", "begins_with", &["S", "B"]);
        check("begins_with(:a, k)", "begins_with", &["S", "B"]);
        check("k = size(:a)", "size", &["S", "B", "SS", "NS", "BS", "L", "M"]);
        check("k < :a", "<", &["S", "N", "B"]);
        check(":a >= k", ">=", &["S", "N", "B"]);
        check("k BETWEEN m AND :a", "BETWEEN", &["S", "N", "B"]);
        check("k BETWEEN :a AND :a", "BETWEEN", &["S", "N", "B"]);
        if type_name != "S" {
            check("attribute_type(k, :a)", "attribute_type", &[]);
        }
    }
    for (text, operator, type_name) in [
        ("attribute_type(k, size(m)) OR k = k", "attribute_type", "N"),
        ("begins_with(size(k), m)", "begins_with", "N"),
        ("m = size(size(k))", "size", "N"),
        ("attribute_type(k, m)", "attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"),
    ] {
        let expected = format!(
            "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {type_name}"
        );
        assert_eq!(error(text, &[], &[]), expected, "{text}");
    }
    assert_eq!(
        error("attribute_type(k, :v)", &[], &[(":v", s("STRING"))]),
        "Invalid attribute type name found; type: STRING, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
    );
    for (text, function) in [
        ("attribute_exists(:a) OR k = k", "attribute_exists"),
        ("attribute_not_exists(size(:a))", "attribute_not_exists"),
    ] {
        let expected =
            format!("Operator or function requires a document path; operator or function: {function}");
        assert_eq!(error(text, &[], &[(":a", s("1"))]), expected);
    }
}

#[test]
fn operands_must_be_distinct() {
    for (text, operator, path) in [
        ("k = k OR #a < m OR :x = m", "=", "[k]"),
        ("a <> #a", "<>", "[a]"),
        ("#a <= a", "<=", "[a]"),
        ("((k=k) AND (m=m))", "=", "[k]"),
        ("contains(m.x[3].#a, m.x[3].a)", "contains", "[m, x, [3], a]"),
        ("attribute_type(m[0], m[0])", "attribute_type", "[m, [0]]"),
        ("begins_with(#a.a, a.#a)", "begins_with", "[a, a]"),
        ("a BETWEEN a AND b", "BETWEEN", "[a]"),
        ("a[0] BETWEEN b AND #a[0]", "BETWEEN", "[a, [0]]"),
    ] {
        let expected = format!(
            "The first operand must be distinct from the remaining operands for this operator or function; operator: {operator}, first operand: {path}"
        );
        assert_eq!(error(text, &[("#a", "a")], &[]), expected, "{text}");
    }
    assert!(filter(":a >= :a", &[], &[(":a", n("1"))]).is_ok());
}

#[test]
fn bounds_must_be_in_order_and_of_one_type() {
    let between = |low: AttributeValue, high: AttributeValue| {
        error("a BETWEEN :l AND :h", &[], &[(":l", low), (":h", high)])
    };
    assert_eq!(
        between(n("5"), n("1")),
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; \
         lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}"
    );
    assert_eq!(
        between(n("1"), s("a")),
        "The BETWEEN operator requires same data type for lower and upper bounds; \
         lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}"
    );
}

#[test]
fn at_most_three_hundred_operators_are_allowed() {
    let expected = "The expression contains too many operators; operator count: 301";
    let nested = |depth: usize| format!("k=m {}{}", "AND (k=m ".repeat(depth), ")".repeat(depth));
    assert!(filter(&nested(149), &[], &[]).is_ok());
    assert_eq!(error(&nested(150), &[], &[]), expected);
    assert_eq!(error(&nested(400), &[], &[]), expected);
    assert_eq!(error(&format!("{}k=m", "NOT ".repeat(1000)), &[], &[]), expected);
    assert!(filter(&format!("{}k=m", "NOT ".repeat(299)), &[], &[]).is_ok());
}

#[test]
fn depth_never_exhausts_the_stack() {
    let run = |text: String| error(&text, &[], &[]);
    let deep = |before: &str, open: &str, inside: &str, depth: usize| {
        format!("{before}{}{inside}{}", open.repeat(depth), ")".repeat(depth))
    };
    assert!(run("(".repeat(4096)).starts_with("Syntax error; token: \"<EOF>\""));
    assert!(run(format!("k = {}", "(".repeat(4092))).starts_with("Syntax error; token: \"<EOF>\""));
    assert_eq!(run(deep("", "(", "k=m", 2000)), "The expression has redundant parentheses;");
    assert_eq!(run(deep("k=", "(", "m", 2000)), "The expression has redundant parentheses;");
    assert_eq!(run(deep("k=", "g(", "m", 1300)), "Invalid function name; function: g");
    run(deep("k=", "size(", "m", 650));
    run(deep("k=", "size(", "m", 40));
    run(deep("", "NOT (", "k=m", 680));
    run("NOT (".repeat(800));
    assert!(run(")".repeat(4096)).starts_with("Syntax error; token: \")\""));
    run("[".repeat(4096));
    run(format!("k{}", "[0]".repeat(1365)));
    run(format!("k{}", ".m".repeat(2047)));
}

#[test]
fn the_deepest_conditions_fit_a_small_stack() {
    let deepest = || {
        for text in [
            format!("k=m {}{}", "AND (k=m ".repeat(149), ")".repeat(149)),
            format!("{}k=m{}", "NOT (".repeat(299), ")".repeat(299)),
        ] {
            let parsed = ParsedCondition::parse(ExpressionKind::Filter, &text).unwrap();
            assert_eq!(
                ParsedCondition::parse(ExpressionKind::Filter, &parsed.to_string()),
                Ok(parsed.clone())
            );
            let condition = parsed.bind(&names(&[]), &values(&[]), &mut Usage::new()).unwrap();
            assert!(condition.matches(None).is_ok());
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(deepest).unwrap().join().unwrap();
}

#[test]
fn indexes_are_limited() {
    assert!(filter("a[2147483647] = b", &[], &[]).is_ok());
    assert_eq!(
        error("a[99999999999999999999999] = b", &[], &[]),
        "List index is not within the allowable range; index: [99999999999999999999999]"
    );
    assert_eq!(
        error("a[2147483648] = b", &[], &[]),
        "List index is not within the allowable range; index: [2147483648]"
    );
}

#[test]
fn usage_is_recorded_across_expressions() {
    let (names, values) = (names(&[("#a", "a"), ("#b", "b")]), values(&[(":v", n("1")), (":w", n("2"))]));
    let mut usage = Usage::new();
    Condition::parse(ExpressionKind::Condition, "#a = :v", &names, &values, &mut usage).unwrap();
    assert_eq!(
        usage.unused_names(&names).unwrap().to_string(),
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    );
    assert_eq!(
        usage.unused_values(&values).unwrap().to_string(),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"
    );
    Condition::parse(ExpressionKind::Filter, "a.#b < :w", &names, &values, &mut usage).unwrap();
    assert!(usage.unused_names(&names).is_none() && usage.unused_values(&values).is_none());
}
