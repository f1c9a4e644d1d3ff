//! Items in a form in which those that are equal for a database are equal: sets have no order, and numbers several notations.

use crate::item::{Item, Value};

/// Returns whether two items are equal for a database.
pub fn is_same(left: &Item, right: &Item) -> bool {
    left.len() == right.len() && normal_form(left) == normal_form(right)
}

/// Returns whether two values are equal for a database.
pub fn is_same_value(left: &Value, right: &Value) -> bool {
    normal_value(left) == normal_value(right)
}

pub(super) fn normal_form(item: &Item) -> Item {
    item.iter().map(|(name, value)| (name.clone(), normal_value(value))).collect()
}

pub(super) fn normal_value(value: &Value) -> Value {
    let sorted = |texts: &[String], normal: fn(&str) -> String| {
        let mut texts: Vec<String> = texts.iter().map(|text| normal(text)).collect();
        texts.sort_unstable();
        texts
    };
    match value {
        Value::Number(text) => Value::Number(normal_number(text)),
        Value::List(values) => Value::List(values.iter().map(normal_value).collect()),
        Value::Map(values) => Value::Map(normal_form(values)),
        Value::StringSet(texts) => Value::StringSet(sorted(texts, str::to_owned)),
        Value::NumberSet(texts) => Value::NumberSet(sorted(texts, normal_number)),
        Value::BinarySet(texts) => Value::BinarySet(sorted(texts, str::to_owned)),
        other => other.clone(),
    }
}

/// A number as digits without outer zeros and a power of ten: `-12.50` is `-125e-1`.
fn normal_number(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, power) = match digits.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, power.parse::<i64>().unwrap_or_default()),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_end_matches('0');
    let power = power - fraction.len() as i64 + (all.len() - significant.len()) as i64;
    match significant.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        for same in
            [&["7", "007", "7.0", "70e-1", "+7"][..], &["-12.5", "-125E-1", "-012.50"], &["0", "0.00", "-0"]]
        {
            for text in same {
                assert_eq!(normal_number(text), normal_number(same[0]), "{text}");
            }
        }
        let different = ["7", "70", "0.7", "-7", "0"].map(normal_number);
        assert!((1..different.len()).all(|at| !different[..at].contains(&different[at])), "{different:?}");
    }

    #[test]
    fn sets_have_no_order_but_lists_do() {
        let item = |value: Value| Item::from([("a".to_owned(), value)]);
        let texts = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        assert!(is_same(
            &item(Value::NumberSet(texts(["1", "2"]))),
            &item(Value::NumberSet(texts(["2.0", "1"])))
        ));
        let list =
            |texts: [&str; 2]| item(Value::List(texts.map(|text| Value::String(text.to_owned())).to_vec()));
        assert!(!is_same(&list(["a", "b"]), &list(["b", "a"])));
        assert!(!is_same(&item(Value::Null), &Item::new()));
    }
}
