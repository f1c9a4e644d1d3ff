//! Finds out what is being written at an offset: in which table and field, whether a name or a value, and the word so far.
//!
//! Only the text between the last table header and the offset is read, so that an unfinished line does not matter.

use crate::template::is_in_word;

/// What is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor<'t> {
    /// The tables and fields around the offset: `["entity", "Order", "key"]`.
    pub path: Vec<String>,
    /// What the grammar allows here.
    pub place: Place<'t>,
    /// The word before the offset.
    pub word: &'t str,
}

/// The part of the grammar at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'t> {
    /// A table header: `[entity.`; contains the text after the bracket.
    Header(&'t str),
    /// The name of a field.
    Field,
    /// A value without quotes.
    Value,
    /// The inside of a string; contains its text up to the offset.
    Text(&'t str),
    /// A comment.
    Comment,
}

/// An open bracket, brace or assignment.
enum Open {
    Table,
    List,
    Field(usize),
}

/// Returns what is being written at an offset.
pub fn cursor(text: &str, offset: usize) -> Cursor<'_> {
    let offset = floor(text, offset);
    let before = &text[..offset];
    let (header, start) = last_header(before);
    let word = before[word_start(before)..].trim_start();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let current = before[line..].trim_start();
    if start <= line
        && current.starts_with('[')
        && !current.contains(']')
        && Scan::of(&before[start..line]).depth() == 0
    {
        return Cursor { path: Vec::new(), place: Place::Header(current.trim_start_matches('[')), word };
    }
    let mut scan = Scan { path: header, ..Scan::default() };
    let place = scan.run(&before[start..]);
    Cursor { path: scan.path, place, word }
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn is_word(character: char) -> bool {
    is_in_word(character) || matches!(character, '_' | '-')
}

fn word_start(before: &str) -> usize {
    before
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_word(*character))
        .last()
        .map_or(before.len(), |(at, _)| at)
}

/// The path of the last table header that ends before the offset, and where the text after it starts.
fn last_header(before: &str) -> (Vec<String>, usize) {
    let mut found = (Vec::new(), 0);
    let mut at = 0;
    let mut scan = Scan::default();
    for line in before.split_inclusive('\n') {
        let trimmed = line.trim();
        let name = trimmed.strip_prefix("[[").or_else(|| trimmed.strip_prefix('['));
        let end = name.and_then(|name| name.find(']'));
        if let (Some(name), Some(end)) = (name, end)
            && name[..end].chars().all(|character| is_word(character) || matches!(character, '.' | ' ' | '"'))
            && scan.depth() == 0
            && !name[..end].is_empty()
        {
            let path = name[..end].split('.').map(|part| part.trim().trim_matches('"').to_owned()).collect();
            found = (path, at + line.len());
            scan = Scan::default();
        } else {
            scan.read(line);
        }
        at += line.len();
    }
    found
}

/// A scan of the text after a table header.
#[derive(Default)]
struct Scan {
    path: Vec<String>,
    open: Vec<Open>,
    /// The name that is being read.
    word: String,
    expects_value: bool,
    /// The quote of the open string, and where its text starts.
    string: Option<(char, usize)>,
}

impl Scan {
    fn of(text: &str) -> Scan {
        let mut scan = Scan::default();
        scan.read(text);
        scan
    }

    /// The number of open brackets and braces, strings and comments aside.
    fn depth(&self) -> usize {
        self.open.iter().filter(|open| !matches!(open, Open::Field(_))).count()
    }

    /// Reads a text of whole lines, the last of which may be unfinished; returns whether it ends in a comment.
    fn read(&mut self, text: &str) -> bool {
        let mut comment = false;
        let mut escaped = false;
        for (at, character) in text.char_indices() {
            if comment {
                comment = character != '\n';
                if !comment {
                    self.end_line();
                }
                continue;
            }
            if let Some((quote, _)) = self.string {
                let ends = character == quote && !escaped;
                escaped = character == '\\' && quote == '"' && !escaped;
                // A string that is not closed ends with its line.
                if ends || character == '\n' {
                    self.string = None;
                }
                if character == '\n' {
                    self.end_line();
                }
                continue;
            }
            match character {
                '#' => comment = true,
                _ => self.character(at, character),
            }
        }
        comment
    }

    /// Reads the text up to the offset, and returns what is being written there.
    fn run<'t>(&mut self, text: &'t str) -> Place<'t> {
        let comment = self.read(text);
        match self.string {
            _ if comment => Place::Comment,
            Some((_, start)) => Place::Text(&text[start..]),
            None if self.expects_value => Place::Value,
            None => {
                // Of a dotted name, all but the last part are known.
                let known = self.word.rsplit_once('.').map(|(known, _)| known.split('.').map(str::to_owned));
                self.path.extend(known.into_iter().flatten());
                Place::Field
            }
        }
    }

    fn character(&mut self, at: usize, character: char) {
        match character {
            '"' | '\'' => self.string = Some((character, at + character.len_utf8())),
            '=' if !self.expects_value => self.start_field(),
            '{' => {
                self.open.push(Open::Table);
                self.word.clear();
                self.expects_value = false;
            }
            '[' => {
                self.open.push(Open::List);
                self.expects_value = true;
            }
            '}' => self.close(|open| matches!(open, Open::Table)),
            ']' => self.close(|open| matches!(open, Open::List)),
            ',' => self.end_value(),
            '\n' => self.end_line(),
            _ if character.is_whitespace() => {}
            _ => self.word.push(character),
        }
    }

    fn start_field(&mut self) {
        let names: Vec<String> = self.word.split('.').map(str::to_owned).collect();
        self.word.clear();
        self.open.push(Open::Field(names.len()));
        self.path.extend(names);
        self.expects_value = true;
    }

    /// Ends the value of a field, if one is open.
    fn end_field(&mut self) {
        if let Some(Open::Field(names)) = self.open.last() {
            self.path.truncate(self.path.len().saturating_sub(*names));
            self.open.pop();
        }
        self.word.clear();
        self.expects_value = matches!(self.open.last(), Some(Open::List));
    }

    fn end_value(&mut self) {
        match self.open.last() {
            Some(Open::List) => self.word.clear(),
            _ => self.end_field(),
        }
    }

    /// A line ends the value of a field, unless a list or a table is still open.
    fn end_line(&mut self) {
        if matches!(self.open.last(), Some(Open::Field(_)) | None) {
            self.end_field();
        }
    }

    fn close(&mut self, matches: impl Fn(&Open) -> bool) {
        if matches!(self.open.last(), Some(Open::Field(_))) && self.open.len() > 1 {
            let above = &self.open[self.open.len() - 2];
            if matches(above) {
                self.end_field();
            }
        }
        if self.open.last().is_some_and(matches) {
            self.open.pop();
        }
        self.expects_value = matches!(self.open.last(), Some(Open::Field(_) | Open::List));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor at the mark `|`.
    fn at(text: &str) -> (String, Place<'static>, String) {
        let offset = text.find('|').unwrap();
        let text: &'static str = Box::leak(text.replacen('|', "", 1).into_boxed_str());
        let cursor = cursor(text, offset);
        (cursor.path.join("."), cursor.place, cursor.word.to_owned())
    }

    #[test]
    fn the_place_is_found_in_unfinished_text() {
        let entity = "[entity.Order]\nattributes = { orderId = \"ulid\", total = \"decimal\" }\n";
        let path = |text: &str| at(&format!("{entity}{text}")).0;
        assert_eq!(path("|"), "entity.Order");
        assert_eq!(path("key = [\"USER#{|"), "entity.Order.key");
        assert_eq!(path("index.GSI1 = { key = [\"A\", \"B\"], wh|"), "entity.Order.index.GSI1");
        assert_eq!(path("index.GSI1 = { key = [\"A\", \"|"), "entity.Order.index.GSI1.key");
        assert_eq!(path("# key = [\"|"), "entity.Order");
        assert_eq!(path("key = [\n  \"A#|"), "entity.Order.key");
        assert_eq!(path("key = [\"A\"]\nexpect = { per = \"|"), "entity.Order.expect.per");
        assert_eq!(path("[pattern]\nbyId = { in = [\"orderId\"], out = \"|"), "pattern.byId.out");
        assert_eq!(path("[pattern]\nbyId = { in = [\"a\", \"b\"], |"), "pattern.byId");
    }

    #[test]
    fn names_values_and_texts_are_distinguished() {
        assert_eq!(at("[entity.Order]\nke|").1, Place::Field);
        assert_eq!(at("[entity.Order]\nke|").2, "ke");
        assert_eq!(at("[index.GSI1]\nlocal = |").1, Place::Value);
        assert_eq!(at("[table]\nname = \"Sh|").1, Place::Text("Sh"));
        assert_eq!(at("[table]\n# na|").1, Place::Comment);
        assert_eq!(at("[ent|").1, Place::Header("ent"));
        assert_eq!(at("[table]\nkeys = [|").1, Place::Value);
    }

    #[test]
    fn a_long_list_is_read_once() {
        let lines = 200_000;
        let text = format!("[entity.Order]\nx = [\n{}", "[a],\n".repeat(lines));
        assert_eq!(cursor(&text, text.len()).path, ["entity", "Order", "x"]);
    }

    #[test]
    fn any_text_has_a_place() {
        for text in ["", "=", "[[", "]]}}", "\"", "a = '", "[x]\n=={,]", "é = {", "[a.b.]\n[", "#"] {
            for offset in 0..=text.len() + 1 {
                cursor(text, offset);
            }
        }
    }
}
