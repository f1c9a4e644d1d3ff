//! Repairs of findings: edits to the text of a model, each tried on a copy of the model before it is proposed.
//!
//! The repairs of one report can be applied together: each is tried after those before it.

use crate::check::examine;
use crate::check::fit::ABOUT_THE_CHOICE;
use crate::finding::Finding;
use crate::model::{Entity, Model};
use crate::reader::read_once;
use crate::source::{Source, Span};
use std::collections::HashMap;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// The most repairs that are tried for one report.
const MAX_TRIED: usize = 24;
/// The most work that is done to try repairs: bytes of model text, and tests of conditions.
const MAX_WORK: usize = 1 << 20;

/// Findings after whose repair an entity has another key.
const ABOUT_THE_KEY: [&str; 3] = ["P203", "P215", "P225"];

/// A change to the text of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where: `["entity", "Order", "index", "GSI1"]`.
    pub path: Vec<String>,
    /// The new value as TOML; `None` removes what is there.
    pub value: Option<String>,
}

/// A change that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it does, in words.
    pub help: String,
    /// The changes, which belong together.
    pub edits: Vec<Edit>,
}

/// A range of a text, and what to put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The range.
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Creates an edit that sets a value.
    pub fn set(path: &[&str], value: impl Into<String>) -> Edit {
        Edit { path: path.iter().map(|part| (*part).to_owned()).collect(), value: Some(value.into()) }
    }

    /// Creates an edit that removes a value.
    pub fn remove(path: &[&str]) -> Edit {
        Edit { path: path.iter().map(|part| (*part).to_owned()).collect(), value: None }
    }
}

/// Returns a text as a TOML string.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns texts as a TOML list of strings.
pub fn quoted_list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text).trim().to_owned()).collect();
    format!("[{}]", texts.join(", "))
}

/// Applies edits to the text of a model and leaves the rest of the text as it is; `None` if they do not fit.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for edit in edits {
        apply_edit(document.as_table_mut(), edit)?;
    }
    let edited = document.to_string();
    Some(if text.contains("\r\n") { with_carriage_returns(&edited) } else { edited })
}

/// The editor of TOML ends lines with a line feed alone.
fn with_carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Returns the smallest range of the text that edits change, and its new text.
pub fn replacement(text: &str, edits: &[Edit]) -> Option<Replacement> {
    let after = apply(text, edits)?;
    let same = text.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    let mut start = same.min(text.len()).min(after.len());
    while !text.is_char_boundary(start) || !after.is_char_boundary(start) {
        start -= 1;
    }
    let rests = text[start..].bytes().rev().zip(after[start..].bytes().rev());
    let mut end = rests.take_while(|(left, right)| left == right).count();
    while !text.is_char_boundary(text.len() - end) || !after.is_char_boundary(after.len() - end) {
        end -= 1;
    }
    Some(Replacement { span: start..text.len() - end, text: after[start..after.len() - end].to_owned() })
}

fn apply_edit(root: &mut dyn TableLike, edit: &Edit) -> Option<()> {
    let (last, parents) = edit.path.split_last()?;
    let (mut table, mut is_inline) = (root, false);
    for (level, part) in parents.iter().enumerate() {
        if table.get(part).is_none() {
            edit.value.as_ref()?;
            table.insert(part, missing_parent(level, is_inline));
        }
        let item = table.get_mut(part)?;
        if let Some(tables) = item.as_array_of_tables_mut() {
            let number: usize = last.parse().ok()?;
            return (edit.value.is_none() && number < tables.len())
                .then(|| tables.remove(number))
                .map(|_| ());
        }
        is_inline = item.is_inline_table();
        table = item.as_table_like_mut()?;
    }
    let Some(value) = &edit.value else { return table.remove(last).map(|_| ()) };
    let mut value: Value = value.parse().ok()?;
    if let Some(old) = table.get(last).and_then(Item::as_value) {
        value = replaced(old, value);
    }
    if is_inline && table.get(last).is_none() {
        move_space(table, &mut value);
    }
    let item = match value {
        Value::InlineTable(inline) if !is_inline && has_headers(table) => Item::Table(inline.into_table()),
        value => Item::Value(value),
    };
    table.insert(last, item);
    Some(())
}

/// A value in the place of another, with the comments around it and between its elements.
fn replaced(old: &Value, mut new: Value) -> Value {
    if let (Value::Array(old), Value::Array(elements)) = (old, &new)
        && old.len() == elements.len()
    {
        let mut kept = old.clone();
        for (number, element) in elements.iter().enumerate() {
            kept.replace(number, element.clone());
        }
        return Value::Array(kept);
    }
    *new.decor_mut() = old.decor().clone();
    new
}

/// The space before a closing brace belongs to the last value, which is now the new one.
fn move_space(table: &mut dyn TableLike, new: &mut Value) {
    let Some(decor) = table.iter_mut().last().and_then(|(_, item)| item.as_value_mut()).map(Value::decor_mut)
    else {
        return;
    };
    let space = decor.suffix().cloned().unwrap_or_default();
    decor.set_suffix("");
    new.decor_mut().set_suffix(space);
}

/// What stands for a table that the text does not have yet: a header, a dotted key, or an inline table.
fn missing_parent(level: usize, is_inline: bool) -> Item {
    if is_inline {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    if level == 0 {
        table.set_implicit(true)
    } else {
        table.set_dotted(true)
    }
    Item::Table(table)
}

/// Whether the tables of a table have headers of their own: `[entity.Order]`.
fn has_headers(table: &dyn TableLike) -> bool {
    table.iter().any(|(_, item)| item.is_table()) || (table.is_empty() && !table.is_dotted())
}

/// What a check found: how often each code occurs on each subject, and whether it is a problem.
type Found = HashMap<(&'static str, String), (usize, usize)>;

fn found(findings: &[Finding]) -> Found {
    let mut found = Found::new();
    for finding in findings {
        let (all, problems) = found.entry((finding.code, finding.subject.clone())).or_default();
        *all += 1;
        *problems += usize::from(finding.is_problem());
    }
    found
}

/// Replaces the proposals of findings by the first one that removes the finding and causes no other problem.
pub(crate) fn settle(model: &Model, findings: &mut [Finding]) {
    if let Some(text) = model.text.as_deref() {
        settle_by(text, work(model, text), findings, check_text);
    }
}

/// Does so for the findings of the reader.
pub(crate) fn settle_unreadable(text: &str, findings: &mut [Finding]) {
    settle_by(text, text.len().max(1), findings, read_text);
}

/// Tries proposals as long as the checks, each of which is this much work, are little work together.
fn settle_by(text: &str, work: usize, findings: &mut [Finding], examined: fn(&str) -> Option<Found>) {
    let mut text = text.to_owned();
    let mut now = found(findings);
    let mut tries = MAX_TRIED.min(MAX_WORK / work);
    for finding in findings.iter_mut() {
        let proposals = std::mem::take(&mut finding.proposals);
        let mut blocked = None;
        for repair in proposals {
            if tries == 0 || finding.allowed.is_some() {
                break;
            }
            let open = wrong_key(&repair, &now);
            tries -= 1;
            let Some(after) = apply(&text, &repair.edits) else { continue };
            let Some(then) = examined(&after) else { continue };
            let is_repaired = is_repaired(finding, &now, &then);
            if is_repaired {
                finding.help.clone_from(&repair.help);
            }
            if open.is_some() {
                blocked = open;
            } else if is_repaired {
                finding.repair = Some(repair);
                (text, now) = (after, then);
            }
            if is_repaired {
                break;
            }
        }
        if let (None, Some((code, entity))) = (&finding.repair, blocked) {
            finding.help.push_str(&format!("; first repair the key of {entity} ({code})"));
        }
    }
}

/// What is wrong with the key of an entity to which a repair gives an entry in an index: with another key, another entry may be needed, or none.
fn wrong_key(repair: &Repair, now: &Found) -> Option<(&'static str, String)> {
    let entity = repair.edits.iter().find_map(|edit| match edit.path.as_slice() {
        [entity, name, index, _] if entity == "entity" && index == "index" => Some(name),
        _ => None,
    })?;
    let is_open = |code: &&str| {
        now.get(&(*code, format!("entity.{entity}"))).is_some_and(|(_, problems)| *problems > 0)
    };
    let code = ABOUT_THE_KEY.into_iter().find(|code| is_open(code))?;
    Some((code, entity.clone()))
}

/// About how much work it is to check a model: its text is read, and the condition of each pattern is compared with those of the indexes.
fn work(model: &Model, text: &str) -> usize {
    let tests = |entity: &Entity| -> usize {
        entity.indexes.iter().map(|index_key| index_key.when.tests().len()).sum()
    };
    let by_name: HashMap<&str, usize> =
        model.entities.iter().map(|entity| (entity.name.as_str(), tests(entity))).collect();
    let targets = model.patterns.iter().flat_map(|pattern| &pattern.targets);
    let compared: usize = targets.filter_map(|target| by_name.get(target.entity.as_str())).sum();
    text.len().max(1) + compared
}

fn check_text(text: &str) -> Option<Found> {
    let model = read_once(&Source::new("", text)).ok()?;
    Some(found(&examine(&model).findings))
}

fn read_text(text: &str) -> Option<Found> {
    Some(read_once(&Source::new("", text)).map_or_else(|findings| found(&findings), |_| Found::new()))
}

fn is_repaired(finding: &Finding, now: &Found, then: &Found) -> bool {
    let key = (finding.code, finding.subject.clone());
    let count = |found: &Found| found.get(&key).map_or(0, |(all, _)| *all);
    // An earlier repair may have removed it already.
    let is_gone = count(then) < count(now);
    let grew = |(key, (_, problems)): (&(&str, String), &(usize, usize))| {
        !ABOUT_THE_CHOICE.contains(&key.0) && *problems > now.get(key).map_or(0, |(_, problems)| *problems)
    };
    is_gone && !then.iter().any(grew)
}

/// Returns the text with all repairs of a report, and how many there are.
pub fn apply_all(text: &str, findings: &[Finding]) -> (String, usize) {
    let mut text = text.to_owned();
    let mut count = 0;
    for repair in findings.iter().filter_map(|finding| finding.repair.as_ref()) {
        if let Some(after) = apply(&text, &repair.edits) {
            (text, count) = (after, count + 1);
        }
    }
    (text, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a shop\nformat = 1\n[table]\nname = \"T\" # the name\n[entity.Order]\nkey = [\"A\", \"B\"] # keys\n\n[pattern]\none = { in = [\"a\"] } # first\n[[allow]]\ncode = \"P101\"\n";

    #[test]
    fn edits_leave_the_rest_of_the_text_alone() {
        let edits = [
            Edit::set(&["entity", "Order", "index", "GSI1"], "{ key = [\"C\", \"D\"] }"),
            Edit::set(&["index", "GSI1"], "{ keys = [\"X\", \"Y\"] }"),
            Edit::set(&["pattern", "one", "hydrate"], "true"),
            Edit::set(&["table", "name"], "\"S\""),
            Edit::remove(&["allow", "0"]),
        ];
        let text = apply(TEXT, &edits).unwrap();
        for line in [
            "# a shop\n",
            "name = \"S\" # the name\n",
            "key = [\"A\", \"B\"] # keys\nindex.GSI1 = { key = [\"C\", \"D\"] }\n",
            "[index.GSI1]\nkeys = [\"X\", \"Y\"]\n",
            "hydrate = true } # first\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("P101"));
        let Replacement { span, text: new } = replacement(TEXT, &edits[3..4]).unwrap();
        assert_eq!((&TEXT[span], new.as_str()), ("T", "S"));
        assert_eq!(apply(TEXT, &[Edit::remove(&["allow", "7"])]), None);
        assert_eq!(apply(TEXT, &[Edit::set(&["format", "x"], "1")]), None);
    }
}
