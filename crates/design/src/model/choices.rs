//! The values of a type that lists them: `PENDING|PAID`. Keys are matched against the texts that formats make of them without trying each.

use super::decimal::Decimal;
use crate::template::{Format, PrefixSet};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The most choices that a message names.
const MAX_NAMED: usize = 20;

/// The values in the order of the model. Copies share them.
#[derive(Clone)]
pub struct Choices(Arc<Lists>);

#[derive(Default)]
struct Lists {
    values: Vec<String>,
    plain: OnceLock<PrefixSet>,
    escaped: OnceLock<PrefixSet>,
    lower: OnceLock<PrefixSet>,
    /// Those that are numbers, each in its one spelling.
    numbers: OnceLock<PrefixSet>,
    characters: OnceLock<BTreeSet<char>>,
}

impl Choices {
    /// Returns whether a text is one of the values.
    pub fn has(&self, text: &str) -> bool {
        self.written(Format::Plain).position(text).is_some()
    }

    /// Returns whether one of the values has a character.
    pub fn may_contain(&self, character: char) -> bool {
        let all = || self.iter().flat_map(|choice| choice.chars()).collect();
        self.0.characters.get_or_init(all).contains(&character)
    }

    /// Returns whether no value is the start of another.
    pub fn are_prefix_free(&self) -> bool {
        self.written(Format::Plain).depth() <= 1
    }

    /// Returns how many values, as a format writes them, are compared with a text to find those that it starts with.
    pub fn steps(&self, format: Format) -> usize {
        self.len().max(1).ilog2() as usize + self.written(format).depth()
    }

    /// Returns whether a format makes a text of one of the values.
    pub(crate) fn writes(&self, format: Format, text: &str) -> bool {
        match format {
            Format::Plain | Format::Escaped | Format::Lower => self.written(format).position(text).is_some(),
            Format::Bucket(length) => text.len() == length && self.written(Format::Plain).has_start(text),
            Format::Padded { .. } | Format::Signed { .. } => {
                let number = Decimal::parse(&format.restore(text)).map(|number| number.to_string());
                number.is_some_and(|number| {
                    self.numbers().position(&number).is_some()
                        && format.apply(&number).as_deref() == Some(text)
                })
            }
        }
    }

    /// Returns how many characters those texts have that a format makes of the values and that another text starts with.
    pub(crate) fn starts_of<'a>(
        &'a self,
        format: Format,
        text: &'a str,
    ) -> Box<dyn Iterator<Item = usize> + 'a> {
        match format.length() {
            None => Box::new(self.written(format).starts_of(text).map(|(_, length)| length)),
            Some(length) => {
                let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(length);
                let own = end.filter(|end| self.writes(format, &text[..*end]));
                Box::new(own.map(|_| length).into_iter())
            }
        }
    }

    /// Returns the smallest and the largest character that the texts of a format start with, or more.
    pub(crate) fn first_characters(&self, format: Format) -> Option<(char, char)> {
        match format {
            Format::Padded { .. } | Format::Signed { .. } => Some(('0', '9')),
            _ => {
                let texts = self.written(format).texts();
                Some((texts.first()?.chars().next()?, texts.last()?.chars().next()?))
            }
        }
    }

    /// Returns them as a message names them: the first few.
    pub fn named(&self) -> String {
        match self.get(..MAX_NAMED).filter(|few| few.len() < self.len()) {
            Some(few) => format!("{} and {} others", few.join(", "), self.len() - few.len()),
            None => crate::formatting::list(self),
        }
    }

    /// The texts of a format of no fixed length; those of another start as the values do.
    fn written(&self, format: Format) -> &PrefixSet {
        let list = match format {
            Format::Escaped => &self.0.escaped,
            Format::Lower => &self.0.lower,
            _ => return self.0.plain.get_or_init(|| PrefixSet::new(self.iter().cloned())),
        };
        list.get_or_init(|| PrefixSet::new(self.iter().filter_map(|choice| format.apply(choice))))
    }

    fn numbers(&self) -> &PrefixSet {
        let number = |choice: &String| Decimal::parse(choice).map(|number| number.to_string());
        self.0.numbers.get_or_init(|| PrefixSet::new(self.iter().filter_map(number)))
    }
}

impl From<Vec<String>> for Choices {
    fn from(values: Vec<String>) -> Choices {
        Choices(Arc::new(Lists { values, ..Lists::default() }))
    }
}

impl Deref for Choices {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0.values
    }
}

impl PartialEq for Choices {
    fn eq(&self, other: &Choices) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.values == other.0.values
    }
}

impl Eq for Choices {}

impl fmt::Debug for Choices {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.values.fmt(out)
    }
}
