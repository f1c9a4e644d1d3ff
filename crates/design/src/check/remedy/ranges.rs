//! Conditions of a pattern that could be its range: bounds in a sort key instead of a filter.

use crate::model::condition::{Comparator, Comparison, Condition, Constant};
use crate::model::{Bounds, Pattern};
use crate::plan::Step;
use crate::repair::{Edit, Repair, quoted};
use crate::template::Part;

/// What to do about a condition on the attribute that follows the known start of the sort key: as a range it would be part of the key condition. With the
/// change, if the condition includes its bounds, as a range does.
pub fn bounded_by_where(pattern: &Pattern, step: &Step<'_>) -> Option<(String, Option<Repair>)> {
    let sort = step.location.mapping(step.targets[0])?.sort?;
    let (_, rest) = sort.split_known(|name| pattern.is_fixed(name));
    let Some(Part::Field { name, .. }) = rest.first() else { return None };
    if pattern.range.as_ref().is_some_and(|range| range.by != *name) {
        return None;
    }
    let test = pattern
        .filter
        .conjuncts()
        .into_iter()
        .find(|part| part.attributes().into_iter().eq([name.as_str()]) && is_range(part))?;
    if pattern.range.is_some() {
        let help = format!(
            "range bounds {name} in the sort key: let the caller's bounds keep to it instead of where = \"{test}\""
        );
        return Some((help, None));
    }
    let rest = pattern.filter.conjuncts().into_iter().filter(|part| *part != test).cloned();
    let rest = Condition::All(rest.collect());
    let kept = if rest.is_empty() { String::new() } else { format!(" and where = \"{rest}\"") };
    let help = format!(
        "{name} is next in the sort key: write range = {{ by = \"{name}\", from = …, to = … }}{kept} instead of where = \"{}\"",
        pattern.filter
    );
    let change = as_range(pattern).filter(|(ranged, _)| ranged.range.iter().any(|range| range.by == *name));
    let change = change.map(|(_, change)| Repair {
        help: format!("{name} is next in the sort key: {}", change.help),
        ..change
    });
    Some((help, change))
}

/// The pattern with the first part of its condition that is a range, both ends included, as its range, and the change that makes it so.
pub fn as_range(pattern: &Pattern) -> Option<(Pattern, Repair)> {
    let parts = pattern.filter.conjuncts();
    let by = parts.iter().find_map(|part| Some(included(part)?.0)).filter(|_| pattern.range.is_none())?;
    let (mut from, mut to, mut rest) = (None, None, Vec::new());
    for part in &parts {
        match included(part).filter(|(own, ..)| *own == by) {
            Some((_, lower, upper))
                if (lower.is_none() || from.is_none()) && (upper.is_none() || to.is_none()) =>
            {
                (from, to) = (from.or(lower), to.or(upper));
            }
            _ => rest.push((*part).clone()),
        }
    }
    let bound = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!(", {name} = {}", quoted(value).trim())).unwrap_or_default()
    };
    let range = format!("{{ by = \"{by}\"{}{} }}", bound("from", &from), bound("to", &to));
    let path = ["pattern", pattern.name.as_str()];
    let filter = Condition::All(rest);
    let kept = if filter.is_empty() { String::new() } else { format!(" and where = \"{filter}\"") };
    let place = [path[0], path[1], "where"];
    let narrowed = match filter.is_empty() {
        true => Edit::remove(&place),
        false => Edit::set(&place, quoted(&filter.to_string()).trim()),
    };
    let repair = Repair {
        help: format!(
            "write range = {range}{kept} on {} instead of where = \"{}\"",
            pattern.name, pattern.filter
        ),
        edits: vec![narrowed, Edit::set(&[path[0], path[1], "range"], range)],
    };
    let by = by.to_owned();
    let bounds = Bounds { by, from, to, span: pattern.span.clone() };
    Some((Pattern { filter, range: Some(bounds), ..pattern.clone() }, repair))
}

/// The attribute that a condition bounds, and its bounds, if they are included.
fn included(condition: &Condition) -> Option<(&str, Option<String>, Option<String>)> {
    let Condition::Test(test) = condition else { return None };
    let text = |value: &Constant| Some(value.as_str().to_owned());
    let (from, to) = match &test.comparison {
        Comparison::Between(from, to) => (text(from), text(to)),
        Comparison::Is(Comparator::GreaterOrEqual, from) => (text(from), None),
        Comparison::Is(Comparator::LessOrEqual, to) => (None, text(to)),
        _ => return None,
    };
    Some((&test.attribute, from, to))
}

/// Returns whether a condition is one range of values.
fn is_range(condition: &Condition) -> bool {
    let Condition::Test(test) = condition else { return false };
    match &test.comparison {
        Comparison::Is(comparator, _) => !matches!(comparator, Comparator::Equal | Comparator::Differs),
        comparison => matches!(comparison, Comparison::Between(..)),
    }
}
