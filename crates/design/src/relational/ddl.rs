//! Reads a schema: CREATE TABLE, CREATE TYPE … AS ENUM, CREATE [UNIQUE] INDEX, and the ALTER TABLE … ADD that dumps consist of.

use super::column_types::{builtin, choice};
use super::schema::{Column, ForeignKey, Schema, Table};
use super::statement::{Cursor, literals, split_commas};
use super::tokens::{Kind, Token, complete_statements};
use crate::model::value_type::ValueType;
use std::collections::{BTreeMap, BTreeSet};

/// The most tables of a schema: a model has at most as many entities.
const MAX_TABLES: usize = 500;
/// The most columns of a table, which is that of MySQL.
const MAX_COLUMNS: usize = 4_096;

impl Schema {
    /// Reads the DDL of PostgreSQL, MySQL or SQLite.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is cut off, or creates no table, or too many.
    pub fn parse(sql: &str) -> Result<Schema, String> {
        let mut reader = Reader::default();
        let sql = sql.trim_start_matches('\u{feff}');
        let script = complete_statements(sql)?;
        for statement in &script.statements {
            reader.statement(statement);
            if let Some(table) = reader.schema.tables.last().filter(|table| table.columns.len() > MAX_COLUMNS)
            {
                return Err(format!("table {} has more than {MAX_COLUMNS} columns", table.name));
            }
            if reader.schema.tables.len() > MAX_TABLES {
                return Err(format!("the schema has more than {MAX_TABLES} tables: split it"));
            }
        }
        if let Some(line) = script.open_end {
            let remark = "the last statement has no semicolon, as the others have: is the file complete?";
            reader.remark(line, remark.to_owned());
        }
        reader.schema.write_identifiers_as_texts();
        reader.schema.leave_out_what_no_key_holds();
        if reader.schema.tables.is_empty() {
            return Err("there is no CREATE TABLE with columns: is this the schema of a database?".to_owned());
        }
        Ok(reader.schema)
    }
}

#[derive(Default)]
struct Reader {
    schema: Schema,
    /// The types that the schema itself declares, in lower case.
    types: BTreeMap<String, ValueType>,
}

impl Reader {
    fn statement(&mut self, tokens: &[Token]) {
        let mut cursor = Cursor::new(tokens);
        let line = tokens.first().map_or(0, |token| token.line);
        if cursor.eat("CREATE") {
            while ["UNLOGGED", "GLOBAL", "LOCAL", "OR", "REPLACE"].iter().any(|word| cursor.eat(word)) {}
            // A temporary table, as `CREATE TEMPORARY TABLE`, holds no data of its own.
            if cursor.eat("TABLE") {
                self.create_table(cursor, line);
            } else if cursor.eat("TYPE") {
                self.create_type(cursor);
            } else if cursor.eat("DOMAIN") {
                self.create_domain(cursor);
            } else {
                let unique = cursor.eat("UNIQUE");
                while ["CLUSTERED", "NONCLUSTERED", "BITMAP"].iter().any(|word| cursor.eat(word)) {}
                let kind = ["FULLTEXT", "SPATIAL"].into_iter().find(|kind| cursor.eat(kind));
                if cursor.eat("INDEX") {
                    self.create_index(cursor, unique, kind.map(str::to_owned), line);
                }
            }
        } else if cursor.eat_all(&["ALTER", "TABLE"]) {
            self.alter_table(cursor, line);
        } else if cursor.eat_all(&["RENAME", "TABLE"]) {
            self.remark(line, format!("RENAME TABLE is not carried out: {}", words(cursor.tokens)));
        } else if cursor.eat_all(&["DROP", "TABLE"]) {
            cursor.eat_all(&["IF", "EXISTS"]);
            for name in split_commas(cursor.tokens).into_iter().filter_map(|part| Cursor::new(part).name()) {
                self.schema.tables.retain(|table| !table.name.eq_ignore_ascii_case(&name));
            }
        }
    }

    fn remark(&mut self, line: usize, text: String) {
        self.schema.remarks.push((line, text));
    }

    fn create_table(&mut self, mut cursor: Cursor<'_>, line: usize) {
        let if_absent = cursor.eat_all(&["IF", "NOT", "EXISTS"]);
        let Some(name) = cursor.name() else {
            let remark = format!("a table is left out, because it has no name: {}", words(cursor.tokens));
            return self.remark(line, remark);
        };
        if name.to_lowercase().starts_with("sqlite_") {
            return self.remark(line, format!("table {name} is SQLite's own, and is left out"));
        }
        if self.schema.table(&name).is_some() {
            if !if_absent {
                self.remark(line, format!("table {name} is created a second time, which is left out"));
            }
            return;
        }
        if cursor.sees("PARTITION") {
            self.remark(line, format!("table {name} is a partition: its rows belong to the whole table"));
            return;
        }
        let body = cursor.group().unwrap_or_default();
        let mut table = Table { name, line, ..Table::default() };
        let (constraints, columns): (Vec<&[Token]>, Vec<&[Token]>) =
            split_commas(body).into_iter().partition(|element| is_constraint(&Cursor::new(element)));
        // Old partitions of PostgreSQL inherit all they have.
        let inherits = cursor.eat("INHERITS");
        if inherits && columns.is_empty() {
            self.remark(
                line,
                format!("table {} only inherits: its rows belong to another table", table.name),
            );
            return;
        }
        let from = if inherits { cursor.names() } else { Vec::new() };
        let like = constraints.iter().filter(|element| element[0].is("LIKE"));
        let like = like.filter_map(|element| Cursor::new(&element[1..]).name());
        for base in like.chain(from) {
            self.inherit(&mut table, &base, line);
        }
        columns.into_iter().for_each(|element| self.column(&mut table, Cursor::new(element)));
        if table.columns.is_empty() {
            let remark = format!(
                "table {} is created without a list of columns; write its entity by hand",
                table.name
            );
            self.remark(line, remark);
            return;
        }
        constraints.into_iter().for_each(|element| self.constraint(&mut table, Cursor::new(element)));
        self.schema.tables.push(table);
    }

    /// Gives a table the columns of another.
    fn inherit(&mut self, table: &mut Table, base: &str, line: usize) {
        let Some(base) = self.schema.table(base) else {
            let remark = format!("table {} has the columns of {base}, which is not known", table.name);
            return self.remark(line, remark);
        };
        let new: Vec<Column> =
            base.columns.iter().filter(|column| table.column(&column.name).is_none()).cloned().collect();
        table.columns.extend(new);
    }

    fn column(&mut self, table: &mut Table, mut cursor: Cursor<'_>) {
        let line = cursor.peek().map_or(0, |token| token.line);
        let Some(name) = cursor.name() else {
            let unknown = words(cursor.tokens);
            let remark = format!("a column of {} is left out, because it has no name: {unknown}", table.name);
            return self.remark(line, remark);
        };
        if table.column(&name).is_some() {
            return;
        }
        let kind = self.kind(&mut cursor).unwrap_or_else(|unknown| {
            let remark = format!(
                "column {}.{name} has the type {unknown}, which no attribute type is for: is text right?",
                table.name
            );
            self.remark(line, remark);
            ValueType::String
        });
        table.columns.push(Column { name: name.clone(), kind, nullable: true });
        while let Some(token) = cursor.peek() {
            if cursor.eat_all(&["NOT", "NULL"]) {
                set_required(table, &name);
            } else if cursor.eat_all(&["PRIMARY", "KEY"]) {
                table.primary_key = vec![name.clone()];
                set_required(table, &name);
            } else if cursor.eat("UNIQUE") {
                table.unique.push(vec![name.clone()]);
            } else if token.is("REFERENCES") {
                foreign_key(table, vec![name.clone()], &mut cursor);
            } else if cursor.eat("CHECK") {
                check(table, cursor.group().unwrap_or_default());
            } else if cursor.group().is_none() {
                cursor.next();
            }
        }
    }

    /// The attribute type of a column's type, or the name of a type that is not known.
    fn kind(&self, cursor: &mut Cursor<'_>) -> Result<ValueType, String> {
        let ends = [
            "PRIMARY",
            "NOT",
            "NULL",
            "UNIQUE",
            "REFERENCES",
            "CHECK",
            "DEFAULT",
            "CONSTRAINT",
            "GENERATED",
            "COLLATE",
        ];
        let none = cursor.peek().is_none_or(|token| ends.iter().any(|end| token.is(end)));
        let Some(word) = cursor.name().filter(|_| !none) else { return Ok(ValueType::String) };
        let word = word.to_lowercase();
        let size = cursor.group().unwrap_or_default();
        let mut kind = match word.as_str() {
            "enum" => choice(&literals(size)).unwrap_or(ValueType::String),
            "tinyint" if size.first().is_some_and(|size| size.text == "1") => ValueType::Bool,
            _ => match self.types.get(&word).cloned().or_else(|| builtin(&word)) {
                Some(kind) => kind,
                None => return Err(word),
            },
        };
        // `double precision`, `character varying(20)`, `timestamp with time zone`, `int unsigned`.
        while [
            "PRECISION",
            "VARYING",
            "UNSIGNED",
            "WITH",
            "WITHOUT",
            "TIME",
            "ZONE",
            "ZEROFILL",
            "LARGE",
            "OBJECT",
        ]
        .iter()
        .any(|word| cursor.eat(word))
        {
            cursor.group();
        }
        while cursor.eat("[") {
            while cursor.next().is_some_and(|token| !token.is("]")) {}
            kind = ValueType::List;
        }
        if cursor.eat("ARRAY") {
            kind = ValueType::List;
        }
        Ok(kind)
    }

    fn create_type(&mut self, mut cursor: Cursor<'_>) {
        let Some(name) = cursor.name() else { return };
        let kind = if cursor.eat_all(&["AS", "ENUM"]) {
            choice(&literals(cursor.tokens)).unwrap_or(ValueType::String)
        } else {
            ValueType::Map
        };
        self.types.insert(name.to_lowercase(), kind);
    }

    fn create_domain(&mut self, mut cursor: Cursor<'_>) {
        let Some(name) = cursor.name() else { return };
        cursor.eat("AS");
        let kind = self.kind(&mut cursor).unwrap_or(ValueType::String);
        self.types.insert(name.to_lowercase(), kind);
    }

    fn create_index(&mut self, mut cursor: Cursor<'_>, unique: bool, kind: Option<String>, line: usize) {
        cursor.eat("CONCURRENTLY");
        cursor.eat_all(&["IF", "NOT", "EXISTS"]);
        let index = if cursor.sees("ON") || cursor.sees("USING") { None } else { cursor.name() };
        let mut method = kind.or_else(|| method(&mut cursor));
        if !cursor.eat("ON") {
            return;
        }
        cursor.eat("ONLY");
        let Some(name) = cursor.name() else { return };
        method = method.or_else(|| self::method(&mut cursor));
        let other = method.filter(|own| !finds_equal_values(own));
        let inside = cursor.group().unwrap_or_default();
        let condition = cursor.tokens.iter().position(|token| token.is("WHERE"));
        let Some(table) = self.schema.tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&name))
        else {
            return;
        };
        let why = match (condition, columns(table, inside)) {
            _ if let Some(method) = other => format!("it finds no equal values: {}", method.to_uppercase()),
            (None, Ok(names)) => {
                if unique {
                    table.unique.push(names)
                } else {
                    table.indexes.push(names)
                }
                return;
            }
            (Some(at), _) => format!("it has only some rows: {}", words(&cursor.tokens[at..])),
            (None, Err(unknown)) => format!("it is not one of columns: {unknown}"),
        };
        let kind = if unique { "unique index" } else { "index" };
        let index = index.map(|index| format!(" {index}")).unwrap_or_default();
        self.remark(line, format!("the {kind}{index} of {name} is left out, because {why}"));
    }

    fn alter_table(&mut self, mut cursor: Cursor<'_>, line: usize) {
        cursor.eat("ONLY");
        cursor.eat_all(&["IF", "EXISTS"]);
        cursor.eat("ONLY");
        let Some(name) = cursor.name() else { return };
        let position = self.schema.tables.iter().position(|table| table.name.eq_ignore_ascii_case(&name));
        let Some(position) = position else { return };
        let mut table = std::mem::take(&mut self.schema.tables[position]);
        let mut partitions = Vec::new();
        for action in split_commas(cursor.tokens) {
            let mut cursor = Cursor::new(action);
            if cursor.eat("ADD") {
                self.add(&mut table, cursor);
            } else if cursor.eat_all(&["ATTACH", "PARTITION"]) {
                partitions.extend(cursor.name());
            } else if changes_columns(&cursor) {
                let remark =
                    format!("ALTER TABLE {name} changes columns, and is not carried out: {}", words(action));
                self.remark(line, remark);
            }
        }
        self.schema.tables[position] = table;
        for partition in partitions {
            self.remark(line, format!("table {partition} is a partition of {name}: its rows belong to that"));
            self.schema.tables.retain(|table| !table.name.eq_ignore_ascii_case(&partition));
        }
    }

    /// `ADD` of a column or of a constraint.
    fn add(&mut self, table: &mut Table, mut cursor: Cursor<'_>) {
        if is_constraint(&cursor) {
            return self.constraint(table, cursor);
        }
        cursor.eat("COLUMN");
        cursor.eat_all(&["IF", "NOT", "EXISTS"]);
        match cursor.clone().group() {
            Some(several) => {
                split_commas(several).into_iter().for_each(|one| self.column(table, Cursor::new(one)));
            }
            None => self.column(table, cursor),
        }
    }

    fn constraint(&mut self, table: &mut Table, mut cursor: Cursor<'_>) {
        let line = cursor.peek().map_or(0, |token| token.line);
        if cursor.eat("CONSTRAINT") && !is_constraint(&cursor) {
            cursor.name();
        }
        let before = table.foreign_keys.len();
        if let Err(unknown) = constrain(table, cursor) {
            let remark = format!(
                "a constraint of {} is left out, because it is not one of columns: {unknown}",
                table.name
            );
            self.remark(line, remark);
        }
        for key in table.foreign_keys[before..].iter().filter(|key| key.columns.len() > 1) {
            let (own, columns, to) = (&table.name, key.columns.join(", "), &key.table);
            let remark = format!(
                "the foreign key ({columns}) of {own} to {to} is left out, because it has several columns"
            );
            self.schema.remarks.push((line, remark));
        }
    }
}

/// Whether an action of ALTER TABLE changes what columns there are, or their types. Dumps have others, as `OWNER TO`.
fn changes_columns(cursor: &Cursor<'_>) -> bool {
    let has = |word: &str| cursor.tokens.iter().any(|token| token.is(word));
    let drops =
        cursor.sees("DROP") && !["CONSTRAINT", "INDEX", "KEY", "FOREIGN"].iter().any(|word| has(word));
    let modifies = cursor.sees("MODIFY") && !has("AUTO_INCREMENT");
    let alters = cursor.sees("ALTER") && (has("TYPE") || (has("DROP") && has("NOT")));
    drops || modifies || alters || cursor.sees("RENAME") || cursor.sees("CHANGE")
}

fn words(tokens: &[Token]) -> String {
    tokens.iter().take(12).map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The method of an index after USING.
fn method(cursor: &mut Cursor<'_>) -> Option<String> {
    if cursor.eat("USING") { cursor.name() } else { None }
}

/// Whether an index of this method serves comparisons for equality with a whole value; others are for parts of texts, shapes and distances.
fn finds_equal_values(method: &str) -> bool {
    ["btree", "hash", "brin"].iter().any(|own| own.eq_ignore_ascii_case(method))
}

/// Whether an element of a table is a constraint and not a column.
fn is_constraint(cursor: &Cursor<'_>) -> bool {
    let reserved = ["PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT", "LIKE"];
    // These are names of columns too: `key text`, `index int`.
    let words = ["KEY", "INDEX", "FULLTEXT", "SPATIAL", "EXCLUDE"];
    if reserved.iter().any(|word| cursor.sees(word)) {
        return true;
    }
    let mut rest = cursor.clone();
    if !words.iter().any(|word| rest.eat(word)) {
        return false;
    }
    let follows = ["KEY", "INDEX", "USING"].iter().any(|word| rest.sees(word));
    let named = rest.peek().is_some_and(|token| token.kind == Kind::Quoted);
    if !follows && !named && !rest.sees("(") {
        rest.next();
    }
    // `KEY by_name (name)` has a column or an expression where `key varchar(20)` has a number, and `key enum('a')` a text.
    let first = rest.group().and_then(<[Token]>::first);
    follows || named || first.is_some_and(|first| !matches!(first.kind, Kind::Number | Kind::Text))
}

/// Adds a constraint, unless it is not one of columns.
fn constrain(table: &mut Table, mut cursor: Cursor<'_>) -> Result<(), String> {
    if cursor.eat_all(&["PRIMARY", "KEY"]) {
        table.primary_key = columns(table, group_of(&mut cursor))?;
        for name in table.primary_key.clone() {
            set_required(table, &name);
        }
    } else if cursor.eat("UNIQUE") {
        let names = columns(table, group_of(&mut cursor))?;
        table.unique.push(names);
    } else if cursor.eat_all(&["FOREIGN", "KEY"]) {
        let names = columns(table, group_of(&mut cursor))?;
        foreign_key(table, names, &mut cursor);
    } else if cursor.eat("CHECK") {
        check(table, cursor.group().unwrap_or_default());
    } else if cursor.eat("KEY") || cursor.eat("INDEX") {
        let names = columns(table, group_of(&mut cursor))?;
        table.indexes.push(names);
    }
    Ok(())
}

/// The columns of a key, without their order or length. An expression as `lower(email)` is not a column, and makes the key none of columns.
fn columns(table: &Table, inside: &[Token]) -> Result<Vec<String>, String> {
    let column = |part: &[Token]| {
        let column = Cursor::new(part).name().and_then(|name| table.column(&name));
        let opens = part.iter().position(|token| token.is("("));
        let length = opens.and_then(|at| part.get(at + 1)).is_none_or(|next| next.kind == Kind::Number);
        column.filter(|_| length).map(|column| column.name.clone()).ok_or_else(|| words(part))
    };
    let parts = split_commas(inside);
    if parts.is_empty() {
        return Err("nothing in parentheses".to_owned());
    }
    let names: Result<Vec<String>, String> = parts.into_iter().map(column).collect();
    let mut seen = BTreeSet::new();
    names.map(|names| names.into_iter().filter(|name| seen.insert(name.clone())).collect())
}

/// What stands in parentheses after the name of a constraint, as in MySQL's `UNIQUE KEY by_email (email)`.
fn group_of<'a>(cursor: &mut Cursor<'a>) -> &'a [Token] {
    while cursor.peek().is_some_and(|token| !token.is("(") && !token.is("REFERENCES")) {
        cursor.next();
    }
    cursor.group().unwrap_or_default()
}

fn foreign_key(table: &mut Table, columns: Vec<String>, cursor: &mut Cursor<'_>) {
    if !cursor.eat("REFERENCES") || columns.is_empty() {
        return;
    }
    if let Some(name) = cursor.name() {
        let to = cursor.names();
        table.foreign_keys.push(ForeignKey { columns, table: name, to });
    }
}

fn set_required(table: &mut Table, name: &str) {
    if let Some(column) = table.column_mut(name) {
        column.nullable = false;
    }
}

/// `CHECK (status IN ('open', 'paid'))`, also as a dump of PostgreSQL spells it: `= ANY (ARRAY['open'::text, …])`.
fn check(table: &mut Table, tokens: &[Token]) {
    let mut names = tokens.iter().filter_map(Token::name).filter(|name| table.column(name).is_some());
    let (first, alone) = (names.next().map(str::to_owned), names.next().is_none());
    let lists = tokens.iter().any(|token| token.is("IN") || token.is("ANY"));
    let excludes = tokens.iter().any(|token| token.is("NOT") || token.is("OR") || token.is("AND"));
    let Some(name) = first.filter(|_| alone && lists && !excludes) else { return };
    if let (Some(kind), Some(column)) = (choice(&literals(tokens)), table.column_mut(&name)) {
        column.kind = kind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_of_postgresql_is_read_with_its_constraints() {
        let schema = Schema::parse(
            "CREATE TYPE public.state AS ENUM ('open', 'paid');
             CREATE TABLE public.users (id uuid DEFAULT gen_random_uuid() NOT NULL, email character varying(200) NOT NULL, tags text[]);
             CREATE TABLE public.\"order\" (id bigint NOT NULL, user_id uuid NOT NULL, state public.state, plan text,
                 CONSTRAINT plan CHECK (((plan)::text = ANY ((ARRAY['free'::character varying, 'paid'::character varying])::text[]))),
                 placed timestamp(3) with time zone DEFAULT now() NOT NULL);
             ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id), ADD CONSTRAINT mail UNIQUE (email);
             ALTER TABLE ONLY public.\"order\" ADD CONSTRAINT o FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;",
        )
        .unwrap();
        let (users, orders) = (schema.table("users").unwrap(), schema.table("order").unwrap());
        assert_eq!(users.primary_key, ["id"]);
        assert_eq!(users.unique, [["email"]]);
        assert_eq!(users.column("tags").unwrap().kind, ValueType::List);
        assert_eq!(orders.reference("user_id").unwrap().table, "users");
        let kinds: Vec<String> = orders.columns.iter().map(|column| column.kind.print()).collect();
        assert_eq!(kinds, ["int", "uuid", "open|paid", "free|paid", "timestamp"]);
        assert!(!orders.column("placed").unwrap().nullable && orders.column("plan").unwrap().nullable);
    }

    #[test]
    fn mysql_and_sqlite_are_read() {
        let schema = Schema::parse(
            "CREATE TABLE `posts` (`id` int unsigned NOT NULL AUTO_INCREMENT, `state` enum('draft','live') DEFAULT 'draft', `hot` tinyint(1),
                `key` varchar(20) COMMENT 'a, b', PRIMARY KEY (`id`), UNIQUE KEY `by_key` (`key`(10)), KEY `by_state` (`state`,`id`)) ENGINE=InnoDB;
             create table if not exists notes (id INTEGER PRIMARY KEY AUTOINCREMENT, post_id INT NOT NULL REFERENCES posts, body, CHECK (body IN ('a','b')));",
        )
        .unwrap();
        let (posts, notes) = (schema.table("posts").unwrap(), schema.table("notes").unwrap());
        assert_eq!(posts.columns.len(), 4);
        assert_eq!(posts.column("hot").unwrap().kind, ValueType::Bool);
        assert_eq!(posts.unique, [["key"]]);
        assert_eq!(posts.indexes, [["state", "id"]]);
        assert_eq!(notes.primary_key, ["id"]);
        assert_eq!(notes.column("body").unwrap().kind.print(), "a|b");
        assert_eq!(notes.reference("post_id").unwrap().table, "posts");
    }

    #[test]
    fn names_in_single_quotes_are_names_where_no_text_can_be() {
        let schema = Schema::parse(
            "CREATE TABLE 'users' ('id' INTEGER PRIMARY KEY, 'team id' INTEGER, mail TEXT DEFAULT 'a', 'plan' TEXT CHECK (plan IN ('b', 'c')), CONSTRAINT 'u' UNIQUE ('mail'));
             CREATE TABLE 'o' (id INTEGER PRIMARY KEY, uid INTEGER, FOREIGN KEY ('uid') REFERENCES 'users' ('id'));
             CREATE INDEX 'by' ON 'users' ('team id');",
        )
        .unwrap();
        let (users, orders) = (schema.table("users").unwrap(), schema.table("o").unwrap());
        let names: Vec<&str> = users.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "team id", "mail", "plan"]);
        assert_eq!(
            (&users.primary_key[..], &users.unique[0][..]),
            (&["id".to_owned()][..], &["mail".to_owned()][..])
        );
        assert_eq!(users.indexes, [["team id"]]);
        assert_eq!(users.column("plan").unwrap().kind.print(), "b|c");
        let key = orders.reference("uid").unwrap();
        assert_eq!((key.table.as_str(), &key.to[..]), ("users", &["id".to_owned()][..]));
        assert!(schema.remarks.is_empty());
    }

    #[test]
    fn a_file_that_may_be_cut_off_is_remarked_on() {
        let schema =
            Schema::parse("CREATE TABLE t (id int);\nALTER TABLE t ADD CONSTRAINT k PRIMAR").unwrap();
        assert_eq!(schema.remarks.len(), 1);
        assert!(schema.remarks[0].0 == 2 && schema.remarks[0].1.contains("is the file complete?"));
    }

    #[test]
    fn what_has_no_name_is_remarked_on() {
        let schema = Schema::parse("CREATE TABLE t (id int,\n ? text);\nCREATE TABLE ? (id int);").unwrap();
        let lines: Vec<usize> = schema.remarks.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn an_unknown_type_is_asked_about() {
        let schema = Schema::parse("CREATE TABLE t (id int,\n place geometry(Point))").unwrap();
        assert_eq!(schema.remarks[0].0, 2);
        assert!(schema.remarks[0].1.contains("t.place"));
    }
}
