//! Results of updates.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{AttributeAction, Update};
use partita_value::{AttributeValue, Item, Value};

fn key() -> Item {
    item(&[("pk", s("p"))])
}

fn thing() -> Item {
    item(&[
        ("pk", s("p")),
        ("num", n("10")),
        ("txt", s("x")),
        ("tags", ss(&["a", "b"])),
        ("nums", ns(&["1", "2"])),
        ("lst", l(&[n("0"), n("1"), n("2"), n("3"), n("4"), n("5")])),
        ("doc", m(&[("a", n("1")), ("l", l(&[m(&[("x", n("1"))]), l(&[n("7")])])), ("bag", ss(&["q"]))])),
    ])
}

fn apply(text: &str, value_entries: &[(&str, AttributeValue)]) -> Item {
    let update = update(text, &[], value_entries).unwrap_or_else(|error| panic!("{text}: {error}"));
    update.apply(Some(thing().view()), key().view()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// One attribute after the update.
fn after(text: &str, attribute: &str, value_entries: &[(&str, AttributeValue)]) -> Option<AttributeValue> {
    apply(text, value_entries).get(attribute).map(AttributeValue::from)
}

#[test]
fn other_attributes_are_unchanged() {
    let updated = apply("SET b = :v, zz = :v REMOVE num, nope", &[(":v", s("new"))]);
    let old = thing();
    let expected = old.view().attributes().into_iter().filter(|(name, _)| *name != b"num");
    let mut attributes: Vec<(String, AttributeValue)> =
        expected.map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), value.into())).collect();
    attributes.extend([("b".to_owned(), s("new")), ("zz".to_owned(), s("new"))]);
    let expected: Item = attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    assert_eq!(updated, expected);
    assert_eq!(updated.size(), expected.size());
}

#[test]
fn set_reads_the_old_item() {
    let updated = apply("SET a = num, num = :v, b = doc.l[0].x, c = pk", &[(":v", n("1"))]);
    for (name, expected) in [("a", n("10")), ("num", n("1")), ("b", n("1")), ("c", s("p"))] {
        assert_eq!(updated.get(name).map(AttributeValue::from), Some(expected), "{name}");
    }
}

#[test]
fn arithmetic_is_exact() {
    for (text, value, expected) in [
        ("SET num = num + :v", "5", "15"),
        ("SET num = num - :v", "0.1", "9.9"),
        ("set num = (num + :v)", "1", "11"),
        ("SET num = ((num) - (:v))", "1", "9"),
        ("SET num = :v + doc.a", "0.2", "1.2"),
        ("SET num = if_not_exists(nope, :v) + :v", "2", "4"),
        ("SET num = if_not_exists(num, :v) + if_not_exists(x, :v)", "2", "12"),
        ("ADD num :v", "-3", "7"),
    ] {
        assert_eq!(after(text, "num", &[(":v", n(value))]), Some(n(expected)), "{text}");
    }
}

#[test]
fn if_not_exists_and_list_append_return_values() {
    assert_eq!(after("SET txt = if_not_exists(txt, :v)", "txt", &[(":v", n("1"))]), Some(s("x")));
    assert_eq!(after("SET y = if_not_exists(y, :v)", "y", &[(":v", n("1"))]), Some(n("1")));
    assert_eq!(after("SET y = if_not_exists(doc.nope, if_not_exists(x, num))", "y", &[]), Some(n("10")));
    let more = [(":v", l(&[s("e")])), (":none", l(&[]))];
    let appended = after("SET y = list_append(doc.l[1], :v), z = list_append(:none, :v)", "y", &more);
    assert_eq!(appended, Some(l(&[n("7"), s("e")])));
    let appended = after("SET y = list_append(if_not_exists(y, :none), :v), z = :v", "y", &more);
    assert_eq!(appended, Some(l(&[s("e")])));
    let appended = after("SET doc.l[1] = list_append(:v, doc.l[1]), z = :none", "doc", &more).unwrap();
    assert_eq!(
        appended,
        m(&[("a", n("1")), ("l", l(&[m(&[("x", n("1"))]), l(&[s("e"), n("7")])])), ("bag", ss(&["q"]))])
    );
}

#[test]
fn documents_are_edited_inside() {
    let edited =
        after("SET doc.a = :v, doc.l[0].y = doc.a, doc.n = :v REMOVE doc.bag", "doc", &[(":v", s("v"))]);
    let expected =
        m(&[("a", s("v")), ("l", l(&[m(&[("x", n("1")), ("y", n("1"))]), l(&[n("7")])])), ("n", s("v"))]);
    assert_eq!(edited, Some(expected));
    let edited =
        after("ADD doc.a :n, doc.c :n, doc.bag :s, doc.t :s", "doc", &[(":n", n("5")), (":s", ss(&["r"]))]);
    let lists = l(&[m(&[("x", n("1"))]), l(&[n("7")])]);
    assert_eq!(
        edited,
        Some(m(&[
            ("a", n("6")),
            ("c", n("5")),
            ("l", lists.clone()),
            ("bag", ss(&["q", "r"])),
            ("t", ss(&["r"]))
        ]))
    );
    let edited = after("DELETE doc.bag :s, doc.nope :s", "doc", &[(":s", ss(&["q"]))]);
    assert_eq!(edited, Some(m(&[("a", n("1")), ("l", lists)])));
    assert_eq!(after("REMOVE doc.a, doc.l, doc.bag", "doc", &[]), Some(m(&[])));
}

#[test]
fn indexes_refer_to_the_old_list() {
    let numbers = |text: &str, values: &[(&str, AttributeValue)]| match after(text, "lst", values) {
        Some(AttributeValue::L(elements)) => elements
            .into_iter()
            .map(|element| match element {
                AttributeValue::N(number) => number.to_string(),
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
            .join(" "),
        other => panic!("{other:?}"),
    };
    let v = [(":v", n("99"))];
    assert_eq!(numbers("REMOVE lst[0] SET lst[4] = :v", &v), "1 2 3 99 5");
    assert_eq!(numbers("SET lst[4] = :v REMOVE lst[0]", &v), "1 2 3 99 5");
    assert_eq!(numbers("REMOVE lst[5], lst[0], lst[2], lst[17]", &[]), "1 3 4");
    assert_eq!(numbers("SET lst[6] = :v", &v), "0 1 2 3 4 5 99");
    let many = [(":1", n("-1")), (":2", n("-2")), (":3", n("-3"))];
    assert_eq!(
        numbers("SET lst[30] = :1, lst[20] = :2, lst[9] = :3 REMOVE lst[0]", &many),
        "1 2 3 4 5 -3 -2 -1"
    );
    assert_eq!(numbers("ADD lst[0] :v, lst[40] :v", &v), "99 1 2 3 4 5 99");
    assert_eq!(numbers("REMOVE lst[0], lst[1], lst[2], lst[3], lst[4], lst[5]", &[]), "");
}

#[test]
fn inner_lists_are_resized_before_outer_ones() {
    let old = item(&[("pk", s("p")), ("x", l(&[l(&[n("1"), n("2")]), l(&[n("3"), n("4")]), l(&[n("5")])]))]);
    let update =
        update("REMOVE x[0], x[1][0], x[2][0] SET x[1][9] = :v, x[7] = :v", &[], &[(":v", n("9"))]).unwrap();
    let new = update.apply(Some(old.view()), key().view()).unwrap();
    assert_eq!(new.get("x").map(AttributeValue::from), Some(l(&[l(&[n("4"), n("9")]), l(&[]), n("9")])));
}

#[test]
fn add_and_delete_change_sets() {
    let sets = [(":s", ss(&["b", "c"])), (":n", ns(&["2", "3.0"]))];
    let updated = apply("ADD tags :s, nums :n, more :s", &sets);
    for (name, expected) in
        [("tags", ss(&["a", "b", "c"])), ("nums", ns(&["1", "2", "3"])), ("more", ss(&["b", "c"]))]
    {
        assert_eq!(updated.get(name).map(AttributeValue::from), Some(expected), "{name}");
    }
    let updated = apply("DELETE tags :s, nums :n, more :s", &sets);
    for (name, expected) in [("tags", Some(ss(&["a"]))), ("nums", Some(ns(&["1"]))), ("more", None)] {
        assert_eq!(updated.get(name).map(AttributeValue::from), expected, "{name}");
    }
    assert_eq!(after("DELETE tags :s", "tags", &[(":s", ss(&["b", "a", "z"]))]), None);
}

#[test]
fn a_missing_item_starts_from_its_key() {
    let create = |text: &str| {
        let value_entries = [(":n", n("1")), (":s", ss(&["a"]))];
        update(text, &[], &value_entries).unwrap().apply(None, key().view())
    };
    assert_eq!(
        create("SET a = :n, b = pk ADD c :n, d :s DELETE e :s REMOVE f").unwrap(),
        item(&[("pk", s("p")), ("a", n("1")), ("b", s("p")), ("c", n("1")), ("d", ss(&["a"])),])
    );
    assert_eq!(create("REMOVE x.y, z[0]").unwrap(), key());
    assert!(create("SET x.y = :n").is_err());
    assert!(create("SET x = y").is_err());
}

#[test]
fn targets_are_projected_for_the_response() {
    let value_entries = [(":v", n("1"))];
    let update = update("SET doc.a = :v, num = :v REMOVE lst[1], txt", &[], &value_entries).unwrap();
    let new = update.apply(Some(thing().view()), key().view()).unwrap();
    assert_eq!(
        update.targets().apply(thing().view()),
        item(&[("doc", m(&[("a", n("1"))])), ("num", n("10")), ("lst", l(&[n("1")])), ("txt", s("x")),])
    );
    assert_eq!(
        update.targets().apply(new.view()),
        item(&[("doc", m(&[("a", n("1"))])), ("num", n("1")), ("lst", l(&[n("2")])),])
    );
    assert_eq!(update.target_roots().collect::<Vec<_>>(), ["doc", "num", "lst", "txt"]);
    assert_eq!(update.nested_roots().collect::<Vec<_>>(), ["doc", "lst"]);
}

#[test]
fn types_are_known_without_the_item() {
    let value_entries = [(":n", n("1")), (":s", ss(&["x"]))];
    let text =
        "SET a = :n, b = :n + c, d = e[0], f = if_not_exists(g, :n), h.i = :n REMOVE j ADD k :n DELETE l :s";
    let update = update(text, &[], &value_entries).unwrap();
    let known = ["a", "b", "k", "l"].map(|name| update.known_type(name));
    assert_eq!(known, [Some("N"), Some("N"), Some("N"), Some("SS")]);
    assert!(["d", "f", "h", "j", "x"].iter().all(|name| update.known_type(name).is_none()));
    assert_eq!(update.nested_roots().collect::<Vec<_>>(), ["h", "e"]);
}

#[test]
fn legacy_updates_put_add_and_delete() {
    let value = |value: AttributeValue| Value::from(&value);
    let updated = |attribute: &str, action: AttributeAction| {
        let update = Update::from_attribute_updates(vec![(attribute.to_owned(), action)]);
        let new = update.apply(Some(thing().view()), key().view())?;
        Ok::<_, partita_expression::ExpressionError>(new.get(attribute).map(AttributeValue::from))
    };
    assert_eq!(updated("num", AttributeAction::Put(value(s("x")))), Ok(Some(s("x"))));
    assert_eq!(updated("num", AttributeAction::Add(value(n("1")))), Ok(Some(n("11"))));
    assert_eq!(updated("x", AttributeAction::Add(value(n("1")))), Ok(Some(n("1"))));
    assert_eq!(updated("tags", AttributeAction::Add(value(ss(&["c"])))), Ok(Some(ss(&["a", "b", "c"]))));
    assert_eq!(updated("tags", AttributeAction::Delete(Some(value(ss(&["a"]))))), Ok(Some(ss(&["b"]))));
    assert_eq!(updated("tags", AttributeAction::Delete(None)), Ok(None));
    let longer = updated("lst", AttributeAction::Add(value(l(&[n("6")])))).unwrap();
    assert_eq!(longer, Some(l(&["0", "1", "2", "3", "4", "5", "6"].map(n))));
    for (attribute, action) in [
        ("tags", AttributeAction::Delete(Some(value(ns(&["1"]))))),
        ("num", AttributeAction::Delete(Some(value(ns(&["1"]))))),
        ("tags", AttributeAction::Add(value(ns(&["1"])))),
        ("nums", AttributeAction::Add(value(n("1")))),
    ] {
        assert_eq!(
            updated(attribute, action).unwrap_err().to_string(),
            "Type mismatch for attribute to update"
        );
    }
}

#[test]
fn only_set_and_add_create_an_item() {
    let creates =
        |text: &str, values: &[(&str, AttributeValue)]| update(text, &[], values).unwrap().creates_item();
    assert!(creates("SET a = :v", &[(":v", n("1"))]));
    assert!(creates("ADD a :v REMOVE b", &[(":v", n("1"))]));
    assert!(!creates("REMOVE a, b.c DELETE d :v", &[(":v", ss(&["x"]))]));
    let legacy = |action| Update::from_attribute_updates(vec![("a".into(), action)]).creates_item();
    assert!(!legacy(AttributeAction::Delete(None)));
    assert!(legacy(AttributeAction::Put(Value::from(&s("x")))));
}
