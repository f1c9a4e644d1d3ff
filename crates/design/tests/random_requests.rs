//! Declared requests of random keys, compared with what they return of all items: whatever a request loses or adds is found, and a request that does
//! neither is not accused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Note};
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{findings, with_table};

/// The attributes that keys are made from: their types, their formats, and values, some of which go on where others end.
const ATTRIBUTES: [(&str, &str, &str, &[&str]); 5] = [
    ("state", "'OPEN|WAIT|SHUT'", "", &["OPEN", "WAIT", "SHUT"]),
    ("grade", "'A|AB|B'", "", &["A", "AB", "B"]),
    ("rank", "{ type = 'int', min = 0, max = 999 }", ":03", &["0", "1", "10", "100", "999"]),
    ("house", "'id'", "", IDS),
    ("day", "'date'", "", &["2026-01-31", "2026-02-01", "2025-12-31"]),
];
/// Three identifiers, others that begin with them, and two that sort behind.
const IDS: &[&str] = &["a", "0", "Z", "ab", "0b", "Zb", "a-b", "0-b", "Z-b", "~", "\u{e9}mile"];
/// How many values of each attribute requests mention.
const MENTIONED: usize = 3;
const CODES: [&str; 6] = ["P106", "P107", "P108", "P124", "P132", "P133"];

type Values = BTreeMap<&'static str, &'static str>;

/// Decisions that are made one after the other.
struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    fn below(&mut self, number: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % number
    }

    fn one<'t, T: ?Sized>(&mut self, all: &[&'t T]) -> &'t T {
        all[self.below(all.len())]
    }
}

fn values_of(name: &str) -> &'static [&'static str] {
    ATTRIBUTES.iter().find(|(own, ..)| *own == name).map_or(IDS, |(.., values)| values)
}

/// A text or a field of a key.
#[derive(Clone)]
enum Piece {
    Text(&'static str),
    Field(&'static str, &'static str),
}

impl Piece {
    fn written(&self, values: &Values) -> String {
        match self {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Field(name, ":03") => format!("{:0>3}", values[name]),
            Piece::Field(name, _) => values[name].to_owned(),
        }
    }

    fn template(&self) -> String {
        match self {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Field(name, format) => format!("{{{name}{format}}}"),
        }
    }
}

/// A key of up to two attributes and an identifier, with delimiters between them that have words inside.
fn key(tape: &mut Tape<'_>) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text("ITEM#")];
    let mut left: Vec<_> = ATTRIBUTES.to_vec();
    for _ in 0..tape.below(3) {
        let (name, _, format, _) = left.remove(tape.below(left.len()));
        pieces.push(Piece::Field(name, format));
        pieces.push(Piece::Text(tape.one(&["#", "#ON#", "#X#Y#", "##"])));
    }
    pieces.push(Piece::Field("itemId", ""));
    pieces
}

/// A declared request, and its pattern.
struct Declared {
    inputs: Vec<&'static str>,
    /// The values of `where`.
    fixed: Values,
    /// What the sort key is compared with: the start of both bounds, whose fields the caller gives.
    start: Vec<Piece>,
    /// What is behind it in the upper bound; without one, it is a prefix.
    behind: Option<&'static str>,
    filter: Option<(&'static str, String)>,
}

impl Declared {
    fn new(key: &[Piece], tape: &mut Tape<'_>) -> Declared {
        let (mut inputs, mut fixed, mut start) = (Vec::new(), Values::new(), Vec::new());
        let asked = &key[..=tape.below(key.len())];
        for piece in asked {
            match piece {
                Piece::Text(text) => start.push(Piece::Text(text)),
                Piece::Field("itemId", _) => break,
                Piece::Field(name, _) if tape.below(3) == 0 => {
                    let value = tape.one(&values_of(name)[..MENTIONED]);
                    let is_declared = tape.below(5) > 0;
                    fixed.extend(is_declared.then_some((*name, value)));
                    let text = piece.written(&[(*name, value)].into());
                    start.push(Piece::Text(Box::leak(text.into_boxed_str())));
                }
                Piece::Field(name, _) => {
                    inputs.push(*name);
                    start.push(piece.clone());
                }
            }
        }
        // A request may end within the last literal.
        let ends_in_literal = matches!(asked, [.., Piece::Text(_)]);
        if let Some(Piece::Text(text)) = start.last_mut().filter(|_| ends_in_literal && tape.below(3) == 0) {
            *text = &text[..=tape.below(text.len())];
        }
        let behind = (tape.below(2) == 0).then(|| tape.one(&["", "~", "#", "#~", "Z", "\u{10FFFF}"]));
        if tape.below(4) == 0 {
            inputs.push("owner");
        }
        let filter = inputs.last().copied().and_then(|name| match tape.below(4) {
            0 => None,
            1 => Some((name, tape.one(&values_of(name)[..MENTIONED]).to_owned())),
            2 => Some((name, format!("{{{}}}", inputs[0]))),
            _ => Some((name, format!("{{{name}}}"))),
        });
        Declared { inputs, fixed, start, behind, filter }
    }

    fn toml(&self) -> String {
        let start: String = self.start.iter().map(Piece::template).collect();
        let condition = match self.behind {
            None => format!("begins_with(SK, '{start}')"),
            Some(behind) => format!("SK BETWEEN '{start}' AND '{start}{behind}'"),
        };
        let filter = self.filter.as_ref().map(|(name, value)| format!(", filter = \"{name} == '{value}'\""));
        let inputs: Vec<String> = self.inputs.iter().map(|name| format!(", '{name}'")).collect();
        let fixed: Vec<String> =
            self.fixed.iter().map(|(name, value)| format!("{name} == '{value}'")).collect();
        let meant =
            if fixed.is_empty() { String::new() } else { format!(", where = \"{}\"", fixed.join(" and ")) };
        format!(
            "some = {{ in = ['group'{}]{meant}, out = 'Item*', rps = 1, request = {{ condition = \"PK = 'GROUP#{{group}}' AND {condition}\"{} }} }}",
            inputs.concat(),
            filter.unwrap_or_default()
        )
    }

    fn means(&self, call: &Values, item: &Values) -> bool {
        self.inputs.iter().all(|name| call[name] == item[name])
            && self.fixed.iter().all(|(name, value)| item[name] == *value)
    }

    fn reads(&self, call: &Values, key: &str) -> bool {
        let start: String = self.start.iter().map(|piece| piece.written(call)).collect();
        match self.behind {
            None => key.starts_with(&start),
            Some(behind) => start.as_str() <= key && key <= format!("{start}{behind}").as_str(),
        }
    }

    fn keeps(&self, call: &Values, item: &Values) -> bool {
        self.filter.as_ref().is_none_or(|(name, value)| {
            let placeholder = value.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            item[name] == placeholder.map_or(value.as_str(), |other| call[other])
        })
    }
}

/// Items with all values of the attributes of a key, and with several owners.
fn items(key: &[Piece]) -> Vec<Values> {
    let fields = key.iter().filter_map(|piece| match piece {
        Piece::Field(name, _) => Some(*name),
        Piece::Text(_) => None,
    });
    let mut items = vec![Values::new()];
    for name in fields.chain(["owner"]) {
        let values = if name == "owner" { &IDS[..2] } else { values_of(name) };
        let with = |item: &Values, value: &&'static str| {
            item.iter().map(|(name, value)| (*name, *value)).chain([(name, *value)]).collect()
        };
        items = items.iter().flat_map(|item| values.iter().map(move |value| with(item, value))).collect();
    }
    items
}

proptest! {
    #[test]
    fn what_a_request_loses_or_adds_is_found(tape in prop::collection::vec(any::<u8>(), 40)) {
        let mut tape = Tape(tape.iter());
        let key = key(&mut tape);
        let declared = Declared::new(&key, &mut tape);
        let types: String = ATTRIBUTES.iter().map(|(name, kind, ..)| format!("{name} = {kind}, ")).collect();
        let template: String = key.iter().map(Piece::template).collect();
        let text = with_table(&format!(
            "[entity.Item]\nattributes = {{ {types}group = 'id', owner = 'id', itemId = 'id' }}\nidentity = ['itemId']\n\
             key = ['GROUP#{{group}}', '{template}']\n[pattern]\n{}\n", declared.toml()
        ));
        let found: Vec<_> = findings(&text).into_iter().filter(|one| CODES.contains(&one.code)).collect();
        let all = items(&key);
        let (mut is_lost, mut is_added, mut is_read) = (false, false, false);
        for call in all.iter().step_by(all.len().div_ceil(100) | 1) {
            for item in &all {
                let key: String = key.iter().map(|piece| piece.written(item)).collect();
                let (is_meant, reads, keeps) =
                    (declared.means(call, item), declared.reads(call, &key), declared.keeps(call, item));
                is_lost |= is_meant && !(reads && keeps);
                is_added |= reads && keeps && !is_meant;
                is_read |= reads && !is_meant;
            }
        }
        let is_error = found.iter().any(|finding| finding.severity == Error);
        let is_found = found.iter().any(|finding| finding.severity != Note);
        prop_assert!(!is_lost || is_error, "loses items unseen:\n{text}\n{found:?}");
        prop_assert!(!is_added || is_found, "adds items unseen:\n{text}\n{found:?}");
        // A prefix that ends inside a value is found although a filter drops what else it reads.
        let is_cut = is_read && found.iter().all(|finding| finding.code == "P106");
        prop_assert!(is_lost || is_added || is_cut || !is_found, "accused without a cause:\n{text}\n{found:?}");
    }
}
