//! Matches a key against a template: recovers the text of each field.
//!
//! A first pass, from the end of the key to its start, records where the rest of the template can produce the rest of the key. A second pass
//! gives each field, from the start, the shortest text after which the rest can follow, so that a delimiter ends a value. Both passes visit
//! each character once per part; of many choices, those that fit are found without trying each. Only a field that occurs twice may have to be tried with several texts.

use super::{CharacterClass, FieldTypes, Format, Part, Sign, Template};
use crate::model::choices::Choices;
use crate::model::value_type::ValueType;
use std::collections::BTreeMap;

/// The longest key: four attributes and their separators. No template produces a longer text.
const MAX_BYTES: usize = 4 * 2_048 + 3;
/// The budget for fields that occur twice; only a key crafted to exhaust it needs more.
const MAX_STEPS: usize = 1 << 18;

enum Piece<'a> {
    Text(&'a str),
    Field(Field<'a>),
}

struct Field<'a> {
    name: &'a str,
    format: Format,
    class: CharacterClass,
    length: Option<usize>,
    choices: Option<&'a Choices>,
    /// The pieces in which the same field occurs earlier, and its formats there.
    before: Vec<(usize, Format)>,
}

/// A key that is being matched.
struct Matching<'a> {
    key: &'a str,
    characters: Vec<char>,
    /// The byte offset of each character, and the length of the key.
    bounds: Vec<usize>,
    pieces: Vec<Piece<'a>>,
    /// For each piece and character: whether the pieces from there on can produce the key from there on. Has one row more than
    /// there are pieces.
    can_follow: Vec<Vec<bool>>,
}

impl Template {
    /// Returns the values that fill to `key`: the inverse of [`Self::fill`]. A bucket returns the part of the time that it
    /// keeps.
    pub fn matches(&self, key: &str, types: &dyn FieldTypes) -> Option<BTreeMap<String, String>> {
        if key.len() > MAX_BYTES || !key.starts_with(self.prefix()) {
            return None;
        }
        let matching = Matching::new(&self.parts, key, types);
        let (mut taken, mut steps) = (Vec::new(), MAX_STEPS);
        if !matching.take(0, &mut taken, &mut steps) {
            return None;
        }
        let mut values = BTreeMap::new();
        for (piece, text) in matching.pieces.iter().zip(taken) {
            if let Piece::Field(field) = piece {
                if field.format.is_whole_padded() && is_zero(text) && types.sign(field.name) == Sign::Positive
                {
                    return None;
                }
                add_value(&mut values, field.name, field.format, text);
            }
        }
        Some(values)
    }
}

fn is_zero(digits: &str) -> bool {
    digits.bytes().all(|digit| digit == b'0')
}

impl<'a> Matching<'a> {
    fn new(parts: &'a [Part], key: &'a str, types: &'a dyn FieldTypes) -> Matching<'a> {
        let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(parts.len());
        for part in parts {
            let piece = match part {
                Part::Text(text) => Piece::Text(text),
                Part::Field { name, format } => Piece::Field(Field::new(name, *format, types, &pieces)),
            };
            pieces.push(piece);
        }
        let characters: Vec<char> = key.chars().collect();
        let bounds = key.char_indices().map(|(at, _)| at).chain([key.len()]).collect();
        let mut matching = Matching { key, characters, bounds, pieces, can_follow: Vec::new() };
        matching.compute_can_follow();
        matching
    }

    fn compute_can_follow(&mut self) {
        let mut end = vec![false; self.bounds.len()];
        end[self.characters.len()] = true;
        let mut rows = vec![end];
        for piece in self.pieces.iter().rev() {
            let next_row = &rows[rows.len() - 1];
            let row = match piece {
                Piece::Text(text) => self.text_row(text, next_row),
                Piece::Field(field) => self.field_row(field, next_row),
            };
            rows.push(row);
        }
        rows.reverse();
        self.can_follow = rows;
    }

    fn text_row(&self, text: &str, next_row: &[bool]) -> Vec<bool> {
        let length = text.chars().count();
        let fits = |at: usize| self.rest(at).starts_with(text) && next_row[at + length];
        (0..self.bounds.len()).map(fits).collect()
    }

    fn field_row(&self, field: &Field<'_>, next_row: &[bool]) -> Vec<bool> {
        let mut row = vec![false; self.bounds.len()];
        // The number of characters the field can take from here on, and whether the rest can follow one of them.
        let (mut run, mut has_end) = (0, false);
        for at in (0..self.characters.len()).rev() {
            let is_own = field.class.contains(self.characters[at]);
            run = if is_own { run + 1 } else { 0 };
            has_end = is_own && (has_end || next_row[at + 1]);
            let ends_after = |length: usize| (1..=run).contains(&length) && next_row[at + length];
            row[at] = match (field.choices, field.length) {
                (None, None) => has_end,
                (None, Some(length)) => ends_after(length),
                (Some(choices), _) => {
                    has_end && choices.starts_of(field.format, self.rest(at)).any(ends_after)
                }
            };
        }
        row
    }

    fn rest(&self, at: usize) -> &'a str {
        &self.key[self.bounds[at]..]
    }

    /// Assigns a text to each piece from the next one on, if the key can be split from `at` on.
    fn take(&self, at: usize, taken: &mut Vec<&'a str>, steps: &mut usize) -> bool {
        let number = taken.len();
        if !self.can_follow[number][at] {
            return false;
        }
        let Some(piece) = self.pieces.get(number) else { return true };
        let ends = match piece {
            Piece::Text(text) => {
                let end = at + text.chars().count();
                end..=end
            }
            Piece::Field(_) => at + 1..=self.characters.len(),
        };
        for end in ends {
            let text = &self.key[self.bounds[at]..self.bounds[end]];
            if let Piece::Field(field) = piece {
                if *steps == 0 || !field.class.contains(self.characters[end - 1]) {
                    return false;
                }
                *steps -= 1;
                if !self.can_follow[number + 1][end] || !field.takes(text, end - at, taken) {
                    continue;
                }
            }
            taken.push(text);
            if self.take(end, taken, steps) {
                return true;
            }
            taken.truncate(number);
        }
        false
    }
}

impl<'a> Field<'a> {
    fn new(name: &'a str, format: Format, types: &'a dyn FieldTypes, earlier: &[Piece<'a>]) -> Field<'a> {
        let choices = match types.type_of(name) {
            Some(ValueType::Choice(choices)) => Some(choices),
            _ => None,
        };
        let class = CharacterClass::of(types, name, format, true);
        let before = earlier.iter().enumerate().filter_map(|(number, piece)| match piece {
            Piece::Field(field) if field.name == name => Some((number, field.format)),
            _ => None,
        });
        let before = before.collect();
        Field { name, format, class, length: format.length(), choices, before }
    }

    /// Returns whether a text of this many characters can be the field's, given what earlier pieces have taken.
    fn takes(&self, text: &str, characters: usize, taken: &[&str]) -> bool {
        self.length.is_none_or(|length| length == characters)
            && self.choices.is_none_or(|choices| choices.writes(self.format, text))
            && self.before.iter().all(|(piece, format)| {
                same_value(&format.restore(taken[*piece]), *format, &self.format.restore(text), self.format)
            })
    }
}

/// Adds the value of a field, unless a format that loses nothing, or less of a time, has shown it already.
fn add_value(values: &mut BTreeMap<String, String>, name: &str, format: Format, text: &str) {
    let is_longer = |known: &String| matches!(format, Format::Bucket(_)) && text.len() > known.len();
    if format.is_readable() || values.get(name).is_none_or(is_longer) {
        values.insert(name.to_owned(), format.restore(text).into_owned());
    }
}

/// Returns whether two texts of one field can be of the same value.
fn same_value(left: &str, left_format: Format, right: &str, right_format: Format) -> bool {
    let lower = [left_format, right_format].contains(&Format::Lower);
    // A time bucket is the start of a time, or of a shorter bucket.
    let is_start = |format: Format, start: &str, whole: &str| {
        matches!(format, Format::Bucket(_)) && whole.starts_with(start)
    };
    left == right
        || (lower && left.to_lowercase() == right.to_lowercase())
        || is_start(left_format, left, right)
        || is_start(right_format, right, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::ATTRIBUTE_SEPARATOR;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    fn types() -> BTreeMap<String, ValueType> {
        let kinds = [
            ("s", "string"),
            ("z", "string"),
            ("i", "id"),
            ("n", "int"),
            ("c", "A|AB|B#"),
            ("d", "1|2|12|2.0"),
        ];
        kinds.map(|(name, kind)| (name.to_owned(), ValueType::parse(kind).unwrap())).into()
    }

    fn template() -> impl Strategy<Value = Template> {
        let parts = [
            "A",
            "B",
            "1",
            "#",
            "{s}",
            "{z}",
            "{i}",
            "{n}",
            "{c}",
            "{n:02}",
            "{n:+01}",
            "{s:escaped}",
            "{s:year}",
            "{i:lower}",
            "{c:lower}",
            "{c:escaped}",
            "{c:year}",
            "{d}",
            "{d:02}",
            "{d:+01}",
            "{d:01.1}",
        ];
        let parts = prop::collection::vec(prop::sample::select(parts.to_vec()), 0..6);
        parts.prop_map(|parts| Template::parse(&parts.concat()).unwrap())
    }

    /// The definition: every field tries every text, the shortest first.
    fn tried(
        parts: &[Part],
        text: &str,
        taken: &[(String, Format, String)],
    ) -> Option<BTreeMap<String, String>> {
        let Some((first, rest)) = parts.split_first() else {
            let mut values = BTreeMap::new();
            taken.iter().for_each(|(name, format, text)| add_value(&mut values, name, *format, text));
            return text.is_empty().then_some(values);
        };
        let (name, format) = match first {
            Part::Text(literal) => return tried(rest, text.strip_prefix(literal.as_str())?, taken),
            Part::Field { name, format } => (name, format),
        };
        let types = types();
        let class = CharacterClass::of(&types, name, *format, true);
        let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
        ends.map(|end| text.split_at(end)).find_map(|(value, tail)| {
            let filled = |choice: &String| {
                let field = Template { parts: vec![first.clone()] };
                field.fill(&[(name.clone(), choice.clone())].into()).is_ok_and(|text| text == value)
            };
            let chosen = match types.type_of(name) {
                Some(ValueType::Choice(choices)) => choices.iter().any(filled),
                _ => true,
            };
            let is_long = format.length().is_none_or(|length| length == value.chars().count());
            if !value.chars().all(|character| class.contains(character)) || !chosen || !is_long {
                return None;
            }
            let is_same = |(known, known_format, text): &(String, Format, String)| {
                let (left, right) = (known_format.restore(text), format.restore(value));
                let either_lower = *known_format == Format::Lower || *format == Format::Lower;
                let begins = |format: &Format, start: &str, whole: &str| {
                    *format == Format::Bucket(4) && whole.starts_with(start)
                };
                known != name
                    || left == right
                    || begins(known_format, &left, &right)
                    || begins(format, &right, &left)
                    || (either_lower && left.to_lowercase() == right.to_lowercase())
            };
            let more = [taken, &[(name.clone(), *format, value.to_owned())]].concat();
            taken.iter().all(is_same).then(|| tried(rest, tail, &more)).flatten()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn keys_are_split_as_if_every_text_were_tried(template in template(), key in "([ABab012#%é.]|%23){0,9}") {
            prop_assert_eq!(template.matches(&key, &types()), tried(&template.parts, &key, &[]));
        }
    }

    #[test]
    fn matching_time_is_bounded() {
        let start = Instant::now();
        for text in ["{s}#{z}", "{s}#{z}#{i}#{s}", "{s}{z}#{s}{z}", "{s}#{z}#{s}#{z}#{s}#{z}"] {
            let template = Template::parse(text).unwrap();
            for length in [MAX_BYTES - 1, 400_000] {
                let key = "#".repeat(length) + &ATTRIBUTE_SEPARATOR.to_string();
                assert_eq!(template.matches(&key, &types()), None);
                let key = "a#".repeat(length / 2) + &ATTRIBUTE_SEPARATOR.to_string();
                assert_eq!(template.matches(&key, &types()), None);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[test]
    fn many_choices_are_not_tried_one_by_one() {
        let of = |choices: Vec<String>| -> BTreeMap<String, ValueType> {
            [("c".to_owned(), ValueType::Choice(choices.into()))].into()
        };
        let apart = of((0..100_000).map(|number| format!("x{number}")).collect());
        let nested = of((1..1_000).map(|length| "x".repeat(length)).collect());
        let start = Instant::now();
        for types in [&apart, &nested] {
            for text in ["{c}", "{c:lower}", "{c:escaped}", "{c:08}", "{c:month}", "{c}#{c}"] {
                let template = Template::parse(text).unwrap();
                assert_eq!(template.matches(&"x".repeat(2_000), types), None, "{text}");
            }
        }
        let template = Template::parse("A{c}").unwrap();
        for number in 0..1_000 {
            assert!(template.matches(&format!("Ax{number}"), &apart).is_some());
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[test]
    fn matching_of_repeated_fields_gives_up_after_its_budget() {
        // Every prefix could be the field's value; only the end of the key shows that none is.
        let template = Template::parse("{s}{z}#{s}{z}#{s}1").unwrap();
        let key = "#".repeat(MAX_BYTES - 2) + "21";
        let start = Instant::now();
        assert_eq!(template.matches(&key, &types()), None);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
