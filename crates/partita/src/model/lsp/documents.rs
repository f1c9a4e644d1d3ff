//! The open documents of an editor, and what is said about each.

use super::messages;
use super::text_position::Encoding;
use partita_design::editor::{self, Outline};
use partita_design::{Finding, Source, repair};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A longer text is no model: the findings say so, and there is nothing else to say about it.
const MAX_BYTES: usize = 4 << 20;

pub struct Documents {
    encoding: Encoding,
    open: HashMap<String, Document>,
}

struct Document {
    source: Source,
    /// The names of the last text that could be read.
    outline: Outline,
}

impl Document {
    fn new(uri: &str, text: String, previous: Outline) -> Document {
        let read = || Outline::read(&text, text.len());
        let outline = (text.len() <= MAX_BYTES).then(read).flatten().unwrap_or(previous);
        Document { source: Source::new(uri, text), outline }
    }

    /// The names that the text declares, with the line at an offset left out if it cannot be read.
    fn outline_at(&self, offset: usize) -> Outline {
        Outline::read(&self.source.text, offset).unwrap_or_else(|| self.outline.clone())
    }
}

impl Documents {
    pub fn new(encoding: Encoding) -> Documents {
        Documents { encoding, open: HashMap::new() }
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        self.replace(uri, text.to_owned());
    }

    fn replace(&mut self, uri: &str, text: String) {
        let previous = self.open.remove(uri).map(|document| document.outline).unwrap_or_default();
        self.open.insert(uri.to_owned(), Document::new(uri, text, previous));
    }

    pub fn close(&mut self, uri: &str) {
        self.open.remove(uri);
    }

    /// Applies changes in order; one without a range replaces the whole text.
    pub fn change(&mut self, uri: &str, changes: &[Value]) {
        let mut text = self.open.get(uri).map(|document| document.source.text.clone()).unwrap_or_default();
        for change in changes {
            let new = change["text"].as_str().unwrap_or_default();
            match change.get("range") {
                None => new.clone_into(&mut text),
                Some(range) => {
                    let start = self.encoding.offset(&text, &range["start"]);
                    let end = self.encoding.offset(&text, &range["end"]).max(start);
                    text.replace_range(start..end, new);
                }
            }
        }
        self.replace(uri, text);
    }

    pub fn diagnostics(&self, uri: &str) -> Option<Value> {
        let source = &self.open.get(uri)?.source;
        let findings = editor::findings(source);
        let shown = findings.iter().filter(|finding| finding.allowed.is_none());
        let shown: Vec<Value> =
            shown.map(|finding| messages::diagnostic(self.encoding, &source.text, finding)).collect();
        Some(json!({ "uri": uri, "diagnostics": shown }))
    }

    /// The document and the offset of a position in it.
    fn at(&self, uri: &str, position: &Value) -> Option<(&Document, usize)> {
        let document = self.open.get(uri).filter(|document| document.source.text.len() <= MAX_BYTES)?;
        Some((document, self.encoding.offset(&document.source.text, position)))
    }

    pub fn completions(&self, uri: &str, position: &Value) -> Option<Value> {
        let (document, offset) = self.at(uri, position)?;
        let text = &document.source.text;
        let found = editor::completions(text, offset, &document.outline_at(offset));
        Some(found.iter().map(|completion| messages::completion(self.encoding, text, completion)).collect())
    }

    pub fn hover(&self, uri: &str, position: &Value) -> Option<Value> {
        let (document, offset) = self.at(uri, position)?;
        let (text, span) = editor::hover(&document.source, offset, &document.outline_at(offset))?;
        let range = self.encoding.range(&document.source.text, &span);
        Some(json!({ "contents": { "kind": "markdown", "value": text }, "range": range }))
    }

    pub fn definition(&self, uri: &str, position: &Value) -> Option<Value> {
        let (document, offset) = self.at(uri, position)?;
        let text = &document.source.text;
        let span = editor::definition(text, offset, &document.outline_at(offset))?;
        Some(json!({ "uri": uri, "range": self.encoding.range(text, &span) }))
    }

    /// The repairs of the findings in a range.
    pub fn repairs(&self, uri: &str, range: &Value) -> Option<Value> {
        let source = &self.open.get(uri)?.source;
        let text = &source.text;
        let (start, end) =
            (self.encoding.offset(text, &range["start"]), self.encoding.offset(text, &range["end"]));
        let findings = editor::findings(source);
        let meets = |finding: &&Finding| finding.span.start <= end && start <= finding.span.end;
        let actions = findings.iter().filter(meets).filter_map(|finding| {
            let repair = finding.repair.as_ref()?;
            let replacement = repair::replacement(text, &repair.edits)?;
            let edit =
                json!({ "range": self.encoding.range(text, &replacement.span), "newText": replacement.text });
            Some(json!({
                "title": repair.help,
                "kind": "quickfix",
                "diagnostics": [messages::diagnostic(self.encoding, text, finding)],
                "edit": { "changes": { uri: [edit] } },
            }))
        });
        Some(actions.collect())
    }

    pub fn symbols(&self, uri: &str) -> Option<Value> {
        let document = self.open.get(uri)?;
        let symbols = document.outline.symbols.iter();
        Some(symbols.map(|symbol| messages::symbol(self.encoding, &document.source.text, symbol)).collect())
    }
}
