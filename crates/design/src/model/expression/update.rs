//! Update expressions: `SET status = :status, version = version + :one REMOVE dueDate ADD views :one`.

use super::{Aliases, ExpressionError, Operand, Parser, Path};
use std::collections::BTreeSet;

/// A clause of an update expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clause {
    /// Sets attributes.
    Set,
    /// Removes attributes.
    Remove,
    /// Adds to numbers and sets.
    Add,
    /// Deletes elements from sets.
    Delete,
}

/// One change of an update expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The clause.
    pub clause: Clause,
    /// What changes.
    pub path: Path,
    /// The value; `None` in `REMOVE`.
    pub value: Option<Operand>,
}

/// An update expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateExpression {
    /// The expression as it is written.
    pub text: String,
    /// Its changes.
    pub changes: Vec<Change>,
}

impl Change {
    /// Returns whether it sets a whole attribute.
    pub fn is_whole(&self) -> bool {
        self.path.inside.is_empty()
    }

    /// Returns whether it sets an attribute to what it is.
    pub fn is_idle(&self) -> bool {
        self.clause == Clause::Set
            && self.is_whole()
            && self.value.as_ref().is_some_and(|value| self.is_own(value))
    }

    /// Returns whether it leaves an attribute that exists as it is.
    fn is_kept(&self) -> bool {
        let keeps = |value: &Operand| match value {
            Operand::Call(name, operands) => {
                name == "if_not_exists" && operands.first().is_some_and(|first| self.is_own(first))
            }
            _ => false,
        };
        self.is_idle() || (self.is_whole() && self.value.as_ref().is_some_and(keeps))
    }

    fn is_own(&self, value: &Operand) -> bool {
        value.attribute() == Some(&self.path.attribute)
    }

    /// Returns whether it can make a number greater: it sets another value, or adds one.
    pub fn can_grow(&self) -> bool {
        match self.clause {
            Clause::Set => !self.is_kept() && !matches!(self.value, Some(Operand::Sum(_, '-', _))),
            Clause::Add => true,
            Clause::Remove | Clause::Delete => false,
        }
    }

    /// Returns whether it removes a whole attribute.
    pub fn removes(&self) -> bool {
        self.clause == Clause::Remove && self.is_whole()
    }
}

impl UpdateExpression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// Returns the first mistake and its position.
    pub fn parse(text: &str, aliases: &Aliases) -> Result<UpdateExpression, ExpressionError> {
        let mut parser = Parser::new(text, aliases)?;
        let changes = parser.changes()?;
        Ok(UpdateExpression { text: text.to_owned(), changes })
    }

    /// Returns whether it leaves an attribute as it is where an item has it: `SET hour = if_not_exists(hour, :hour)`.
    pub fn keeps(&self, attribute: &str) -> bool {
        let mut own = self.changes.iter().filter(|change| change.path.attribute == attribute);
        own.all(Change::is_kept)
    }

    /// Returns the attributes that it changes.
    pub fn touched(&self) -> BTreeSet<&str> {
        let changed = self.changes.iter().filter(|change| !change.is_idle());
        changed.map(|change| change.path.attribute.as_str()).collect()
    }
}

const CLAUSES: [(&str, Clause); 4] =
    [("SET", Clause::Set), ("REMOVE", Clause::Remove), ("ADD", Clause::Add), ("DELETE", Clause::Delete)];

impl Parser<'_> {
    fn changes(&mut self) -> Result<Vec<Change>, ExpressionError> {
        let mut changes: Vec<Change> = Vec::new();
        let mut clauses = BTreeSet::new();
        while !self.tokens.text().is_empty() || clauses.is_empty() {
            let Some((word, clause)) = CLAUSES.into_iter().find(|(word, _)| self.tokens.is(word)) else {
                return Err(self.expected("SET, REMOVE, ADD or DELETE"));
            };
            if !clauses.insert(clause) {
                return Err(self.error(format!("{word} occurs twice; list everything after the first one")));
            }
            self.tokens.advance();
            loop {
                let at = self.tokens.at();
                let change = self.change(clause)?;
                if let Some(other) = changes.iter().find(|other| overlaps(&other.path, &change.path)) {
                    let (attribute, inside) = (&other.path.attribute, &other.path.inside);
                    let message = format!("{attribute}{inside} is changed twice, which DynamoDB refuses");
                    return Err(ExpressionError { at, message });
                }
                changes.push(change);
                if !self.tokens.take(",") {
                    break;
                }
            }
        }
        Ok(changes)
    }

    fn change(&mut self, clause: Clause) -> Result<Change, ExpressionError> {
        let path = self.path()?;
        let value = match clause {
            Clause::Set => {
                self.symbol("=")?;
                Some(self.sum()?)
            }
            Clause::Remove => None,
            Clause::Add | Clause::Delete => Some(Operand::Value(self.placeholder()?)),
        };
        Ok(Change { clause, path, value })
    }

    fn sum(&mut self) -> Result<Operand, ExpressionError> {
        const FUNCTIONS: [&str; 2] = ["if_not_exists", "list_append"];
        let left = self.operand(&FUNCTIONS)?;
        for sign in ['+', '-'] {
            if self.tokens.take(&sign.to_string()) {
                let right = self.operand(&FUNCTIONS)?;
                return Ok(Operand::Sum(Box::new(left), sign, Box::new(right)));
            }
        }
        Ok(left)
    }
}

/// Whether one path is the other, or a part of it.
fn overlaps(left: &Path, right: &Path) -> bool {
    let is_part = |part: &str, whole: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    left.attribute == right.attribute
        && (is_part(&left.inside, &right.inside) || is_part(&right.inside, &left.inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<UpdateExpression, ExpressionError> {
        UpdateExpression::parse(text, &Aliases::from([("#s".to_owned(), "status".to_owned())]))
    }

    #[test]
    fn clauses_name_what_they_change() {
        let text =
            "SET #s = :s, version = if_not_exists(version, :zero) + :one REMOVE dueDate, tags[1] ADD hits :n";
        let update = parse(text).unwrap();
        let touched: Vec<&str> = update.touched().into_iter().collect();
        assert_eq!(touched, ["dueDate", "hits", "status", "tags", "version"]);
        let removed: Vec<&str> =
            update.changes.iter().filter(|c| c.removes()).map(|c| c.path.attribute.as_str()).collect();
        assert_eq!(removed, ["dueDate"]);
    }

    #[test]
    fn a_version_grows_or_stays() {
        for (text, grows) in [
            ("SET v = v + :one", true),
            ("SET v = if_not_exists(v, :zero) + :one", true),
            ("SET v = :next", true),
            ("ADD v :one", true),
            ("SET v = if_not_exists(v, :one)", false),
            ("SET v = v", false),
            ("SET v = v - :one", false),
        ] {
            assert_eq!(parse(text).unwrap().changes[0].can_grow(), grows, "{text}");
        }
    }

    #[test]
    fn two_parts_of_an_attribute_may_change() {
        assert!(parse("SET a.street = :a, a.streetName = :b, b[1] = :a, b[10] = :b").is_ok());
    }

    #[test]
    fn what_dynamodb_refuses_is_refused_at_its_column() {
        for (text, at, message) in [
            ("", 0, "SET, REMOVE, ADD or DELETE is missing"),
            ("status = :s", 0, "SET, REMOVE, ADD or DELETE"),
            ("SET status = :s", 4, "reserved word"),
            ("SET a :s", 6, "`=`"),
            ("SET a = 'x'", 8, "placeholders"),
            ("SET a = :a, ", 12, "an attribute is missing"),
            ("SET a = :a SET b = :b", 11, "SET occurs twice"),
            ("SET a = :a REMOVE a", 18, "changed twice"),
            ("SET a.b = :a, a = :b", 14, "changed twice"),
            ("SET a.b = :a REMOVE a.b[0]", 20, "changed twice"),
            ("ADD a = :b", 6, "a value such as"),
            ("SET a = upper(b)", 8, "not a function"),
            ("SET a = if_not_exists(b)", 24, "takes 2 operands"),
            ("REMOVE a[b]", 9, "the number of an element"),
            ("SET a = :", 8, "needs a name"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.at == at && error.message.contains(message), "{text}: {error:?}");
        }
    }
}
