//! Sentences of access patterns: "Get user by email", "List orders of a user by date, newest first".

use super::object::{Object, is_plural, owned, owner, part_of};
use super::table::{Row, attribute};
use super::words::all_words;
use crate::formatting::lower_first;
use crate::model;
use crate::relational::naming;
use crate::relational::query::answer;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::relational) enum Verb {
    Read,
    Create,
    Update,
    Delete,
}

/// What a sentence asks for.
#[derive(Debug)]
pub(in crate::relational) struct Sentence {
    pub verb: Verb,
    /// The entity.
    pub noun: String,
    /// Whether it asks for one item.
    pub single: bool,
    pub inputs: Vec<String>,
    pub order: Option<(String, bool)>,
    /// Whether the order is that of their age: the items of one day have one, too.
    pub is_by_age: bool,
    pub range: Option<String>,
    pub limit: Option<u64>,
    /// The entity whose items are read along.
    pub with: Option<String>,
    /// The attributes that an update changes.
    pub set: Vec<String>,
}

const READS: [&str; 13] = [
    "get", "find", "fetch", "read", "load", "show", "view", "list", "lookup", "retrieve", "query", "look",
    "display",
];
/// Words for what is kept at write time instead of being read.
const AGGREGATES: [&str; 9] =
    ["count", "sum", "total", "average", "number", "how", "aggregate", "maximum", "minimum"];
const CREATES: [&str; 8] = ["create", "add", "insert", "put", "place", "register", "save", "store"];
const UPDATES: [&str; 5] = ["update", "change", "set", "mark", "edit"];
const DELETES: [&str; 2] = ["delete", "remove"];
/// Words that say nothing about the pattern.
const FILLERS: [&str; 24] = [
    "a",
    "an",
    "the",
    "all",
    "single",
    "specific",
    "given",
    "particular",
    "their",
    "his",
    "her",
    "its",
    "each",
    "every",
    "my",
    "details",
    "information",
    "data",
    "records",
    "up",
    "one",
    "certain",
    "to",
    "new",
];
const PREPOSITIONS: [&str; 16] = [
    "by", "of", "for", "in", "from", "with", "between", "within", "since", "sorted", "ordered", "and", "per",
    "on", "at", "as",
];
const ARTICLES: [&str; 5] = ["a", "an", "the", "each", "every"];
/// Parameters that are the ends of a range.
const BOUNDS: [&str; 8] = ["from", "to", "start", "end", "since", "until", "after", "before"];
/// Words that introduce the items that belong to one.
const POSSESSIVES: [&str; 6] = ["their", "its", "his", "her", "all", "every"];
/// What items are sorted by that are asked for by their age.
pub(super) const CREATED: &str = "createdAt";
const TIMES: [&str; 7] = ["date", "time", "created", "createdat", "timestamp", "day", "recency"];

impl Verb {
    pub(super) fn of(word: &str) -> Option<Verb> {
        let kinds = [
            (&READS[..], Verb::Read),
            (&CREATES, Verb::Create),
            (&UPDATES, Verb::Update),
            (&DELETES, Verb::Delete),
        ];
        kinds.into_iter().find(|(words, _)| words.contains(&word)).map(|(_, verb)| verb)
    }

    /// The word of a model for it.
    pub fn model(self) -> model::Verb {
        match self {
            Verb::Update => model::Verb::Update,
            Verb::Delete => model::Verb::Delete,
            _ => model::Verb::Create,
        }
    }
}

/// The words of a sentence, without those that say nothing. A possessive is a word with `'s`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = all_words(text);
    words.retain(|word| !is_filler(word));
    words
}

fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word.to_lowercase().as_str())
}

/// Whether what a sentence is about has a clause of its own: "teams a user belongs to".
fn has_clause(text: &str) -> bool {
    let all = all_words(text);
    let (_, rest) = split_verb(&all);
    let object = object(rest);
    let is_article = |word: &String| ARTICLES.contains(&word.to_lowercase().as_str());
    let start = object.iter().position(|word| !is_filler(word)).unwrap_or(object.len());
    object[start..].iter().any(is_article)
}

/// The verb, and the words behind it; a sentence without one, as in "Orders of a user", reads.
pub(super) fn split_verb(words: &[String]) -> (Option<Verb>, &[String]) {
    match words.first().and_then(|word| Verb::of(&word.to_lowercase())) {
        Some(verb) => (Some(verb), &words[1..]),
        None => (None, words),
    }
}

pub(super) const NOT_UNDERSTOOD: &str =
    "this is not understood; write a sentence such as `List orders of a user, newest first`";

const CANCEL: &str = "what is cancelled may stay or go: write a sentence such as `Update the booking's status`, or `Delete booking`";

const OF_ALL: &str = "a key finds the items of one thing, and not of all or several: write a sentence such as `List orders of a user`";

/// Whether a sentence is about all things of a kind: "for all warehouses". All that belongs to one thing are its items: "with all its orders".
fn is_of_all(text: &str) -> bool {
    let words: Vec<String> = all_words(text).iter().map(|word| word.to_lowercase()).collect();
    let leads = |word: &str| is_preposition(word) && !["with", "and"].contains(&word);
    words.windows(2).any(|pair| leads(&pair[0]) && pair[1] == "all")
}

pub(super) fn is_aggregate(word: &str) -> bool {
    AGGREGATES.contains(&word.to_lowercase().as_str())
}

/// The words up to the first preposition.
pub(super) fn object(words: &[String]) -> &[String] {
    let end = words.iter().position(|word| is_preposition(word)).unwrap_or(words.len());
    &words[..end]
}

fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.contains(&word.to_lowercase().as_str())
}

pub(super) fn is_recent(word: &str) -> bool {
    ["latest", "newest", "recent", "most", "last", "top", "first", "oldest"]
        .contains(&word.to_lowercase().as_str())
}

/// The answer to a row that no sentence is understood from.
fn unanswerable(row: &Row, words: &[String], verb: Option<Verb>) -> Option<&'static str> {
    let says = |word: &str| words.iter().any(|own| own.eq_ignore_ascii_case(word));
    let reads = verb.is_none_or(|verb| verb == Verb::Read);
    if words.iter().take(2).any(|word| is_aggregate(word)) && reads {
        Some(answer::AGGREGATE)
    } else if words.first().is_some_and(|word| word.eq_ignore_ascii_case("search")) {
        Some(answer::SEARCH)
    } else if words.first().is_some_and(|word| word.eq_ignore_ascii_case("cancel")) {
        Some(CANCEL)
    } else if row.pattern.contains('|') || says("or") {
        Some("alternatives are several patterns: write a row for each")
    } else {
        let sentence = row.pattern.split(',').next().unwrap_or_default();
        is_of_all(sentence).then_some(OF_ALL).or_else(|| has_clause(sentence).then_some(NOT_UNDERSTOOD))
    }
}

impl Sentence {
    /// Understands a row; `nouns` are the entities that the sheet is about.
    pub fn parse(row: &Row, nouns: &BTreeSet<String>) -> Result<Sentence, String> {
        let mut clauses = row.pattern.split(',').map(str::trim).filter(|clause| !clause.is_empty());
        let words = words(clauses.next().unwrap_or_default());
        let (verb, rest) = split_verb(&words);
        if let Some(answer) = unanswerable(row, &words, verb) {
            return Err(answer.to_owned());
        }
        let found = object(rest);
        if verb.is_none() && found.len() == rest.len() && owned(found).is_none() {
            return Err(NOT_UNDERSTOOD.to_owned());
        }
        let part = part_of(verb, rest).filter(|_| !nouns.contains(&naming::entity(&found.join("_"))));
        let mut object = match part {
            Some((part, noun)) => {
                Object { noun, attribute: Some(part), owner: None, many: false, limit: None }
            }
            None => Object::parse(found, verb, nouns)?,
        };
        if let Some(owner) = owner(found, &row.parameters).filter(|_| !nouns.contains(&object.noun)) {
            object.noun = owner;
        }
        if object.attribute.is_some() && verb != Some(Verb::Update) {
            return Err(NOT_UNDERSTOOD.to_owned());
        }
        let mut sentence = Sentence {
            verb: verb.unwrap_or(Verb::Read),
            noun: object.noun,
            single: !object.many && !words[0].eq_ignore_ascii_case("list"),
            inputs: object.owner.iter().map(|owner| format!("{}Id", lower_first(owner))).collect(),
            order: None,
            is_by_age: false,
            range: None,
            limit: object.limit,
            with: None,
            set: object.attribute.into_iter().collect(),
        };
        if !row.entities.is_empty() && !row.entities.contains(&sentence.noun) {
            return Err(format!(
                "it is about {}, and its entity is {}",
                sentence.noun,
                row.entities.join(", ")
            ));
        }
        let along = belonging(&row.pattern);
        for (preposition, phrase) in phrases(rest) {
            sentence.phrase(&preposition, &phrase, nouns, along)?;
        }
        let last = found.iter().any(|word| word.eq_ignore_ascii_case("last"));
        if last || words.iter().any(|word| is_descending(word)) {
            sentence.by_age(true);
            // "The newest message of a conversation" is the first of a list.
            if sentence.single && !sentence.inputs.is_empty() {
                (sentence.single, sentence.limit) = (false, Some(1));
            }
        }
        if found.iter().any(|word| word.eq_ignore_ascii_case("top")) {
            sentence.highest_first()?;
        }
        for clause in clauses {
            sentence.clause(clause, nouns)?;
        }
        sentence.take_parameters(row)?;
        if sentence.verb == Verb::Read
            && sentence.inputs.is_empty()
            && sentence.single
            && sentence.with.is_none()
        {
            sentence.inputs.push(format!("{}Id", lower_first(&sentence.noun)));
        }
        Ok(sentence)
    }

    /// "Top 10 products by sales": the last phrase is the order.
    fn highest_first(&mut self) -> Result<(), String> {
        let by = self.inputs.pop().ok_or("say by what they are ordered, as in `top 10 products by sales`")?;
        self.order = Some((by, true));
        Ok(())
    }

    /// Sorted by the attribute that is named, or else by when items were created.
    fn by_age(&mut self, descending: bool) {
        let by = self.order.take().map_or_else(|| CREATED.to_owned(), |(by, _)| by);
        self.order = Some((by, descending));
        self.is_by_age = true;
    }

    /// What follows a comma: an order, a limit, or one more phrase.
    fn clause(&mut self, clause: &str, nouns: &BTreeSet<String>) -> Result<(), String> {
        let words = words(clause);
        let says = |word: &str| words.iter().any(|own| own.eq_ignore_ascii_case(word));
        let number = words.iter().find_map(|word| word.parse().ok()).filter(|number| *number > 0);
        if let (Some(number), true) =
            (number, ["most", "max", "maximum", "limit", "first", "only"].iter().any(|word| says(word)))
        {
            self.limit = Some(number);
        } else if words.iter().any(|word| is_descending(word)) || (says("most") && says("first")) {
            self.by_age(true);
        } else if says("oldest") {
            self.by_age(false);
        } else if words.first().is_some_and(|word| is_preposition(word)) {
            for (preposition, phrase) in phrases(&words) {
                self.phrase(&preposition, &phrase, nouns, belonging(clause))?;
            }
        } else {
            return Err(format!("`{clause}` is not understood"));
        }
        Ok(())
    }

    /// The parameters of the row take the place of those of the sentence; of a range, the time among them bounds it.
    fn take_parameters(&mut self, row: &Row) -> Result<(), String> {
        if row.parameters.is_empty() {
            return Ok(());
        }
        self.inputs = row.parameters.clone();
        let order = self.order.as_ref().map(|(by, _)| by);
        self.inputs.retain(|name| Some(name) != order);
        if self.range.is_none() {
            return Ok(());
        }
        // The two ends of a range are one attribute: `dates`.
        let single = |name: &String| name.strip_suffix('s').unwrap_or(name).to_owned();
        let is_time = |name: &&String| super::kind(&single(name)).is_time();
        let times: Vec<String> = self.inputs.iter().filter(is_time).cloned().collect();
        match times.as_slice() {
            [] => {}
            [one] => self.range = Some(single(one)),
            several => {
                return Err(format!("{} bound it: which attribute is between them", several.join(" and ")));
            }
        }
        self.inputs.retain(|name| !times.contains(name) && !BOUNDS.contains(&name.to_lowercase().as_str()));
        Ok(())
    }

    fn phrase(
        &mut self,
        preposition: &str,
        phrase: &[String],
        nouns: &BTreeSet<String>,
        along: bool,
    ) -> Result<(), String> {
        let lower: Vec<String> = phrase.iter().map(|word| word.to_lowercase()).collect();
        let mentions = |words: &[&str]| lower.iter().any(|word| words.contains(&word.as_str()));
        let named: Vec<&str> = phrase.iter().filter(|word| !is_recent(word)).map(String::as_str).collect();
        let Some(last) = named.last() else { return Ok(()) };
        let time = lower.iter().any(|word| TIMES.contains(&word.trim_end_matches('s')));
        let entity = naming::entity(&named.join("_"));
        // "Mark an invoice as paid" says a value, and not of which attribute.
        if preposition == "as" {
            return if self.verb == Verb::Update { Ok(()) } else { Err(NOT_UNDERSTOOD.to_owned()) };
        }
        if preposition == "and" && self.with.is_some() {
            return Err(format!("it reads {} along too: write a row for each kind of item", named.join(" ")));
        }
        if preposition == "between"
            || mentions(&["range", "hour", "hours", "week", "month", "period"])
            || preposition == "since"
        {
            self.range = Some("date".to_owned());
        } else if preposition == "sorted" || preposition == "ordered" {
            let by: Vec<&str> = named.iter().copied().filter(|word| direction(word).is_none()).collect();
            if preposition == "ordered" && self.names_other(&by, nouns) {
                return Err(format!(
                    "{} may say who ordered, or how they are sorted: write `sorted by`, or `of`",
                    by.join(" ")
                ));
            }
            let descending = named.iter().find_map(|word| direction(word)).unwrap_or(false);
            self.order = (!by.is_empty()).then(|| (attribute(&by.join(" ")), descending));
        } else if preposition == "with" && last.ends_with('s') {
            if !along && !nouns.contains(&entity) {
                return Err(NOT_UNDERSTOOD.to_owned());
            }
            self.with = Some(entity);
        } else if preposition == "by" && time && !self.inputs.is_empty() {
            self.order = Some((attribute(&named.join(" ")), false));
        } else if named.len() > 3 || named.iter().any(|word| word.contains(|own: char| own.is_ascii_digit()))
        {
            return Err(format!("`{}` is not understood", named.join(" ")));
        } else if nouns.contains(&entity) && is_plural(last) {
            return Err(OF_ALL.to_owned());
        } else {
            let input = self.input(&named, nouns);
            if !self.inputs.contains(&input) {
                self.inputs.push(input);
            }
        }
        Ok(())
    }

    /// Whether words name another entity, or its identifier.
    fn names_other(&self, words: &[&str], nouns: &BTreeSet<String>) -> bool {
        let attribute = attribute(&words.join(" "));
        let entity = naming::entity(attribute.strip_suffix("Id").unwrap_or(&attribute));
        entity != self.noun && (attribute.ends_with("Id") || nouns.contains(&entity))
    }

    /// The attribute that a phrase names: `ID` is the entity's own, `user` is the user's, `email` is an attribute.
    fn input(&self, words: &[&str], nouns: &BTreeSet<String>) -> String {
        let joined = words.join(" ");
        let entity = naming::entity(&joined.replace(' ', "_"));
        if joined.eq_ignore_ascii_case("id") {
            format!("{}Id", lower_first(&self.noun))
        } else if nouns.contains(&entity) {
            format!("{}Id", lower_first(&entity))
        } else {
            attribute(&joined)
        }
    }
}

/// Returns whether a sentence names items that belong to one: "with their orders".
fn belonging(text: &str) -> bool {
    let words: Vec<String> = all_words(text).iter().map(|word| word.to_lowercase()).collect();
    words.windows(2).any(|pair| pair[0] == "with" && POSSESSIVES.contains(&pair[1].as_str()))
}

/// Whether a word says that an order goes down, or up.
fn direction(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "descending" | "desc" => Some(true),
        "ascending" | "asc" => Some(false),
        _ => None,
    }
}

fn is_descending(word: &str) -> bool {
    ["latest", "newest", "recent"].contains(&word.to_lowercase().as_str())
}

/// Each preposition with the words that follow it; those of "sorted by" are one.
pub(super) fn phrases(words: &[String]) -> Vec<(String, Vec<String>)> {
    let mut phrases: Vec<(String, Vec<String>)> = Vec::new();
    for word in &words[object(words).len()..] {
        let lower = word.to_lowercase();
        match phrases.last_mut() {
            Some((preposition, phrase))
                if lower == "by" && phrase.is_empty() && preposition.ends_with("ed") => {}
            _ if is_preposition(&lower) => phrases.push((lower, Vec::new())),
            Some((_, phrase)) => phrase.push(word.clone()),
            None => {}
        }
    }
    phrases
}
