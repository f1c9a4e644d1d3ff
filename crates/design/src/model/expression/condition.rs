//! Condition expressions: `attribute_exists(PK) AND version = :version`.

use super::{Aliases, ExpressionError, Operand, Parser};
use crate::model::condition::{Comparator, Comparison, Condition, Constant};

/// A test of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// All of these hold.
    All(Vec<Test>),
    /// One of these holds.
    Any(Vec<Test>),
    /// This does not hold.
    Not(Box<Test>),
    /// A comparison.
    Compare(Operand, String, Operand),
    /// A value is one of several.
    Among(Operand, Vec<Operand>),
    /// A value is between two, both included.
    Between(Operand, Box<[Operand; 2]>),
    /// A function: `attribute_exists(PK)`.
    Call(String, Vec<Operand>),
}

/// A condition expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionExpression {
    /// The expression as it is written.
    pub text: String,
    /// What it tests.
    pub test: Test,
}

const FUNCTIONS: [(&str, usize); 5] = [
    ("attribute_exists", 1),
    ("attribute_not_exists", 1),
    ("attribute_type", 2),
    ("begins_with", 2),
    ("contains", 2),
];
const COMPARATORS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

impl Test {
    /// Returns what it is without an item; `None` if that depends on its values.
    fn without_item(&self) -> Option<bool> {
        match self {
            Test::All(tests) => joint(tests, false),
            Test::Any(tests) => joint(tests, true),
            Test::Not(test) => test.without_item().map(|holds| !holds),
            Test::Compare(left, comparator, right) => match comparator.as_str() {
                "<>" => {
                    let compared = [(left, right), (right, left)].into_iter();
                    let is_value = |operand: &Operand| matches!(operand, Operand::Value(_));
                    let mut paths =
                        compared.filter(|(side, other)| side.attribute().is_some() && is_value(other));
                    paths.next().map(|_| true)
                }
                _ => (left.reads_item() || right.reads_item()).then_some(false),
            },
            Test::Among(operand, others) => {
                (operand.reads_item() || others.iter().all(Operand::reads_item)).then_some(false)
            }
            Test::Between(operand, bounds) => {
                (operand.reads_item() || bounds.iter().any(Operand::reads_item)).then_some(false)
            }
            Test::Call(name, operands) => {
                operands.first()?.reads_item().then_some(name == "attribute_not_exists")
            }
        }
    }

    /// Returns the condition that it is for declared values of its placeholders; `None` if one of them is not declared, or no condition says the same.
    fn to_condition(&self, values: &Aliases) -> Option<Condition> {
        let all = |tests: &[Test]| tests.iter().map(|test| test.to_condition(values)).collect::<Option<_>>();
        let value = |operand: &Operand| match operand {
            Operand::Value(placeholder) => values.get(placeholder).cloned().map(Constant::Text),
            _ => None,
        };
        let test = |operand: &Operand, comparison| Some(Condition::test(operand.attribute()?, comparison));
        match self {
            Test::All(tests) => Some(Condition::All(all(tests)?)),
            Test::Any(tests) => Some(Condition::Any(all(tests)?)),
            Test::Not(test) => Some(Condition::Not(Box::new(test.to_condition(values)?))),
            Test::Compare(left, symbol, right) => {
                let comparator = Comparator::of_symbol(symbol)?;
                match (value(left), value(right)) {
                    (None, Some(right)) => test(left, Comparison::Is(comparator, right)),
                    (Some(left), None) => test(right, Comparison::Is(comparator.mirrored(), left)),
                    _ => None,
                }
            }
            Test::Among(operand, others) => {
                test(operand, Comparison::Among(others.iter().map(value).collect::<Option<_>>()?))
            }
            Test::Between(operand, bounds) => {
                test(operand, Comparison::Between(value(&bounds[0])?, value(&bounds[1])?))
            }
            Test::Call(name, operands) => {
                let text = || Some(value(operands.get(1)?)?.as_str().to_owned());
                let first = operands.first()?;
                match name.as_str() {
                    "attribute_exists" => test(first, Comparison::Exists),
                    "attribute_not_exists" => {
                        Some(Condition::Not(Box::new(test(first, Comparison::Exists)?)))
                    }
                    "begins_with" => test(first, Comparison::BeginsWith(text()?)),
                    "contains" => test(first, Comparison::Contains(text()?)),
                    _ => None,
                }
            }
        }
    }
}

/// What several tests are together without an item, of which one that is `decisive` decides.
fn joint(tests: &[Test], decisive: bool) -> Option<bool> {
    let mut all = tests.iter().map(Test::without_item);
    let is_known = all.clone().all(|one| one.is_some());
    let is_decided = all.any(|one| one == Some(decisive));
    if is_decided { Some(decisive) } else { is_known.then_some(!decisive) }
}

impl ConditionExpression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// Returns the first mistake and its position.
    pub fn parse(text: &str, aliases: &Aliases) -> Result<ConditionExpression, ExpressionError> {
        let mut parser = Parser::new(text, aliases)?;
        let test = parser.any()?;
        if !parser.tokens.text().is_empty() {
            return Err(parser.expected("AND or OR"));
        }
        Ok(ConditionExpression { text: text.to_owned(), test })
    }

    /// Returns the tests that must all hold.
    pub fn conjuncts(&self) -> Vec<&Test> {
        let mut found = Vec::new();
        let mut open = vec![&self.test];
        while let Some(test) = open.pop() {
            match test {
                Test::All(tests) => open.extend(tests),
                other => found.push(other),
            }
        }
        found
    }

    /// Returns whether it holds only if an attribute is absent.
    pub fn requires_absence(&self, attribute: &str) -> bool {
        self.calls("attribute_not_exists", |name| name == attribute)
    }

    /// Returns whether it holds only for an item that exists.
    pub fn requires_item(&self) -> bool {
        self.test.without_item() == Some(false)
    }

    /// Returns what it says of an item, as far as the values of its placeholders are declared.
    pub fn known(&self, values: &Aliases) -> Condition {
        let known = self.conjuncts().into_iter().filter_map(|test| test.to_condition(values));
        Condition::All(known.collect())
    }

    /// Returns whether it holds only if an attribute has a given value.
    pub fn requires_value(&self, attribute: &str) -> bool {
        self.required_value(attribute).is_some()
    }

    /// Returns the value that an attribute must have. What the item itself holds is no such value.
    pub fn required_value(&self, attribute: &str) -> Option<&Operand> {
        let required = self.conjuncts().into_iter().filter_map(|test| match test {
            Test::Compare(left, comparator, right) if comparator == "=" => {
                let is_own = |side: &Operand| side.attribute() == Some(attribute);
                if is_own(left) { Some(right) } else { is_own(right).then_some(left) }
            }
            _ => None,
        });
        required.into_iter().find(|operand| matches!(operand, Operand::Value(_)))
    }

    /// Returns the attributes that it tests.
    pub fn attributes(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.visit(&mut |operand| {
            if let Operand::Path(path) = operand {
                names.push(path.attribute.as_str());
            }
        });
        names
    }

    /// Calls `visit` for every test, and for the tests in it.
    pub fn visit_tests<'a>(&'a self, visit: &mut impl FnMut(&'a Test)) {
        let mut open = vec![&self.test];
        while let Some(test) = open.pop() {
            visit(test);
            match test {
                Test::All(tests) | Test::Any(tests) => open.extend(tests),
                Test::Not(test) => open.push(test),
                Test::Compare(..) | Test::Among(..) | Test::Between(..) | Test::Call(..) => {}
            }
        }
    }

    /// Calls `visit` for every operand.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Operand)) {
        self.visit_tests(&mut |test| match test {
            Test::All(_) | Test::Any(_) | Test::Not(_) => {}
            Test::Compare(left, _, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Test::Among(operand, others) => {
                operand.visit(visit);
                others.iter().for_each(|other| other.visit(visit));
            }
            Test::Between(operand, bounds) => {
                operand.visit(visit);
                bounds.iter().for_each(|bound| bound.visit(visit));
            }
            Test::Call(_, operands) => operands.iter().for_each(|operand| operand.visit(visit)),
        });
    }

    fn calls(&self, function: &str, fits: impl Fn(&str) -> bool) -> bool {
        self.conjuncts().iter().any(|test| match test {
            Test::Call(name, operands) => {
                name == function && operands.first().and_then(Operand::attribute).is_some_and(&fits)
            }
            _ => false,
        })
    }
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Test, ExpressionError> {
        let mut tests = vec![self.all()?];
        while self.tokens.take("OR") {
            tests.push(self.all()?);
        }
        Ok(joined(tests, Test::Any))
    }

    fn all(&mut self) -> Result<Test, ExpressionError> {
        let mut tests = vec![self.nested(Self::single)?];
        while self.tokens.take("AND") {
            tests.push(self.nested(Self::single)?);
        }
        Ok(joined(tests, Test::All))
    }

    fn single(&mut self) -> Result<Test, ExpressionError> {
        if self.tokens.take("NOT") {
            return Ok(Test::Not(Box::new(self.nested(Self::single)?)));
        }
        if self.tokens.take("(") {
            let inside = self.nested(Self::any)?;
            self.symbol(")")?;
            return Ok(inside);
        }
        let function = FUNCTIONS.iter().find(|(name, _)| self.tokens.text() == *name);
        if let Some((name, wanted)) = function.filter(|_| self.tokens.follows("(")) {
            self.tokens.advance();
            let operands = self.arguments(&["size"])?;
            if operands.len() != *wanted {
                return Err(self.error(format!("{name} takes {wanted} operands, not {}", operands.len())));
            }
            return Ok(Test::Call((*name).to_owned(), operands));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Test, ExpressionError> {
        let left = self.operand(&["size"])?;
        if self.tokens.take("BETWEEN") {
            let from = self.operand(&["size"])?;
            self.symbol("AND")?;
            return Ok(Test::Between(left, Box::new([from, self.operand(&["size"])?])));
        }
        if self.tokens.take("IN") {
            return Ok(Test::Among(left, self.arguments(&["size"])?));
        }
        if !COMPARATORS.contains(&self.tokens.text()) {
            return Err(self.expected("a comparison"));
        }
        let comparator = self.tokens.advance().to_owned();
        Ok(Test::Compare(left, comparator, self.operand(&["size"])?))
    }
}

fn joined(mut tests: Vec<Test>, join: fn(Vec<Test>) -> Test) -> Test {
    if tests.len() == 1 { tests.remove(0) } else { join(tests) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ConditionExpression, ExpressionError> {
        ConditionExpression::parse(text, &Aliases::new())
    }

    #[test]
    fn what_a_condition_requires() {
        let locked = parse("attribute_exists(PK) and (version = :v AND NOT contains(tags, :t))").unwrap();
        assert!(locked.requires_item() && locked.requires_value("version") && !locked.requires_absence("PK"));
        let either = parse("attribute_not_exists(PK) OR version = :v").unwrap();
        assert!(
            !either.requires_item() && !either.requires_value("version") && !either.requires_absence("PK")
        );
        assert!(parse("attribute_not_exists(PK)").unwrap().requires_absence("PK"));
        for (text, is_required) in [
            ("#status <> :s", false),
            ("NOT #status <> :s", true),
            ("#status = :free OR (#status = :held AND holdUntil < :now)", true),
            ("#status = :free OR attribute_not_exists(#status)", false),
            ("size(tags) > :n", true),
            ("NOT attribute_not_exists(PK)", true),
            ("NOT (version = :v)", false),
            (":a IN (version, :b)", false),
            (":a BETWEEN version AND :b", true),
        ] {
            assert_eq!(parse(text).unwrap().requires_item(), is_required, "{text}");
        }
        assert!(!parse("version = version").unwrap().requires_value("version"));
        assert!(parse("version = version AND :v = version").unwrap().requires_value("version"));
        assert!(parse("size(tags) < :n AND #status IN (:a, :b) AND x BETWEEN :a AND :b").is_ok());
    }

    #[test]
    fn a_condition_says_what_its_declared_values_show() {
        let values: Aliases = [(":a", "NEW"), (":b", "PAID"), (":n", "5")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        for (text, known) in [
            ("#status = :a AND version = :v", "status == 'NEW'"),
            (":n < score", "score > '5'"),
            ("#status IN (:a, :b) AND NOT (score <= :n)", "not score <= '5' and status in ('NEW', 'PAID')"),
            (
                "score BETWEEN :n AND :n OR attribute_not_exists(due)",
                "score between '5' and '5' or missing(due)",
            ),
            ("#status = :a OR version = :v", ""),
            ("NOT (#status = :a AND version = :v)", ""),
            ("size(tags) > :n AND address.city = :a", ""),
        ] {
            let known_of = parse(text).unwrap().known(&values);
            let parts: Vec<String> = known_of.conjuncts().iter().map(|part| part.to_string()).collect();
            assert_eq!(parts.join(" and "), known, "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_position() {
        for (text, at) in [
            ("", 0),
            ("version", 7),
            ("version == :v", 9),
            ("exists(PK)", 0),
            ("status = :s", 0),
            ("a = :b c = :d", 7),
            ("attribute_exists(PK, SK)", 24),
            ("(a = :b", 7),
        ] {
            assert_eq!(parse(text).unwrap_err().at, at, "{text}");
        }
        assert!(parse(&"NOT ".repeat(500)).is_err() && parse(&"(".repeat(4_000)).is_err());
    }
}
