//! Conditions on the sort key.

use crate::keys::key_mapping::KeyMapping;
use crate::model::Entity;
use crate::template::{Format, Part, Template};

/// A condition on the sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortCondition {
    /// No condition.
    Any,
    /// The sort key is this text.
    Equals(Template),
    /// The sort key starts with this text.
    BeginsWith(Template),
    /// The sort key is between two bounds of an attribute, each after the prefix.
    Between {
        /// The text before the bounds.
        prefix: Template,
        /// The bounded attribute.
        by: String,
        /// How the key writes it after the prefix.
        format: Format,
    },
    /// The sort key is in a range of texts, both ends included.
    Range {
        /// The lower end.
        from: String,
        /// The upper end.
        to: String,
    },
}

impl SortCondition {
    /// The template that it compares with.
    pub(crate) fn template(&self) -> Option<&Template> {
        match self {
            SortCondition::Any | SortCondition::Range { .. } => None,
            SortCondition::Equals(template)
            | SortCondition::BeginsWith(template)
            | SortCondition::Between { prefix: template, .. } => Some(template),
        }
    }

    /// Returns whether it compares with the value of an attribute.
    pub fn uses(&self, attribute: &str) -> bool {
        self.template().is_some_and(|template| template.has_field(attribute))
    }

    /// The same condition with another template.
    pub(super) fn with(&self, template: Template) -> SortCondition {
        match self {
            SortCondition::Any | SortCondition::Range { .. } => self.clone(),
            SortCondition::Equals(_) => SortCondition::Equals(template),
            SortCondition::BeginsWith(_) => SortCondition::BeginsWith(template),
            SortCondition::Between { by, format, .. } => {
                SortCondition::Between { prefix: template, by: by.clone(), format: *format }
            }
        }
    }
}

/// Returns whether items of an entity can meet a sort condition.
pub fn sort_overlaps(sort: &SortCondition, types: &Entity, mapping: &KeyMapping<'_>, strict: bool) -> bool {
    let Some(template) = &mapping.sort else { return matches!(sort, SortCondition::Any) };
    match sort {
        SortCondition::Any => true,
        SortCondition::Equals(wanted) => wanted.overlaps(types, template, mapping.entity, strict, false),
        SortCondition::BeginsWith(prefix) => prefix.overlaps(types, template, mapping.entity, strict, true),
        // What lies between two values of the attribute need not start with one.
        SortCondition::Between { prefix, by, format } => {
            let field = Template { parts: vec![Part::Field { name: by.clone(), format: *format }] };
            let next = field.first_characters(types);
            prefix.overlaps_before(types, next, template, mapping.entity, strict)
        }
        SortCondition::Range { from, to } => {
            let text = template.prefix();
            let above = text >= from.as_str() || from.starts_with(text);
            above && text <= to.as_str()
        }
    }
}
