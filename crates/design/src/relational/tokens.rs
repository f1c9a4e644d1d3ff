//! The tokens of SQL, in the dialects of PostgreSQL, MySQL and SQLite.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes: `"order"`, `` `order` `` or `[order]`.
    Quoted,
    /// A text in single quotes or dollar quotes.
    Text,
    /// A number.
    Number,
    /// The place of a value: `?`, `$1`, `:name`, `%s`, `@name`.
    Parameter,
    /// An operator or a mark.
    Symbol,
}

/// A token, the line it is in, counted from 1, and where the text has it.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    pub line: usize,
    pub span: Range<usize>,
}

impl Token {
    /// Returns whether it is this keyword, in any case.
    pub fn is(&self, word: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Symbol) && self.text.eq_ignore_ascii_case(word)
    }

    /// The name that it is, if it is one.
    pub fn name(&self) -> Option<&str> {
        matches!(self.kind, Kind::Word | Kind::Quoted).then_some(self.text.as_str())
    }
}

/// Who writes a text of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A backslash in a text escapes the next character.
    MySql,
    /// PostgreSQL, SQLite: a backslash is a character as any other.
    Standard,
}

impl Dialect {
    /// The dialect of a text by what comes first: a word of one dialect, or a name in backticks, which SQLite takes too, but hardly anybody writes there.
    pub fn of(sql: &str) -> Dialect {
        let mut lexer = Lexer::new(sql, Dialect::Standard);
        while let Some(token) = lexer.next() {
            if sql[token.span.start..].starts_with('`') || token.is("AUTO_INCREMENT") {
                return Dialect::MySql;
            }
            if token.is("AUTOINCREMENT") || token.is("PRAGMA") {
                return Dialect::Standard;
            }
        }
        Dialect::Standard
    }

    fn other(self) -> Dialect {
        match self {
            Dialect::MySql => Dialect::Standard,
            Dialect::Standard => Dialect::MySql,
        }
    }
}

/// Splits SQL into statements: the tokens between semicolons, between lines `GO` or `/`, or from one that creates something at the start of a line to
/// the next. Comments, the data of `COPY … FROM stdin` and psql's own commands are left out.
pub(super) fn statements(sql: &str, dialect: Dialect) -> Vec<Vec<Token>> {
    split(&mut Lexer::new(sql, dialect)).statements
}

/// A text in statements.
pub(super) struct Script {
    pub statements: Vec<Vec<Token>>,
    /// The line of the last statement, if it alone does not end: the text may be cut off there.
    pub open_end: Option<usize>,
}

/// The statements of a text that is complete: a log may be cut off anywhere, but a schema that is would lack tables. The dialect is a guess: where
/// its reading of a backslash leaves a quote open, the other's is tried.
///
/// # Errors
///
/// Returns a message with the line of what is not closed.
pub(super) fn complete_statements(sql: &str) -> Result<Script, String> {
    let dialect = Dialect::of(sql);
    read_to_end(sql, dialect).or_else(|error| read_to_end(sql, dialect.other()).map_err(|_| error))
}

fn read_to_end(sql: &str, dialect: Dialect) -> Result<Script, String> {
    let mut lexer = Lexer::new(sql, dialect);
    let script = split(&mut lexer);
    let unclosed =
        lexer.unclosed.or_else(|| script.statements.iter().find_map(|statement| unfinished(statement)));
    match unclosed {
        Some((line, what)) => Err(format!("line {line}: {what}: is the file complete?")),
        None => Ok(script),
    }
}

/// Where a statement that creates or alters something is cut off.
fn unfinished(statement: &[Token]) -> Option<(usize, &'static str)> {
    let (first, last) = statement.first().zip(statement.last())?;
    if !first.is("CREATE") && !first.is("ALTER") {
        return None;
    }
    let expects =
        ["CREATE", "ALTER", "TABLE", "ADD", "CONSTRAINT", "FOREIGN", "REFERENCES", "ON", "AS", ",", "."];
    let ends = expects.iter().any(|word| last.is(word));
    let open = open_bracket(statement).map(|line| (line, "the bracket that opens here is not closed"));
    open.or_else(|| ends.then_some((last.line, "the statement ends in the middle")))
}

/// The line of the first bracket that is not closed.
fn open_bracket(tokens: &[Token]) -> Option<usize> {
    let mut open = Vec::new();
    for token in tokens {
        if token.is("(") || token.is("[") {
            open.push(token.line);
        } else if token.is(")") || token.is("]") {
            open.pop();
        }
    }
    open.first().copied()
}

/// Whether a semicolon belongs to the statement: `CREATE [OR REPLACE] RULE … DO ALSO (…; …)`.
fn is_inside_rule(tokens: &[Token]) -> bool {
    let is_rule = [1, 3].iter().any(|at| tokens.get(*at).is_some_and(|token| token.is("RULE")));
    is_rule && tokens[0].is("CREATE") && open_bracket(tokens).is_some()
}

fn split(lexer: &mut Lexer<'_>) -> Script {
    let sql = lexer.sql;
    let (mut statements, mut current) = (Vec::new(), Vec::new());
    let mut all_end = true;
    while let Some(token) = lexer.next() {
        let before = current.last().or_else(|| statements.last().and_then(|last: &Vec<Token>| last.last()));
        let is_first = before.is_none_or(|before: &Token| before.line < token.line);
        let is_end = (token.is(";") && !is_inside_rule(&current)) || (is_first && is_batch_end(sql, &token));
        if !is_end {
            current.push(token);
            if let Some(next) = unended(&current) {
                all_end = false;
                let begun = current.split_off(next);
                statements.push(std::mem::replace(&mut current, begun));
            }
            continue;
        }
        if is_copy(&current) {
            lexer.skip_copied_rows();
        }
        statements.push(std::mem::take(&mut current));
    }
    statements.retain(|statement| !statement.is_empty());
    let open_end = current.first().map(|first| first.line);
    let open_end = open_end.filter(|_| all_end && !statements.is_empty() && !is_whole(&current));
    statements.extend(Some(current).filter(|current| !current.is_empty()));
    Script { statements, open_end }
}

/// Whether a statement without a semicolon has all that belongs to it: it ends with a list, and a foreign key has what it refers to.
fn is_whole(statement: &[Token]) -> bool {
    let has = |word: &str| statement.iter().any(|token| token.is(word));
    statement.last().is_some_and(|last| last.is(")")) && (!has("FOREIGN") || has("REFERENCES"))
}

/// `GO` of SQL Server and `/` of Oracle end what is before them: the first token of a line, and its last.
fn is_batch_end(sql: &str, token: &Token) -> bool {
    let rest = sql[token.span.end..].trim_start_matches([' ', '\t', '\r']);
    (token.is("GO") || token.is("/")) && (rest.is_empty() || rest.starts_with('\n'))
}

/// Where the last two tokens begin a statement although the one before has no semicolon. Inside of procedures they do not.
fn unended(tokens: &[Token]) -> Option<usize> {
    let at = tokens.len().checked_sub(2).filter(|at| *at > 0)?;
    let [first, second] = [&tokens[at], &tokens[at + 1]];
    let begins = match first.text.to_ascii_uppercase().as_str() {
        "CREATE" => ["TABLE", "UNIQUE", "INDEX", "TYPE", "VIEW", "CLUSTERED", "NONCLUSTERED"]
            .iter()
            .any(|word| second.is(word)),
        "ALTER" | "DROP" => second.is("TABLE"),
        "INSERT" => second.is("INTO"),
        _ => false,
    };
    let bodies = ["PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE", "EVENT", "RULE"];
    let mut head = tokens.iter().take(8).take_while(|token| !token.is("TABLE"));
    let has_body = tokens[0].is("CREATE") && head.any(|token| bodies.iter().any(|word| token.is(word)));
    (begins && first.kind == Kind::Word && first.line > tokens[at - 1].line && !has_body).then_some(at)
}

/// A statement in one line, without comments and with `?` for its values.
pub(super) fn without_values(sql: &str, statement: &[Token]) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for token in statement {
        if token.span.start > end && !text.is_empty() {
            text.push(' ');
        }
        match token.kind {
            Kind::Text | Kind::Number => text.push('?'),
            _ => text.push_str(&sql[token.span.clone()]),
        }
        end = token.span.end;
    }
    text
}

fn is_copy(statement: &[Token]) -> bool {
    let ends = |token: &Token| token.is("stdin");
    statement.first().is_some_and(|first| first.is("COPY")) && statement.iter().any(ends)
}

const QUOTE: &str = "the quote that opens here is not closed";

struct Lexer<'a> {
    sql: &'a str,
    rest: &'a str,
    line: usize,
    dialect: Dialect,
    /// The line of the first thing that is not closed, and what it is.
    unclosed: Option<(usize, &'static str)>,
}

impl<'a> Lexer<'a> {
    fn new(sql: &'a str, dialect: Dialect) -> Lexer<'a> {
        Lexer { sql, rest: sql, line: 1, dialect, unclosed: None }
    }

    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        let line = self.line;
        let first = self.rest.chars().next()?;
        let (kind, text, length) = self.token(first);
        let start = self.sql.len() - self.rest.len();
        self.advance(length);
        Some(Token { kind, text, line, span: start..start + length })
    }

    fn advance(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at(length);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }

    /// Skips what ends there, or the rest of the text.
    fn advance_to(&mut self, end: Option<usize>, otherwise: &'static str) {
        if end.is_none() {
            self.unclosed.get_or_insert((self.line, otherwise));
        }
        self.advance(end.unwrap_or(self.rest.len()));
    }

    /// Skips white space, comments and lines of psql's own.
    fn skip_blanks(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            // No command of psql is a quote: the text before was read to its wrong end.
            if self.rest.starts_with("\\'") {
                self.unclosed.get_or_insert((self.line, QUOTE));
            }
            let own_comment = self.rest.starts_with("# ") || self.rest.starts_with("#\n");
            if self.rest.starts_with("--") || self.rest.starts_with('\\') || own_comment {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let end = end_of_comment(self.rest);
                self.advance_to(end, "the comment that begins here is not closed");
            } else {
                return;
            }
        }
    }

    fn skip_copied_rows(&mut self) {
        let end = self.rest.find("\n\\.").map(|end| end + 3);
        self.advance_to(end, "the rows of COPY that begin here do not end with `\\.`");
    }

    /// The token at the start of the rest, and its length in bytes.
    fn token(&mut self, first: char) -> (Kind, String, usize) {
        let rest = self.rest;
        let backslash = self.dialect == Dialect::MySql;
        match first {
            '\'' => self.text(0, backslash),
            'e' | 'E' if rest[1..].starts_with('\'') => self.text(1, true),
            'n' | 'N' | 'x' | 'X' | 'b' | 'B' if rest[1..].starts_with('\'') => self.text(1, backslash),
            'q' | 'Q' if end_of_oracle_text(rest).is_some() => self.oracle_text(),
            // MySQL has texts in these quotes, too.
            '"' => self.quoted(first, backslash),
            '`' => self.quoted(first, false),
            '[' if is_bracketed_name(rest) => self.quoted(']', false),
            '$' => self.dollar(),
            '?' => (Kind::Parameter, "?".to_owned(), 1),
            '%' if rest.starts_with("%s") => (Kind::Parameter, "?".to_owned(), 2),
            ':' if !rest.starts_with("::") && rest[1..].starts_with(is_name_start) => self.parameter(),
            '@' if rest[1..].starts_with(is_name_start) => self.parameter(),
            _ if is_name_start(first) => {
                self.run(Kind::Word, |character| is_name_part(character) || character == '$')
            }
            _ if first.is_ascii_digit() => {
                self.run(Kind::Number, |character| character.is_ascii_alphanumeric() || character == '.')
            }
            _ => self.symbol(first),
        }
    }

    fn run(&self, kind: Kind, belongs: impl Fn(char) -> bool) -> (Kind, String, usize) {
        let end = self.rest.find(|character| !belongs(character)).unwrap_or(self.rest.len());
        (kind, self.rest[..end].to_owned(), end)
    }

    fn parameter(&self) -> (Kind, String, usize) {
        let end =
            self.rest[1..].find(|character| !is_name_part(character)).map_or(self.rest.len(), |end| end + 1);
        (Kind::Parameter, "?".to_owned(), end)
    }

    /// A text in single quotes that starts at `from`.
    fn text(&mut self, from: usize, backslash: bool) -> (Kind, String, usize) {
        let (text, end) = self.up_to(from + 1, '\'', backslash);
        (Kind::Text, text, end)
    }

    /// A name in quotes.
    fn quoted(&mut self, close: char, backslash: bool) -> (Kind, String, usize) {
        let (name, end) = self.up_to(1, close, backslash);
        (Kind::Quoted, name, end)
    }

    /// What stands between `from` and the closing quote, and the end of that; a quote inside is doubled, or follows a backslash.
    fn up_to(&mut self, from: usize, close: char, backslash: bool) -> (String, usize) {
        let mut text = String::new();
        let mut characters = self.rest[from..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if character == '\\' && backslash {
                text.extend(characters.next().map(|(_, next)| next));
            } else if character != close {
                text.push(character);
            } else if characters.next_if(|(_, next)| *next == close).is_some() {
                text.push(close);
            } else {
                return (text, from + at + close.len_utf8());
            }
        }
        self.unclosed.get_or_insert((self.line, QUOTE));
        (text, self.rest.len())
    }

    /// `$1`, or a text in dollar quotes: `$$ … $$`, `$body$ … $body$`.
    fn dollar(&mut self) -> (Kind, String, usize) {
        let tag =
            self.rest[1..].find(|character| !is_name_part(character)).unwrap_or(self.rest.len() - 1) + 1;
        if !self.rest[tag..].starts_with('$') {
            return (Kind::Parameter, "?".to_owned(), tag);
        }
        let mark = &self.rest[..=tag];
        let inside = &self.rest[mark.len()..];
        match inside.find(mark) {
            Some(end) => (Kind::Text, inside[..end].to_owned(), 2 * mark.len() + end),
            None => {
                self.unclosed.get_or_insert((self.line, QUOTE));
                (Kind::Text, inside.to_owned(), self.rest.len())
            }
        }
    }

    /// A text of Oracle that chooses its own bracket or mark: `q'[it's]'`, `q'!it's!'`.
    fn oracle_text(&self) -> (Kind, String, usize) {
        let end = end_of_oracle_text(self.rest).unwrap_or(self.rest.len());
        let mut inside = self.rest[2..end - 1].chars();
        inside.next();
        inside.next_back();
        (Kind::Text, inside.as_str().to_owned(), end)
    }

    fn symbol(&self, first: char) -> (Kind, String, usize) {
        let long = ["<>", "!=", "<=", ">=", "::", "||", "@@", "->>", "->", "~*", "!~"];
        let text = long.iter().find(|symbol| self.rest.starts_with(**symbol));
        let text = text.map_or_else(|| first.to_string(), |symbol| (*symbol).to_owned());
        let length = text.len();
        (Kind::Symbol, text, length)
    }
}

/// Where a comment ends. In PostgreSQL and SQL Server comments nest, elsewhere `/*` within one says nothing: a comment nests if it ends so.
fn end_of_comment(rest: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    while let Some(found) = rest[at..].find(['/', '*']) {
        at += found;
        let mark = if rest[at..].starts_with("/*") {
            depth += 1;
            2
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            2
        } else {
            1
        };
        at += mark;
        if depth == 0 {
            return Some(at);
        }
    }
    rest[2..].find("*/").map(|end| end + 4)
}

/// Where the text in Oracle's own quotes ends that starts with `q'`.
fn end_of_oracle_text(rest: &str) -> Option<usize> {
    let inside = rest[1..].strip_prefix('\'')?;
    let open = inside.chars().next().filter(|open| !open.is_whitespace() && *open != '\'')?;
    let close = match open {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        '<' => '>',
        other => other,
    };
    let end = format!("{close}'");
    let start = 2 + open.len_utf8();
    rest[start..].find(&end).map(|at| start + at + end.len())
}

/// `[order items]` is a name, `[1]` and `[]` are parts of array types and expressions. In expressions, quotes are even.
fn is_bracketed_name(rest: &str) -> bool {
    let end = rest.char_indices().take(128).find(|(_, character)| [']', ',', '('].contains(character));
    let Some(inside) = end.filter(|(_, character)| *character == ']').map(|(end, _)| &rest[1..end]) else {
        return false;
    };
    let quotes = inside.matches('\'').count();
    inside.starts_with(is_name_start) && (quotes == 0 || quotes % 2 == 1)
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<Vec<String>> {
        let texts = |statement: Vec<Token>| statement.into_iter().map(|token| token.text).collect();
        statements(sql, Dialect::of(sql)).into_iter().map(texts).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes() {
        let found = texts("SELECT 'a;''b' -- c;\n FROM \"t;\" /* ; */ WHERE x >= $1; $f$ ; $f$;");
        assert_eq!(found, [vec!["SELECT", "a;'b", "FROM", "t;", "WHERE", "x", ">=", "?"], vec![" ; "]]);
    }

    #[test]
    fn copied_rows_and_commands_of_psql_are_left_out() {
        let found = texts("\\connect shop\nCOPY t (a) FROM stdin;\n1;'\n\\.\nSELECT 1");
        assert_eq!(found, [vec!["COPY", "t", "(", "a", ")", "FROM", "stdin"], vec!["SELECT", "1"]]);
    }

    #[test]
    fn statements_without_semicolons_end_where_the_next_begins() {
        let found = texts("CREATE TABLE a (x int)\nGO\nCREATE TABLE b (y int)\nCREATE TABLE c (z int)\n/\nx");
        let starts: Vec<&str> =
            found.iter().map(|statement| statement[statement.len().min(3) - 1].as_str()).collect();
        assert_eq!(starts, ["a", "b", "c", "x"]);
        assert_eq!(texts("CREATE TABLE event (x int)\nCREATE TABLE c (z int)").len(), 2);
        assert_eq!(texts("CREATE PROCEDURE p AS\nCREATE TABLE t (x int)\nSELECT go\n/ 2").len(), 1);
    }

    #[test]
    fn a_backslash_escapes_only_in_mysql() {
        assert_eq!(texts(r"'C:\' x"), [vec!["C:\\", "x"]]);
        assert_eq!(texts(r"`t` 'it\'s' x"), [vec!["t", "it's", "x"]]);
        assert_eq!(texts("-- a `name`\n'C:\\' x"), [vec!["C:\\", "x"]]);
    }

    #[test]
    fn a_doubled_quote_belongs_to_the_name() {
        assert_eq!(texts(r#""a""b" `x``y` [c]]d] e"#), [vec!["a\"b", "x`y", "c]d", "e"]]);
    }

    #[test]
    fn what_is_not_closed_is_found_at_its_line() {
        let refused = |sql: &str| complete_statements(sql).err().unwrap_or_default();
        for (sql, expected) in [
            (
                "SELECT 1;\nCREATE TABLE t (a text DEFAULT 'abc);\nCREATE TABLE b (id int);",
                "line 2: the quote",
            ),
            ("CREATE TABLE t (a int);\nCREATE TABLE \"b (id int);", "line 2: the quote"),
            ("x;\n$f$ ; $g$", "line 2: the quote"),
            ("x;\n/* CREATE TABLE t (a int);", "line 2: the comment"),
            ("COPY t FROM stdin;\n1\n2", "line 1: the rows of COPY"),
            ("CREATE TABLE t (a int,\n b varchar(2)", "line 1: the bracket"),
            ("CREATE TABLE t (\n[a int);", "line 1: the bracket"),
            ("CREATE TABLE t (a int\nCREATE TABLE b (a int)", "line 1: the bracket"),
            ("x;\nALTER TABLE t ADD FOREIGN KEY (a) REFERENCES", "line 2: the statement"),
        ] {
            assert!(refused(sql).starts_with(expected), "{sql}: {}", refused(sql));
        }
        for complete in ["CREATE TABLE t (a int[], [b] int)", "INSERT INTO t VALUES (')'); x ("] {
            assert!(complete_statements(complete).is_ok(), "{complete}");
        }
    }

    #[test]
    fn a_backslash_is_read_so_that_quotes_are_closed() {
        let read = |sql: &str| complete_statements(sql).map(|found| found.statements.len());
        for (sql, expected) in [
            (r"CREATE TABLE t (a VARCHAR(9) COMMENT 'user\'s');", 1),
            ("CREATE TABLE t (a TEXT COMMENT 'a\\'b',\n b TEXT COMMENT 'c\\'d'\n);\nx;", 2),
            ("CREATE TABLE t (a TEXT COMMENT \"a\\\"b\", id INT AUTO_INCREMENT);x;", 2),
            (r"CREATE TABLE `t` (a TEXT DEFAULT '\', b TEXT);x;", 2),
            (
                "CREATE TABLE `t` (a TEXT);\nINSERT INTO t VALUES ('\\');\nx;\nINSERT INTO t VALUES ('D:\\');",
                4,
            ),
            ("PRAGMA x;INSERT INTO `t` VALUES ('C:\\');x;", 3),
        ] {
            assert_eq!(read(sql), Ok(expected), "{sql}");
        }
        assert!(read(r"INSERT INTO t VALUES ('a\', 'b\', 'c);").is_err());
    }

    #[test]
    fn a_rule_has_statements_in_brackets() {
        let rule =
            "RULE r AS ON INSERT TO t DO ALSO (\nINSERT INTO a VALUES (1);\nINSERT INTO b VALUES (2)\n)";
        for create in ["CREATE", "CREATE OR REPLACE"] {
            let sql = format!("x;\n{create} {rule};\nCREATE TABLE u (id int);");
            assert_eq!(complete_statements(&sql).map(|found| found.statements.len()), Ok(3), "{sql}");
        }
    }

    #[test]
    fn comments_nest_if_they_end_so() {
        assert_eq!(texts("/* a /* it's */ b' */ x"), [["x"]]);
        assert_eq!(texts("/* src/*.sql */ x /* it's */ y /*/ z */"), [["x", "y"]]);
    }

    #[test]
    fn quotes_and_dollars_inside_of_names_and_texts_open_nothing() {
        assert_eq!(texts("a$b$c x"), [["a$b$c", "x"]]);
        assert_eq!(texts("[it's] x"), [["it's", "x"]]);
        assert_eq!(texts("[a || 'b']").concat().len(), 5);
        assert_eq!(texts("q'[it's]' q'!it's!' q 'a'"), [["it's", "it's", "q", "a"]]);
    }

    #[test]
    fn a_last_statement_that_alone_does_not_end_may_be_cut_off() {
        let table = "CREATE TABLE t (id int);\n";
        for last in [
            "CREATE TA",
            "ALTER TABLE t ADD CONSTRAINT k PRIMAR",
            "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES ab",
            "ALTER TABLE t ADD FOREIGN KEY (a)",
        ] {
            let open_end = |sql: &str| complete_statements(sql).map(|script| script.open_end);
            assert_eq!(open_end(&format!("{table}{last}")), Ok(Some(2)), "{last}");
            for whole in
                [last.to_owned(), format!("{table}{last};"), format!("CREATE TABLE t (a int)\n{table}{last}")]
            {
                assert_eq!(open_end(&whole), Ok(None), "{whole}");
            }
        }
        for last in
            ["CREATE TABLE u (a int)", "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u(id)", "-- end", "GO"]
        {
            let script = complete_statements(&format!("{table}{last}")).unwrap();
            assert_eq!(script.open_end, None, "{last}");
        }
    }

    #[test]
    fn a_token_knows_its_line() {
        let found = statements("a\n'\n'\nb", Dialect::Standard);
        assert_eq!(found[0].iter().map(|token| token.line).collect::<Vec<_>>(), [1, 2, 4]);
    }
}
