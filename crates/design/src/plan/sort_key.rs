//! What a pattern's inputs, order and range make of a sort key: its known start, and the condition on what follows.

use super::{Obstacle, Planner, SortCondition};
use crate::keys::key_mapping::KeyMapping;
use crate::model::limits::Precision;
use crate::model::pattern::PatternTypes;
use crate::model::value_type::ValueType;
use crate::model::{Bounds, Entity, Order};
use crate::name_hints;
use crate::template::{FieldTypes, Format, Part, Template};

/// The first field of a sort key that is not known, with all that follows it.
struct NextField<'a, 'm> {
    mapping: &'a KeyMapping<'m>,
    template: &'a Template,
    rest: &'a [Part],
    name: &'a str,
    format: Format,
}

impl<'m> Planner<'_, 'm> {
    /// The known start of the sort key and the condition on it. What is `settled` has one value in the whole answer; what else is `known` has a few, and
    /// where the start of the key holds it, there is a request for each.
    pub(super) fn sort(
        &self,
        mapping: &KeyMapping<'m>,
        known: &dyn Fn(&str) -> bool,
        settled: &dyn Fn(&str) -> bool,
        range: Option<&Bounds>,
    ) -> Result<(Template, SortCondition), Obstacle> {
        let many =
            self.pattern.targets.iter().any(|target| target.entity == mapping.entity.name && target.many);
        let has_order = |by: &str| many || mapping.entity.attribute(by).is_some();
        let order = self.pattern.order.as_ref().filter(|order| has_order(&order.by));
        let range = range.filter(|range| mapping.entity.attribute(&range.by).is_some());
        let range = range.filter(|range| !known(&range.by));
        let in_start = |by: &str| {
            let start = mapping.sort.as_ref().map(|template| template.split_known(known).0);
            known(by) && (mapping.partition.has_field(by) || start.is_some_and(|start| start.has_field(by)))
        };
        let order = order.filter(|order| !settled(&order.by) && !in_start(&order.by));
        let Some(template) = &mapping.sort else {
            let wanted = range.map(|range| &range.by).or(order.map(|order| &order.by).filter(|_| many));
            return match wanted {
                Some(wanted) => Err(Obstacle::NoSortKey { wanted: wanted.clone() }),
                None => Ok((Template::default(), SortCondition::Any)),
            };
        };
        let (prefix, rest) = template.split_known(known);
        let Some(Part::Field { name, format }) = rest.first() else {
            return match order.filter(|_| many && !is_identified(mapping, known)) {
                Some(order) => Err(Obstacle::Tied { by: order.by.clone() }),
                None => Ok((prefix.clone(), SortCondition::Equals(template.clone()))),
            };
        };
        let next = NextField { mapping, template, rest, name, format: *format };
        if let Some(order) = order {
            self.ordered(&next, order)?;
        }
        range.map_or(Ok(unbounded(prefix.clone())), |range| self.bounded_by(&next, prefix, range))
    }

    /// Checks that keys sort as the order asks.
    fn ordered(&self, next: &NextField<'_, 'm>, order: &Order) -> Result<(), Obstacle> {
        let (mapping, by) = (next.mapping, order.by.clone());
        let is_named = by == next.name || self.stands_for(mapping, next.name, &by);
        if !is_named && !self.follows_time(mapping, next.name, &by) {
            return Err(Obstacle::Order { by, before: next.fields() });
        }
        self.keeps_order(next)?;
        let template = next.template.clone();
        // Of choices it is certain that two sort otherwise than their keys.
        let late = next.late_delimiter().filter(|_| is_choice(mapping.entity, next.name));
        if let Some(delimiter) = next.delimiter_behind_letters().or(late) {
            return Err(Obstacle::Delimited { by, delimiter, template });
        }
        if is_coarse(next.rest, mapping.entity) {
            return Err(Obstacle::Coarse { by, template });
        }
        Ok(())
    }

    /// The condition that bounds the next field.
    fn bounded_by(
        &self,
        next: &NextField<'_, 'm>,
        prefix: Template,
        range: &Bounds,
    ) -> Result<(Template, SortCondition), Obstacle> {
        let by = range.by.clone();
        if by != next.name {
            return Err(Obstacle::Range { by, before: next.fields() });
        }
        self.keeps_order(next)?;
        // Escaped characters sort elsewhere, before and behind the bounds; before a delimiter that sorts behind letters, no bound is left.
        if next.format == Format::Escaped || next.delimiter_behind_letters().is_some() {
            return Ok(unbounded(prefix));
        }
        let fits = |bound: &Option<String>| match next.format {
            Format::Bucket(length) => bound.as_ref().is_some_and(|text| text.len() <= length),
            _ => true,
        };
        // A longer lower bound sorts after the times that it lies in.
        if is_coarse(next.rest, next.mapping.entity) && !(fits(&range.from) && fits(&range.to)) {
            return Err(Obstacle::Coarse { by, template: next.template.clone() });
        }
        Ok((prefix.clone(), SortCondition::Between { prefix, by, format: next.format }))
    }

    /// Checks that the texts of the next field sort as its values do.
    fn keeps_order(&self, next: &NextField<'_, 'm>) -> Result<(), Obstacle> {
        let kind = next.mapping.entity.attribute(next.name).map(|attribute| &attribute.kind);
        let is_kept = kind.is_none_or(|kind| next.format.keeps_order(kind));
        if is_kept || next.mapping.sorts_as_number(self.model, next.name) {
            return Ok(());
        }
        Err(Obstacle::Unsorted { by: next.name.to_owned(), template: next.template.clone() })
    }

    /// Returns whether the field takes the place of an order attribute that the entity lacks: `uploadedAt` beside `createdAt`.
    fn stands_for(&self, mapping: &KeyMapping<'m>, field: &str, by: &str) -> bool {
        let kind = mapping.entity.attribute(field).map(|attribute| &attribute.kind);
        let types = PatternTypes { model: self.model, pattern: self.pattern };
        let wanted = types.type_of(by);
        mapping.entity.attribute(by).is_none() && kind == wanted && kind.is_some_and(ValueType::is_time)
    }

    /// Returns whether the field is the entity's own ULID or KSUID, which sorts by creation time, to the millisecond or the second.
    fn follows_time(&self, mapping: &KeyMapping<'m>, field: &str, by: &str) -> bool {
        let kind = |name: &str| mapping.entity.attribute(name).map(|attribute| &attribute.kind);
        let by_creation = name_hints::is_creation_time(by);
        let own = mapping.entity.identity() == Some(field);
        let precision = mapping.entity.attribute(by).and_then(|attribute| attribute.limits.precision);
        let sortable = match kind(field) {
            Some(ValueType::Ulid) => precision != Some(Precision::Microsecond),
            Some(ValueType::Ksuid) => {
                matches!(precision, None | Some(Precision::Minute | Precision::Second))
            }
            _ => false,
        };
        by_creation && own && sortable && kind(by).is_some_and(ValueType::is_time)
    }
}

impl NextField<'_, '_> {
    /// The fields of the sort key that are not known.
    fn fields(&self) -> Vec<String> {
        Template { parts: self.rest.to_vec() }.fields().map(str::to_owned).collect()
    }

    /// A delimiter behind which characters of the values sort.
    fn late_delimiter(&self) -> Option<char> {
        self.template.late_delimiter(self.name, self.mapping.entity)
    }

    fn delimiter_behind_letters(&self) -> Option<char> {
        self.late_delimiter().filter(|delimiter| *delimiter > '0')
    }
}

fn is_choice(entity: &Entity, name: &str) -> bool {
    entity.attribute(name).is_some_and(|attribute| matches!(attribute.kind, ValueType::Choice(_)))
}

/// The condition that a sort key starts with what is known of it.
fn unbounded(prefix: Template) -> (Template, SortCondition) {
    let is_empty = prefix.parts.is_empty();
    let sort = if is_empty { SortCondition::Any } else { SortCondition::BeginsWith(prefix.clone()) };
    (prefix, sort)
}

/// Returns whether known values identify one item, whatever its key in an index.
fn is_identified(mapping: &KeyMapping<'_>, known: impl Fn(&str) -> bool) -> bool {
    let entity = mapping.entity;
    let by_identity = entity.identity().is_some_and(&known) && entity.versions.is_none();
    by_identity || entity.is_unique_by(&known) || entity.key_fields().all(known)
}

/// Returns whether a sort key continues with the start of a time, and not with the rest of it before anything else.
fn is_coarse(rest: &[Part], entity: &Entity) -> bool {
    let mut fields = rest.iter().filter_map(|part| match part {
        Part::Field { name, format } => Some((name.as_str(), *format)),
        Part::Text(_) => None,
    });
    let Some((first, _)) = fields.clone().next() else { return false };
    let whole = match entity.attribute(first).map(|attribute| &attribute.kind) {
        Some(ValueType::Date) => 10,
        _ => usize::MAX,
    };
    let is_whole = |format: Format| match format {
        Format::Bucket(length) => length >= whole,
        _ => true,
    };
    !fields.by_ref().take_while(|(name, _)| *name == first).any(|(_, format)| is_whole(format))
}
