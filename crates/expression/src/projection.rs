//! The projection: which parts of an item are answered.
//!
//! In comes a `ProjectionExpression` or legacy `AttributesToGet`; out goes, for an encoded item, another
//! encoded item with only the selected parts. Elements of lists keep their order and close up.

use crate::binding::Binder;
use crate::parsed_once::{Parsed, parsed_once};
use crate::parser::{Finding, Parser};
use crate::selection::{self, Selection};
use crate::syntax::PathSyntax;
use crate::token::TokenKind;
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Usage};
use partita_value::{Item, ItemRef};
use std::cell::RefCell;

/// A projection's syntax: depends on the text alone, and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedProjection(Vec<PathSyntax>);

impl ParsedProjection {
    pub fn parse(text: &str) -> Result<ParsedProjection, ExpressionError> {
        let mut parser = Parser::new(ExpressionKind::Projection, text)?;
        let mut paths = vec![parser.path()?];
        while parser.tokens.accept(TokenKind::Comma) {
            paths.push(parser.path()?);
        }
        parser.finish(&[Finding::ReservedWord, Finding::Index])?;
        Ok(ParsedProjection(paths))
    }

    /// Resolves the placeholders and checks that no paths overlap.
    pub fn bind(&self, names: &ExpressionNames, usage: &mut Usage) -> Result<Projection, ExpressionError> {
        let values = ExpressionValues::new();
        let mut binder = Binder { kind: Some(ExpressionKind::Projection), names, values: &values, usage };
        let paths = self.0.iter().map(|path| binder.path(path)).collect::<Result<Vec<Path>, _>>()?;
        binder.check_paths(&paths.iter().collect::<Vec<_>>())?;
        Ok(Projection::from_paths(&paths))
    }
}

/// A bound projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    members: Vec<(String, Selection)>,
    /// Where each of what is selected becomes an attribute of its own.
    columns: Option<Vec<Column>>,
}

/// What a PartiQL statement selects: `a.b` becomes the attribute `b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub path: Path,
}

thread_local! {
    static PROJECTIONS: Parsed<ParsedProjection> = RefCell::default();
}

impl Projection {
    /// Parses and binds.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        usage: &mut Usage,
    ) -> Result<Projection, ExpressionError> {
        parsed_once(&PROJECTIONS, text, || ParsedProjection::parse(text))?.bind(names, usage)
    }

    /// Legacy `AttributesToGet`: top-level attributes.
    pub fn from_attributes(names: Vec<String>) -> Projection {
        let paths: Vec<Path> = names.into_iter().map(Path::attribute).collect();
        Projection::from_paths(&paths)
    }

    pub(crate) fn from_paths<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Projection {
        Projection { members: Selection::of(paths), columns: None }
    }

    /// The columns of a PartiQL statement, no two of the same name.
    pub fn from_columns(columns: Vec<Column>) -> Projection {
        let members = Selection::of(columns.iter().map(|column| &column.path));
        let nested = columns.iter().any(|column| column.path.is_nested());
        Projection { members, columns: nested.then_some(columns) }
    }

    /// The selected parts of an item.
    pub fn apply(&self, item: ItemRef<'_>) -> Item {
        let Some(columns) = &self.columns else { return selection::select(&self.members, item) };
        Item::build(|encoder| {
            for Column { name, path } in columns {
                if let Some(value) = path.find(item) {
                    encoder.entry(name, value);
                }
            }
        })
    }

    /// The top-level attributes it selects from, in byte order.
    pub fn attribute_roots(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// The top-level attributes into whose values it reaches.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        let nested = self.members.iter().filter(|(_, selection)| *selection != Selection::Whole);
        nested.map(|(name, _)| name.as_str())
    }

    /// Whether it reaches into documents, instead of taking top-level attributes as they are.
    pub fn is_nested(&self) -> bool {
        self.members.iter().any(|(_, selection)| *selection != Selection::Whole)
    }
}
