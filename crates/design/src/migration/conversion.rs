//! Values under another type: a number that was text, a time that was a date.

use crate::item::Value;
use crate::model::Attribute;
use crate::model::decimal::Decimal;

/// Midnight, in every precision that a time can have.
const MIDNIGHTS: [&str; 4] = ["T00:00:00Z", "T00:00Z", "T00:00:00.000Z", "T00:00:00.000000Z"];

/// Returns a value as an attribute admits it; `None` if it does already, or if something would be lost.
pub(super) fn converted(attribute: &Attribute, delimiter: char, value: &Value) -> Option<Value> {
    if attribute.admits(value, delimiter).is_ok() {
        return None;
    }
    let candidates = match value {
        Value::String(text) => of_text(text),
        Value::Number(text) => {
            Decimal::parse(text).map(|number| Value::String(number.to_string())).into_iter().collect()
        }
        Value::Bool(flag) => vec![Value::String(flag.to_string())],
        _ => Vec::new(),
    };
    candidates.into_iter().find(|candidate| attribute.admits(candidate, delimiter).is_ok())
}

fn of_text(text: &str) -> Vec<Value> {
    let mut candidates = Vec::new();
    // A number has one spelling: zeros in front, as a postal code has them, would be lost.
    let number = Decimal::parse(text).filter(|number| number.to_string() == *text);
    candidates.extend(number.map(|_| Value::Number(text.to_owned())));
    candidates.extend(text.parse().ok().map(Value::Bool));
    candidates.extend(MIDNIGHTS.map(|midnight| Value::String(format!("{text}{midnight}"))));
    // Only a midnight is a date.
    let day = MIDNIGHTS.iter().find_map(|midnight| text.strip_suffix(midnight));
    candidates.extend(day.map(|day| Value::String(day.to_owned())));
    candidates
}
