//! PartiQL statements of any operation with their parameters: JSON → statement.

use crate::attribute_value::UncheckedValue;
use crate::item::item_size::check_size;
use crate::item::transaction::Fingerprint;
use crate::json::{Reader, Shape};
use crate::reporting;
use crate::validation::{Validation, present};
use partita_api::Exception;
use partita_partiql::Statement;
use partita_value::{Value, limits};
use std::borrow::Cow;
use std::fmt::Display;

const ONLY_IN_TRANSACTIONS: &str = "EXISTS can only be used in ExecuteTransaction write requests.";

/// The members of one statement.
#[derive(Debug, Default)]
pub(crate) struct StatementMembers<'a> {
    text: Option<Cow<'a, str>>,
    parameters: Option<Vec<UncheckedValue>>,
    pub(crate) consistent_read: Option<bool>,
    return_on_failure: Option<Cow<'a, str>>,
}

/// A statement whose parameters are valid values.
pub(crate) struct CheckedStatement<'a> {
    text: Cow<'a, str>,
    parameters: Vec<Value>,
}

impl<'a> StatementMembers<'a> {
    /// Reads the member if it belongs to the statement, and returns whether it does.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, member: &str) -> Result<bool, Exception> {
        match member {
            "Statement" => self.text = reader.text()?,
            "Parameters" => {
                let mut values = Vec::new();
                let present = reader.list(Shape::List, |reader| {
                    values.push(UncheckedValue::read_element(reader)?);
                    Ok(())
                })?;
                self.parameters = present.then_some(values);
            }
            "ConsistentRead" => self.consistent_read = reader.boolean()?,
            "ReturnValuesOnConditionCheckFailure" => self.return_on_failure = reader.text()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a list of statements, each a structure of this class, and its JSON.
    pub(crate) fn read_list(
        reader: &mut Reader<'a>,
        class: &'static str,
    ) -> Result<Option<(Vec<StatementMembers<'a>>, &'a str)>, Exception> {
        reader.structures_with_json(|reader| {
            let mut members = StatementMembers::default();
            reader.structure(Shape::Element(class), |reader, member| {
                match members.read(reader, member)? {
                    true => Ok(()),
                    false => reader.skip(),
                }
            })?;
            Ok(members)
        })
    }

    /// Validates the members. `path` is the path of the statement: empty, or ending with a dot.
    pub(crate) fn validate(&self, validation: &mut Validation, path: impl Display) {
        if self.parameters.as_ref().is_some_and(Vec::is_empty) {
            validation.length(format_args!("{path}parameters"), "[]", 0, 1, usize::MAX);
        }
        reporting::return_item_on_condition_failure(
            validation,
            format_args!("{path}returnValuesOnConditionCheckFailure"),
            self.return_on_failure.as_deref(),
        );
        let path = format_args!("{path}statement");
        if let Some(text) = validation.required(path, &self.text) {
            validation.length(path, text, text.chars().count(), 1, limits::STATEMENT_CHARACTERS);
        }
    }

    /// Whether to return the item that failed a condition.
    pub(crate) fn return_item_on_condition_failure(&self) -> bool {
        self.return_on_failure.as_deref() == Some("ALL_OLD")
    }

    /// Checks the parameters, before the statement is parsed.
    pub(crate) fn checked(self) -> Result<CheckedStatement<'a>, Exception> {
        let parameters = self.parameters.unwrap_or_default().into_iter().map(UncheckedValue::checked);
        Ok(CheckedStatement { text: present(self.text)?, parameters: parameters.collect::<Result<_, _>>()? })
    }
}

impl CheckedStatement<'_> {
    pub(crate) fn parse(&self) -> Result<Statement, Exception> {
        let statement = Statement::parse(&self.text, &self.parameters)?;
        if let Statement::Insert(insert) = &statement {
            check_size(&insert.item)?;
        }
        Ok(statement)
    }

    /// Parses a statement that is not part of a transaction.
    pub(crate) fn parse_single(&self) -> Result<Statement, Exception> {
        match self.parse()? {
            Statement::Exists(_) => Err(Exception::validation(ONLY_IN_TRANSACTIONS)),
            statement => Ok(statement),
        }
    }
}

/// Validates a list of statements, given with its JSON.
pub(crate) fn validate_list(
    validation: &mut Validation,
    member: &str,
    statements: &Option<(Vec<StatementMembers<'_>>, &str)>,
    max: usize,
) {
    let Some((statements, json)) = validation.required(member, statements) else { return };
    validation.length(member, json, statements.len(), 1, max);
    for (index, members) in statements.iter().enumerate() {
        members.validate(validation, format_args!("{member}.{}.member.", index + 1));
    }
}

/// A hash of statements and their parameters.
pub(crate) fn fingerprint<'s, 'a: 's>(
    statements: impl IntoIterator<Item = &'s CheckedStatement<'a>>,
) -> [u8; 16] {
    let mut fingerprint = Fingerprint::default();
    for statement in statements {
        fingerprint.add(statement.text.as_bytes());
        statement.parameters.iter().for_each(|parameter| fingerprint.add_value(parameter.view()));
    }
    fingerprint.finish()
}
