//! Answers to the questions of a draft: each changes the model as if the source had told it.

use super::{Draft, Question, rekey, remove, rename};
use crate::finding::closest;
use crate::model::condition::Condition;
use crate::model::{Entity, Model, Pattern};
use crate::template::Template;
use std::collections::BTreeMap;

/// The answer to a question for a rate that nobody knows.
pub(crate) const NOT_KNOWN: &str = "not known";

/// Answers by the `id` of their question.
pub type Answers = BTreeMap<String, String>;

/// What a question is about, and so what its answer changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The name of an entity.
    EntityName(String),
    /// The name of an attribute that only keys contain.
    AttributeName {
        /// The entity.
        entity: String,
        /// The assumed name.
        attribute: String,
    },
    /// A template of a key.
    Template {
        /// The entity.
        entity: String,
        /// The index; `None` is the table.
        index: Option<String>,
        /// The position of the template in the key.
        position: usize,
    },
    /// Which items are in an index: a condition, or `always`.
    When {
        /// The entity.
        entity: String,
        /// The index.
        index: String,
    },
    /// Whether the values of an attribute are unique: `yes` or `no`.
    Unique {
        /// The entity.
        entity: String,
        /// The attribute.
        attribute: String,
    },
    /// The version attribute that updates must match, or `none`.
    Lock(String),
    /// The entity that an entity is a copy of, or `none`.
    Copies(String),
    /// The attribute that holds the expiry time of items, or `none`.
    Ttl,
    /// Requests per second of a pattern.
    PatternRate(String),
    /// Writes per second of a write.
    WriteRate(String),
    /// The most items that a pattern returns, or `none`.
    Limit(String),
    /// Whether a pattern lists all items of an entity: `yes` or `no`.
    ListsAll(String),
    /// The attributes that identify an item of an entity, separated by commas.
    Identity(String),
    /// Whether text in keys has upper-case letters, which they hold in lower case: `yes` or `no`.
    Casing,
}

impl Asked {
    /// Returns the part of the model that it is about.
    pub(super) fn subject(&self) -> String {
        match self {
            Asked::EntityName(entity) => format!("entity.{entity}"),
            Asked::AttributeName { entity, .. } => format!("entity.{entity}.attributes"),
            Asked::Template { entity, index: None, .. } => format!("entity.{entity}.key"),
            Asked::Template { entity, index: Some(index), .. } | Asked::When { entity, index } => {
                format!("entity.{entity}.index.{index}")
            }
            Asked::Unique { entity, .. } => format!("entity.{entity}.unique"),
            Asked::Lock(entity) => format!("entity.{entity}.lock"),
            Asked::Copies(entity) => format!("entity.{entity}.copies"),
            Asked::Identity(entity) => format!("entity.{entity}.key"),
            Asked::Ttl | Asked::Casing => "table".to_owned(),
            Asked::PatternRate(pattern) | Asked::Limit(pattern) | Asked::ListsAll(pattern) => {
                format!("pattern.{pattern}")
            }
            Asked::WriteRate(write) => format!("write.{write}"),
        }
    }

    /// Returns the id of the question.
    pub(super) fn id(&self) -> String {
        let subject = self.subject();
        match self {
            Asked::EntityName(_) => format!("{subject}.name"),
            Asked::AttributeName { entity, attribute } => format!("entity.{entity}.attribute.{attribute}"),
            Asked::Template { position, .. } => format!("{subject}.{position}"),
            Asked::When { .. } => format!("{subject}.when"),
            Asked::Unique { attribute, .. } => format!("{subject}.{attribute}"),
            Asked::Lock(_) | Asked::Copies(_) => subject,
            Asked::Ttl => "table.ttl".to_owned(),
            Asked::PatternRate(_) | Asked::WriteRate(_) => format!("{subject}.rps"),
            Asked::Limit(_) => format!("{subject}.limit"),
            Asked::ListsAll(_) => format!("{subject}.all"),
            Asked::Identity(_) => format!("{subject}.identity"),
            Asked::Casing => "table.casing".to_owned(),
        }
    }

    /// Returns whether it is a rate.
    pub(super) fn is_rate(&self) -> bool {
        matches!(self, Asked::PatternRate(_) | Asked::WriteRate(_))
    }

    /// Renames come last, so that the other answers find what they are about.
    fn turn(&self) -> u8 {
        match self {
            Asked::EntityName(_) => 2,
            Asked::AttributeName { .. } | Asked::ListsAll(_) => 1,
            _ => 0,
        }
    }
}

impl Draft {
    /// Applies answers; the questions that they answer are removed.
    ///
    /// # Errors
    ///
    /// Returns a message if there is no such question or an answer does not fit.
    pub fn answer(&mut self, answers: &Answers) -> Result<(), String> {
        for id in answers.keys() {
            if !self.questions.iter().any(|question| question.id == *id) {
                let ids = self.questions.iter().map(|question| question.id.as_str());
                let meant = closest(id, ids).map(|meant| format!("; did you mean {meant}?"));
                return Err(format!("there is no question {id}{}", meant.unwrap_or_default()));
            }
        }
        let is_answered = |question: &Question| answers.contains_key(&question.id);
        let (mut answered, open): (Vec<Question>, Vec<Question>) =
            std::mem::take(&mut self.questions).into_iter().partition(is_answered);
        self.questions = open;
        answered.sort_by_key(|question| question.asked.turn());
        let rekeyed = answered.iter().any(|question| matches!(question.asked, Asked::Template { .. }));
        let derived = rekeyed && self.has_derived_patterns();
        for question in answered {
            let text = answers.get(&question.id).map(|text| text.trim()).unwrap_or_default();
            self.apply(&question.asked, text).map_err(|message| format!("{}: {message}", question.id))?;
        }
        if derived {
            self.derive_patterns();
        }
        Ok(())
    }

    fn apply(&mut self, asked: &Asked, text: &str) -> Result<(), String> {
        let model = &mut self.model;
        match asked {
            Asked::EntityName(old) => return rename::entity(self, old, text),
            Asked::AttributeName { entity, attribute } => {
                return rename::attribute(self, entity, attribute, text);
            }
            Asked::Template { entity, index, position } => {
                let template = Template::parse(text).map_err(|error| error.message)?;
                let own = index.as_ref().and_then(|name| model.index(name)).map(|index| &index.keys);
                let keys = own.unwrap_or(&model.table.keys).clone();
                rekey::template(entity_of(model, entity)?, index.as_deref(), *position, template, &keys)?;
            }
            Asked::When { entity, index } => {
                let when = if text == "always" { Condition::default() } else { condition(text)? };
                let index_key = index_key(entity_of(model, entity)?, index).ok_or("there is no such key")?;
                index_key.when = when;
            }
            Asked::Unique { entity, attribute } => {
                let (wanted, entity) = (yes(text)?, entity_of(model, entity)?);
                let unique = vec![attribute.clone()];
                entity.unique.retain(|other| *other != unique);
                entity.unique.extend(wanted.then_some(unique));
            }
            Asked::Lock(entity) => {
                let entity = entity_of(model, entity)?;
                entity.lock = name_or_none(text, |name| entity.attribute(name).is_some())?;
            }
            Asked::Copies(entity) => {
                let original = name_or_none(text, |name| model.entities.iter().any(|own| own.name == name))?;
                entity_of(model, entity)?.copies = original;
            }
            Asked::Ttl => model.table.ttl = (text != "none").then(|| text.to_owned()),
            Asked::PatternRate(name) => {
                let rate = rate(text)?;
                pattern_of(model, name)?.rps = rate;
            }
            Asked::WriteRate(name) => {
                let rate = rate(text)?;
                let found = model.writes.iter_mut().find(|write| write.name == *name);
                found.ok_or("there is no such write")?.rps = rate;
            }
            Asked::Limit(name) => pattern_of(model, name)?.limit = limit(text)?,
            Asked::ListsAll(name) => {
                if !yes(text)? {
                    remove::pattern(self, name);
                }
            }
            Asked::Identity(entity) => rekey::identify(entity_of(model, entity)?, text)?,
            Asked::Casing => {
                if !yes(text)? {
                    rekey::keep_case(model);
                }
            }
        }
        Ok(())
    }
}

fn entity_of<'m>(model: &'m mut Model, name: &str) -> Result<&'m mut Entity, String> {
    let found = model.entities.iter_mut().find(|entity| entity.name == name);
    found.ok_or_else(|| format!("there is no entity {name}"))
}

fn pattern_of<'m>(model: &'m mut Model, name: &str) -> Result<&'m mut Pattern, String> {
    let found = model.patterns.iter_mut().find(|pattern| pattern.name == name);
    found.ok_or_else(|| format!("there is no pattern {name}"))
}

fn limit(text: &str) -> Result<Option<u64>, String> {
    match text.parse() {
        _ if text == "none" => Ok(None),
        Ok(limit) if limit > 0 => Ok(Some(limit)),
        _ => Err(format!("`{text}` is not a number of items; write `none` if all are wanted")),
    }
}

fn index_key<'e>(entity: &'e mut Entity, index: &str) -> Option<&'e mut crate::model::IndexKey> {
    entity.indexes.iter_mut().find(|index_key| index_key.index == index)
}

fn condition(text: &str) -> Result<Condition, String> {
    Condition::parse(text).map_err(|error| error.to_string())
}

fn yes(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`{text}` is not an answer; write yes or no")),
    }
}

fn rate(text: &str) -> Result<Option<f64>, String> {
    match text.parse() {
        _ if text == NOT_KNOWN => Ok(None),
        Ok(rate) if rate >= 0.0 && f64::is_finite(rate) => Ok(Some(rate)),
        _ => Err(format!("`{text}` is not a number of requests a second; write `{NOT_KNOWN}` if it is not")),
    }
}

fn name_or_none(text: &str, exists: impl Fn(&str) -> bool) -> Result<Option<String>, String> {
    match text {
        "none" => Ok(None),
        name if exists(name) => Ok(Some(name.to_owned())),
        name => Err(format!("there is no `{name}`; write `none` if there should not be one")),
    }
}
