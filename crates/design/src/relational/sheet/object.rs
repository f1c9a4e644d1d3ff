//! What a sentence is about: "orders", "user's recent 10 orders", "status of a task".

use super::sentence::{NOT_UNDERSTOOD, Verb, is_aggregate, is_recent, object, phrases, split_verb, words};
use super::table::{Row, attribute};
use super::words::{is_state, possessor};
use crate::relational::naming;
use std::collections::BTreeSet;

/// What a sentence is about: an entity, and the attribute of it that a possessive names.
pub(super) struct Object {
    pub noun: String,
    pub attribute: Option<String>,
    /// Whose items it asks for: of "user's orders", the user's.
    pub owner: Option<String>,
    pub many: bool,
    pub limit: Option<u64>,
}

impl Object {
    /// Understands the words up to the first preposition; `nouns` are the entities that the sheet is about.
    pub fn parse(words: &[String], verb: Option<Verb>, nouns: &BTreeSet<String>) -> Result<Object, String> {
        let limit = words.iter().find_map(|word| word.parse().ok()).filter(|limit| *limit > 0);
        let is_named = |word: &&String| word.parse::<u64>().is_err() && !is_recent(word);
        let mut named: Vec<&str> = words.iter().filter(is_named).map(String::as_str).collect();
        // "Instructors working at a gym": a participle leads to the preposition.
        if named.len() > 1 && named.last().is_some_and(|word| word.ends_with("ing")) {
            named.pop();
        }
        if let Some((owner, rest)) = owned(words) {
            return Object::of_owner(owner, rest, verb, nouns);
        }
        let Some(last) = named.last() else { return Err(NOT_UNDERSTOOD.to_owned()) };
        let noun = naming::entity(&named.join("_"));
        let known = nouns.contains(&noun);
        if verb == Some(Verb::Update) && !known && named.len() > 1 {
            return Object::changed(&named, nouns);
        }
        let plain = named
            .iter()
            .all(|word| word.chars().all(|character| character.is_alphabetic() || character == '_'));
        let is_state = named.iter().any(|word| is_state(word));
        if !known && named.len() > 1 && (is_state || nouns.contains(&naming::entity(last))) {
            let extra = named[..named.len() - 1].join(" ");
            return Err(format!(
                "`{extra}` is not understood: say which attribute has which value, as in `by status`"
            ));
        }
        // Without a verb, what the words are is anyone's guess: "Archive orders of a user".
        let longest = if verb.is_none() { 1 } else { 3 };
        if (!known && named.len() > longest) || !plain {
            return Err(NOT_UNDERSTOOD.to_owned());
        }
        Ok(Object { noun, attribute: None, owner: None, many: is_plural(last), limit })
    }

    /// What a possessive is about: an update changes an attribute of the owner, and a read gets its items, or itself.
    fn of_owner(
        owner: &str,
        words: &[String],
        verb: Option<Verb>,
        nouns: &BTreeSet<String>,
    ) -> Result<Object, String> {
        let noun = naming::entity(owner);
        let own = attribute(&words.join(" "));
        match verb {
            Some(Verb::Update) => {
                Ok(Object { noun, attribute: Some(own), owner: None, many: false, limit: None })
            }
            None | Some(Verb::Read) => {
                let object = Object::parse(words, verb, nouns)?;
                Ok(if object.many || nouns.contains(&object.noun) {
                    Object { owner: Some(noun), ..object }
                } else {
                    Object { noun, ..object }
                })
            }
            Some(Verb::Create | Verb::Delete) => Err(NOT_UNDERSTOOD.to_owned()),
        }
    }

    /// What an update of "order status" changes: the status of an order.
    fn changed(words: &[&str], nouns: &BTreeSet<String>) -> Result<Object, String> {
        let noun = |end: usize| naming::entity(&words[..end].join("_"));
        let end = (1..words.len()).rev().find(|end| nouns.contains(&noun(*end)));
        let end = end.ok_or(
            "which entity is it, and what of it changes? Write a sentence such as `Update the user's password`",
        )?;
        let attribute = Some(attribute(&words[end..].join(" ")));
        Ok(Object { noun: noun(end), attribute, owner: None, many: false, limit: None })
    }
}

/// The entity that words start with and whose identifier is the only parameter: of "user profile" by `userId`, the user.
pub(super) fn owner(words: &[String], parameters: &[String]) -> Option<String> {
    let [parameter] = parameters else { return None };
    let owner = naming::entity(parameter.strip_suffix("Id")?);
    let starts = |end: usize| naming::entity(&words[..end].join("_")) == owner;
    (1..words.len()).any(starts).then_some(owner)
}

/// The owner that a possessive names, and what of it is meant.
pub(super) fn owned(words: &[String]) -> Option<(&str, &[String])> {
    let (first, rest) = words.split_first()?;
    possessor(first).filter(|_| !rest.is_empty()).map(|owner| (owner, rest))
}

pub(super) fn is_plural(word: &str) -> bool {
    naming::entity(word) != naming::camel(word)
}

/// What an update of "status of a task" changes: the words of the attribute, and of the entity.
pub(super) fn part_of(verb: Option<Verb>, rest: &[String]) -> Option<(String, String)> {
    let named = object(rest).join(" ");
    let phrases = phrases(rest);
    let [(preposition, phrase)] = phrases.as_slice() else { return None };
    let is_part = verb == Some(Verb::Update)
        && preposition == "of"
        && object(rest).last().is_some_and(|last| !is_plural(last))
        && !phrase.is_empty();
    is_part.then(|| (attribute(&named), naming::entity(&phrase.join("_"))))
}

/// The entities that a sentence is certainly about: what it gets, lists or creates, in one word, or in several if the parameter says which, and whose.
pub(super) fn nouns(row: &Row) -> Vec<String> {
    let words = words(row.pattern.split(',').next().unwrap_or_default());
    let (verb, rest) = split_verb(&words);
    let object = object(rest);
    let counted = words.first().is_some_and(|word| is_aggregate(word));
    if counted || (verb.is_none() && object.len() == rest.len()) {
        return Vec::new();
    }
    if let Some((_, entity)) = part_of(verb, rest) {
        return vec![entity];
    }
    let (possessor, object) = owned(object).map_or((None, object), |(owner, rest)| (Some(owner), rest));
    let is_named = |word: &&String| word.parse::<u64>().is_err() && !is_recent(word);
    let named: Vec<&String> = object.iter().filter(is_named).collect();
    let is_plain = |word: &str| word.chars().all(|character| character.is_alphabetic() || character == '_');
    let own = match named.as_slice() {
        // The user's name is an attribute.
        [only] if possessor.is_none() || (verb == Some(Verb::Read) && is_plural(only)) => {
            is_plain(only).then(|| naming::entity(only))
        }
        [_] => None,
        _ => owner(object, &row.parameters),
    };
    possessor.map(naming::entity).into_iter().chain(own).collect()
}
