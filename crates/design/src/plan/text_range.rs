//! Ranges of a text in a sort key. What follows the text in the key can sort behind characters of the text, so that keys are not in the exact order
//! of their texts: such a range reads a little more than it asks for, and a filter drops the rest.

use super::bounds::range_texts;
use super::{SortCondition, Step};
use crate::item::Attributes;
use crate::keys::key_mapping::KeyMapping;
use crate::model::Model;

/// Returns whether a condition on the sort key keeps exactly the items within a range of an attribute.
pub(super) fn is_exact(mapping: &KeyMapping<'_>, sort: &SortCondition, by: &str) -> bool {
    let is_bounded = matches!(sort, SortCondition::Between { by: own, .. } if own == by);
    let template = mapping.sort.as_ref();
    is_bounded && template.is_some_and(|template| template.late_delimiter(by, mapping.entity).is_none())
}

/// Returns the two texts that bound the sort key of a step, both included, so that they contain all keys of its entities whose values are in the range; `None` as
/// for [`range_texts`].
pub fn wide_range_texts(
    model: &Model,
    step: &Step<'_>,
    known: &Attributes,
    from: Option<&str>,
    to: Option<&str>,
) -> Option<(String, String)> {
    let to = to.map(|to| upper_value(step, to));
    let texts = of_each_target(step).map(|step| range_texts(model, &step, known, from, to));
    let texts: Vec<(String, String)> = texts.collect::<Option<_>>()?;
    let (lower, upper): (Vec<String>, Vec<String>) = texts.into_iter().unzip();
    Some((lower.into_iter().min()?, upper.into_iter().max()?))
}

/// Returns the step as it would be for each of its entities alone: what follows the values can differ.
pub fn of_each_target<'a, 'm>(step: &'a Step<'m>) -> impl Iterator<Item = Step<'m>> + use<'a, 'm> {
    step.targets.iter().map(|entity| Step { targets: vec![*entity], ..step.clone() })
}

/// Returns the value behind whose keys no key of a smaller value sorts: the start of the upper bound that ends before a character which sorts before
/// the delimiter.
pub fn upper_value<'a>(step: &Step<'_>, to: &'a str) -> &'a str {
    let Some(delimiter) = late_delimiter(step) else { return to };
    let end = to.find(|character| character <= delimiter).unwrap_or(to.len());
    &to[..end]
}

/// Returns the delimiter behind the text that a step bounds, if characters of the text sort before it: the upper bound ends before the first of them.
pub fn late_delimiter(step: &Step<'_>) -> Option<char> {
    let SortCondition::Between { by, .. } = &step.sort else { return None };
    let delimiters = step
        .targets
        .iter()
        .filter_map(|entity| step.location.mapping(entity)?.sort?.late_delimiter(by, *entity));
    delimiters.max()
}
