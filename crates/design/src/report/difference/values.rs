//! What another declaration of an attribute means for the items that are stored.

use crate::generate::typed_value;
use crate::model::limits::Zone;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity};
use crate::template::FieldTypes;
use crate::toml_writer::limits_fields;
use std::mem::discriminant;

/// An attribute in both models.
pub(super) struct Values<'c> {
    pub old: &'c Attribute,
    pub new: &'c Attribute,
    /// The entity that has it in the new model.
    pub entity: &'c Entity,
}

impl Values<'_> {
    /// Says how the type changes, and whether all values are rewritten for it; `None` if it does not change.
    pub(super) fn of_type(&self) -> Option<(String, bool)> {
        let (old, new) = (&self.old.kind, &self.new.kind);
        let change = format!("{} {} becomes {}", self.new.name, old.print(), new.print());
        if old == new {
            return None;
        }
        if self.is_converted() {
            let meaning =
                "stored items violate the new model until `partita model migrate` has converted them";
            return Some((format!("{change}; {meaning}"), true));
        }
        let refused: Vec<String> = self.refused_by_type().into_iter().collect();
        Some((format!("{change}; {}", meaning(&refused)), false))
    }

    /// Says how what it admits beside its type changes, and whether items that lack it get a value; `None` if nothing changes.
    pub(super) fn of_limits(&self) -> Option<(String, bool)> {
        let (was, is) = (admitted(self.old), admitted(self.new));
        if was == is {
            return None;
        }
        let is_demanded = self.old.optional && !self.new.optional;
        let origin = &self.new.origin;
        let is_given = is_demanded && (origin.default.is_some() || origin.computed.is_some());
        let mut refused = self.refused_by_limits();
        if is_demanded && !is_given {
            refused.push("that lack it".to_owned());
        }
        let given = if is_given { "; those that lack it get a value" } else { "" };
        Some((format!("{}: {was} becomes {is}; {}{given}", self.new.name, meaning(&refused)), is_given))
    }

    /// Whether values of both types are stored in different forms.
    fn is_converted(&self) -> bool {
        let (old, new) = (&self.old.kind, &self.new.kind);
        let is_stored_alike = discriminant(&typed_value(old, "")) == discriminant(&typed_value(new, ""));
        !is_stored_alike || (old.is_time() && new.is_time())
    }

    /// The values of the old type that are none of the new one.
    fn refused_by_type(&self) -> Option<String> {
        let (name, old, new) = (&self.new.name, &self.old.kind, &self.new.kind);
        if old.is_within(new) {
            return None;
        }
        let is_wrong = match (old, new) {
            (ValueType::Choice(old), ValueType::Choice(new)) => {
                let removed: Vec<String> = old.iter().filter(|choice| !new.has(choice)).cloned().collect();
                format!("is {}", removed.join(" or "))
            }
            (_, ValueType::Id) => format!("contains {}", self.entity.delimiter()),
            _ => format!("is not {}", new.described()),
        };
        Some(format!("whose {name} {is_wrong}"))
    }

    /// The values within the old limits that are not within the new ones.
    fn refused_by_limits(&self) -> Vec<String> {
        let (name, old, new) = (&self.new.name, &self.old.limits, &self.new.limits);
        let least = new.min.as_ref().filter(|min| old.min.as_ref().is_none_or(|old| old < *min));
        let greatest = new.max.as_ref().filter(|max| old.max.as_ref().is_none_or(|old| old > *max));
        let precision = new.precision.filter(|precision| old.precision != Some(*precision));
        let is_in_utc = old.zone == Zone::Offset && new.zone == Zone::Utc;
        let refused = [
            least.map(|min| format!("is below {min}")),
            greatest.map(|max| format!("is above {max}")),
            precision.map(|precision| format!("is not of the precision {}", precision.name())),
            is_in_utc.then(|| "has an offset".to_owned()),
        ];
        refused.into_iter().flatten().map(|is_wrong| format!("whose {name} {is_wrong}")).collect()
    }
}

/// What becomes of stored items if some of them are refused.
fn meaning(refused: &[String]) -> String {
    if refused.is_empty() {
        return "stored items meet it".to_owned();
    }
    format!("stored items {} violate the new model: `partita model audit` finds them", refused.join(" or "))
}

/// What an attribute admits beside its type.
fn admitted(attribute: &Attribute) -> String {
    let presence = if attribute.optional { "optional" } else { "required" };
    [presence.to_owned()].into_iter().chain(limits_fields(&attribute.limits)).collect::<Vec<_>>().join(", ")
}
