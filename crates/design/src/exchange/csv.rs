//! Comma-separated values: fields in quotes may contain commas, line ends and doubled quotes.

/// A record and the line it starts in, counted from 1.
pub struct Record {
    /// The line.
    pub line: usize,
    /// The fields; `None` is an empty field without quotes, which databases write for NULL.
    pub fields: Vec<Option<String>>,
}

/// Splits a text into records; empty lines are left out.
pub fn records(text: &str) -> Vec<Record> {
    records_separated_by(text, ',')
}

/// Splits a text into records whose fields this character separates: a semicolon, a tab.
pub fn records_separated_by(text: &str, separator: char) -> Vec<Record> {
    let mut records = Vec::new();
    let mut reader = Reader { rest: text.trim_start_matches('\u{feff}'), line: 1, separator };
    while !reader.rest.is_empty() {
        let line = reader.line;
        let fields = reader.record();
        if fields.len() > 1 || fields.iter().any(Option::is_some) {
            records.push(Record { line, fields });
        }
    }
    records
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    separator: char,
}

impl Reader<'_> {
    fn record(&mut self) -> Vec<Option<String>> {
        let mut fields = Vec::new();
        loop {
            fields.push(self.field());
            match self.take() {
                Some(taken) if taken == self.separator => {}
                _ => return fields,
            }
        }
    }

    /// The next field, up to its comma or line end.
    fn field(&mut self) -> Option<String> {
        if self.rest.starts_with('"') {
            return Some(self.quoted());
        }
        let end = self.rest.find([self.separator, '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        let field = field.trim_end_matches('\r');
        (!field.is_empty()).then(|| field.to_owned())
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        self.rest = &self.rest[1..];
        loop {
            let end = self.rest.find('"').unwrap_or(self.rest.len());
            let (part, rest) = self.rest.split_at(end);
            self.line += part.matches('\n').count();
            text.push_str(part);
            self.rest = rest.strip_prefix('"').unwrap_or(rest);
            if !self.rest.starts_with('"') {
                break;
            }
            text.push('"');
            self.rest = &self.rest[1..];
        }
        // What follows the closing quote does not belong to a field.
        let end = self.rest.find([self.separator, '\n']).unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
        text
    }

    fn take(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        self.line += usize::from(first == '\n');
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_commas_and_lines_and_null_is_not_an_empty_text() {
        let found = records("a,b,c\r\n\n1,\"x, \"\"y\"\"\nz\",\n\"\",2,3");
        let fields: Vec<Vec<Option<&str>>> =
            found.iter().map(|record| record.fields.iter().map(Option::as_deref).collect()).collect();
        assert_eq!(fields[1], [Some("1"), Some("x, \"y\"\nz"), None]);
        assert_eq!(fields[2], [Some(""), Some("2"), Some("3")]);
        assert_eq!(found.iter().map(|record| record.line).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn quoted_fields_end_at_the_separator() {
        for separator in [';', '\t'] {
            let text =
                "\u{feff}\"a\",\"b\",c\r\n\"x, y\",\"1\",2\r\n".replace("\",\"", &format!("\"{separator}\""));
            let text = text.replace("\",", &format!("\"{separator}"));
            let found = records_separated_by(&text, separator);
            let last: Vec<Option<&str>> = found[1].fields.iter().map(Option::as_deref).collect();
            assert_eq!(last, [Some("x, y"), Some("1"), Some("2")]);
        }
    }
}
