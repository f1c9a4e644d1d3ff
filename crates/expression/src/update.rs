//! The bound update: what is to become of an item.
//!
//! Comes from an `UpdateExpression` (`update_binding.rs`) or from legacy `AttributeUpdates`; goes, with
//! the old item, to the new one. Every right-hand side reads the old item. Attributes that are not
//! touched keep their bytes; a tree is built only of an attribute that is edited inside.

use crate::document::{Document, Edit};
use crate::error::Problem;
use crate::evaluated::{self, Evaluated, Style};
use crate::parsed_once::{Parsed, parsed_once};
use crate::sight::{PathsRead, Sight};
use crate::syntax::ActionSyntax;
use crate::{
    ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Projection, Step, Usage,
    update_binding, update_parser,
};
use partita_value::limits::ITEM_BYTES;
use partita_value::{Item, ItemRef, Value, ValueRef};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

/// An update's syntax tree: depends on the text alone, and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedUpdate(pub(crate) Vec<ActionSyntax>);

impl ParsedUpdate {
    pub fn parse(text: &str) -> Result<ParsedUpdate, ExpressionError> {
        update_parser::parse(text).map(ParsedUpdate)
    }

    /// Resolves the placeholders and checks the operands and that no targets overlap.
    pub fn bind(
        &self,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Update, ExpressionError> {
        update_binding::bind(self, Some(ExpressionKind::Update), names, values, usage)
    }
}

/// Taking a set apart and putting it together takes as long as looking at it so often.
const SET_LOOKS: usize = 32;
/// The same of a document.
const DOCUMENT_LOOKS: usize = 16;

/// A bound update expression, or lowered `AttributeUpdates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// In byte order of the attributes, each once.
    changes: Vec<(Arc<str>, Change)>,
    touched: Projection,
    /// The target attributes in the order written, each once.
    roots: Vec<Arc<str>>,
    /// The paths that right-hand sides read.
    sources: PathsRead,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Attribute(Action),
    /// Edits inside the attribute's value; no steps are empty.
    Document(Vec<(Vec<Step>, Action)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Set(SetValue),
    Remove,
    Add(Value, Style),
    Delete(Value, Style),
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
    Put(Value),
    Add(Value),
    Delete(Option<Value>),
}

impl Change {
    /// Actions on one attribute, in the order written.
    fn of(actions: impl Iterator<Item = (Vec<Step>, Action)>) -> Change {
        let mut edits: Vec<_> = actions.collect();
        match edits.iter().position(|(steps, _)| steps.is_empty()) {
            Some(whole) => Change::Attribute(edits.swap_remove(whole).1),
            None => Change::Document(edits),
        }
    }
}

impl AttributeAction {
    /// AWS adds only numbers, sets and lists, and deletes only from sets.
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

/// What becomes of an attribute.
enum Outcome<'a> {
    Unchanged,
    Removed,
    Put(Evaluated<'a>),
}

thread_local! {
    static UPDATES: Parsed<ParsedUpdate> = RefCell::default();
}

impl Update {
    /// Parses and binds.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Update, ExpressionError> {
        parsed_once(&UPDATES, text, || ParsedUpdate::parse(text))?.bind(names, values, usage)
    }

    /// Checks and binds the actions that a PartiQL statement was read into; its values are bound already.
    pub fn of_statement(actions: Vec<ActionSyntax>) -> Result<Update, ExpressionError> {
        let (names, values) = (ExpressionNames::new(), ExpressionValues::new());
        let parsed = ParsedUpdate(actions);
        update_binding::bind(&parsed, None, &names, &values, &mut Usage::new())
    }

    /// Legacy `AttributeUpdates`. Of several actions on one attribute the first counts.
    pub fn from_attribute_updates(actions: Vec<(String, AttributeAction)>) -> Update {
        let lowered = actions.into_iter().map(|(attribute, action)| {
            let action = match action {
                AttributeAction::Put(value) => Action::Set(SetValue::Operand(SetOperand::Value(value))),
                AttributeAction::Add(value) => Action::Add(value, Style::Legacy),
                AttributeAction::Delete(Some(value)) => Action::Delete(value, Style::Legacy),
                AttributeAction::Delete(None) => Action::Remove,
            };
            (Path::attribute(attribute), action)
        });
        Update::from_actions(lowered.collect())
    }

    /// Takes actions whose targets do not overlap.
    pub(crate) fn from_actions(mut actions: Vec<(Path, Action)>) -> Update {
        let mut sources = PathsRead::default();
        actions.iter_mut().for_each(|(_, action)| action.each_source(&mut |path| sources.add(path)));
        let touched = Projection::from_paths(actions.iter().map(|(path, _)| path));
        let mut actions: Vec<_> = actions.into_iter().map(Some).collect();
        let mut roots = Vec::new();
        let mut changes = Vec::new();
        for (root, inner) in touched.tree().attributes() {
            let mut numbers = Vec::new();
            inner.collect_numbers(&mut numbers);
            numbers.sort_unstable();
            roots.extend(numbers.first().map(|first| (*first, Arc::clone(root))));
            let actions = numbers.into_iter().filter_map(|number| actions[number].take());
            let change = Change::of(actions.map(|(path, action)| (path.steps, action)));
            changes.push((Arc::clone(root), change));
        }
        roots.sort_unstable();
        let roots = roots.into_iter().map(|(_, root)| root).collect();
        Update { changes, touched, roots, sources: sources.finish() }
    }

    /// The item after the update. `key` holds the key attributes: the base where there is no old item.
    pub fn apply(&self, old: Option<ItemRef<'_>>, key: ItemRef<'_>) -> Result<Item, ExpressionError> {
        let item = old.unwrap_or(key);
        let base = Base { item, sight: self.sources.of(Some(item)), exists: old.is_some() };
        let mut outcomes = Vec::with_capacity(self.changes.len());
        let mut size = 0;
        // Attributes and changes are in the same order, so that one walk finds all old values.
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

    /// About how many bytes are looked at to change an item of so many bytes, at most.
    pub fn work(&self, item_bytes: usize) -> usize {
        let (looks, value_bytes) = self.changes.iter().map(|(_, change)| change.work()).fold(
            (0, 0),
            // No two change the same attribute.
            |(looks, sum), (more, bytes)| (looks.max(more), sum + more * bytes),
        );
        item_bytes + looks * item_bytes + value_bytes
    }

    /// Whether an item comes into being where there was none: not by taking something away.
    pub fn creates_item(&self) -> bool {
        let gives = |action: &Action| matches!(action, Action::Set(_) | Action::Add(..));
        self.changes.iter().any(|(_, change)| match change {
            Change::Attribute(action) => gives(action),
            Change::Document(edits) => edits.iter().any(|(_, action)| gives(action)),
        })
    }

    /// The target paths: of the old item what UPDATED_OLD answers, of the new one UPDATED_NEW.
    pub fn touched(&self) -> &Projection {
        &self.touched
    }

    /// The top-level attributes it writes, each once, in the order written.
    pub fn target_roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|root| &**root)
    }

    /// Whether this attribute is written inside its value, not as a whole.
    pub fn edits_inside(&self, attribute: &str) -> bool {
        matches!(self.change(attribute), Some(Change::Document(_)))
    }

    /// The type of what it writes to this attribute, where the update alone determines it.
    pub fn known_type(&self, attribute: &str) -> Option<&'static str> {
        match self.change(attribute)? {
            Change::Attribute(action) => action.known_type(),
            Change::Document(_) => None,
        }
    }

    /// Whether it writes this attribute, or into it.
    pub fn writes(&self, attribute: &str) -> bool {
        self.change(attribute).is_some()
    }

    /// What it sets this attribute to, where the update alone determines it.
    pub fn known_value(&self, attribute: &str) -> Option<ValueRef<'_>> {
        match self.change(attribute)? {
            Change::Attribute(Action::Set(SetValue::Operand(SetOperand::Value(value)))) => Some(value.view()),
            _ => None,
        }
    }

    fn change(&self, attribute: &str) -> Option<&Change> {
        let position = self.changes.binary_search_by(|(name, _)| (**name).cmp(attribute)).ok()?;
        Some(&self.changes[position].1)
    }

    /// The top-level attributes into whose values it writes or reads.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        let written = self.changes.iter().filter(|(_, change)| matches!(change, Change::Document(_)));
        let read = self.source_paths().filter(|path| path.is_nested());
        written.map(|(name, _)| &**name).chain(read.map(|path| &*path.root))
    }

    /// All paths it reads in right-hand sides, in the order written.
    pub fn source_paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter()
    }
}

impl Change {
    /// As how many looks at the attribute it counts, and how many bytes come to it.
    fn work(&self) -> (usize, usize) {
        match self {
            Change::Attribute(Action::Add(value, _) | Action::Delete(value, _)) => match value.view() {
                ValueRef::N(_) => (0, 0),
                set => (SET_LOOKS, set.size()),
            },
            Change::Attribute(Action::Set(_) | Action::Remove) => (0, 0),
            Change::Document(_) => (DOCUMENT_LOOKS, 0),
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

    fn each_source(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Action::Set(value) => value.each_path(visit),
            Action::Remove | Action::Add(..) | Action::Delete(..) => {}
        }
    }
}

impl SetValue {
    fn each_path(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            SetValue::Operand(operand) => operand.each_path(visit),
            SetValue::Plus(one, two) | SetValue::Minus(one, two) => {
                one.each_path(visit);
                two.each_path(visit);
            }
        }
    }
}

impl SetOperand {
    fn each_path(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            SetOperand::Path(path) => visit(path),
            SetOperand::Value(_) => {}
            SetOperand::IfNotExists(path, other) => {
                visit(path);
                other.each_path(visit);
            }
            SetOperand::ListAppend(one, two) => {
                one.each_path(visit);
                two.each_path(visit);
            }
            SetOperand::Computed(value) => value.each_path(visit),
        }
    }
}

/// The item that an update starts from.
struct Base<'a> {
    item: ItemRef<'a>,
    sight: Sight<'a>,
    /// False if there is only the key of an item yet to be.
    exists: bool,
}

impl<'a> Base<'a> {
    fn outcome(&self, old: Option<ValueRef<'a>>, change: &'a Change) -> Result<Outcome<'a>, Problem> {
        match change {
            Change::Attribute(action) => self.attribute(old, action),
            Change::Document(edits) => match old {
                Some(old) => self.document(old, edits),
                // AWS lets a removal inside an item that does not exist pass.
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
        let document = Document::of(old);
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
                self.sight.find(path).map(Evaluated::View).ok_or(Problem::MissingAttribute)
            }
            SetOperand::Value(value) => Ok(Evaluated::View(value.view())),
            SetOperand::IfNotExists(path, otherwise) => match self.sight.find(path) {
                Some(value) => Ok(Evaluated::View(value)),
                None => self.operand(otherwise),
            },
            SetOperand::ListAppend(..) => {
                let mut lists = Vec::new();
                self.appended(operand, &mut lists)?;
                evaluated::list_append(&lists)
            }
            SetOperand::Computed(value) => self.set_value(value),
        }
    }

    /// What appends put one behind the other, however deep they stand inside each other.
    fn appended(&self, operand: &'a SetOperand, lists: &mut Vec<Evaluated<'a>>) -> Result<(), Problem> {
        match operand {
            SetOperand::ListAppend(left, right) => {
                self.appended(left, lists)?;
                self.appended(right, lists)?;
            }
            other => lists.push(self.operand(other)?),
        }
        Ok(())
    }
}

/// Writes the base with the outcomes in place of the attributes they are about; both are in order.
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
