//! The YAML that templates are written in: mappings, lists, texts, and the short forms `!Ref` and `!Sub`. Anything else is refused.

use serde_json::{Map, Value, json};

/// How deep a document may be nested.
const MAX_DEPTH: usize = 64;

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { lines: lines(text)?, at: 0 };
    let Some(first) = reader.lines.first() else { return Ok(Value::Null) };
    let indent = first.indent;
    let value = reader.node(indent, 0)?;
    match reader.lines.get(reader.at) {
        Some(line) => Err(mistake(line.number, "this does not belong to what precedes it")),
        None => Ok(value),
    }
}

fn mistake(line: usize, what: &str) -> String {
    format!("line {line}: {what}; if this is right YAML, convert it to JSON first: yq -o json FILE")
}

#[derive(Clone)]
struct Line {
    number: usize,
    indent: usize,
    text: String,
}

/// The lines that are not empty; comments are left out.
fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.trim_start_matches(' ');
        let (number, indent) = (number + 1, line.len() - content.len());
        if content.trim().is_empty()
            || content.starts_with('#')
            || (lines.is_empty() && content.trim() == "---")
        {
            continue;
        }
        if content.starts_with('\t') {
            return Err(mistake(number, "a tab indents"));
        }
        if indent == 0 && (content.starts_with("---") || content.starts_with("...")) {
            return Err(mistake(number, "there is more than one document"));
        }
        lines.push(Line { number, indent, text: without_comment(content).trim_end().to_owned() });
    }
    Ok(lines)
}

struct Reader {
    lines: Vec<Line>,
    at: usize,
}

impl Reader {
    fn line(&self) -> Option<&Line> {
        self.lines.get(self.at)
    }

    /// The mapping or list whose lines have this indentation.
    fn node(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let Some(line) = self.line() else { return Ok(Value::Null) };
        if depth > MAX_DEPTH {
            return Err(mistake(line.number, "it is nested too deep"));
        }
        if is_element(&line.text) { self.list(indent, depth) } else { self.mapping(indent, depth) }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut values = Vec::new();
        while let Some(line) =
            self.line().filter(|line| line.indent == indent && is_element(&line.text)).cloned()
        {
            let rest = line.text[1..].trim_start();
            let offset = line.text.len() - rest.len();
            if rest.is_empty() {
                self.at += 1;
                values.push(self.nested(indent, depth)?);
            } else if key_of(rest).is_some() || is_element(rest) {
                // The element's first line, indented as its others are.
                self.lines[self.at] =
                    Line { number: line.number, indent: indent + offset, text: rest.to_owned() };
                values.push(self.node(indent + offset, depth + 1)?);
            } else {
                self.at += 1;
                values.push(self.value(rest, line.number, indent, depth)?);
            }
        }
        Ok(Value::Array(values))
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut members = Map::new();
        while let Some(line) = self.line().filter(|line| line.indent == indent).cloned() {
            let Some((key, rest)) = key_of(&line.text) else {
                return Err(mistake(line.number, "`name: value` is expected"));
            };
            self.at += 1;
            let value = self.value(rest, line.number, indent, depth)?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }

    /// The value behind a key or a dash: in the line, or in those below.
    fn value(&mut self, text: &str, number: usize, indent: usize, depth: usize) -> Result<Value, String> {
        if let Some(tagged) = text.strip_prefix('!') {
            let (tag, rest) = tagged.split_once(' ').unwrap_or((tagged, ""));
            let name = function(tag);
            if depth > MAX_DEPTH {
                return Err(mistake(number, "it is nested too deep"));
            }
            let value = self.value(rest.trim(), number, indent, depth + 1)?;
            return Ok(json!({ name: value }));
        }
        if text.is_empty() {
            return self.nested(indent, depth);
        }
        if text.starts_with(['|', '>']) && text.len() <= 3 {
            return Ok(Value::from(self.block_text(indent)));
        }
        if text.starts_with(['&', '*', '?', '%', '@', '`']) {
            return Err(mistake(number, "anchors, aliases and complex keys are not supported"));
        }
        let text = self.continued(text, indent);
        inline(&text, number)
    }

    /// A text in quotes or brackets up to where they close, and any other with the lines below that are indented further.
    fn continued(&mut self, text: &str, indent: usize) -> String {
        let is_enclosed = text.starts_with(['{', '[', '"', '\'']);
        let (mut text, mut open) = (text.to_owned(), Open::default());
        open.read(&text);
        while let Some(line) = self.line() {
            let closes = line.text.starts_with([']', '}']);
            let belongs = if is_enclosed {
                open.is_open() && (line.indent > indent || closes)
            } else {
                line.indent > indent && key_of(&line.text).is_none()
            };
            if !belongs {
                break;
            }
            open.read(&line.text);
            text.push(' ');
            text.push_str(&line.text);
            self.at += 1;
        }
        text
    }

    /// The lines below that are indented further; a list may have the indentation of its key.
    fn nested(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        match self.line() {
            Some(line) if line.indent > indent && !is_element(&line.text) && key_of(&line.text).is_none() => {
                let line = line.clone();
                self.at += 1;
                self.value(&line.text, line.number, indent, depth + 1)
            }
            Some(line) if line.indent > indent => {
                let inner = line.indent;
                self.node(inner, depth + 1)
            }
            Some(line) if line.indent == indent && is_element(&line.text) && !self.in_list(indent) => {
                self.list(indent, depth + 1)
            }
            _ => Ok(Value::Null),
        }
    }

    /// Whether the line before is an element of a list with this indentation.
    fn in_list(&self, indent: usize) -> bool {
        self.at
            .checked_sub(1)
            .and_then(|at| self.lines.get(at))
            .is_some_and(|line| line.indent == indent && is_element(&line.text))
    }

    fn block_text(&mut self, indent: usize) -> String {
        let mut texts = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent > indent) {
            texts.push(line.text.clone());
            self.at += 1;
        }
        texts.join("\n")
    }
}

/// The quotes and brackets of a text that are not closed.
#[derive(Default)]
struct Open {
    quote: Option<char>,
    depth: usize,
    /// The character before, in the same line or text.
    before: Option<char>,
}

impl Open {
    fn is_open(&self) -> bool {
        self.quote.is_some() || self.depth > 0
    }

    fn read(&mut self, text: &str) {
        self.before = None;
        text.chars().for_each(|character| self.step(character));
    }

    fn step(&mut self, character: char) {
        let is_escaped = self.quote == Some('"') && self.before == Some('\\');
        let starts = self.before.is_none_or(|before| " [{,:".contains(before));
        self.before = Some(character).filter(|own| !(is_escaped && *own == '\\'));
        match (self.quote, character) {
            // A quote right behind it opens the text again: `'it''s'`.
            (Some(quote), _) if character == quote && !is_escaped => (self.quote, self.before) = (None, None),
            (Some(_), _) => {}
            (None, '"' | '\'') if starts => (self.quote, self.before) = (Some(character), None),
            (None, '[' | '{') => self.depth += 1,
            (None, ']' | '}') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
    }
}

/// The long form of a function: `!GetAtt` is `Fn::GetAtt`.
fn function(tag: &str) -> String {
    if tag == "Ref" || tag == "Condition" { tag.to_owned() } else { format!("Fn::{tag}") }
}

fn is_element(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// The key of `key: value` and what follows the colon.
fn key_of(text: &str) -> Option<(String, &str)> {
    if let Some(quote) = text.chars().next().filter(|first| ['"', '\''].contains(first)) {
        let end = text[1..].find(quote)? + 1;
        let rest = text[end + 1..].trim_start().strip_prefix(':')?;
        return Some((text[1..end].to_owned(), rest.trim_start()));
    }
    if text.starts_with(['{', '[', '!', '&', '*', '|', '>']) {
        return None;
    }
    let end = text.find(": ").or_else(|| text.ends_with(':').then(|| text.len() - 1))?;
    Some((text[..end].trim_end().to_owned(), text[end + 1..].trim_start()))
}

/// A line up to its comment, which follows a blank outside of quotes.
fn without_comment(text: &str) -> &str {
    let (mut open, mut before) = (Open::default(), ' ');
    for (at, character) in text.char_indices() {
        if character == '#' && before.is_whitespace() && open.quote.is_none() {
            return &text[..at];
        }
        open.step(character);
        before = character;
    }
    text
}

/// A value within a line.
fn inline(text: &str, number: usize) -> Result<Value, String> {
    let mut flow = Flow { rest: text, number };
    if !text.starts_with(['{', '[', '"', '\'']) {
        return Ok(plain(text));
    }
    let value = flow.value(0)?;
    let rest = flow.rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(value)
    } else {
        Err(mistake(number, "this is not understood"))
    }
}

/// The end of a text without quotes inside of brackets: a colon ends it only in front of a blank or a mark.
fn end_of_plain(text: &str) -> usize {
    let is_end = |(at, character): &(usize, char)| match character {
        ',' | ']' | '}' => true,
        ':' => text[at + 1..].chars().next().is_none_or(|next| " ,]}".contains(next)),
        _ => false,
    };
    text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at)
}

fn plain(text: &str) -> Value {
    match text {
        "true" => json!(true),
        "false" => json!(false),
        "null" | "~" => Value::Null,
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

/// `[a, {b: c}]`, its lines joined.
struct Flow<'a> {
    rest: &'a str,
    number: usize,
}

impl Flow<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(mistake(self.number, "it is nested too deep"));
        }
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('[') => self.list(depth),
            Some('{') => self.mapping(depth),
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Value::from),
            Some('!') => {
                let tagged = &self.rest[1..];
                let (tag, rest) = tagged.split_at(tagged.find([' ', ',', ']', '}']).unwrap_or(tagged.len()));
                self.rest = rest;
                Ok(json!({ function(tag): self.value(depth + 1)? }))
            }
            Some('&' | '*') => Err(mistake(self.number, "an anchor inside of brackets is not supported")),
            _ => {
                let end = end_of_plain(self.rest);
                let text = self.rest[..end].trim();
                self.rest = &self.rest[end..];
                Ok(plain(text))
            }
        }
    }

    fn take(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.take('[');
        let mut values = Vec::new();
        while !self.take(']') {
            if self.rest.is_empty() {
                return Err(mistake(self.number, "`[` is not closed"));
            }
            values.push(self.value(depth + 1)?);
            if !self.take(',') && !self.rest.starts_with(']') {
                return Err(mistake(self.number, "`,` or `]` is expected"));
            }
        }
        Ok(Value::Array(values))
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, String> {
        self.take('{');
        let mut members = Map::new();
        while !self.take('}') {
            if self.rest.is_empty() {
                return Err(mistake(self.number, "`{` is not closed"));
            }
            let key = self.value(depth + 1)?;
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            if !self.take(':') {
                return Err(mistake(self.number, "`:` is expected"));
            }
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            if !self.take(',') && !self.rest.starts_with('}') {
                return Err(mistake(self.number, "`,` or `}` is expected"));
            }
        }
        Ok(Value::Object(members))
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let open = || mistake(self.number, "a text is not closed");
        if quote == '\'' {
            let mut text = String::new();
            let mut rest = &self.rest[1..];
            loop {
                let end = rest.find(quote).ok_or_else(open)?;
                text.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                // Two quotes are one within the text.
                match rest.strip_prefix(quote) {
                    Some(more) => (text, rest) = (text + "'", more),
                    None => break,
                }
            }
            self.rest = rest;
            return Ok(text);
        }
        let mut is_escaped = false;
        let is_end = |character: char| {
            let ends = character == quote && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            ends
        };
        let end = self.rest[1..].find(is_end).ok_or_else(open)? + 2;
        let text = serde_json::from_str(&self.rest[..end])
            .map_err(|_| mistake(self.number, "this escape in a text is not supported"))?;
        self.rest = &self.rest[end..];
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_brackets_may_go_on_in_the_lines_below() {
        let text = "Layers:
  [
    it's, # first
    { b: c },
  ]
Next: [a,
  b
]
Text: some text that
  goes on
  - here
Quoted: \"it is \\\"open\\\" [
  and closed\"
List:
  - one
    two
  - [a,
     b]
Last: !Sub 'a
  b'
Quotes: 'it''s # \"long\",
  isn''t it'
";
        let expected = json!({
            "Layers": ["it's", { "b": "c" }], "Next": ["a", "b"], "Text": "some text that goes on - here",
            "Quoted": "it is \"open\" [ and closed", "List": ["one two", ["a", "b"]], "Last": { "Fn::Sub": "a b" },
            "Quotes": "it's # \"long\", isn't it",
        });
        assert_eq!(parse(text).unwrap(), expected);
        assert!(parse("a: [b,\nc: d").unwrap_err().contains("line 1: `[` is not closed"));
    }

    #[test]
    fn texts_have_escapes_and_values_may_stand_below_their_name() {
        let text = "Pattern: \"^[0-9]+\\\\.[0-9]+$\"\nName: 'it''s'\nStream:\n  !GetAtt Table.Arn\nNext: [\"a\\tb\", 'c', !Ref d]\n";
        let expected = json!({
            "Pattern": "^[0-9]+\\.[0-9]+$", "Name": "it's", "Stream": { "Fn::GetAtt": "Table.Arn" }, "Next": ["a\tb", "c", { "Ref": "d" }],
        });
        assert_eq!(parse(text).unwrap(), expected);
        assert!(parse("a: \"\\q\"").unwrap_err().contains("line 1: this escape"));
        assert!(parse("a: 'b").unwrap_err().contains("not closed"));
    }
}
