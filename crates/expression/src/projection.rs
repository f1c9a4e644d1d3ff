//! The projection: which parts of an item are answered.
//!
//! In comes a `ProjectionExpression` or legacy `AttributesToGet`; out goes, for an encoded item, another
//! encoded item with only the selected parts. Elements of lists keep their order and close up.

use crate::binding::Binder;
use crate::parsed_once::{Parsed, parsed_once};
use crate::parser::{Finding, Parser};
use crate::path_tree::PathTree;
use crate::selection;
use crate::syntax::PathSyntax;
use crate::token::TokenKind;
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Usage};
use partita_value::{Item, ItemRef};
use std::cell::RefCell;
use std::sync::Arc;

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
    tree: PathTree,
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
        let names = names.into_iter().map(Arc::from).collect();
        Projection { tree: PathTree::of_attributes(names), columns: None }
    }

    pub(crate) fn from_paths<'a>(paths: impl IntoIterator<Item = &'a Path, IntoIter: Clone>) -> Projection {
        Projection { tree: PathTree::of(paths), columns: None }
    }

    /// The columns of a PartiQL statement, no two of the same name.
    pub fn from_columns(columns: Vec<Column>) -> Projection {
        let tree = PathTree::of(columns.iter().map(|column| &column.path));
        let nested = columns.iter().any(|column| column.path.is_nested());
        Projection { tree, columns: nested.then_some(columns) }
    }

    /// The selected parts of an item.
    pub fn apply(&self, item: ItemRef<'_>) -> Item {
        let Some(columns) = &self.columns else { return selection::select(&self.tree, item) };
        Item::build(|encoder| {
            for (column, value) in columns.iter().zip(self.tree.find(item)) {
                if let Some(value) = value {
                    encoder.entry(&column.name, value);
                }
            }
        })
    }

    /// The paths, in the order of the attributes.
    pub(crate) fn tree(&self) -> &PathTree {
        &self.tree
    }

    /// The top-level attributes it selects from, in byte order.
    pub fn attribute_roots(&self) -> impl Iterator<Item = &str> {
        self.tree.attributes().iter().map(|(name, _)| &**name)
    }

    /// The top-level attributes into whose values it reaches.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        let nested = self.tree.attributes().iter().filter(|(_, inner)| inner.goes_on());
        nested.map(|(name, _)| &**name)
    }

    /// Whether it reaches into documents, instead of taking top-level attributes as they are.
    pub fn is_nested(&self) -> bool {
        self.nested_roots().next().is_some()
    }
}
