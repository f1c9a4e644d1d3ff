//! What is said of a key that finds the items of a pattern, but not as the pattern asks for them.

use super::{FindingText, inconsistent, is_key_itself, is_number, scattered};
use crate::check::text_order::pad;
use crate::formatting::list;
use crate::model::Pattern;
use crate::plan::{Obstacle, Unserved};
use crate::template::Template;

/// The text for items that are found, but not in the order, within the range or with the attributes that the pattern needs.
pub(super) fn unsuitable(
    pattern: &Pattern,
    unserved: &Unserved<'_>,
    is_movable: bool,
    add: &str,
) -> FindingText {
    let (location, name) = (unserved.location.name(), &unserved.entity.name);
    let move_first = |by: &str, before: &str| match is_movable {
        true => format!("put {{{by}}} before {{{before}}} in the sort key, or {add}"),
        false => format!("{by} changes, so it belongs into an index: {add}"),
    };
    match &unserved.obstacle {
        Obstacle::NoSortKey { wanted } => {
            let message = format!(
                "{location} has no sort key, so results can be neither ordered nor bounded by {wanted}"
            );
            ("P104", message, add.to_owned())
        }
        Obstacle::Order { by, before } => {
            let message = format!("{name} is not ordered by {by}: in {location}, {} comes first", before[0]);
            ("P103", message, move_first(by, &before[0]))
        }
        Obstacle::Range { by, before } => {
            let message =
                format!("{name} cannot be bounded by {by}: in {location}, {} comes first", before[0]);
            ("P104", message, move_first(by, &before[0]))
        }
        Obstacle::Unsorted { by, template } => unsorted(unserved, by, template),
        Obstacle::Delimited { by, delimiter, template } => (
            "P105",
            format!(
                "{by} is followed by {delimiter} in {template}, before which letters or digits sort: a longer value comes before a shorter one"
            ),
            format!("end the sort key with {{{by}}}, or write a delimiter such as # there"),
        ),
        Obstacle::Consistency => inconsistent(location),
        Obstacle::Projection { missing } => (
            "P112",
            format!("{location} serves this, but lacks {}", list(missing)),
            format!(
                "add them to its project, name only the fields needed, or set hydrate = true on {}",
                pattern.name
            ),
        ),
        Obstacle::Interleave { by } => {
            let types: Vec<&str> = pattern.targets.iter().map(|target| target.entity.as_str()).collect();
            let help = format!(
                "give all of them one partition in an index, with {by} first in the sort key, in one type, format and precision"
            );
            ("P103", format!("{} are not stored together in the order of {by}", list(&types)), help)
        }
        Obstacle::Tied { by } => (
            "P103",
            format!("{name} is not ordered by {by}: in {location}, the items found share one sort key"),
            format!("append {{{by}}} to the sort key, or {add}"),
        ),
        Obstacle::Coarse { by, template } => (
            "P103",
            format!("{name} is not sorted by {by}: {template} holds only its start"),
            match unserved.location.index {
                Some(_) => format!("write {{{by}}} in full"),
                None => format!(
                    "write {{{by}}} in full in the key of {name}; or, if there is one for each {template}, {add}"
                ),
            },
        ),
        Obstacle::Scattered { requests, factors } => scattered::refused(location, *requests, factors, add),
        _ => ("P101", format!("no key serves this: {name} cannot be found"), add.to_owned()),
    }
}

/// The text for values whose text in a key does not sort as they do.
fn unsorted(unserved: &Unserved<'_>, by: &str, template: &Template) -> FindingText {
    let location = unserved.location.name();
    if !is_number(unserved.entity, by) {
        return (
            "P105",
            format!("{by} is in lower case in {template}, where upper-case letters sort elsewhere"),
            format!("write {{{by}}} as it is, or sort in the application"),
        );
    }
    if is_key_itself(unserved, by) {
        return (
            "P105",
            format!(
                "{by} is a number, and {location} holds it as text, since other entities do: 10 sorts before 2"
            ),
            format!("give {by} one type in all entities of {location}"),
        );
    }
    let message = format!("{by} is a number, and as text in {template} 10 sorts before 2");
    ("P105", message, pad(template, unserved.entity, by))
}
