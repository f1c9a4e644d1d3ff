//! Names of entities, attributes and patterns from those of tables and columns: `order_items.id` becomes `OrderItem.order_item_id`.

use super::schema::{Schema, Table};
use crate::formatting::{lower_first, upper_first};
use crate::template::{is_in_field_name, is_in_word};
use std::collections::BTreeSet;

/// The name of the entity of a table: `order_items` gives `OrderItem`.
pub fn entity(table: &str) -> String {
    let mut words = words(table);
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    words.iter().map(|word| upper_first(word)).collect()
}

/// A name as one word of a pattern's name: `user_id` gives `UserId`.
pub(crate) fn camel(name: &str) -> String {
    words(name).iter().map(|word| upper_first(word)).collect()
}

/// The name of a key's prefix: `OrderItem` gives `ORDERITEM`.
pub(super) fn prefix(entity: &str) -> String {
    entity.to_uppercase()
}

/// The plural of an entity's name, as a pattern starts: `orders`, `categories`.
pub(crate) fn plural(entity: &str) -> String {
    let name = lower_first(entity);
    match name.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if name.ends_with(['s', 'x']) || name.ends_with("ch") || name.ends_with("sh") => {
            format!("{name}es")
        }
        None => format!("{name}s"),
    }
}

/// The words of a name in snake case or camel case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        if !is_in_word(character) || (was_lower && character.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| is_in_word(character)) {
            last.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn singular(word: &str) -> String {
    let irregular = [
        ("people", "person"),
        ("children", "child"),
        ("men", "man"),
        ("women", "woman"),
        ("series", "series"),
        ("news", "news"),
    ];
    if let Some((_, one)) = irregular.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let doubled = ["sses", "xes", "ches", "shes", "zzes", "tuses", "ruses", "buses"];
    if doubled.iter().any(|end| word.ends_with(end)) {
        return word[..word.len() - 2].to_owned();
    }
    let stays = word.ends_with("ss") || word.ends_with("us") || word.ends_with("is");
    word.strip_suffix('s').filter(|stem| !stays && stem.len() > 1).unwrap_or(word).to_owned()
}

/// The name, with a number at its end if it is taken.
pub(crate) fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// A name as templates can hold it: `item id` gives `item_id`.
pub(crate) fn field_name(name: &str) -> String {
    let plain = name.replace(|character: char| !is_in_field_name(character), "_");
    if plain.is_empty() { "_".to_owned() } else { plain }
}

/// The names of attributes that a column may become, besides its own: of `id`, `user_id` and `userId`; of a name that a template cannot
/// hold or that the table itself uses, one that says the same.
pub(super) fn attribute_names(entity: &str, column: &str) -> Vec<String> {
    let own = words(entity).join("_");
    if column.eq_ignore_ascii_case("id") {
        return vec![format!("{own}_id"), format!("{}Id", lower_first(entity))];
    }
    let plain = field_name(column);
    if is_generated(&plain) { vec![format!("{own}_{plain}")] } else { vec![plain] }
}

/// Whether a draft of a relational schema uses this attribute itself: keys, the type, the shard.
fn is_generated(name: &str) -> bool {
    let end =
        name.strip_prefix("GSI").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    ["PK", "SK", "EntityType", crate::template::SHARD].contains(&name) || matches!(end, Some("PK" | "SK"))
}

/// The attributes of each table's columns, in their order.
pub(super) fn attributes(schema: &Schema) -> Vec<Vec<String>> {
    let mut referring: BTreeSet<(String, &str)> = BTreeSet::new();
    for table in &schema.tables {
        for key in table.foreign_keys.iter().filter(|key| key.columns.len() == 1) {
            if !key.table.eq_ignore_ascii_case(&table.name) {
                referring.insert((key.table.to_lowercase(), &key.columns[0]));
            }
        }
    }
    let of_table = |table: &Table| {
        let columns: BTreeSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut names = Vec::new();
        for column in &table.columns {
            let is_id = column.name.eq_ignore_ascii_case("id");
            let others = attribute_names(&entity(&table.name), &column.name);
            let used = |name: &&String| referring.contains(&(table.name.to_lowercase(), name.as_str()));
            let wanted = others.iter().find(used).or(others.first()).filter(|_| !is_id || is_generic(table));
            let wanted =
                wanted.filter(|name| **name == column.name || !is_id || !columns.contains(name.as_str()));
            let wanted = wanted.unwrap_or(&column.name);
            let free = free_name(wanted, |name| {
                taken.contains(name) || (name != column.name && columns.contains(name))
            });
            taken.insert(free.clone());
            names.push(free);
        }
        names
    };
    schema.tables.iter().map(of_table).collect()
}

/// Returns whether a table's identifier is called `id`, which says nothing in a table that entities share.
fn is_generic(table: &Table) -> bool {
    matches!(table.primary_key.as_slice(), [only] if only.eq_ignore_ascii_case("id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_in_the_plural_and_entities_in_the_singular() {
        let names = [
            "users",
            "order_items",
            "OrderItems",
            "categories",
            "addresses",
            "statuses",
            "people",
            "news",
            "bus",
            "courses",
        ];
        let expected = [
            "User",
            "OrderItem",
            "OrderItem",
            "Category",
            "Address",
            "Status",
            "Person",
            "News",
            "Bus",
            "Course",
        ];
        assert_eq!(names.map(entity), expected);
        assert_eq!(
            ["OrderItem", "Category", "Address", "Day"].map(plural),
            ["orderItems", "categories", "addresses", "days"]
        );
    }

    #[test]
    fn an_identifier_is_named_as_others_refer_to_it() {
        let schema = Schema::parse(
            "CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE posts (id int PRIMARY KEY, userId int REFERENCES users(id));",
        )
        .unwrap();
        assert_eq!(attributes(&schema), [vec!["userId"], vec!["post_id", "userId"]]);
    }

    #[test]
    fn a_column_becomes_an_attribute_that_templates_can_name_and_the_table_does_not_use() {
        let schema = Schema::parse(
            "CREATE TABLE docs (\"item id\" int PRIMARY KEY, \"item_id\" int, \"EntityType\" text, \"SK\" text, shard int, \"GSI12PK\" text)",
        )
        .unwrap();
        let expected = ["item_id2", "item_id", "doc_EntityType", "doc_SK", "doc_shard", "doc_GSI12PK"];
        assert_eq!(attributes(&schema), [expected]);
    }
}
