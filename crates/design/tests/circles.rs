//! References that lead back to where they start are refused where they are declared.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::{Source, read};
use support::with_table;

/// The places and the messages of what is wrong with entities, which are refused.
fn refused(entities: &str) -> Vec<(String, String)> {
    let text = with_table(entities);
    let found = read(&Source::new("model.toml", text.clone())).map(|_| ()).unwrap_err();
    found.into_iter().map(|finding| (text[finding.span.clone()].to_owned(), finding.message)).collect()
}

fn one(entities: &str, place: &str, message: &str) {
    assert_eq!(refused(entities), [(place.to_owned(), message.to_owned())], "{entities}");
}

/// An entity with the identifiers of three, and what follows.
fn entity(name: &str, rest: &str) -> String {
    let id = name.to_lowercase();
    format!(
        "[entity.{name}]\nattributes = {{ aId = \"id\", bId = \"id\", cId = \"id\", n = \"int\" }}\nkey = [\"{name}#{{{id}Id}}\", \"{name}\"]\n{rest}\n"
    )
}

#[test]
fn a_copy_is_of_something_else() {
    one(&entity("A", "copies = \"A\""), "\"A\"", "A copies A: a circle");
    let both = entity("A", "copies = \"B\"") + &entity("B", "copies = \"A\"");
    one(&both, "\"B\"", "A copies B, which copies A: a circle");
    // The one that leads into the circle is not blamed.
    let three = entity("C", "copies = \"A\"") + &both;
    one(&three, "\"B\"", "A copies B, which copies A: a circle");
    let chain = entity("A", "copies = \"B\"") + &entity("B", "copies = \"C\"") + &entity("C", "");
    assert!(read(&Source::new("model.toml", with_table(&chain))).is_ok());
}

#[test]
fn an_aggregate_is_not_made_of_itself() {
    one(
        &entity("A", "aggregates = { all = \"count A\" }"),
        "\"count A\"",
        "all summarises items of A itself",
    );
    let pair = |of_a: &str, of_b: &str| {
        let sum = |own: &str, of: &str| format!("aggregates = {{ {own} = \"{of}\" }}");
        entity("A", &sum("x", of_a)) + &entity("B", &sum("y", of_b))
    };
    one(&pair("sum B.y", "sum A.x"), "\"sum B.y\"", "A.x is made of B.y of A.x: a circle");
    let tested = pair("count B where y > 3", "sum A.x");
    one(&tested, "\"count B where y > 3\"", "A.x is made of B.y of A.x: a circle");
    // Each counts the other's items, which are there whatever the counts are.
    assert!(read(&Source::new("model.toml", with_table(&pair("count B", "count A")))).is_ok());
    assert!(read(&Source::new("model.toml", with_table(&pair("sum B.y", "sum A.n")))).is_ok());
}

#[test]
fn a_value_is_not_computed_from_itself() {
    let computed = |attributes: &str| {
        format!("[entity.A]\nattributes = {{ aId = \"id\", {attributes} }}\nkey = [\"A#{{aId}}\", \"A\"]\n")
    };
    let text = |name: &str, from: &str| format!("{name} = {{ type = \"string\", computed = \"{from}\" }}");
    let own = computed(&text("n", "{n}"));
    one(&own, "\"{n}\"", "n is computed from n: a circle");
    let two = computed(&format!("{}, {}", text("n", "{m}"), text("m", "x{n}")));
    one(&two, "\"{m}\"", "n is computed from m from n: a circle");
    let chain = computed(&format!("{}, {}", text("n", "{m}"), text("m", "{aId}")));
    assert!(read(&Source::new("model.toml", with_table(&chain))).is_ok());
}

#[test]
fn a_relationship_has_two_ends() {
    for edge in ["[\"aId\"]", "[\"aId\", \"aId\"]", "[\"aId\", \"bId\", \"cId\"]"] {
        let message = "`edge` must be two attributes, one for each end".to_owned();
        assert_eq!(refused(&entity("A", &format!("edge = {edge}"))), [(edge.to_owned(), message)]);
    }
}

#[test]
fn a_long_way_without_a_circle_is_followed() {
    let last = 499;
    let next = |number: u32| match number {
        number if number == last => String::new(),
        number => format!("copies = \"E{}\"", number + 1),
    };
    let each = |number: u32| {
        format!(
            "[entity.E{number}]\nattributes = {{ aId = \"id\" }}\nkey = [\"E{number}#{{aId}}\", \"E\"]\n{}\n",
            next(number)
        )
    };
    let chain: String = (0..=last).map(each).collect();
    assert!(read(&Source::new("model.toml", with_table(&chain))).is_ok());
}

#[test]
fn a_value_that_is_made_of_a_copy_of_itself_is_refused() {
    let copied = |aggregate: &str, kept: &str| {
        format!(
            "[entity.A]\nattributes = {{ aId = \"id\", x = \"int\", z = \"int\" }}\nkey = [\"A#{{aId}}\", \"A\"]\naggregates = {{ x = \"{aggregate}\" }}\n\
             [entity.B]\nattributes = {{ aId = \"id\"{kept} }}\nkey = [\"B#{{aId}}\", \"B\"]\ncopies = \"A\"\n\
             [entity.C]\nattributes = {{ aId = \"id\"{kept} }}\nkey = [\"C#{{aId}}\", \"C\"]\ncopies = \"B\"\n"
        )
    };
    for aggregate in ["count B where x < 1", "sum B.x", "max C.x"] {
        let text = copied(aggregate, ", x = \"int\", z = \"int\"");
        one(&text, &format!("\"{aggregate}\""), "A.x is made of A.x: a circle");
    }
    let other = copied("sum B.z", ", x = \"int\", z = \"int\"");
    assert!(read(&Source::new("model.toml", with_table(&other))).is_ok(), "another attribute of the copy");
    let counted = copied("count B", "");
    assert!(
        read(&Source::new("model.toml", with_table(&counted))).is_ok(),
        "the copies are counted whatever they hold"
    );
}
