//! Expression parameters of any operation: the expressions (`ConditionExpression`, `UpdateExpression`, …) and their placeholders
//! (`ExpressionAttributeNames` and `ExpressionAttributeValues`). They are parsed once, for the engine to evaluate.

use crate::attribute_value::{UncheckedValue, check_name, encode_value};
use crate::json::{Entries, Reader, Shape, Writer};
use partita_api::Exception;
use partita_expression::{
    Condition, ExpressionKind, ExpressionNames, ExpressionValues, KeyCondition, Projection, Update, Usage,
    mixed_parameters,
};
use partita_value::{MapRef, ValueRef, limits};
use std::borrow::Cow;

/// The expression parameters of one request, or of one part of it.
#[derive(Debug)]
pub(crate) struct Expressions<'a> {
    /// The expressions of the operation, in the order in which AWS lists them in errors.
    kinds: &'static [ExpressionKind],
    texts: Vec<(ExpressionKind, Cow<'a, str>)>,
    names: Option<Entries<'a, Cow<'a, str>>>,
    values: Option<Entries<'a, UncheckedValue>>,
}

/// The parsed expressions of a request.
#[derive(Debug, Default)]
pub(crate) struct ParsedExpressions {
    pub(crate) update: Option<Update>,
    pub(crate) condition: Option<Condition>,
    pub(crate) key_condition: Option<KeyCondition>,
    pub(crate) filter: Option<Condition>,
    pub(crate) projection: Option<Projection>,
}

fn member_name(kind: ExpressionKind) -> &'static str {
    match kind {
        ExpressionKind::Condition => "ConditionExpression",
        ExpressionKind::Filter => "FilterExpression",
        ExpressionKind::KeyCondition => "KeyConditionExpression",
        ExpressionKind::Projection => "ProjectionExpression",
        ExpressionKind::Update => "UpdateExpression",
    }
}

impl<'a> Expressions<'a> {
    pub(crate) fn new(kinds: &'static [ExpressionKind]) -> Expressions<'a> {
        Expressions { kinds, texts: Vec::new(), names: None, values: None }
    }

    /// Parameters that were not read from JSON.
    pub(crate) fn of_values(
        kinds: &'static [ExpressionKind],
        texts: Vec<(ExpressionKind, Cow<'a, str>)>,
        names: Option<MapRef<'a>>,
        values: Option<MapRef<'a>>,
    ) -> Result<Expressions<'a>, Exception> {
        let name = |(placeholder, name): (&'a [u8], ValueRef<'a>)| match name {
            ValueRef::S(name) => Ok((String::from_utf8_lossy(placeholder), String::from_utf8_lossy(name))),
            _ => Err(Exception::validation("ExpressionAttributeNames contains a name that is not a string")),
        };
        let value = |(placeholder, value): (&'a [u8], ValueRef<'a>)| {
            (String::from_utf8_lossy(placeholder), UncheckedValue::of(value))
        };
        let names = names.map(|names| names.into_iter().map(name).collect()).transpose()?;
        Ok(Expressions {
            kinds,
            texts,
            names,
            values: values.map(|all| all.into_iter().map(value).collect()),
        })
    }

    /// Reads a member if it is one of these parameters, and returns whether it is.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, member: &str) -> Result<bool, Exception> {
        match member {
            "ExpressionAttributeNames" => self.names = reader.text_map()?,
            "ExpressionAttributeValues" if self.value_kinds().next().is_some() => {
                self.values = read_values(reader)?;
            }
            _ => {
                let Some(kind) = self.kinds.iter().find(|kind| member_name(**kind) == member) else {
                    return Ok(false);
                };
                self.texts.extend(reader.text()?.map(|text| (*kind, text)));
            }
        }
        Ok(true)
    }

    /// The kinds that may use values: all but projections.
    fn value_kinds(&self) -> impl Iterator<Item = ExpressionKind> {
        self.kinds.iter().copied().filter(|kind| *kind != ExpressionKind::Projection)
    }

    pub(crate) fn text(&self, kind: ExpressionKind) -> Option<&str> {
        self.texts.iter().rev().find(|text| text.0 == kind).map(|text| text.1.as_ref())
    }

    pub(crate) fn has(&self, kind: ExpressionKind) -> bool {
        self.text(kind).is_some()
    }

    /// The attribute names in the order of the request.
    pub(crate) fn names(&self) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        self.names.as_deref().unwrap_or(&[])
    }

    /// The attribute values in the order of the request.
    pub(crate) fn values(&self) -> &[(Cow<'a, str>, UncheckedValue)] {
        self.values.as_deref().unwrap_or(&[])
    }

    /// Refuses expressions alongside legacy parameters, and placeholders without expressions. `legacy` lists the legacy parameters
    /// of the operation in AWS's order, and whether each is present.
    pub(crate) fn check_use(&self, legacy: &[(&str, bool)]) -> Result<(), Exception> {
        let used: Vec<_> =
            self.kinds.iter().filter(|kind| self.has(**kind)).map(|kind| member_name(*kind)).collect();
        let legacy: Vec<_> = legacy.iter().filter(|(_, present)| *present).map(|(name, _)| *name).collect();
        if !used.is_empty() && !legacy.is_empty() {
            return Err(mixed_parameters(&legacy, &used).into());
        }
        if self.names.is_some() && used.is_empty() {
            return Err(ExpressionNames::without_expression().into());
        }
        if self.values.is_some() && !self.value_kinds().any(|kind| self.has(kind)) {
            let missing: Vec<_> = self.value_kinds().map(member_name).collect();
            return Err(ExpressionValues::without_expression(&missing).into());
        }
        Ok(())
    }

    /// Parses all expressions. Every placeholder must be well formed, defined and used.
    pub(crate) fn parse(&self) -> Result<ParsedExpressions, Exception> {
        let names = self.bound_names()?;
        let values = self.bound_values()?;
        self.check_substitutions()?;
        let mut usage = Usage::new();
        let mut parsed = ParsedExpressions::default();
        if let Some(text) = self.text(ExpressionKind::Update) {
            parsed.update = Some(Update::parse(text, &names, &values, &mut usage)?);
        }
        if let Some(text) = self.text(ExpressionKind::Condition) {
            let kind = ExpressionKind::Condition;
            parsed.condition = Some(Condition::parse(kind, text, &names, &values, &mut usage)?);
        }
        let key_condition = match self.text(ExpressionKind::KeyCondition) {
            Some(text) => {
                Some(Condition::parse(ExpressionKind::KeyCondition, text, &names, &values, &mut usage)?)
            }
            None => None,
        };
        if let Some(text) = self.text(ExpressionKind::Filter) {
            parsed.filter =
                Some(Condition::parse(ExpressionKind::Filter, text, &names, &values, &mut usage)?);
        }
        if let Some(text) = self.text(ExpressionKind::Projection) {
            parsed.projection = Some(Projection::parse(text, &names, &mut usage)?);
        }
        if let Some(error) = usage.unused_names(&names).or_else(|| usage.unused_values(&values)) {
            return Err(error.into());
        }
        // Whether it is a valid condition on keys is checked only after all expressions are parsed.
        parsed.key_condition = key_condition.as_ref().map(KeyCondition::from_condition).transpose()?;
        Ok(parsed)
    }

    /// Encodes the parameters in the form of a request, without other members.
    pub(crate) fn encode(&self, json: &mut Writer) {
        json.object(|json| {
            for kind in self.kinds {
                if let Some(text) = self.text(*kind) {
                    json.name(member_name(*kind)).string(text);
                }
            }
            if let Some(names) = &self.names {
                json.name("ExpressionAttributeNames").object(|json| {
                    names.iter().for_each(|(placeholder, name)| json.name(placeholder).string(name));
                });
            }
            if let Some(values) = &self.values {
                json.name("ExpressionAttributeValues").object(|json| {
                    for (placeholder, value) in values {
                        encode_value(json.name(placeholder), value.view());
                    }
                });
            }
        });
    }

    fn bound_names(&self) -> Result<ExpressionNames, Exception> {
        let Some(entries) = &self.names else { return Ok(ExpressionNames::new()) };
        for (placeholder, _) in entries {
            ExpressionNames::check_placeholder(placeholder)?;
        }
        for (placeholder, name) in entries {
            check_name(name).map_err(|error| {
                Exception::validation(format!(
                    "ExpressionAttributeNames contains invalid value: {error} for key {placeholder}"
                ))
            })?;
        }
        let entries = sorted(entries).map(|(placeholder, name)| (placeholder.to_string(), name.to_string()));
        Ok(ExpressionNames::from_entries(entries)?)
    }

    fn bound_values(&self) -> Result<ExpressionValues, Exception> {
        let Some(entries) = &self.values else { return Ok(ExpressionValues::new()) };
        for (placeholder, _) in entries {
            ExpressionValues::check_placeholder(placeholder)?;
        }
        for (placeholder, value) in entries {
            if let Some(error) = value.error() {
                return Err(Exception::validation(format!(
                    "ExpressionAttributeValues contains invalid value: {error} for key {placeholder}"
                )));
            }
        }
        let entries =
            sorted(entries).map(|(placeholder, value)| (placeholder.to_string(), value.value().clone()));
        Ok(ExpressionValues::from_entries(entries)?)
    }

    fn check_substitutions(&self) -> Result<(), Exception> {
        let names = self.names().iter().map(|(placeholder, name)| placeholder.len() + name.len());
        let values = self.values().iter().map(|(placeholder, value)| placeholder.len() + value.view().size());
        if names.chain(values).sum::<usize>() > limits::SUBSTITUTION_BYTES {
            return Err(Exception::validation(
                "Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size",
            ));
        }
        Ok(())
    }
}

fn read_values<'a>(reader: &mut Reader<'a>) -> Result<Option<Entries<'a, UncheckedValue>>, Exception> {
    let mut values = Vec::new();
    let present = reader.map(Shape::Map("AttributeValue"), |reader, placeholder| {
        values.push((placeholder, UncheckedValue::read_element(reader)?));
        Ok(())
    })?;
    Ok(present.then_some(values))
}

/// Entries in a stable order by placeholder, so that maps take them without moving others.
fn sorted<'s, T>(entries: &'s [(Cow<'_, str>, T)]) -> impl Iterator<Item = (&'s str, &'s T)> {
    let mut entries: Vec<_> =
        entries.iter().map(|(placeholder, entry)| (placeholder.as_ref(), entry)).collect();
    entries.sort_by_key(|entry| entry.0);
    entries.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: &[ExpressionKind] =
        &[ExpressionKind::Projection, ExpressionKind::Filter, ExpressionKind::KeyCondition];

    fn read<'a>(body: &'a str, kinds: &'static [ExpressionKind]) -> Expressions<'a> {
        let mut expressions = Expressions::new(kinds);
        let reader = Reader::new(body.as_bytes()).unwrap();
        reader
            .request(|reader, member| match expressions.read(reader, member)? {
                true => Ok(()),
                false => reader.skip(),
            })
            .unwrap();
        expressions
    }

    fn refusal<T: std::fmt::Debug>(result: Result<T, Exception>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn expressions_and_legacy_parameters_do_not_mix() {
        let body = r#"{"FilterExpression":"a","ProjectionExpression":"b"}"#;
        let legacy = [("AttributesToGet", true), ("ScanFilter", false), ("ConditionalOperator", true)];
        assert_eq!(
            refusal(read(body, KINDS).check_use(&legacy)),
            "Can not use both expression and non-expression parameters in the same request: \
             Non-expression parameters: {AttributesToGet, ConditionalOperator} \
             Expression parameters: {ProjectionExpression, FilterExpression}"
        );
    }

    #[test]
    fn placeholders_need_expressions() {
        assert_eq!(
            refusal(read(r#"{"ExpressionAttributeNames":{}}"#, KINDS).check_use(&[])),
            "ExpressionAttributeNames can only be specified when using expressions"
        );
        let values = r#"{"ExpressionAttributeValues":{},"ProjectionExpression":"a"}"#;
        assert_eq!(
            refusal(read(values, KINDS).check_use(&[])),
            "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and KeyConditionExpression are null"
        );
        assert_eq!(
            refusal(read(values, &[ExpressionKind::Condition]).check_use(&[])),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"
        );
    }

    #[test]
    fn placeholders_are_checked_before_expressions() {
        for (body, text) in [
            (r#"{"ExpressionAttributeNames":{}}"#, "ExpressionAttributeNames must not be empty"),
            (
                r##"{"ExpressionAttributeNames":{"#a":"x","a":"a"}}"##,
                "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
            ),
            (
                r##"{"ExpressionAttributeNames":{"#a":""}}"##,
                "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
            ),
            (r#"{"ExpressionAttributeValues":{}}"#, "ExpressionAttributeValues must not be empty"),
            (
                r#"{"ExpressionAttributeValues":{":":{"S":"b"}}}"#,
                "ExpressionAttributeValues contains invalid key: Syntax error; key: \":\"",
            ),
            (
                r#"{"ExpressionAttributeValues":{":a":{"S":"b"},":b":{}}}"#,
                "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :b",
            ),
        ] {
            assert_eq!(refusal(read(body, KINDS).parse()), text);
        }
    }

    #[test]
    fn members_unknown_to_the_operation_are_skipped() {
        let expressions =
            read(r#"{"UpdateExpression":7,"ExpressionAttributeValues":7}"#, &[ExpressionKind::Projection]);
        assert!(expressions.parse().unwrap().update.is_none());
    }
}
