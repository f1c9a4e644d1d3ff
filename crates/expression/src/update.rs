//! Bound updates and their application to items.
//!
//! An update comes from an `UpdateExpression` (`update/binding.rs`) or from legacy `AttributeUpdates`. Every
//! right-hand side reads the old item. Attributes that are not updated keep their bytes; a tree is built only
//! for an attribute that is edited inside.

mod binding;
mod document;
mod evaluated;
mod parser;

use crate::error::Problem;
use crate::parse_cache::{ParseCache, parse_cached};
use crate::path::lookup::{ItemLookup, ReadPaths};
use crate::syntax::ActionSyntax;
use crate::{
    ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Projection, Step, Usage,
};
use document::{Document, Edit};
use evaluated::{Evaluated, UpdateStyle};
use partita_value::limits::ITEM_BYTES;
use partita_value::{Item, ItemRef, Value, ValueRef};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

/// An update's syntax tree, which depends on the text alone and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedUpdate(pub(crate) Vec<ActionSyntax>);

impl ParsedUpdate {
    /// Parses an `UpdateExpression`.
    pub fn parse(text: &str) -> Result<ParsedUpdate, ExpressionError> {
        parser::parse(text).map(ParsedUpdate)
    }

    /// Resolves the placeholders, checks the operands, and checks that no targets overlap.
    pub fn bind(
        &self,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Update, ExpressionError> {
        binding::bind(self, Some(ExpressionKind::Update), names, values, usage)
    }
}

/// Decoding a set and encoding it again takes as long as reading it this many times.
const SET_READS: usize = 32;
/// The same for a document.
const DOCUMENT_READS: usize = 16;

/// A bound update expression, or lowered `AttributeUpdates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// In byte order of the attributes, without duplicates.
    changes: Vec<(Arc<str>, AttributeChange)>,
    /// The target paths.
    targets: Projection,
    /// The target attributes in the order written, without duplicates.
    roots: Vec<Arc<str>>,
    /// The paths that the right-hand sides read.
    sources: ReadPaths,
}

/// The change to one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AttributeChange {
    /// An action on the whole attribute.
    Whole(Action),
    /// Edits inside the attribute's value, each with at least one step.
    Nested(Vec<(Vec<Step>, Action)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Set(SetValue),
    Remove,
    Add(Value, UpdateStyle),
    Delete(Value, UpdateStyle),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetValue {
    Operand(SetOperand),
    Plus(SetOperand, SetOperand),
    Minus(SetOperand, SetOperand),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetOperand {
    Path(Path),
    Value(Value),
    IfNotExists(Path, Box<SetOperand>),
    ListAppend(Box<SetOperand>, Box<SetOperand>),
    /// A sum or difference inside another.
    Computed(Box<SetValue>),
}

/// One entry of legacy `AttributeUpdates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeAction {
    /// Sets the attribute.
    Put(Value),
    /// Adds to a number, a set or a list.
    Add(Value),
    /// Removes elements from a set, or without a value removes the attribute.
    Delete(Option<Value>),
}

impl AttributeChange {
    /// Combines the actions on one attribute, given in the order written.
    fn new(actions: impl Iterator<Item = (Vec<Step>, Action)>) -> AttributeChange {
        let mut edits: Vec<_> = actions.collect();
        match edits.iter().position(|(steps, _)| steps.is_empty()) {
            Some(whole) => AttributeChange::Whole(edits.swap_remove(whole).1),
            None => AttributeChange::Nested(edits),
        }
    }
}

impl AttributeAction {
    /// Checks the type of the value: only numbers, sets and lists can be added, only sets deleted.
    pub fn check(&self) -> Result<(), ExpressionError> {
        let problem = match self {
            AttributeAction::Add(value) => match value.view().type_name() {
                "N" | "SS" | "NS" | "BS" | "L" => return Ok(()),
                type_name => Problem::LegacyAddType(type_name),
            },
            AttributeAction::Delete(Some(value)) => match value.view().type_name() {
                "SS" | "NS" | "BS" => return Ok(()),
                type_name => Problem::LegacyDeleteType(type_name),
            },
            AttributeAction::Put(_) | AttributeAction::Delete(None) => return Ok(()),
        };
        Err(problem.into())
    }
}

/// The result of a change to an attribute.
enum Outcome<'a> {
    Unchanged,
    Removed,
    Put(Evaluated<'a>),
}

thread_local! {
    static UPDATES: ParseCache<ParsedUpdate> = RefCell::default();
}

impl Update {
    /// Parses and binds an `UpdateExpression`.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Update, ExpressionError> {
        parse_cached(&UPDATES, text, || ParsedUpdate::parse(text))?.bind(names, values, usage)
    }

    /// Checks and binds the actions of a PartiQL statement; its values are already bound.
    pub fn from_statement(actions: Vec<ActionSyntax>) -> Result<Update, ExpressionError> {
        let (names, values) = (ExpressionNames::new(), ExpressionValues::new());
        let parsed = ParsedUpdate(actions);
        binding::bind(&parsed, None, &names, &values, &mut Usage::new())
    }

    /// Lowers legacy `AttributeUpdates`. Of several actions on one attribute, the first wins.
    pub fn from_attribute_updates(actions: Vec<(String, AttributeAction)>) -> Update {
        let lowered = actions.into_iter().map(|(attribute, action)| {
            let action = match action {
                AttributeAction::Put(value) => Action::Set(SetValue::Operand(SetOperand::Value(value))),
                AttributeAction::Add(value) => Action::Add(value, UpdateStyle::Legacy),
                AttributeAction::Delete(Some(value)) => Action::Delete(value, UpdateStyle::Legacy),
                AttributeAction::Delete(None) => Action::Remove,
            };
            (Path::attribute(attribute), action)
        });
        Update::from_actions(lowered.collect())
    }

    /// Combines actions whose targets do not overlap.
    pub(crate) fn from_actions(mut actions: Vec<(Path, Action)>) -> Update {
        let mut sources = ReadPaths::default();
        actions.iter_mut().for_each(|(_, action)| action.visit_sources(&mut |path| sources.add(path)));
        let targets = Projection::from_paths(actions.iter().map(|(path, _)| path));
        let mut actions: Vec<_> = actions.into_iter().map(Some).collect();
        let mut roots = Vec::new();
        let mut changes = Vec::new();
        for (root, inner) in targets.tree().attributes() {
            let mut numbers = Vec::new();
            inner.collect_numbers(&mut numbers);
            numbers.sort_unstable();
            roots.extend(numbers.first().map(|first| (*first, Arc::clone(root))));
            let actions = numbers.into_iter().filter_map(|number| actions[number].take());
            let change = AttributeChange::new(actions.map(|(path, action)| (path.steps, action)));
            changes.push((Arc::clone(root), change));
        }
        roots.sort_unstable();
        let roots = roots.into_iter().map(|(_, root)| root).collect();
        Update { changes, targets, roots, sources: sources.finish() }
    }

    /// Returns the updated item. `key` has the key attributes, to which the update is applied if there is no old item.
    pub fn apply(&self, old: Option<ItemRef<'_>>, key: ItemRef<'_>) -> Result<Item, ExpressionError> {
        let item = old.unwrap_or(key);
        let base = Base { item, lookup: self.sources.lookup_in(Some(item)), exists: old.is_some() };
        let mut outcomes = Vec::with_capacity(self.changes.len());
        let mut size = 0;
        // Attributes and changes are in the same order, so one walk finds all old values.
        let mut entries = item.attributes().into_iter().peekable();
        for (attribute, change) in &self.changes {
            while entries.next_if(|(name, _)| *name < attribute.as_bytes()).is_some() {}
            let old =
                entries.peek().filter(|(name, _)| *name == attribute.as_bytes()).map(|(_, value)| *value);
            let outcome = base.outcome(old, change)?;
            if let Outcome::Put(value) = &outcome {
                size += value.view().size();
            }
            if size > ITEM_BYTES {
                return Err(Problem::ItemSize.into());
            }
            outcomes.push((&**attribute, outcome));
        }
        Ok(merge(base.item, &outcomes))
    }

    /// Estimates how many bytes are read, at most, to update an item of `item_bytes`.
    pub fn work(&self, item_bytes: usize) -> usize {
        let (reads, value_bytes) = self.changes.iter().map(|(_, change)| change.work()).fold(
            (0, 0),
            // Each changes a different attribute.
            |(reads, sum), (more, bytes)| (reads.max(more), sum + more * bytes),
        );
        item_bytes + reads * item_bytes + value_bytes
    }

    /// Returns whether the update creates an item if there is none: removing something does not.
    pub fn creates_item(&self) -> bool {
        let adds = |action: &Action| matches!(action, Action::Set(_) | Action::Add(..));
        self.changes.iter().any(|(_, change)| match change {
            AttributeChange::Whole(action) => adds(action),
            AttributeChange::Nested(edits) => edits.iter().any(|(_, action)| adds(action)),
        })
    }

    /// Returns the projection to the target paths, which yields UPDATED_OLD for the old item and UPDATED_NEW for the
    /// new one.
    pub fn targets(&self) -> &Projection {
        &self.targets
    }

    /// Returns the top-level attributes it writes, without duplicates, in the order written.
    pub fn target_roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|root| &**root)
    }

    /// Returns the type of the value it writes to this attribute, if the update alone determines it.
    pub fn known_type(&self, attribute: &str) -> Option<&'static str> {
        match self.change(attribute)? {
            AttributeChange::Whole(action) => action.known_type(),
            AttributeChange::Nested(_) => None,
        }
    }

    /// Returns whether it writes this attribute or a part of it.
    pub fn writes(&self, attribute: &str) -> bool {
        self.change(attribute).is_some()
    }

    /// Returns the value it sets this attribute to, if the update alone determines it.
    pub fn known_value(&self, attribute: &str) -> Option<ValueRef<'_>> {
        match self.change(attribute)? {
            AttributeChange::Whole(Action::Set(SetValue::Operand(SetOperand::Value(value)))) => {
                Some(value.view())
            }
            _ => None,
        }
    }

    fn change(&self, attribute: &str) -> Option<&AttributeChange> {
        let position = self.changes.binary_search_by(|(name, _)| (**name).cmp(attribute)).ok()?;
        Some(&self.changes[position].1)
    }

    /// Returns the top-level attributes with paths into their values; may contain duplicates.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        let written = self.changes.iter().filter(|(_, change)| matches!(change, AttributeChange::Nested(_)));
        let read = self.source_paths().filter(|path| path.is_nested());
        written.map(|(name, _)| &**name).chain(read.map(|path| &*path.root))
    }

    /// Returns all paths that right-hand sides read, in the order written.
    pub fn source_paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter()
    }
}

impl AttributeChange {
    /// The cost as a number of reads of the attribute, and the bytes added to it.
    fn work(&self) -> (usize, usize) {
        match self {
            AttributeChange::Whole(Action::Add(value, _) | Action::Delete(value, _)) => match value.view() {
                ValueRef::N(_) => (0, 0),
                set => (SET_READS, set.size()),
            },
            AttributeChange::Whole(Action::Set(_) | Action::Remove) => (0, 0),
            AttributeChange::Nested(_) => (DOCUMENT_READS, 0),
        }
    }
}

impl Action {
    fn known_type(&self) -> Option<&'static str> {
        match self {
            Action::Set(SetValue::Operand(SetOperand::Value(value)))
            | Action::Add(value, _)
            | Action::Delete(value, _) => Some(value.view().type_name()),
            Action::Set(SetValue::Plus(..) | SetValue::Minus(..)) => Some("N"),
            Action::Set(SetValue::Operand(SetOperand::ListAppend(..))) => Some("L"),
            Action::Set(SetValue::Operand(SetOperand::Computed(_))) => Some("N"),
            Action::Set(SetValue::Operand(SetOperand::Path(_) | SetOperand::IfNotExists(..)))
            | Action::Remove => None,
        }
    }

    fn visit_sources(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Action::Set(value) => value.visit_paths(visit),
            Action::Remove | Action::Add(..) | Action::Delete(..) => {}
        }
    }
}

impl SetValue {
    fn visit_paths(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            SetValue::Operand(operand) => operand.visit_paths(visit),
            SetValue::Plus(one, two) | SetValue::Minus(one, two) => {
                one.visit_paths(visit);
                two.visit_paths(visit);
            }
        }
    }
}

impl SetOperand {
    fn visit_paths(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            SetOperand::Path(path) => visit(path),
            SetOperand::Value(_) => {}
            SetOperand::IfNotExists(path, other) => {
                visit(path);
                other.visit_paths(visit);
            }
            SetOperand::ListAppend(one, two) => {
                one.visit_paths(visit);
                two.visit_paths(visit);
            }
            SetOperand::Computed(value) => value.visit_paths(visit),
        }
    }
}

/// The item that an update starts from.
struct Base<'a> {
    item: ItemRef<'a>,
    lookup: ItemLookup<'a>,
    /// False if `item` is only the key of an item to be created.
    exists: bool,
}

impl<'a> Base<'a> {
    fn outcome(
        &self,
        old: Option<ValueRef<'a>>,
        change: &'a AttributeChange,
    ) -> Result<Outcome<'a>, Problem> {
        match change {
            AttributeChange::Whole(action) => self.attribute(old, action),
            AttributeChange::Nested(edits) => match old {
                Some(old) => self.document(old, edits),
                // AWS ignores a removal inside an item that does not exist.
                None if !self.exists && edits.iter().all(|(_, action)| *action == Action::Remove) => {
                    Ok(Outcome::Unchanged)
                }
                None => Err(Problem::InvalidUpdatePath),
            },
        }
    }

    fn attribute(&self, old: Option<ValueRef<'a>>, action: &'a Action) -> Result<Outcome<'a>, Problem> {
        match action {
            Action::Set(value) => self.set_value(value).map(Outcome::Put),
            Action::Remove => Ok(Outcome::Removed),
            Action::Add(operand, style) => evaluated::add(old, operand, *style).map(Outcome::Put),
            Action::Delete(operand, style) => {
                Ok(evaluated::delete(old, operand, *style)?.map_or(Outcome::Removed, Outcome::Put))
            }
        }
    }

    fn document(&self, old: ValueRef<'a>, edits: &'a [(Vec<Step>, Action)]) -> Result<Outcome<'a>, Problem> {
        let document = Document::new(old);
        let mut size = 0;
        let mut evaluated = Vec::with_capacity(edits.len());
        for (steps, action) in edits {
            let target = document.target(steps)?;
            let edit = match action {
                Action::Set(value) => Edit::Put(self.set_value(value)?),
                Action::Remove => Edit::Remove,
                Action::Add(operand, style) => {
                    let target = target.map(Value::from);
                    let sum = evaluated::add(target.as_ref().map(Value::view), operand, *style)?;
                    Edit::Put(sum.into_owned())
                }
                Action::Delete(operand, style) => {
                    let target = target.map(Value::from);
                    let rest = evaluated::delete(target.as_ref().map(Value::view), operand, *style)?;
                    rest.map_or(Edit::Remove, Edit::Put)
                }
            };
            if let Edit::Put(value) = &edit {
                size += value.view().size();
            }
            if size > ITEM_BYTES {
                return Err(Problem::ItemSize);
            }
            evaluated.push((steps.as_slice(), edit));
        }
        document.edit(evaluated).map(|value| Outcome::Put(Evaluated::Owned(value)))
    }

    fn set_value(&self, value: &'a SetValue) -> Result<Evaluated<'a>, Problem> {
        match value {
            SetValue::Operand(operand) => self.operand(operand),
            SetValue::Plus(left, right) => evaluated::plus(&self.operand(left)?, &self.operand(right)?),
            SetValue::Minus(left, right) => evaluated::minus(&self.operand(left)?, &self.operand(right)?),
        }
    }

    fn operand(&self, operand: &'a SetOperand) -> Result<Evaluated<'a>, Problem> {
        match operand {
            SetOperand::Path(path) => {
                self.lookup.find(path).map(Evaluated::View).ok_or(Problem::MissingAttribute)
            }
            SetOperand::Value(value) => Ok(Evaluated::View(value.view())),
            SetOperand::IfNotExists(path, default) => match self.lookup.find(path) {
                Some(value) => Ok(Evaluated::View(value)),
                None => self.operand(default),
            },
            SetOperand::ListAppend(..) => {
                let mut lists = Vec::new();
                self.collect_lists(operand, &mut lists)?;
                evaluated::list_append(&lists)
            }
            SetOperand::Computed(value) => self.set_value(value),
        }
    }

    /// Collects the lists of nested appends in order.
    fn collect_lists(&self, operand: &'a SetOperand, lists: &mut Vec<Evaluated<'a>>) -> Result<(), Problem> {
        match operand {
            SetOperand::ListAppend(left, right) => {
                self.collect_lists(left, lists)?;
                self.collect_lists(right, lists)?;
            }
            other => lists.push(self.operand(other)?),
        }
        Ok(())
    }
}

/// Writes the base item with the outcomes applied to their attributes; both are in order.
fn merge(base: ItemRef<'_>, outcomes: &[(&str, Outcome<'_>)]) -> Item {
    Item::build(|encoder| {
        let mut rest = outcomes.iter().peekable();
        for (name, value) in base.attributes() {
            let mut replaced = false;
            while let Some((attribute, outcome)) = rest.peek() {
                match attribute.as_bytes().cmp(name) {
                    Ordering::Greater => break,
                    Ordering::Equal => replaced = !matches!(outcome, Outcome::Unchanged),
                    Ordering::Less => {}
                }
                if let Outcome::Put(value) = outcome {
                    encoder.entry(attribute, value.view());
                }
                rest.next();
            }
            if !replaced {
                encoder.entry(std::str::from_utf8(name).unwrap_or_default(), value);
            }
        }
        for (attribute, outcome) in rest {
            if let Outcome::Put(value) = outcome {
                encoder.entry(attribute, value.view());
            }
        }
    })
}
