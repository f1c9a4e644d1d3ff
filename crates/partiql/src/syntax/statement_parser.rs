//! Parser for statements: SELECT, INSERT, UPDATE, DELETE, and EXISTS around a SELECT.

use crate::error::{Problem, StatementError};
use crate::syntax::expression_parser::{Parser, malformed};
use crate::syntax::token::TokenKind;
use crate::syntax::{
    Expression, ExpressionKind, OrderSyntax, ParsedStatement, PathStep, ReturningSyntax, SelectSyntax,
    Selected, Source, StatementSyntax, UpdateAction,
};

type ParseResult<T> = Result<T, StatementError>;

pub(crate) fn parse(text: &str) -> ParseResult<ParsedStatement> {
    let mut parser = Parser::new(text)?;
    let syntax = parser.statement()?;
    parser.finish()?;
    Ok(ParsedStatement { syntax, parameters: parser.parameters })
}

impl Parser {
    fn statement(&mut self) -> ParseResult<StatementSyntax> {
        let TokenKind::Keyword(word) = *self.peek() else { return self.bare_expression() };
        match word {
            "select" => self.select().map(StatementSyntax::Select),
            "insert" => self.insert(),
            "update" => self.update(),
            "delete" => self.delete(),
            "from" => self.update_from_first(),
            "exists" if matches!(self.peek_at(2), TokenKind::Keyword("select")) => self.exists(),
            _ => self.bare_expression(),
        }
    }

    /// Rejects a bare expression, which is a statement in PartiQL but not in DynamoDB.
    fn bare_expression(&mut self) -> ParseResult<StatementSyntax> {
        let expression = self.expression()?;
        self.finish()?;
        Err(Problem::UnsupportedOperation(kind_name(&expression)).into())
    }

    fn exists(&mut self) -> ParseResult<StatementSyntax> {
        self.advance();
        self.advance();
        let select = self.select()?;
        match self.accept_symbol(")") {
            true => Ok(StatementSyntax::Exists(select)),
            false => malformed("Expected RIGHT_PAREN"),
        }
    }

    fn select(&mut self) -> ParseResult<SelectSyntax> {
        self.advance();
        match self.peek() {
            TokenKind::Keyword("value" | "pivot") => return Err(Problem::SelectValue.into()),
            TokenKind::Keyword("distinct") => return Err(Problem::UnsupportedClause("DISTINCT").into()),
            TokenKind::Keyword("all") => self.advance(),
            _ => {}
        }
        let selected = self.selected()?;
        if !self.accept_keyword("from") {
            return malformed("Expected FROM");
        }
        let source = self.read_source()?;
        let condition = self.condition()?;
        self.reject_other_clauses()?;
        let order = self.order()?;
        self.reject_other_clauses()?;
        Ok(SelectSyntax { selected, source, condition, order })
    }

    fn selected(&mut self) -> ParseResult<Selected> {
        if self.accept_symbol("*") {
            return match self.is_symbol(",") {
                true => Err(Problem::StarAndOthers.into()),
                false => Ok(Selected::All),
            };
        }
        let mut expressions = Vec::new();
        loop {
            if self.is_symbol("*") {
                return Err(Problem::StarAndOthers.into());
            }
            if matches!(
                (self.peek(), self.peek_at(1), self.peek_at(2)),
                (TokenKind::Name(_), TokenKind::Symbol("."), TokenKind::Symbol("*"))
            ) {
                return Err(Problem::NestedStar.into());
            }
            expressions.push(self.expression()?);
            self.reject_alias()?;
            if !self.accept_symbol(",") {
                return Ok(Selected::Expressions(expressions));
            }
        }
    }

    fn reject_alias(&self) -> ParseResult<()> {
        match self.peek() {
            TokenKind::Name(_) | TokenKind::Keyword("as" | "at" | "by") => Err(Problem::Alias.into()),
            _ => Ok(()),
        }
    }

    /// Parses the source of a SELECT: any expression by the grammar, one or two names in DynamoDB.
    fn read_source(&mut self) -> ParseResult<Source> {
        let expression = self.expression()?;
        self.reject_alias()?;
        let joins = ["join", "inner", "left", "right", "full", "outer", "cross"];
        if self.is_symbol(",") || joins.into_iter().any(|word| self.is_keyword(word)) {
            return Err(Problem::SeveralSources.into());
        }
        match expression.kind {
            ExpressionKind::Path(path) => source(path.root, path.steps),
            _ => Err(Problem::UnexpectedSource.into()),
        }
    }

    /// Parses the table of a write.
    fn write_target(&mut self) -> ParseResult<Source> {
        if !matches!(self.peek(), TokenKind::Name(_)) {
            return malformed("Expected identifier for simple path");
        }
        let path = self.path()?;
        source(path.root, path.steps)
    }

    fn condition(&mut self) -> ParseResult<Option<Expression>> {
        if self.accept_keyword("where") { self.expression().map(Some) } else { Ok(None) }
    }

    fn reject_other_clauses(&self) -> ParseResult<()> {
        let clause = match self.peek() {
            TokenKind::Keyword("group") => "GROUP BY",
            TokenKind::Keyword("having") => "HAVING",
            TokenKind::Keyword("limit") => "LIMIT",
            _ => return Ok(()),
        };
        Err(Problem::UnsupportedClause(clause).into())
    }

    fn order(&mut self) -> ParseResult<Vec<OrderSyntax>> {
        let mut order = Vec::new();
        if !self.accept_keyword("order") {
            return Ok(order);
        }
        if !self.accept_keyword("by") {
            return malformed("Expected BY");
        }
        loop {
            let by = self.expression()?;
            let descending = self.accept_keyword("desc");
            if !descending {
                self.accept_keyword("asc");
            }
            order.push(OrderSyntax { by, descending });
            if !self.accept_symbol(",") {
                return Ok(order);
            }
        }
    }

    fn insert(&mut self) -> ParseResult<StatementSyntax> {
        self.advance();
        if !self.accept_keyword("into") {
            return malformed("Expected data manipulation");
        }
        let source = self.write_target()?;
        if !self.accept_keyword("value") {
            self.accept_keyword("values");
            self.expression()?;
            self.finish()?;
            return Err(Problem::SeveralItems.into());
        }
        let item = self.expression()?;
        if self.is_keyword("returning") {
            return Err(Problem::InsertReturning.into());
        }
        Ok(StatementSyntax::Insert { source, item })
    }

    fn update(&mut self) -> ParseResult<StatementSyntax> {
        self.advance();
        let source = self.write_target()?;
        self.reject_alias()?;
        let actions = self.actions()?;
        let condition = self.condition()?;
        let returning = self.returning()?;
        Ok(StatementSyntax::Update { source, actions, condition, returning })
    }

    /// Parses an UPDATE that begins with its source: `FROM t WHERE … SET …`.
    fn update_from_first(&mut self) -> ParseResult<StatementSyntax> {
        self.advance();
        let source = self.read_source()?;
        let condition = self.condition()?;
        let actions = self.actions()?;
        let returning = self.returning()?;
        Ok(StatementSyntax::Update { source, actions, condition, returning })
    }

    fn delete(&mut self) -> ParseResult<StatementSyntax> {
        self.advance();
        if !self.accept_keyword("from") {
            return malformed("Expected FROM");
        }
        let source = self.write_target()?;
        self.reject_alias()?;
        let condition = self.condition()?;
        let returning = self.returning()?;
        Ok(StatementSyntax::Delete { source, condition, returning })
    }

    fn actions(&mut self) -> ParseResult<Vec<UpdateAction>> {
        let mut actions = Vec::new();
        loop {
            let sets = match self.peek() {
                TokenKind::Keyword("set") => true,
                TokenKind::Keyword("remove") => false,
                _ if actions.is_empty() => return malformed("Expected data manipulation"),
                _ => return Ok(actions),
            };
            self.advance();
            loop {
                let path = self.path()?;
                actions.push(match sets {
                    false => UpdateAction::Remove(path),
                    true if self.accept_symbol("=") => UpdateAction::Set(path, self.expression()?),
                    true => return malformed("Expected EQ"),
                });
                if !self.accept_symbol(",") {
                    break;
                }
            }
        }
    }

    fn returning(&mut self) -> ParseResult<Option<ReturningSyntax>> {
        if !self.accept_keyword("returning") {
            return Ok(None);
        }
        let modified = self.accept_keyword("modified");
        if !modified && !self.accept_keyword("all") {
            return malformed("Expected ( MODIFIED | ALL ) ( NEW | OLD )");
        }
        let new = self.accept_keyword("new");
        if !new && !self.accept_keyword("old") {
            return malformed("Expected ( MODIFIED | ALL ) ( NEW | OLD )");
        }
        if !self.accept_symbol("*") {
            return Err(Problem::ReturningStar.into());
        }
        match self.is_symbol(",") {
            true => Err(Problem::SeveralReturning.into()),
            false => Ok(Some(ReturningSyntax { modified, new })),
        }
    }
}

fn source(table: String, steps: Vec<PathStep>) -> ParseResult<Source> {
    let mut names = Vec::new();
    for step in steps {
        match step {
            PathStep::Attribute(name) => names.push(name),
            PathStep::Index(..) => return Err(Problem::ListSource.into()),
        }
    }
    if table.is_empty() || names.iter().any(String::is_empty) {
        return Err(Problem::EmptySource.into());
    }
    if names.len() > 1 {
        return Err(Problem::LongSource.into());
    }
    Ok(Source { table, index: names.pop() })
}

/// Returns the grammar's name for an expression.
pub(crate) fn kind_name(expression: &Expression) -> &'static str {
    match &expression.kind {
        ExpressionKind::Text(_)
        | ExpressionKind::Number(_)
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Null => "Literal",
        ExpressionKind::Missing => "LiteralMissing",
        ExpressionKind::Parameter(_) => "Parameter",
        ExpressionKind::Path(path) if path.steps.is_empty() => "VariableReference",
        ExpressionKind::Path(_) => "Path",
        ExpressionKind::List(_) | ExpressionKind::Bag(_) => "Seq",
        ExpressionKind::Map(_) => "Struct",
        ExpressionKind::Is(..) => "IsType",
        ExpressionKind::Call(..)
        | ExpressionKind::And(_)
        | ExpressionKind::Or(_)
        | ExpressionKind::Not(_)
        | ExpressionKind::Infix(..)
        | ExpressionKind::Sign(..)
        | ExpressionKind::Between(..)
        | ExpressionKind::In(..) => "NAry",
    }
}
