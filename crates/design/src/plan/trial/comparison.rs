//! Compares what a call returned with what its pattern means.

use super::meaning::{Expected, is_ordered};
use crate::audit::recognise;
use crate::formatting::plural;
use crate::item::{Item, attributes};
use crate::model::{Model, Pattern};
use std::collections::{BTreeMap, BTreeSet};

/// The most keys that a difference names.
const SHOWN: usize = 3;

/// Says how the items that a call returned differ from what it must return: in their keys, their number or their order; `None` if they do not.
pub fn difference(
    (model, pattern): (&Model, &Pattern),
    wanted: &Expected,
    returned: &[Item],
    all: &[Item],
) -> Option<String> {
    let key = |item: &Item| -> Vec<String> {
        model.table.keys.iter().filter_map(|name| item.get(name)?.to_text()).collect()
    };
    let keys: Vec<Vec<String>> = returned.iter().map(key).collect();
    let unique: BTreeSet<&Vec<String>> = keys.iter().collect();
    if unique.len() != keys.len() {
        return Some(format!(
            "{} returned more than once",
            plural((keys.len() - unique.len()) as u64, "item")
        ));
    }
    let extra: Vec<&Vec<String>> = keys.iter().filter(|key| !wanted.keys.contains(*key)).collect();
    if !extra.is_empty() {
        return Some(format!("not meant, but returned: {}", shown(&extra)));
    }
    let missing: Vec<&Vec<String>> = wanted.keys.iter().filter(|key| !unique.contains(key)).collect();
    if keys.len() < wanted.count {
        let number = wanted.count - keys.len();
        let some = if number < missing.len() { format!("{number} of ") } else { String::new() };
        return Some(format!("meant, but not returned: {some}{}", shown(&missing)));
    }
    if keys.len() > wanted.count {
        return Some(format!("{} items are returned, and not {}", keys.len(), wanted.count));
    }
    let (order, values) = pattern.order.as_ref().zip(wanted.order.as_ref())?;
    // An index may lack the attribute.
    let whole: BTreeMap<Vec<String>, &Item> = all.iter().map(|item| (key(item), item)).collect();
    let is_ordered =
        |item: &Item| recognise(model, &attributes(item)).is_none_or(|entity| is_ordered(pattern, entity));
    let listed = keys.iter().filter_map(|key| whole.get(key)).filter(|item| is_ordered(item));
    let found: Vec<String> = listed.filter_map(|item| item.get(&order.by)?.to_text()).collect();
    (found != *values).then(|| match found.iter().zip(values).find(|(found, wanted)| found != wanted) {
        Some((found, wanted)) => format!("the order differs: {} is {found} where {wanted} is due", order.by),
        None => format!("{} items have {}, and not {}", found.len(), order.by, values.len()),
    })
}

fn shown(keys: &[&Vec<String>]) -> String {
    let some: Vec<String> = keys.iter().take(SHOWN).map(|key| key.join(" / ")).collect();
    let more = if keys.len() > SHOWN { format!(" and {} more", keys.len() - SHOWN) } else { String::new() };
    format!("{}{more}", some.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Value;
    use crate::model::Order;

    #[test]
    fn keys_and_order_are_compared_and_not_only_the_number() {
        let mut model = Model::default();
        model.table.keys = vec!["id".to_owned()];
        let order = Order { by: "at".to_owned(), descending: false };
        let pattern = Pattern { order: Some(order), ..Pattern::default() };
        let item = |id: &str, at: &str| -> Item {
            [("id", id), ("at", at)]
                .map(|(name, text)| (name.to_owned(), Value::String(text.to_owned())))
                .into()
        };
        let all = [item("a", "1"), item("b", "2"), item("c", "3")];
        let wanted = Expected {
            keys: ["a", "b"].map(|id| vec![id.to_owned()]).into(),
            count: 2,
            order: Some(vec!["1".to_owned(), "2".to_owned()]),
        };
        let compared = |numbers: &[usize]| {
            let returned: Vec<Item> = numbers.iter().map(|number| all[*number].clone()).collect();
            difference((&model, &pattern), &wanted, &returned, &all).unwrap_or_default()
        };
        assert_eq!(compared(&[0, 1]), "");
        assert_eq!(compared(&[0, 2]), "not meant, but returned: c");
        assert_eq!(compared(&[1]), "meant, but not returned: a");
        assert_eq!(compared(&[1, 0]), "the order differs: at is 2 where 1 is due");
        assert_eq!(compared(&[0, 0]), "1 item returned more than once");
    }
}
