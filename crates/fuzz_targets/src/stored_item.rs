//! Arbitrary bytes as a stored item: reading them terminates without a panic.

use crate::inputs::{expression_names, expression_values};
use partita_api::export::ExportFormat;
use partita_exchange::item_writer;
use partita_expression::{Condition, ExpressionKind, Projection, Update, Usage};
use partita_value::{AttributeValue, Item, ItemRef, ValueRef, limits, ordered_key};

const CONDITION: &str = "contains(a, :a) OR b <= :b OR size(i) > :b OR b IN (:b, :c) OR g = :g";
const PROJECTION: &str = "a, i[1].x, j.a, h";
const UPDATE: &str = "SET a = if_not_exists(a, :a), i[0] = :i, b = b + :b ADD g :g DELETE f :f REMOVE j.l[0]";

pub fn run(bytes: &[u8]) {
    let Some(item) = ItemRef::new(bytes) else { return };
    read(item);
    evaluate(item);
    write(item);
}

fn read(item: ItemRef<'_>) {
    let _ = (item.size(), item.is_nested_beyond(limits::NESTING_LEVELS), format!("{:?}", item.to_owned()));
    for (name, value) in item.attributes() {
        let name = String::from_utf8_lossy(name);
        let _ = (item.get(&name), value.size(), value.as_number(), value.as_text(), value.compare(&value));
        if value.scalar_type().is_some() {
            ordered_key::write(value, &mut Vec::new());
            ordered_key::token([value].into_iter());
        }
        let rebuilt = rebuild(&name, value);
        let again = rebuilt.view().attributes().into_iter().next().map(|(_, value)| value);
        assert!(
            again.is_some_and(|value| rebuild(&name, value) == rebuilt),
            "rebuilding once makes it canonical"
        );
    }
}

fn rebuild(name: &str, value: ValueRef<'_>) -> Item {
    [(name, AttributeValue::from(value))].into_iter().collect()
}

fn evaluate(item: ItemRef<'_>) {
    let (names, values) = (expression_names(), expression_values());
    let condition =
        Condition::parse(ExpressionKind::Condition, CONDITION, &names, &values, &mut Usage::new());
    let _ = condition.expect("binds").matches(Some(item));
    Projection::parse(PROJECTION, &names, &mut Usage::new()).expect("binds").apply(item);
    let update = Update::parse(UPDATE, &names, &values, &mut Usage::new()).expect("binds");
    let _ = update.apply(Some(item), Item::default().view());
}

fn write(item: ItemRef<'_>) {
    for format in [ExportFormat::DynamoDbJson, ExportFormat::Ion] {
        item_writer::write(format, item, &mut Vec::new());
    }
}
