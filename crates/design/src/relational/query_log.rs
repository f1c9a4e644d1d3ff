//! Logs of queries: statements with how often they were sent, by shape.
//!
//! Read are `pg_stat_statements` as CSV, PostgreSQL's log, MySQL's general log, and files of statements.

use super::query::{self, Statement, answer};
use super::schema::Schema;
use super::tokens::{Dialect, statements, without_values};
use crate::exchange::csv;
use std::collections::BTreeMap;

/// The statements of a log, by shape.
#[derive(Debug, Default)]
pub(super) struct QueryLog {
    pub observed: BTreeMap<Statement, Tally>,
    /// The writes of each transaction with more than one.
    pub transactions: BTreeMap<Vec<Statement>, Tally>,
    /// The seconds between the first and the last statement, if the log says it.
    pub seconds: Option<f64>,
}

/// How often a shape was sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub count: u64,
    /// The largest LIMIT.
    pub limit: Option<u64>,
    /// The line of the first.
    pub line: usize,
    /// The text of the first without its values, shortened.
    pub example: String,
}

/// The writes of a transaction that is open.
#[derive(Default)]
struct Transaction {
    writes: Vec<Statement>,
    /// The line of the first write.
    line: usize,
    texts: Vec<String>,
}

impl Transaction {
    fn add(&mut self, write: Statement, entry: &Entry) {
        if self.writes.is_empty() {
            self.line = entry.line;
        }
        self.texts.push(entry.sql.clone());
        self.writes.push(write);
    }
}

/// A statement of a log.
#[derive(Clone)]
struct Entry {
    /// Whose it is: entries of a session are in the order in which they were sent. Statistics have neither sessions nor an order.
    session: Option<String>,
    sql: String,
    line: usize,
    count: u64,
}

impl QueryLog {
    /// Reads a log.
    pub fn parse(text: &str, schema: &Schema) -> Result<QueryLog, String> {
        let text = text.trim_start_matches('\u{feff}');
        let mut times = Times::default();
        let format = Format::of(text);
        let dialect = if format == Format::MySql { Dialect::MySql } else { Dialect::of(text) };
        let entries = match format {
            Format::Statistics => statistics(text)?,
            Format::PostgreSql => postgresql(text, &mut times),
            Format::MySql => mysql(text, &mut times),
            Format::Statements => plain(text, dialect),
        };
        if entries.is_empty() {
            return Err("there are no statements in the log".to_owned());
        }
        let mut log = QueryLog { seconds: times.span(), ..QueryLog::default() };
        let mut open = BTreeMap::new();
        for entry in &entries {
            for tokens in statements(&entry.sql, dialect) {
                let limit = query::limit(&tokens);
                // Programs send LIMIT 0 to learn the columns of a table.
                if limit != Some(0) {
                    let sent = Entry { sql: without_values(&entry.sql, &tokens), ..entry.clone() };
                    log.count(query::parse(&tokens, schema), &sent, limit, &mut open);
                }
            }
        }
        // A log ends anywhere: what was written until then was written.
        open.into_values().for_each(|transaction| log.close(transaction));
        if log.observed.is_empty() && log.transactions.is_empty() {
            return Err("no statement of the log reads or writes: is this a log of queries?".to_owned());
        }
        Ok(log)
    }

    fn count(
        &mut self,
        statement: Statement,
        entry: &Entry,
        limit: Option<u64>,
        open: &mut BTreeMap<String, Transaction>,
    ) {
        let Some(session) = &entry.session else {
            return self.count_alone(statement, entry, limit);
        };
        match statement {
            Statement::Begin => {
                let before = open.insert(session.clone(), Transaction::default());
                before.into_iter().for_each(|transaction| self.close(transaction));
            }
            Statement::Rollback => {
                open.remove(session);
            }
            Statement::Commit => {
                open.remove(session).into_iter().for_each(|transaction| self.close(transaction));
            }
            write @ (Statement::Insert { .. } | Statement::Update { .. } | Statement::Delete { .. }) => {
                match open.get_mut(session) {
                    Some(transaction) => transaction.add(write, entry),
                    None => self.count_alone(write, entry, limit),
                }
            }
            other => self.count_alone(other, entry, limit),
        }
    }

    /// Counts a statement that belongs to no transaction that is known.
    fn count_alone(&mut self, statement: Statement, entry: &Entry, limit: Option<u64>) {
        let statement = match statement {
            Statement::Commit | Statement::Rollback | Statement::Other => return,
            Statement::Begin => {
                Statement::Unsupported { text: "BEGIN".to_owned(), answer: answer::TRANSACTION.to_owned() }
            }
            other => other,
        };
        let limit = limit.filter(|_| matches!(statement, Statement::Select(_)));
        add(&mut self.observed, statement, entry, limit);
    }

    /// Counts the writes of a transaction.
    fn close(&mut self, transaction: Transaction) {
        let Transaction { writes, line, texts } = transaction;
        let sent = Entry { session: None, sql: texts.join("; "), line, count: 1 };
        match writes.as_slice() {
            [] => {}
            [only] => add(&mut self.observed, only.clone(), &sent, None),
            _ => add(&mut self.transactions, distinct(writes), &sent, None),
        }
    }
}

/// Each write once, twice if it is repeated: an order has any number of lines.
fn distinct(mut writes: Vec<Statement>) -> Vec<Statement> {
    let mut counts: BTreeMap<Statement, usize> = BTreeMap::new();
    let keep = |write: &Statement| {
        let count = counts.entry(write.clone()).or_default();
        *count += 1;
        *count <= 2
    };
    writes.retain(keep);
    writes
}

fn add<K: Ord>(tallies: &mut BTreeMap<K, Tally>, key: K, entry: &Entry, limit: Option<u64>) {
    let first = || Tally { line: entry.line, example: shortened(&entry.sql), ..Tally::default() };
    let tally = tallies.entry(key).or_insert_with(first);
    tally.count += entry.count;
    tally.limit = tally.limit.max(limit);
}

/// Whether the first word of a statement is this one.
fn starts_with(sql: &str, word: &str) -> bool {
    sql.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case(word))
}

fn shortened(sql: &str) -> String {
    let words: Vec<&str> = sql.split_whitespace().take(40).collect();
    let line = words.join(" ");
    let end = line.char_indices().nth(120).map_or(line.len(), |(at, _)| at);
    if end < line.len() { format!("{} …", &line[..end]) } else { line }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Statistics,
    PostgreSql,
    MySql,
    Statements,
}

impl Format {
    fn of(text: &str) -> Format {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_lowercase();
        let columns: Vec<&str> = first.split(',').map(|name| name.trim().trim_matches('"')).collect();
        if columns.contains(&"query") && columns.contains(&"calls") {
            return Format::Statistics;
        }
        let any = |test: fn(&str) -> bool| text.lines().take(200).any(test);
        if any(|line| statement_of_postgresql(line).is_some()) {
            Format::PostgreSql
        } else if any(|line| statement_of_mysql(line).is_some()) {
            Format::MySql
        } else {
            Format::Statements
        }
    }
}

/// `pg_stat_statements` as CSV, with a header that names `query` and `calls`.
fn statistics(text: &str) -> Result<Vec<Entry>, String> {
    let mut records = csv::records(text).into_iter();
    let header = records.next().map(|record| record.fields).unwrap_or_default();
    let column = |name: &str| {
        header.iter().position(|field| field.as_deref().is_some_and(|field| field.eq_ignore_ascii_case(name)))
    };
    let (query, calls) =
        column("query").zip(column("calls")).ok_or("the CSV has no columns `query` and `calls`")?;
    let mut entries = Vec::new();
    for record in records {
        let field = |at: usize| record.fields.get(at).cloned().flatten();
        let count = field(calls).and_then(|count| count.parse().ok());
        let count = count.ok_or_else(|| format!("line {}: `calls` is not a number", record.line))?;
        entries.push(Entry {
            session: None,
            sql: field(query).unwrap_or_default(),
            line: record.line,
            count,
        });
    }
    Ok(entries)
}

fn plain(text: &str, dialect: Dialect) -> Vec<Entry> {
    let starts = [
        "select", "insert", "update", "delete", "begin", "start", "commit", "rollback", "with", "set",
        "replace", "end", "--",
    ];
    let is_start = |line: &str| {
        let word = line.trim_start().split([' ', ';', '\t']).next().unwrap_or_default().to_lowercase();
        word.is_empty() || starts.contains(&word.as_str())
    };
    let entry =
        |line: usize, sql: &str| Entry { session: Some(String::new()), sql: sql.to_owned(), line, count: 1 };
    if text.lines().all(is_start) {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        return lines.map(|(number, line)| entry(number + 1, line)).collect();
    }
    let statements = statements(text, dialect);
    let ends = statements.iter().filter_map(|statement| statement.first().zip(statement.last()));
    ends.map(|(first, last)| entry(first.line, &text[first.span.start..last.span.end])).collect()
}

fn postgresql(text: &str, times: &mut Times) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut continues = false;
    for (number, line) in text.lines().enumerate() {
        times.see(line);
        if let Some((before, sql)) = statement_of_postgresql(line) {
            continues = !starts_with(sql, "PREPARE");
            if !continues {
                continue;
            }
            let session =
                before.split('[').nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
            entries.push(Entry {
                session: Some(session.to_owned()),
                sql: sql.to_owned(),
                line: number + 1,
                count: 1,
            });
        } else if let Some((_, prepared)) = line.split_once("DETAIL:  prepare: ") {
            // The statement is EXECUTE, which says less.
            entries.last_mut().into_iter().for_each(|last| prepared.clone_into(&mut last.sql));
            continues = true;
        } else if line.contains(":  ") && !line.starts_with('\t') {
            continues = false;
        } else if let Some(last) = entries.last_mut().filter(|_| continues) {
            last.sql.push('\n');
            last.sql.push_str(line);
        }
    }
    entries
}

/// What precedes `LOG:` and the statement of `LOG:  statement: …`, `LOG:  execute name: …`, also after a duration.
fn statement_of_postgresql(line: &str) -> Option<(&str, &str)> {
    let (before, message) = line.split_once("LOG:  ")?;
    let message = match message.strip_prefix("duration: ") {
        Some(rest) => rest.split_once("ms  ")?.1,
        None => message,
    };
    let sql = match message.strip_prefix("statement: ") {
        Some(sql) => sql,
        None => message.strip_prefix("execute ")?.split_once(": ")?.1,
    };
    Some((before, sql))
}

fn mysql(text: &str, times: &mut Times) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut continues = false;
    for (number, line) in text.lines().enumerate() {
        if let Some((before, command, sql)) = command_of_mysql(line) {
            times.see(before);
            // What is prepared and executed in SQL is logged as a command of its own too.
            continues = command == "Execute" || (command == "Query" && !starts_with(sql, "EXECUTE"));
            if continues {
                let session = before.split_whitespace().last().map(str::to_owned);
                entries.push(Entry { session, sql: sql.to_owned(), line: number + 1, count: 1 });
            }
        } else if let Some(last) = entries.last_mut().filter(|_| continues) {
            last.sql.push('\n');
            last.sql.push_str(line);
        }
    }
    entries
}

fn statement_of_mysql(line: &str) -> Option<&str> {
    command_of_mysql(line)
        .filter(|(_, command, _)| ["Query", "Execute"].contains(command))
        .map(|(_, _, sql)| sql)
}

/// What precedes the command of a line of the general log, the command, and its argument.
fn command_of_mysql(line: &str) -> Option<(&str, &str, &str)> {
    let commands = [
        "Query",
        "Execute",
        "Connect",
        "Prepare",
        "Quit",
        "Init DB",
        "Close stmt",
        "Field List",
        "Statistics",
        "Ping",
    ];
    // The argument follows a tab; the time, if there is one, precedes another.
    let mut tabs = line.match_indices('\t').map(|(at, _)| at).take(4);
    let found = tabs.find_map(|at| {
        let command = commands.iter().find(|command| line[..at].ends_with(&format!(" {command}")))?;
        Some((&line[..at - command.len()], *command, &line[at + 1..]))
    });
    found.filter(|(before, ..)| before.split_whitespace().last().is_some_and(|id| id.parse::<u64>().is_ok()))
}

/// The first and the last time of a log, in seconds.
#[derive(Default)]
struct Times {
    first: Option<f64>,
    last: Option<f64>,
}

impl Times {
    fn see(&mut self, text: &str) {
        if let Some(time) = seconds(text) {
            self.first.get_or_insert(time);
            self.last = Some(time);
        }
    }

    fn span(&self) -> Option<f64> {
        self.first.zip(self.last).map(|(first, last)| last - first).filter(|span| *span > 0.0)
    }
}

/// The seconds of a time at the start of a text: `2026-04-05 10:30:00.250`, `2026-04-05T10:30:00Z`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<i64>().ok());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let fraction: String = text[19..].chars().skip(1).take_while(char::is_ascii_digit).take(9).collect();
    let fraction =
        if text[19..].starts_with('.') { format!("0.{fraction}").parse().unwrap_or(0.0) } else { 0.0 };
    let days = days_since_1970(year, month, day);
    Some((days * 86_400 + hour * 3_600 + minute * 60 + second) as f64 + fraction)
}

/// The days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // A year that starts in March ends with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::parse(
            "CREATE TABLE users (id int PRIMARY KEY, email text UNIQUE);
             CREATE TABLE orders (id int PRIMARY KEY, user_id int REFERENCES users, placed timestamp, state text);",
        )
        .unwrap()
    }

    fn counts(text: &str) -> Vec<(u64, Option<u64>)> {
        let log = QueryLog::parse(text, &schema()).unwrap();
        log.observed.values().map(|tally| (tally.count, tally.limit)).collect()
    }

    #[test]
    fn statements_are_grouped_by_shape() {
        let text = "SELECT * FROM users WHERE id = 1\nselect * from users u where u.id=$1;\nSELECT * FROM orders WHERE user_id = 3 ORDER BY placed DESC LIMIT 10\nselect * from orders where user_id = 9 order by placed desc limit 20";
        assert_eq!(counts(text), [(2, None), (2, Some(20))]);
    }

    #[test]
    fn the_log_of_postgresql_gives_times_and_transactions() {
        let text = "2026-04-05 10:00:00.000 UTC [7] LOG:  statement: BEGIN
2026-04-05 10:00:00.100 UTC [8] LOG:  execute <unnamed>: SELECT *
\tFROM users WHERE id = $1
2026-04-05 10:00:00.100 UTC [8] DETAIL:  parameters: $1 = '4'
2026-04-05 10:00:00.200 UTC [7] LOG:  duration: 0.2 ms  statement: INSERT INTO orders VALUES (1, 2, now(), 'x')
2026-04-05 10:00:01.000 UTC [7] LOG:  statement: UPDATE users SET email = 'x' WHERE id = 2
2026-04-05 10:00:10.000 UTC [7] LOG:  statement: COMMIT";
        let log = QueryLog::parse(text, &schema()).unwrap();
        assert_eq!(log.seconds, Some(10.0));
        assert_eq!(log.observed.len(), 1);
        assert_eq!(log.transactions.keys().next().unwrap().len(), 2);
    }

    #[test]
    fn statistics_and_the_general_log_are_read() {
        assert_eq!(
            counts("userid,query,calls\n10,\"SELECT * FROM users\nWHERE id = $1\",3600\n10,SHOW x,2"),
            [(3600, None)]
        );
        let general = "/usr/sbin/mysqld, Version: 8\n2026-04-05T10:00:00.000000Z\t    9 Connect\troot@localhost\n2026-04-05T10:00:01.000000Z\t    9 Query\tSELECT *\nFROM users WHERE id = 4\n2026-04-05T10:00:03.000000Z\t    9 Quit\t";
        let log = QueryLog::parse(general, &schema()).unwrap();
        assert_eq!((log.observed.len(), log.seconds), (1, Some(3.0)));
    }

    /// The text of the first statement, and how many columns select its rows.
    fn first(text: &str) -> (String, usize) {
        let log = QueryLog::parse(text, &schema()).unwrap();
        let (statement, tally) = log.observed.first_key_value().unwrap();
        let Statement::Select(select) = statement else { panic!("{statement:?}") };
        (tally.example.clone(), select.equals.len())
    }

    /// The shape of a SELECT, or why it has none.
    fn selected(sql: &str) -> Result<crate::relational::query::Select, String> {
        let log = QueryLog::parse(sql, &schema())?;
        match log.observed.into_keys().next() {
            Some(Statement::Select(select)) => Ok(select),
            Some(Statement::Unsupported { answer, .. }) => Err(answer),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn casts_that_keep_the_value_do_not_change_the_shape() {
        let plain = selected("SELECT * FROM orders WHERE user_id = $1 AND state = $2").unwrap();
        for same in [
            "user_id::text = $1::text AND state = 'x'::character varying(20)",
            "CAST(user_id AS bigint) = CAST($1 AS bigint) AND state = ANY($2)",
            "user_id = ANY ($1::int[]) AND state::varchar(20) = ANY(ARRAY['a', 'b']::text[])",
            "user_id = ($1)::integer AND state = $2::state",
            "user_id IN ($1, $2) AND state = lower($2)",
        ] {
            assert_eq!(selected(&format!("SELECT * FROM orders WHERE {same}")), Ok(plain.clone()), "{same}");
        }
        let join =
            |on: &str| selected(&format!("SELECT * FROM orders o JOIN users u ON {on} WHERE u.id = 1"));
        assert_eq!(join("o.user_id::text = u.id::text").unwrap().joins.len(), 1);
        assert!(join("o.user_id = u.id + 1").unwrap_err().contains("values and not expressions"));
    }

    #[test]
    fn casts_that_change_the_value_are_ranges_or_remarks() {
        let of = |test: &str| selected(&format!("SELECT * FROM orders WHERE user_id = 1 AND {test}"));
        for day in [
            "placed::date = $2",
            "CAST(placed AS date) BETWEEN $2 AND $3",
            "placed >= $2::timestamp with time zone",
        ] {
            let select = of(day).unwrap();
            assert_eq!((select.equals.len(), select.ranges.len()), (1, 1), "{day}");
        }
        assert!(of("id::bool = true").unwrap_err().contains("which the cast changes"));
        assert!(of("state = ALL($1)").unwrap_err().contains("values and not expressions"));
    }

    #[test]
    fn orders_and_limits_are_read_in_all_their_forms() {
        let of = |end: &str| {
            let log =
                QueryLog::parse(&format!("SELECT * FROM orders WHERE user_id = 1 {end}"), &schema()).unwrap();
            let (statement, tally) = log.observed.first_key_value().unwrap();
            let Statement::Select(select) = statement else { panic!("{statement:?}") };
            let order =
                select.order.iter().map(|((_, name), down)| format!("{name} {down}")).collect::<Vec<_>>();
            (order.join(", "), select.limited, tally.limit, select.skips)
        };
        let down = "placed true".to_owned();
        assert_eq!(of("ORDER BY placed DESC NULLS LAST LIMIT 10"), (down.clone(), true, Some(10), false));
        assert_eq!(of("ORDER BY placed DESC FETCH FIRST 5 ROWS ONLY"), (down.clone(), true, Some(5), false));
        assert_eq!(of("ORDER BY placed DESC FETCH FIRST ROW ONLY"), (down.clone(), true, Some(1), false));
        assert_eq!(of("ORDER BY placed DESC LIMIT 10 OFFSET 20"), (down.clone(), true, Some(10), true));
        assert_eq!(
            of("ORDER BY placed DESC OFFSET 20 ROWS FETCH NEXT 7 ROWS ONLY"),
            (down, true, Some(7), true)
        );
        assert_eq!(
            of("ORDER BY state COLLATE \"C\" ASC LIMIT ALL"),
            ("state false".to_owned(), false, None, false)
        );
        for expression in ["lower(state)", "placed + interval '1 day'", "2", "placed::date DESC"] {
            let sql = format!("SELECT * FROM orders WHERE user_id = 1 ORDER BY {expression}");
            assert!(selected(&sql).unwrap_err().contains("keys sort by attributes"), "{expression}");
        }
    }

    #[test]
    fn quotes_and_semicolons_in_texts_end_no_statement() {
        let query = "SELECT * FROM orders WHERE state = 'O\\'Brien' AND user_id = 7";
        let general = format!("2026-04-05T10:00:01.000000Z\t    9 Query\t{query}\n");
        let shape = "SELECT * FROM orders WHERE state = ? AND user_id = ?".to_owned();
        assert_eq!(first(&general), (shape.clone(), 2));
        let lines = "SELECT * FROM orders\n /* of 7 */ WHERE state = 'a;b'\n AND user_id = 7;";
        assert_eq!(first(lines), (shape, 2));
    }

    #[test]
    fn statistics_have_no_transactions() {
        let log = QueryLog::parse(
            "query,calls
COMMIT,3600
BEGIN,3600
UPDATE users SET email = $1 WHERE id = $2,36
DELETE FROM orders WHERE id = $1,7200
ROLLBACK,5",
            &schema(),
        )
        .unwrap();
        assert!(log.transactions.is_empty());
        let counts: Vec<(&str, u64)> =
            log.observed.values().map(|tally| (tally.example.as_str(), tally.count)).collect();
        assert_eq!(
            counts,
            [
                ("UPDATE users SET email = $1 WHERE id = $2", 36),
                ("DELETE FROM orders WHERE id = $1", 7200),
                ("BEGIN", 3600)
            ]
        );
    }

    #[test]
    fn a_transaction_that_is_open_when_the_log_ends_or_the_next_begins_is_counted() {
        let text = "2026-04-05 10:00:00.000 UTC [7] LOG:  statement: BEGIN
2026-04-05 10:00:00.200 UTC [7] LOG:  statement: INSERT INTO orders VALUES (1, 2, now(), 'x')
2026-04-05 10:00:01.000 UTC [7] LOG:  statement: UPDATE users SET email = 'x' WHERE id = 2
2026-04-05 10:00:02.000 UTC [7] LOG:  statement: BEGIN
2026-04-05 10:00:10.000 UTC [7] LOG:  statement: DELETE FROM orders WHERE id = 7";
        let log = QueryLog::parse(text, &schema()).unwrap();
        assert_eq!((log.observed.len(), log.transactions.len()), (1, 1));
    }

    #[test]
    fn prepared_statements_count_where_they_are_executed() {
        let prepare = "PREPARE q (int) AS SELECT * FROM orders WHERE user_id = $1";
        let log = format!(
            "2026-04-05 10:00:00.000 UTC [7] LOG:  statement: {prepare}
2026-04-05 10:00:00.200 UTC [7] LOG:  statement: EXECUTE q(1)
2026-04-05 10:00:00.200 UTC [7] DETAIL:  prepare: {prepare}
2026-04-05 10:00:00.400 UTC [7] LOG:  statement: EXECUTE q(2)
2026-04-05 10:00:00.400 UTC [7] DETAIL:  prepare: {prepare}"
        );
        assert_eq!(counts(&log), [(2, None)]);
        assert_eq!(first(&log).1, 1);
        assert_eq!(counts(&format!("query,calls\n\"{prepare}\",7")), [(7, None)]);
        let general =
            "2026-04-05T10:00:01.000000Z\t    9 Query\tPREPARE q FROM 'SELECT * FROM users WHERE id = ?'
2026-04-05T10:00:01.000000Z\t    9 Prepare\tSELECT * FROM users WHERE id = ?
2026-04-05T10:00:02.000000Z\t    9 Query\tEXECUTE q USING @a
2026-04-05T10:00:02.000000Z\t    9 Execute\tSELECT * FROM users WHERE id = 4";
        assert_eq!(counts(general), [(1, None)]);
        assert_eq!(first(general).1, 1);
    }

    #[test]
    fn what_was_prepared_before_is_remarked_on() {
        let log = QueryLog::parse("SELECT * FROM users WHERE id = 1;\nEXECUTE q(1);", &schema()).unwrap();
        let (statement, _) = log.observed.last_key_value().unwrap();
        assert!(matches!(statement, Statement::Unsupported { answer, .. } if answer.contains("prepared")));
    }

    #[test]
    fn what_reads_nothing_is_left_out() {
        let refused = |text: &str| QueryLog::parse(text, &schema()).unwrap_err();
        assert!(refused("SHOW TABLES").contains("reads or writes"));
        assert!(refused("SELECT * FROM users LIMIT 0").contains("reads or writes"));
        assert_eq!(counts("\u{feff}query,calls\nSELECT * FROM users WHERE id = $1,3"), [(3, None)]);
    }

    #[test]
    fn every_line_of_a_log_shows_how_long_it_took() {
        let text = "2026-04-05 10:00:00 UTC [7] LOG:  connection received
2026-04-05 10:00:05 UTC [7] LOG:  statement: SELECT * FROM users
2026-04-05 10:00:20 UTC [7] LOG:  disconnection";
        assert_eq!(QueryLog::parse(text, &schema()).unwrap().seconds, Some(20.0));
    }

    #[test]
    fn times_are_seconds_since_1970() {
        assert_eq!(seconds("1970-01-02T00:00:01.5Z"), Some(86_401.5));
        assert_eq!(seconds("2000-03-01 00:00:00"), Some(951_868_800.0));
        assert_eq!(seconds("noon"), None);
        assert_eq!(seconds("2000-03-01 00:00:0é"), None);
    }
}
