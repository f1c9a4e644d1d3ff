//! Bound statements.

use crate::binding;
use crate::error::StatementError;
use crate::syntax::ParsedStatement;
use crate::syntax::statement_parser;
use partita_expression::{Condition, ParseCache, Projection, parse_cached};
use partita_value::names::TableName;
use partita_value::{Item, Value};
use std::cell::RefCell;

/// A statement with its parameters filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT.
    Select(Select),
    /// EXISTS, which is only allowed in write transactions.
    Exists(Select),
    /// INSERT.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
}

/// A SELECT statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// The table to read.
    pub table: TableName,
    /// The index to read, if any.
    pub index: Option<String>,
    /// The columns; `None` is `*`.
    pub projection: Option<Projection>,
    /// The WHERE clause.
    pub condition: Option<Condition>,
    /// The ORDER BY clause.
    pub order: Vec<Order>,
}

/// One term of `ORDER BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The name of the attribute.
    pub attribute: String,
    /// Whether the order is descending.
    pub descending: bool,
}

/// An INSERT statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// The table to write.
    pub table: TableName,
    /// The new item.
    pub item: Item,
}

/// An UPDATE statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The table to write.
    pub table: TableName,
    /// The SET and REMOVE clauses.
    pub update: partita_expression::Update,
    /// The WHERE clause.
    pub condition: Option<Condition>,
    /// The RETURNING clause.
    pub returning: Option<Returning>,
}

/// A DELETE statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// The table to write.
    pub table: TableName,
    /// The WHERE clause.
    pub condition: Option<Condition>,
    /// Whether the deleted item is returned.
    pub returning: bool,
}

/// A RETURNING clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returning {
    /// The old item.
    AllOld,
    /// The updated parts of the old item.
    ModifiedOld,
    /// The new item.
    AllNew,
    /// The updated parts of the new item.
    ModifiedNew,
}

thread_local! {
    static STATEMENTS: ParseCache<ParsedStatement> = RefCell::default();
}

impl Statement {
    /// Parses the text, or takes the tree from the cache, and binds the parameters.
    pub fn parse(text: &str, parameters: &[Value]) -> Result<Statement, StatementError> {
        let parsed = parse_cached(&STATEMENTS, text, || statement_parser::parse(text))?;
        binding::bind(&parsed, parameters)
    }

    /// Returns the table that the statement reads or writes.
    pub fn table(&self) -> &TableName {
        match self {
            Statement::Select(select) | Statement::Exists(select) => &select.table,
            Statement::Insert(insert) => &insert.table,
            Statement::Update(update) => &update.table,
            Statement::Delete(delete) => &delete.table,
        }
    }

    /// Returns whether it only reads. EXISTS counts as a write.
    pub fn is_read(&self) -> bool {
        matches!(self, Statement::Select(_))
    }

    /// Returns whether it returns the item it changed.
    pub fn has_returning(&self) -> bool {
        match self {
            Statement::Update(update) => update.returning.is_some(),
            Statement::Delete(delete) => delete.returning,
            Statement::Select(_) | Statement::Exists(_) | Statement::Insert(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::AttributeValue;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Statement {
        Statement::parse(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn error(text: &str) -> String {
        match Statement::parse(text, &[]) {
            Err(error) => error.to_string(),
            Ok(statement) => panic!("{text}: {statement:?}"),
        }
    }

    #[test]
    fn selects_name_table_index_and_columns() {
        let Statement::Select(select) = parsed("SELECT a, b.c, d[0] FROM \"Music\".\"by Year\"") else {
            panic!("not a select")
        };
        assert_eq!((select.table.as_str(), select.index.as_deref()), ("Music", Some("by Year")));
        let item: Item = [
            ("b", AttributeValue::M([("c".to_owned(), AttributeValue::Null)].into())),
            ("d", AttributeValue::L(vec![AttributeValue::Bool(true)])),
            ("e", AttributeValue::Null),
        ]
        .into_iter()
        .collect();
        let shown = select.projection.map(|projection| format!("{:?}", projection.apply(item.view())));
        assert_eq!(shown.as_deref(), Some(r#"{"c": Null, "d[0]": Bool(true)}"#));
    }

    #[test]
    fn nested_appends_keep_the_order_and_the_size_limit() {
        let after = |value: &str, a: Vec<AttributeValue>| {
            let statement = parsed(&format!("UPDATE Music SET b = {value} WHERE pk = 1"));
            let Statement::Update(update) = statement else { panic!("not an update") };
            let item: Item = [("a", AttributeValue::L(a)), ("t", AttributeValue::Null)].into_iter().collect();
            let after = update.update.apply(Some(item.view()), Item::default().view());
            after.map(|item| format!("{:?}", item.get("b"))).map_err(|error| error.to_string())
        };
        let texts = |count: usize| vec![AttributeValue::S("x".to_owned()); count];
        let nested = "list_append(list_append(['1'], a), list_append(['2'], list_append(a, ['3'])))";
        let flat = "['1', 'x', '2', 'x', '3']";
        assert_eq!(after(nested, texts(1)), after(flat, texts(1)));
        assert!(after("list_append(list_append(a, a), t)", texts(1)).is_err());
        assert!(after("list_append(list_append(a, a), a)", texts(60_000)).is_ok());
        assert!(after("list_append(list_append(a, a), list_append(a, a))", texts(60_000)).is_err());
    }

    #[test]
    fn parameters_are_bound_in_order() {
        let text = "INSERT INTO tab VALUE {'a': ?, 'b': [1], 'c': ?}";
        let values = [Value::string("x"), Value::string("y")];
        let Ok(Statement::Insert(insert)) = Statement::parse(text, &values) else { panic!("not an insert") };
        assert_eq!(insert.item.get("c"), Some(values[1].view()));
        let count = "Number of parameters in request and statement don't match.";
        for given in [0, 1, 3] {
            let values = vec![Value::string("x"); given];
            assert_eq!(Statement::parse(text, &values).map_err(|error| error.to_string()), Err(count.into()));
        }
    }

    #[test]
    fn writes_have_conditions_and_returning_clauses() {
        let Statement::Update(update) = parsed(
            "UPDATE tab SET a = b + 1 - 2, c.d = [<<1>>] REMOVE e[0] WHERE k = 1 AND f = 2 RETURNING MODIFIED OLD *",
        ) else {
            panic!("not an update")
        };
        assert_eq!(update.returning, Some(Returning::ModifiedOld));
        assert_eq!(update.update.target_roots().collect::<Vec<_>>(), ["a", "c", "e"]);
        assert!(parsed("DELETE FROM tab WHERE k = 1 RETURNING ALL OLD *").has_returning());
        assert!(matches!(parsed("FROM tab WHERE k = 1 SET a = 1;"), Statement::Update(_)));
        assert!(matches!(parsed("EXISTS(SELECT * FROM tab WHERE k = 1)"), Statement::Exists(_)));
    }

    #[test]
    fn unsupported_statements_are_rejected() {
        for (text, message) in [
            ("x IS INT4", "Unsupported operation: IsType"),
            ("SELECT * FROM tab t", "Aliasing is not supported"),
            ("SELECT a AS b FROM tab", "Aliasing is not supported"),
            ("SELECT * FROM tab, other", "Only select from a single table or index is supported."),
            ("SELECT * FROM (tab = 1)", "Unexpected from source"),
            ("SELECT * FROM a.b.c", "A path may contain at most 2 components in the FROM clause"),
            ("SELECT * FROM tab[0]", "Invalid list expression in source."),
            ("SELECT * FROM tab LIMIT 5", "Unsupported clause: LIMIT"),
            ("SELECT VALUE a FROM tab", "Select projection doesn't support value or pivot keywords"),
            ("SELECT count(*) FROM tab", "Unexpected path component at 1:8:5"),
            ("SELECT a.* FROM tab", "Changing item's hierarchy while reading isn't supported"),
            ("SELECT a[*] FROM tab", "Wildcard path component like a[*].b are not supported"),
            (
                "SELECT * FROM tab WHERE a LIKE 'x'",
                "Unsupported operator in Condition Expression. Operator: LIKE",
            ),
            (
                "SELECT * FROM tab WHERE a",
                "WHERE clause must contain an expression that resolves to a boolean",
            ),
            ("SELECT * FROM tab WHERE a AND b = 1", "The arguments to AND/OR must be Expressions"),
            ("SELECT * FROM tab WHERE NOT a", "The argument to NOT must be a Type or Expression"),
            ("SELECT * FROM tab WHERE a = MISSING", "MISSING must be compared using IS operator"),
            (
                "SELECT * FROM tab WHERE a IN []",
                "IN operator must have a left hand argument of type Variable Reference",
            ),
            ("SELECT * FROM tab WHERE a IS DATE", "Unsupported data type for IS operator: DATE."),
            ("INSERT INTO tab VALUE [1]", "Unsupported format in item expression."),
            ("INSERT INTO tab <<{'a': 1}>>", "Unsupported operation: Inserting multiple items"),
            ("INSERT INTO tab VALUE {a: 1}", "Tuple keys must be of type String."),
            ("INSERT INTO tab VALUE {'a': 1, 'a': 2}", "Duplicate keys in tuple. Key: a under root"),
            (
                "INSERT INTO tab VALUE {'a': b}",
                "Unsupported data type: VariableReference under key root at 1:29:1",
            ),
            ("INSERT INTO tab VALUE {'a': <<>>}", "Empty bags are not supported at 1:29:2"),
            (
                "INSERT INTO tab VALUE {'a': <<1, true>>}",
                "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags at 1:34:4",
            ),
            ("UPDATE tab SET a = b = 1", "Unsupported operator in Update Expression. Operator: ="),
            ("UPDATE tab SET a = 1, a.b = 2 WHERE k = 1", "Two document paths overlap with each other;"),
            ("UPDATE tab SET a = 1 RETURNING ALL NEW", "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD )"),
            (
                "DELETE FROM tab RETURNING ALL OLD *, ALL OLD *",
                "Invalid syntax with multiple returning elements",
            ),
            ("SELECT * FROM \"a b\"", "Table name should be within the length [3, 255]"),
        ] {
            let error = error(text);
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_words_do_not_panic(words in prop::collection::vec(
            prop::sample::select(vec![
                "SELECT", "*", "FROM", "tab", "WHERE", "a", "b", "=", "1", "'t'", "?", "AND", "OR", "NOT", "IN", "[", "]", "(",
                ")", "<<", ">>", "{", "}", ":", ",", ".", "UPDATE", "SET", "REMOVE", "DELETE", "INSERT", "INTO", "VALUE",
                "RETURNING", "ALL", "OLD", "ORDER", "BY", "EXISTS", "size", "set_add", "list_append", "+", "-", "IS", "MISSING",
            ]), 0..30)) {
            let _ = Statement::parse(&words.join(" "), &[Value::string("x")]);
        }
    }
}
