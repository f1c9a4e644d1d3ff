//! Update and condition expressions as the application sends them: `SET #status = :status REMOVE dueDate`.
//!
//! The grammar is DynamoDB's, and what DynamoDB refuses is refused here, with its position. An alias stands for the attribute that `names` gives
//! it, or for the one of the same name.

mod condition;
mod tokens;
mod update;

pub use condition::{ConditionExpression, Test};
pub use update::{Change, Clause, UpdateExpression};

use std::collections::BTreeMap;
use tokens::{Kind, Tokens};

/// The longest expression that DynamoDB accepts.
const MAX_BYTES: usize = 4_096;
/// How deeply parentheses and functions may be nested.
const MAX_DEPTH: usize = 32;

/// The attributes that aliases stand for: `#status` → `status`.
pub type Aliases = BTreeMap<String, String>;

/// A mistake in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The byte offset of the mistake.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// A path: an attribute, or a part of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The attribute.
    pub attribute: String,
    /// What follows it: `.street`, `[0]`.
    pub inside: String,
}

/// A value in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value at a path.
    Path(Path),
    /// A placeholder: `:status`.
    Value(String),
    /// A function: `if_not_exists(views, :zero)`, `size(tags)`.
    Call(String, Vec<Operand>),
    /// A sum or difference.
    Sum(Box<Operand>, char, Box<Operand>),
}

impl Operand {
    /// Returns the attribute, if the operand is one as a whole.
    pub fn attribute(&self) -> Option<&str> {
        match self {
            Operand::Path(path) if path.inside.is_empty() => Some(&path.attribute),
            _ => None,
        }
    }

    /// Returns whether it is something that the item holds.
    pub fn reads_item(&self) -> bool {
        let mut reads = false;
        self.visit(&mut |operand| reads |= matches!(operand, Operand::Path(_)));
        reads
    }

    /// Calls `visit` for every placeholder and attribute in it.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Operand)) {
        visit(self);
        match self {
            Operand::Path(_) | Operand::Value(_) => {}
            Operand::Call(_, operands) => operands.iter().for_each(|operand| operand.visit(visit)),
            Operand::Sum(left, _, right) => {
                left.visit(visit);
                right.visit(visit);
            }
        }
    }
}

/// Returns whether DynamoDB accepts a name in an expression only through an alias.
pub fn needs_alias(name: &str) -> bool {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    !plain || is_reserved_word(name)
}

fn is_reserved_word(name: &str) -> bool {
    static WORDS: std::sync::OnceLock<std::collections::HashSet<&str>> = std::sync::OnceLock::new();
    let words =
        WORDS.get_or_init(|| include_str!("expression/reserved_words.txt").split_whitespace().collect());
    words.contains(name.to_ascii_uppercase().as_str())
}

/// The parts of the grammar that both kinds of expression have.
struct Parser<'a> {
    tokens: Tokens<'a>,
    aliases: &'a Aliases,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, aliases: &'a Aliases) -> Result<Parser<'a>, ExpressionError> {
        if text.len() > MAX_BYTES {
            let message = format!("an expression has at most {MAX_BYTES} bytes");
            return Err(ExpressionError { at: 0, message });
        }
        Ok(Parser { tokens: Tokens::new(text)?, aliases, depth: 0 })
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError { at: self.tokens.at(), message: message.into() }
    }

    fn expected(&self, wanted: &str) -> ExpressionError {
        match self.tokens.text() {
            "" => self.error(format!("{wanted} is missing at the end")),
            found => self.error(format!("{wanted} is expected here, not `{found}`")),
        }
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.tokens.take(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Goes one level deeper, if that is allowed.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("this is nested too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn placeholder(&mut self) -> Result<String, ExpressionError> {
        if self.tokens.kind() != Kind::Placeholder {
            return Err(self.expected("a value such as `:value`"));
        }
        Ok(self.tokens.advance().to_owned())
    }

    fn path(&mut self) -> Result<Path, ExpressionError> {
        let attribute = self.name()?;
        let mut inside = String::new();
        loop {
            if self.tokens.take(".") {
                inside.push('.');
                inside.push_str(&self.name()?);
            } else if self.tokens.take("[") {
                let number = self.tokens.text().to_owned();
                if self.tokens.kind() != Kind::Number {
                    return Err(self.expected("the number of an element"));
                }
                self.tokens.advance();
                self.symbol("]")?;
                inside.push_str(&format!("[{number}]"));
            } else {
                return Ok(Path { attribute, inside });
            }
        }
    }

    fn name(&mut self) -> Result<String, ExpressionError> {
        match self.tokens.kind() {
            Kind::Alias => {
                let alias = self.tokens.advance();
                Ok(self.aliases.get(alias).cloned().unwrap_or_else(|| alias[1..].to_owned()))
            }
            Kind::Word if is_reserved_word(self.tokens.text()) => {
                let word = self.tokens.text();
                Err(self.error(format!("`{word}` is a reserved word, which DynamoDB refuses: write #{word}")))
            }
            Kind::Word => Ok(self.tokens.advance().to_owned()),
            _ => Err(self.expected("an attribute")),
        }
    }

    /// A path, a placeholder, or one of these functions.
    fn operand(&mut self, functions: &[&str]) -> Result<Operand, ExpressionError> {
        if self.tokens.kind() == Kind::Placeholder {
            return Ok(Operand::Value(self.placeholder()?));
        }
        let is_call = self.tokens.kind() == Kind::Word && self.tokens.follows("(");
        if !is_call {
            return Ok(Operand::Path(self.path()?));
        }
        let name = self.tokens.text().to_owned();
        if !functions.contains(&name.as_str()) {
            return Err(
                self.error(format!("`{name}` is not a function here; there are {}", functions.join(", ")))
            );
        }
        self.tokens.advance();
        let operands = self.nested(|parser| parser.arguments(functions))?;
        let wanted = if name == "size" { 1 } else { 2 };
        if operands.len() != wanted {
            return Err(self.error(format!("{name} takes {wanted} operands, not {}", operands.len())));
        }
        Ok(Operand::Call(name, operands))
    }

    fn arguments(&mut self, functions: &[&str]) -> Result<Vec<Operand>, ExpressionError> {
        self.symbol("(")?;
        let mut operands = vec![self.operand(functions)?];
        while self.tokens.take(",") {
            operands.push(self.operand(functions)?);
        }
        self.symbol(")")?;
        Ok(operands)
    }
}
