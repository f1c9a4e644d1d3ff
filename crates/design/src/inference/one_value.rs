//! What all keys start with: items of one tenant do not show whether its name is a value or a word of the design.

use super::pieces::STRONG;
use super::style::is_upper_word;
use crate::draft::{Asked, Draft, Question};
use crate::template::{Format, Part, Template};

/// Words before the name of a tenant.
const TENANTS: [&str; 6] = ["tenant", "org", "organization", "organisation", "workspace", "company"];

/// Asks whether a text that is the same in all partition keys is a value.
pub(super) fn ask(draft: &mut Draft) {
    let Some((before, name, value)) = constant(draft) else { return };
    let fixed = format!("{before}{value}");
    let questions = draft.model.entities.iter().filter_map(|entity| {
        let own = entity.key.first()?;
        let rest = own.parts.first().and_then(|part| match part {
            Part::Text(text) => text.strip_prefix(&fixed),
            Part::Field { .. } => None,
        })?;
        let field = Part::Field { name: name.clone(), format: Format::Plain };
        let start = [Part::Text(before.clone()), field, Part::Text(rest.to_owned())];
        let parts = start.into_iter().filter(|part| *part != Part::Text(String::new()));
        let template = Template { parts: parts.chain(own.parts[1..].iter().cloned()).collect() };
        let asked = Asked::Template { entity: entity.name.clone(), index: None, position: 0 };
        let text = format!("All keys that were read have {value}: is it a value, such as that of a tenant?");
        Some(Question::new(asked, text, own.to_string()).with_choices(std::iter::once(template.to_string())))
    });
    let questions: Vec<Question> = questions.collect();
    let is_new = |question: &Question| draft.questions.iter().all(|other| other.id != question.id);
    let questions: Vec<Question> = questions.into_iter().filter(is_new).collect();
    draft.questions.extend(questions);
}

/// What precedes such a text in all partition keys, what it would be called, and the text.
fn constant(draft: &Draft) -> Option<(String, String, String)> {
    let entities = &draft.model.entities;
    let starts = || entities.iter().filter_map(|entity| entity.key.first()).map(Template::prefix);
    let first = starts().next()?;
    let is_common = |end: &usize| starts().all(|start| start.starts_with(&first[..*end]));
    let ends: Vec<usize> = first.match_indices(STRONG).map(|(at, _)| at).take_while(is_common).collect();
    let words: Vec<&str> = ends
        .iter()
        .scan(0, |start, end| {
            let word = &first[*start..*end];
            *start = end + 1;
            Some(word)
        })
        .collect();
    let name_of = |word: &&str| TENANTS.contains(&word.to_lowercase().as_str());
    let place = match words.iter().position(name_of) {
        Some(place) => Some((place + 1, format!("{}Id", words[place].to_lowercase()))),
        // Beside words in upper case, one in lower case is none of them.
        None => {
            let is_other = |word: &&str| !word.is_empty() && !is_upper_word(word) && !word.starts_with('$');
            let has_word = first.split(STRONG).skip(1).any(is_upper_word);
            words.first().filter(|word| is_other(word) && has_word && entities.len() > 1)?;
            Some((0, "tenantId".to_owned()))
        }
    };
    let (place, name) = place?;
    let value = words.get(place).filter(|value| !value.is_empty())?;
    let before = first[..ends[place] - value.len()].to_owned();
    Some((before, name, (*value).to_owned()))
}
