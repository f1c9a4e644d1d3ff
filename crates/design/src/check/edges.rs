//! Rules about relationships: readable from both ends, and named in the direction they point.

use super::Checker;
use crate::finding::Severity;
use crate::formatting::list;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Entity;
use crate::template::{Part, Template};

/// Verbs that relate people to people and have no other meaning.
const VERBS: [&str; 8] = ["follow", "own", "manage", "mentor", "block", "employ", "supervise", "invite"];

/// The role of an attribute in a relationship.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Who acts: the follower.
    Actor,
    /// Who is acted upon: the followed.
    Target,
}

impl Checker<'_> {
    pub fn edges(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            self.direction(entity);
            if entity.edge.len() == 2 && entity.copies.is_none() {
                self.both_ends(entity);
            }
        }
    }

    /// Checks that prefix and attribute agree: `FOLLOWED_BY#{followerId}`.
    fn direction(&mut self, entity: &Entity) {
        for template in &entity.key {
            for (word, field) in named_fields(template) {
                let Some((stem, wanted)) = role_of_word(&word) else { continue };
                let Some((other, found)) = role_of_attribute(&field) else { continue };
                if stem != other || wanted == found {
                    continue;
                }
                let finding = self.about_entity("P215", Severity::Warning, entity);
                let meaning = match wanted {
                    Role::Actor => format!("the identifier of the one that {stem}s"),
                    Role::Target => format!("the identifier of the {stem}ed"),
                };
                self.report(
                    finding
                        .with_message(format!(
                            "{word}# is followed by {field}, but must be followed by {meaning}"
                        ))
                        .with_help("swap the two attributes of the key, or rename the prefix"),
                );
            }
        }
    }

    /// Checks that each end of a relationship is a partition key somewhere.
    fn both_ends(&mut self, entity: &Entity) {
        let model = self.model;
        let copies = model.copies_of(&entity.name);
        let locations = TableOrIndex::all(model);
        let edges = std::iter::once(entity).chain(copies);
        let mappings =
            edges.flat_map(|edge| locations.iter().filter_map(move |location| location.mapping(edge)));
        let partitions: Vec<Template> = mappings.map(|mapping| mapping.partition).collect();
        let closed: Vec<&str> = entity
            .edge
            .iter()
            .map(String::as_str)
            .filter(|end| !partitions.iter().any(|partition| partition.has_field(end)))
            .collect();
        if closed.is_empty() {
            return;
        }
        let finding = self.about_entity("P216", Severity::Warning, entity);
        let key: Vec<String> = entity.key.iter().rev().map(Template::to_string).collect();
        self.report(
            finding.with_message(format!("{} cannot be read by {}", entity.name, list(&closed))).with_help(
                format!("add an index entry with the key inverted: key = [\"{}\"]", key.join("\", \"")),
            ),
        );
    }
}

/// Fields with the words before them: `FOLLOWS#USER#{id}` yields FOLLOWS and USER.
fn named_fields(template: &Template) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for pair in template.parts.windows(2) {
        let (Part::Text(text), Part::Field { name, .. }) = (&pair[0], &pair[1]) else { continue };
        for word in text.split('#').filter(|word| !word.is_empty()) {
            found.push((word.to_owned(), name.clone()));
        }
    }
    found
}

/// `FOLLOWED_BY`, `FOLLOWER`: the one who follows. `FOLLOWS`, `FOLLOWING`: the one who is followed.
fn role_of_word(word: &str) -> Option<(String, Role)> {
    let word = word.to_lowercase();
    if let Some(verb) = word.strip_suffix("_by").or(word.strip_suffix("by")) {
        return verb.strip_suffix("ed").map(|stem| (stem.to_owned(), Role::Actor));
    }
    let word = word.trim_end_matches("_");
    // Other words ending in -s and -ing are mostly nouns: VOTES#, BOOKING#.
    let target =
        ["ing", "s"].into_iter().find_map(|end| word.strip_suffix(end)).filter(|stem| VERBS.contains(stem));
    let person = word.strip_suffix('s').unwrap_or(word);
    if let Some(stem) = person.strip_suffix("er") {
        return Some((stem.to_owned(), Role::Actor));
    }
    if let Some(stem) = person.strip_suffix("ee").or(person.strip_suffix("ed")) {
        return Some((stem.to_owned(), Role::Target));
    }
    target.map(|stem| (stem.to_owned(), Role::Target))
}

/// `followerId`: the one who follows. `followedId`, `followeeId`: the other.
fn role_of_attribute(name: &str) -> Option<(String, Role)> {
    let name = name.to_lowercase();
    let name = name.trim_end_matches("id").trim_end_matches('_');
    if let Some(stem) = name.strip_suffix("er") {
        return Some((stem.to_owned(), Role::Actor));
    }
    let stem = name.strip_suffix("ed").or(name.strip_suffix("ee")).or(name.strip_suffix("ing"))?;
    Some((stem.to_owned(), Role::Target))
}
