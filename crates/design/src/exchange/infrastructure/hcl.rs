//! Resources in HCL whose arguments are written out. Expressions are kept as text, and are not evaluated.

use serde_json::{Map, Value, json};

/// How deep blocks may be nested.
const MAX_DEPTH: usize = 32;

/// Returns the resources of a type with their names; each block of a resource is a list.
pub(super) fn resources(text: &str, kind: &str) -> Result<Vec<(String, Value)>, String> {
    let mut reader = Reader { rest: text, line: 1 };
    let root = reader.body(0)?;
    if !reader.rest.is_empty() {
        return Err(reader.mistake("`}` closes nothing"));
    }
    let mut found = Vec::new();
    for block in root.get("resource").and_then(Value::as_array).into_iter().flatten() {
        if block["labels"][0] == kind {
            if block.get("dynamic").is_some() {
                return Err(
                    "a `dynamic` block is computed: import the output of `terraform show -json` instead"
                        .to_owned(),
                );
            }
            let name = block["labels"][1].as_str().unwrap_or("table").to_owned();
            found.push((name, block.clone()));
        }
    }
    Ok(found)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    fn mistake(&self, what: &str) -> String {
        format!(
            "line {}: {what}; if this is right HCL, import the output of `terraform show -json` instead",
            self.line
        )
    }

    fn advance(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at(length);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            let Some(length) = comment(self.rest) else { return };
            self.advance(length);
        }
    }

    /// The arguments and blocks up to the closing brace or the end.
    fn body(&mut self, depth: usize) -> Result<Map<String, Value>, String> {
        if depth > MAX_DEPTH {
            return Err(self.mistake("blocks are nested too deep"));
        }
        let mut body = Map::new();
        loop {
            self.skip_blanks();
            if self.rest.is_empty() || self.rest.starts_with('}') {
                return Ok(body);
            }
            let name = self.name().ok_or_else(|| self.mistake("an argument or a block is expected"))?;
            self.skip_blanks();
            if self.rest.starts_with('=') {
                self.advance(1);
                let value = self.expression()?;
                body.insert(name, value);
            } else {
                let block = self.block(depth)?;
                let list = body.entry(name).or_insert_with(|| json!([]));
                list.as_array_mut()
                    .ok_or_else(|| self.mistake("a block has the name of an argument"))?
                    .push(block);
            }
        }
    }

    fn block(&mut self, depth: usize) -> Result<Value, String> {
        let mut labels = Vec::new();
        loop {
            self.skip_blanks();
            if self.rest.starts_with('{') {
                break;
            }
            let label = if self.rest.starts_with('"') { self.quoted() } else { self.name() };
            labels.push(label.ok_or_else(|| self.mistake("`{` is expected"))?);
        }
        self.advance(1);
        let mut body = self.body(depth + 1)?;
        if !self.rest.starts_with('}') {
            return Err(self.mistake("a block is never closed"));
        }
        self.advance(1);
        body.insert("labels".to_owned(), json!(labels));
        Ok(Value::Object(body))
    }

    fn name(&mut self) -> Option<String> {
        let end = self
            .rest
            .find(|character: char| !character.is_alphanumeric() && !"_-".contains(character))
            .unwrap_or(self.rest.len());
        let name = self.rest[..end].to_owned();
        self.advance(end);
        (!name.is_empty()).then_some(name)
    }

    /// A text in quotes, with its escapes left as they are.
    fn quoted(&mut self) -> Option<String> {
        let end = end_of_quoted(self.rest)?;
        let text = self.rest[1..end].to_owned();
        self.advance(end + 1);
        Some(text)
    }

    /// The value of an argument: a text, a number, a boolean or a list of texts; anything else is an expression, which is not evaluated.
    fn expression(&mut self) -> Result<Value, String> {
        let blank = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(blank);
        if self.rest.starts_with("<<") {
            self.skip_heredoc();
            return Ok(expression("a text of several lines"));
        }
        let (text, end) = self.expression_text()?;
        self.advance(end);
        Ok(literal(text.trim()))
    }

    /// Skips a text that ends with a line of its mark.
    fn skip_heredoc(&mut self) {
        let first = self.rest.lines().next().unwrap_or_default();
        let mark = first.trim_start_matches(['<', '-']).trim().to_owned();
        self.advance(first.len());
        while !self.rest.is_empty() {
            let length = self.rest[1..].find('\n').map_or(self.rest.len(), |end| end + 1);
            let ends = self.rest[..length].trim() == mark;
            self.advance(length);
            if ends {
                return;
            }
        }
    }

    /// The expression up to the end of the line on which all brackets are closed, without comments, and where it ends.
    fn expression_text(&self) -> Result<(String, usize), String> {
        let (mut text, mut depth, mut at) = (String::new(), 0i32, 0);
        while let Some(character) = self.rest[at..].chars().next() {
            let rest = &self.rest[at..];
            let length = match character {
                '"' => 1 + end_of_quoted(rest).ok_or_else(|| self.mistake("a text is never closed"))?,
                ')' | ']' | '}' | '\n' if depth == 0 => break,
                _ => comment(rest).unwrap_or(character.len_utf8()),
            };
            match character {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if comment(rest).is_none() {
                text.push_str(&rest[..length]);
            }
            at += length;
        }
        Ok((text, at))
    }
}

/// The length of the comment at the start of a text, up to the end of its line or its mark.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with('#') || text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + 4))
}

/// The position of the quote that closes the one at the start; `${…}` may contain quotes itself.
fn end_of_quoted(text: &str) -> Option<usize> {
    let (mut escaped, mut depth, mut before) = (false, 0, ' ');
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' if before == '$' || depth > 0 => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '"' if depth == 0 => return Some(at),
            _ => {}
        }
        before = character;
    }
    None
}

fn literal(text: &str) -> Value {
    let quoted = |text: &str| {
        let inside = text.strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains('"')).then(|| Value::from(inside))
    };
    if let Some(text) = quoted(text) {
        return text;
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
        return parts.map(|part| quoted(part).unwrap_or_else(|| expression(part))).collect();
    }
    match text {
        "true" => json!(true),
        "false" => json!(false),
        "null" => Value::Null,
        _ => text.parse::<i64>().map_or_else(|_| expression(text), Value::from),
    }
}

/// A value that only Terraform can compute.
fn expression(text: &str) -> Value {
    json!({ "expression": text })
}
