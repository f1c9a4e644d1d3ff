//! Projections, which select the parts of an item to return.
//!
//! They come from a `ProjectionExpression` or the legacy `AttributesToGet`. The selected elements of a list
//! keep their order, without gaps.

mod selection;

use crate::binding::Binder;
use crate::parse_cache::{ParseCache, parse_cached};
use crate::path::tree::PathTree;
use crate::syntax::PathSyntax;
use crate::syntax::parser::{Finding, Parser};
use crate::syntax::token::TokenKind;
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Usage};
use partita_value::{Item, ItemRef};
use std::cell::RefCell;
use std::sync::Arc;

/// A projection's syntax tree, which depends on the text alone and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedProjection(Vec<PathSyntax>);

impl ParsedProjection {
    /// Parses a `ProjectionExpression`.
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
    /// Set if each selected value becomes a top-level attribute.
    columns: Option<Vec<Column>>,
}

/// A column of a PartiQL statement: `a.b` becomes the top-level attribute `b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The attribute's name in the result.
    pub name: String,
    /// The path of its value in the item.
    pub path: Path,
}

thread_local! {
    static PROJECTIONS: ParseCache<ParsedProjection> = RefCell::default();
}

impl Projection {
    /// Parses and binds a `ProjectionExpression`.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        usage: &mut Usage,
    ) -> Result<Projection, ExpressionError> {
        parse_cached(&PROJECTIONS, text, || ParsedProjection::parse(text))?.bind(names, usage)
    }

    /// Lowers the legacy `AttributesToGet`: top-level attributes.
    pub fn from_attributes(names: Vec<String>) -> Projection {
        let names = names.into_iter().map(Arc::from).collect();
        Projection { tree: PathTree::from_attributes(names), columns: None }
    }

    pub(crate) fn from_paths<'a>(paths: impl IntoIterator<Item = &'a Path, IntoIter: Clone>) -> Projection {
        Projection { tree: PathTree::new(paths), columns: None }
    }

    /// Selects the columns of a PartiQL statement, whose names are distinct.
    pub fn from_columns(columns: Vec<Column>) -> Projection {
        let tree = PathTree::new(columns.iter().map(|column| &column.path));
        let nested = columns.iter().any(|column| column.path.is_nested());
        Projection { tree, columns: nested.then_some(columns) }
    }

    /// Returns the selected parts of an item.
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

    /// The paths, in the order of the attributes' names.
    pub(crate) fn tree(&self) -> &PathTree {
        &self.tree
    }

    /// Returns the top-level attributes it selects from, in byte order.
    pub fn attribute_roots(&self) -> impl Iterator<Item = &str> {
        self.tree.attributes().iter().map(|(name, _)| &**name)
    }

    /// Returns the top-level attributes from which it selects only parts.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        let nested = self.tree.attributes().iter().filter(|(_, inner)| inner.has_children());
        nested.map(|(name, _)| &**name)
    }

    /// Returns whether it selects parts of documents, not only whole top-level attributes.
    pub fn is_nested(&self) -> bool {
        self.nested_roots().next().is_some()
    }
}
