//! The request that a pattern declares: it is planned where it reads, and with what it compares the sort key with, whatever else would be cheaper.

use super::bounds::LAST;
use super::{Obstacle, Planner, SortCondition};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::{Model, Pattern};
use crate::template::Template;
use crate::template::alignment::{Constant, align};

/// A declared Query that DynamoDB accepts.
pub(super) struct Declared<'m> {
    pub location: TableOrIndex<'m>,
    /// What the sort key is compared with.
    sort: Option<KeyClause>,
    /// The sort keys that it reads.
    pub read: SortCondition,
}

impl<'m> Declared<'m> {
    /// The request of a pattern, if it compares the whole partition key and nothing but keys.
    pub fn of(model: &'m Model, pattern: &Pattern) -> Option<Declared<'m>> {
        let request = pattern.request.as_ref().filter(|request| !request.scan && pattern.via.is_empty())?;
        let index = request.index.as_deref().map(|name| model.index(name));
        let location = TableOrIndex { index: index.map_or(Some(None), |index| index.map(Some))? };
        let names = location.key_names(model);
        let (partition, sort) = location.halves(model);
        equal_to(&request.clauses, partition)?;
        let has_keys_only = request.clauses.iter().all(|clause| names.contains(&clause.key));
        let sort = sort_clause(&request.clauses, sort);
        has_keys_only.then(|| Declared { location, read: read_by(sort.as_ref()), sort })
    }

    /// Returns whether the request bounds the sort key, and does not only say how it starts.
    fn is_range(&self) -> bool {
        let is_start =
            |clause: &KeyClause| matches!(clause.operator, KeyOperator::Equals | KeyOperator::BeginsWith);
        self.sort.as_ref().is_some_and(|clause| !is_start(clause))
    }

    /// Returns whether all sort keys that the request reads have one value of a field.
    fn holds(&self, mapping: &KeyMapping<'_>, name: &str) -> bool {
        let Some((clause, key)) = self.sort.as_ref().zip(mapping.sort.as_ref()) else { return false };
        let text = |value: &Template| {
            let mut constants = align(value, key, mapping.entity).constants.into_iter();
            let is_whole = |constant: &Constant| constant.is_whole || clause.operator == KeyOperator::Equals;
            let constant = constants.find(|constant| constant.field == name && is_whole(constant))?;
            Some(constant.text)
        };
        let is_field = |value: &Template| value.has_field(name);
        match clause.values.as_slice() {
            [from, to] => {
                (is_field(from) && is_field(to)) || text(from).is_some_and(|from| Some(from) == text(to))
            }
            [value] if !self.is_range() => is_field(value) || text(value).is_some(),
            _ => false,
        }
    }
}

impl<'m> Planner<'_, 'm> {
    /// The known start of the sort key and the condition on it, as far as the declared request holds them.
    pub(super) fn declared_sort(
        &self,
        declared: &Declared<'m>,
        mapping: &KeyMapping<'m>,
        known: &dyn Fn(&str) -> bool,
        settled: &dyn Fn(&str) -> bool,
    ) -> Result<(Template, SortCondition), Obstacle> {
        let in_partition =
            |name: &str| mapping.partition.parts.iter().any(|part| part.holds_whole(name, mapping.entity));
        let held = |name: &str| known(name) && (in_partition(name) || declared.holds(mapping, name));
        let range = self.pattern.range.as_ref().filter(|_| declared.is_range());
        let (prefix, sort) = self.sort(mapping, &held, settled, range)?;
        Ok((prefix, if declared.sort.is_some() { sort } else { SortCondition::Any }))
    }
}

/// The partition key as one template, if the request fixes all of its attributes.
pub(crate) fn equal_to(clauses: &[KeyClause], names: &[String]) -> Option<Template> {
    let value = |name: &String| {
        let clause = clauses.iter().find(|clause| clause.key == *name)?;
        (clause.operator == KeyOperator::Equals).then(|| clause.values[0].clone())
    };
    let values: Option<Vec<Template>> = names.iter().map(value).collect();
    values.map(|values| Template::joined(&values))
}

/// The conditions on the attributes of a sort key as one: equality from the left, any operator on the last.
pub(crate) fn sort_clause(clauses: &[KeyClause], names: &[String]) -> Option<KeyClause> {
    let given: Vec<&KeyClause> =
        names.iter().map_while(|name| clauses.iter().find(|clause| clause.key == *name)).collect();
    let (last, before) = given.split_last()?;
    let before: Vec<Template> = before.iter().map(|clause| clause.values[0].clone()).collect();
    let open = last.operator == KeyOperator::Equals && given.len() < names.len();
    let join = |value: &Template| {
        let rest = open.then(Template::default);
        Template::joined(&before.iter().chain([value]).chain(&rest).cloned().collect::<Vec<_>>())
    };
    let operator = if open { KeyOperator::BeginsWith } else { last.operator };
    let values = last.values.iter().map(join).collect();
    Some(KeyClause { operator, values, ..(*last).clone() })
}

/// The sort keys that a clause covers, and those that it would cover if its bounds did not end early.
pub(crate) fn region(clause: Option<&KeyClause>) -> SortCondition {
    let Some(clause) = clause else { return SortCondition::Any };
    let first = &clause.values[0];
    let text = |template: &Template| template.prefix().to_owned();
    match clause.operator {
        KeyOperator::Equals => SortCondition::Equals(first.clone()),
        KeyOperator::BeginsWith => SortCondition::BeginsWith(first.clone()),
        KeyOperator::Between => {
            let to = clause.values.get(1).unwrap_or(first);
            SortCondition::Range { from: text(first), to: format!("{}{LAST}", text(to)) }
        }
        KeyOperator::Above | KeyOperator::From => {
            SortCondition::Range { from: text(first), to: LAST.to_string() }
        }
        KeyOperator::Below | KeyOperator::UpTo => {
            SortCondition::Range { from: String::new(), to: format!("{}{LAST}", text(first)) }
        }
    }
}

/// The sort keys that a clause covers, as exactly as its constants say.
pub(crate) fn read_by(clause: Option<&KeyClause>) -> SortCondition {
    let (wide, Some(clause)) = (region(clause), clause) else { return SortCondition::Any };
    let SortCondition::Range { from, to } = wide else { return wide };
    let constant = |template: &Template| template.is_constant().then(|| template.prefix().to_owned());
    let (first, last) = (clause.values.first(), clause.values.last());
    let (first, last) = (first.and_then(constant), last.and_then(constant));
    let (lower, upper) = match clause.operator {
        KeyOperator::Above => (first.map(|text| format!("{text}\0")), None),
        KeyOperator::Below => (None, last.and_then(|text| text_before(&text))),
        KeyOperator::UpTo | KeyOperator::Between => (None, last),
        KeyOperator::From | KeyOperator::Equals | KeyOperator::BeginsWith => (None, None),
    };
    SortCondition::Range { from: lower.unwrap_or(from), to: upper.unwrap_or(to) }
}

/// A text behind all others that sort before this one and do not end in the last character of all.
fn text_before(text: &str) -> Option<String> {
    let mut start = text.to_owned();
    let last = start.pop()?;
    let before = (0..u32::from(last)).rev().find_map(char::from_u32)?;
    Some(format!("{start}{before}{LAST}"))
}
