//! The draft of a model: what every importer ends in, whatever it reads.
//!
//! A draft is a model with notes on where each part comes from and how certain it is, and with questions for what the source cannot tell.
//! It is written as a model file: the notes and questions are comments beside what they are about. An answer changes the
//! model as if the source had told it.

mod answer;
mod per_entity;
mod rekey;
mod remove;
mod rename;

pub(crate) use answer::NOT_KNOWN;
pub use answer::{Answers, Asked};

use crate::inference::patterns;
use crate::model::{Model, Pattern};
use crate::toml_writer;
use serde_json::{Value, json};

/// A model that an importer proposes.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The model.
    pub model: Model,
    /// What it was made from, as the first lines of the file.
    pub about: String,
    /// Where its parts come from.
    pub notes: Vec<Note>,
    /// What the source cannot tell.
    pub questions: Vec<Question>,
    /// What the model does not contain although the source does, or what its reader has to know.
    pub remarks: Vec<Remark>,
}

/// A remark on a part of a draft; unlike a question, no answer would change the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The part, as in [`Note::subject`].
    pub subject: String,
    /// The remark.
    pub text: String,
}

/// How certain a part of a draft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The source could as well mean something else.
    Guess,
    /// The source suggests it.
    Likely,
    /// The source says so, or every item agrees.
    Certain,
}

/// Where a part of a draft comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The part: `table`, `index.GSI1`, `entity.Order`, `entity.Order.key`, `entity.Order.index.GSI1`, `entity.Order.unique`,
    /// `pattern.orderById`, `write.placeOrder`.
    pub subject: String,
    /// How certain it is.
    pub confidence: Confidence,
    /// Where it comes from: `1,204 of 1,204 items`, `CREATE TABLE orders, line 12`.
    pub origin: String,
}

/// A question about a part of a draft. The draft already contains an assumed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What an answer refers to; unique in the draft.
    pub id: String,
    /// The part that it is about, as in [`Note::subject`].
    pub subject: String,
    /// The question.
    pub text: String,
    /// The answer that the draft assumes.
    pub assumed: String,
    /// Other answers that fit, if they can be enumerated.
    pub choices: Vec<String>,
    /// What an answer changes.
    pub asked: Asked,
}

impl Draft {
    /// Adds a note.
    pub fn note(&mut self, subject: impl Into<String>, confidence: Confidence, origin: impl Into<String>) {
        self.notes.push(Note { subject: subject.into(), confidence, origin: origin.into() });
    }

    /// Adds the patterns that the keys serve, with the rates of those that it has already.
    pub(crate) fn derive_patterns(&mut self) {
        let before = std::mem::take(&mut self.model.patterns);
        self.questions.retain(|question| !matches!(question.asked, Asked::PatternRate(_)));
        self.notes.retain(|note| !note.subject.starts_with("pattern."));
        for mut pattern in patterns::infer(&self.model) {
            let rate = before.iter().find(|own| own.name == pattern.name).and_then(|own| own.rps);
            pattern.rps = rate;
            self.note(pattern.subject(), Confidence::Likely, "the key serves it");
            if rate.is_none() {
                self.ask(Asked::PatternRate(pattern.name.clone()), "How many requests a second?", NOT_KNOWN);
            }
            self.model.patterns.push(pattern);
        }
    }

    /// Returns whether the patterns are those that the keys serve.
    fn has_derived_patterns(&self) -> bool {
        let derived = patterns::infer(&self.model);
        let names =
            |patterns: &[Pattern]| -> Vec<String> { patterns.iter().map(|own| own.name.clone()).collect() };
        names(&derived) == names(&self.model.patterns)
    }

    /// Adds a question.
    pub fn ask(&mut self, asked: Asked, text: impl Into<String>, assumed: impl Into<String>) {
        self.questions.push(Question::new(asked, text, assumed));
    }

    /// Adds a remark.
    pub fn remark(&mut self, subject: impl Into<String>, text: impl Into<String>) {
        self.remarks.push(Remark { subject: subject.into(), text: text.into() });
    }

    /// Renames an attribute that only keys contain, also where it is asked or said something about it; nothing happens if the name is taken.
    pub(crate) fn rename_attribute(&mut self, entity: &str, old: &str, new: &str) {
        if rename::attribute(self, entity, old, new).is_err() {
            return;
        }
        let replace = |text: &str| {
            let field = text.replace(&format!("{{{old}}}"), &format!("{{{new}}}"));
            field.replace(&format!("{{{old}:"), &format!("{{{new}:"))
        };
        for question in &mut self.questions {
            match &mut question.asked {
                Asked::AttributeName { entity: own, attribute } if own == entity && attribute == old => {
                    new.clone_into(attribute);
                    new.clone_into(&mut question.assumed);
                    question.id = question.asked.id();
                }
                Asked::Template { entity: own, .. } if own == entity => {
                    question.assumed = replace(&question.assumed);
                    question.choices.iter_mut().for_each(|choice| *choice = replace(choice));
                }
                _ => {}
            }
        }
        let subject = format!("entity.{entity}.attributes");
        for note in self.notes.iter_mut().filter(|note| note.subject == subject) {
            if let Some(rest) = note.origin.strip_prefix(old).filter(|rest| rest.starts_with(' ')) {
                note.origin = format!("{new}{rest}");
            }
        }
    }

    /// Returns the model file, with notes, questions and remarks as comments.
    pub fn text(&self) -> String {
        let mut about = self.about.clone();
        for (number, noun, mark) in
            [(self.questions.len(), "question", '?'), (self.remarks.len(), "remark", '!')]
        {
            let (verb, plural) = if number == 1 { ("is", "") } else { ("are", "s") };
            if number > 0 {
                about.push_str(&format!("\nThere {verb} {number} {noun}{plural}, marked with `{mark}`."));
            }
        }
        toml_writer::write_annotated(&self.model, about.trim_start(), &|subject| self.comments(subject))
    }

    /// The comments on a part. The questions for rates, which are all the same, are one comment on all patterns or writes.
    fn comments(&self, subject: &str) -> Vec<String> {
        let notes = self.notes.iter().filter(|note| note.subject == subject).map(Note::comment);
        let is_rate = |question: &&Question| question.asked.is_rate();
        let about = |section: &&Question| section.subject.split('.').next() == Some(subject);
        let rates = self.questions.iter().filter(is_rate).any(|question| about(&question));
        let rates =
            rates.then(|| format!("? {subject}.NAME.rps: How many requests a second? Add rps = … to each."));
        let questions = self.questions.iter().filter(|question| !question.asked.is_rate());
        let questions = questions.filter(|question| question.subject == subject).map(Question::comment);
        let remarks = self.remarks.iter().filter(|remark| remark.subject == subject);
        let remarks = remarks.map(|remark| format!("! {}", remark.text));
        notes.chain(remarks).chain(questions).chain(rates).collect()
    }

    /// Returns the questions as JSON: a list of `id`, `question`, `assumed` and `choices`.
    pub fn questions_json(&self) -> Value {
        let question = |question: &Question| {
            json!({
                "id": question.id,
                "question": question.text,
                "assumed": question.assumed,
                "choices": question.choices,
            })
        };
        self.questions.iter().map(question).collect()
    }
}

impl Note {
    fn comment(&self) -> String {
        match self.confidence {
            Confidence::Certain => self.origin.clone(),
            Confidence::Likely => format!("likely: {}", self.origin),
            Confidence::Guess => format!("a guess: {}", self.origin),
        }
    }
}

impl Question {
    /// Creates a question without choices.
    pub fn new(asked: Asked, text: impl Into<String>, assumed: impl Into<String>) -> Question {
        Question {
            id: asked.id(),
            subject: asked.subject(),
            text: text.into(),
            assumed: assumed.into(),
            choices: Vec::new(),
            asked,
        }
    }

    /// Adds the other answers that fit.
    #[must_use]
    pub fn with_choices(mut self, choices: impl IntoIterator<Item = String>) -> Question {
        self.choices.extend(choices);
        self
    }

    fn comment(&self) -> String {
        let choices = if self.choices.is_empty() {
            String::new()
        } else {
            format!("; it could also be {}", self.choices.join(" or "))
        };
        format!("? {}: {} Assumed: {}{choices}", self.id, self.text, self.assumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};
    use std::collections::BTreeMap;

    const MODEL: &str = r#"
format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string" }
key = ["u#{userId}", "u#{userId}"]
[entity.Order]
attributes = { part = "id", userId = "id", state = "NEW|OLD" }
identity = ["part"]
key = ["u#{userId}", "o#{part}"]
index.GSI1 = { key = ["o#{part}", "o#{part}"], when = "state == 'NEW'" }
expect = { per = "User", average = 2 }
[pattern]
orders = { in = ["userId"], out = "Order*", where = "part != 'x'" }
"#;

    fn draft() -> Draft {
        let model = read(&Source::new("a.toml", MODEL)).unwrap();
        let mut draft = Draft { model, about: "Made by hand.".to_owned(), ..Draft::default() };
        draft.note("entity.Order.key", Confidence::Certain, "4 of 4 items");
        draft.note("entity.Order.index.GSI1", Confidence::Guess, "1 of 4 items");
        let order = || "Order".to_owned();
        draft.ask(Asked::EntityName(order()), "What is it called?", "Order");
        draft.ask(
            Asked::AttributeName { entity: order(), attribute: "part".to_owned() },
            "No attribute has it.",
            "part",
        );
        draft.ask(
            Asked::When { entity: order(), index: "GSI1".to_owned() },
            "Which items?",
            "state == 'NEW'",
        );
        draft.ask(Asked::PatternRate("orders".to_owned()), "How many requests a second?", "not known");
        draft.ask(
            Asked::Unique { entity: "User".to_owned(), attribute: "email".to_owned() },
            "All values differ: must they?",
            "no",
        );
        draft
    }

    fn answers(pairs: &[(&str, &str)]) -> Answers {
        pairs.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect::<BTreeMap<_, _>>()
    }

    #[test]
    fn notes_and_questions_are_comments_beside_their_subject() {
        let text = draft().text();
        assert!(text.starts_with("# Made by hand.\n# There are 5 questions"), "{text}");
        assert!(text.contains("# 4 of 4 items\nkey = [\"u#{userId}\", \"o#{part}\"]"), "{text}");
        assert!(text.contains("# a guess: 1 of 4 items\n# ? entity.Order.index.GSI1.when: "), "{text}");
        assert!(text.contains("# ? pattern.NAME.rps: "), "{text}");
        read(&Source::new("a.toml", text)).unwrap();
    }

    #[test]
    fn answers_change_the_model() {
        let mut draft = draft();
        let given = answers(&[
            ("entity.Order.name", "Purchase"),
            ("entity.Order.attribute.part", "orderId"),
            ("entity.Order.index.GSI1.when", "exists(state)"),
            ("pattern.orders.rps", "2.5"),
            ("entity.User.unique.email", "yes"),
        ]);
        draft.answer(&given).unwrap();
        assert!(draft.questions.is_empty());
        let text = draft.text();
        for part in [
            "[entity.Purchase]",
            "key = [\"u#{userId}\", \"o#{orderId}\"]",
            "identity = [\"orderId\"]",
            "when = \"exists(state)\"",
            "out = \"Purchase*\"",
            "orderId != 'x'",
            "rps = 2.5",
            "unique = [\"email\"]",
            "# 4 of 4 items",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("Order]") && !text.contains("part"), "{text}");
        read(&Source::new("a.toml", text)).unwrap();
    }

    #[test]
    fn assumed_answers_change_nothing() {
        let (mut assumed, before) = (draft(), draft());
        let given: Answers =
            before.questions.iter().map(|own| (own.id.clone(), own.assumed.clone())).collect();
        assumed.answer(&given).unwrap();
        assert!(assumed.questions.is_empty());
        let [assumed, before] = [assumed, before].map(|draft| toml_writer::write(&draft.model, ""));
        assert_eq!(assumed, before);
    }

    #[test]
    fn answers_that_do_not_fit_are_refused() {
        let refused = |id: &str, text: &str| draft().answer(&answers(&[(id, text)])).unwrap_err();
        assert!(refused("entity.Orders.name", "X").contains("entity.Order.name"));
        assert!(refused("entity.Order.name", "User").contains("User"));
        assert!(refused("entity.Order.attribute.part", "userId").contains("userId"));
        assert!(refused("entity.Order.index.GSI1.when", "state =").contains("entity.Order.index.GSI1.when"));
        assert!(refused("pattern.orders.rps", "many").contains("number"));
        assert!(refused("pattern.orders.rps", "-1").contains("not known"));
        assert!(refused("entity.User.unique.email", "perhaps").contains("yes or no"));
    }
}
