//! The words of a sentence.

use super::sentence::Verb;

/// Words that say that something belongs to what stands before "and".
const OWNED: [&str; 4] = ["their", "its", "his", "her"];

/// Returns the words of a text. A possessive is a word with `'s`.
pub(super) fn all_words(text: &str) -> Vec<String> {
    let text = text.replace('’', "'").replace('&', " and ");
    let letters = |character: char| !character.is_alphanumeric() && !"_'-".contains(character);
    let words = text.split(letters).map(|word| word.trim_start_matches(['\'', '-']).trim_end_matches('-'));
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let name = words.first().map(|first| words_of_name(first)).unwrap_or_default();
    if !name.is_empty() {
        words.splice(..1, name);
    }
    // "A user and their orders" is a user with their orders.
    for place in 1..words.len() {
        let is_owned = OWNED.contains(&words[place].to_lowercase().as_str());
        if is_owned && words[place - 1].eq_ignore_ascii_case("and") {
            "with".clone_into(&mut words[place - 1]);
        }
    }
    // "In order of arrival" is sorted by it.
    let is_sorted = |own: &[String]| own.iter().map(|word| word.to_lowercase()).eq(["in", "order", "of"]);
    while let Some(place) = words.windows(3).position(is_sorted) {
        words.splice(place..place + 3, ["sorted".to_owned(), "by".to_owned()]);
    }
    words
}

/// The owner that a possessive names: `user` of `user's` and of `users'`.
pub(super) fn possessor(word: &str) -> Option<&str> {
    word.strip_suffix("'s").or_else(|| word.strip_suffix('\'').filter(|word| word.ends_with('s')))
}

/// Words that say which of its items, and not what they are.
const STATES: [&str; 39] = [
    "active",
    "inactive",
    "available",
    "unavailable",
    "open",
    "free",
    "pending",
    "overdue",
    "due",
    "upcoming",
    "past",
    "current",
    "previous",
    "outstanding",
    "unread",
    "unpaid",
    "paid",
    "sold",
    "public",
    "private",
    "valid",
    "invalid",
    "popular",
    "cheap",
    "expensive",
    "cheapest",
    "highest",
    "lowest",
    "largest",
    "smallest",
    "biggest",
    "best",
    "worst",
    "longest",
    "shortest",
    "nearest",
    "closest",
    "similar",
    "other",
];

/// Whether a word says which of its items are meant: `active`, `cancelled`, `unassigned`.
pub(super) fn is_state(word: &str) -> bool {
    let word = word.to_lowercase();
    // A feed and a seed are things.
    let is_participle = word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed");
    is_participle || STATES.contains(&word.as_str())
}

/// The words of a sentence that is written as a name, as `getOrdersByUser`; none of another word.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = 'A';
    for character in name.chars() {
        if words.is_empty() || (before.is_lowercase() && character.is_uppercase()) {
            words.push(String::new());
        }
        words.iter_mut().last().into_iter().for_each(|word| word.extend(character.to_lowercase()));
        before = character;
    }
    let is_sentence = Verb::of(&words[0]).is_some() || words.iter().any(|word| word == "by");
    if words.len() > 1 && is_sentence { words } else { Vec::new() }
}
