//! Attribute values: JSON → canonical bytes in one pass, and back.
//!
//! `{"S": "text"}` is encoded as it is read, without a tree in between. A wrong JSON type ends the reading immediately, as
//! everywhere. An invalid value (no type, a bad number, an empty set) is reported later, and only if the rest of the request is
//! valid: the first such [`ValueError`] is stored alongside the bytes, and reading continues.

use crate::item_json;
use crate::json::{JsonType, Reader, Shape, Writer};
use base64::{DecodeError, Engine, engine::general_purpose::STANDARD};
use partita_api::Exception;
use partita_api::messages::START_KEY_INVALID;
use partita_value::{Encoder, Item, ItemBuilder, ItemRef, Number, NumberError, Value, ValueRef, limits};
use std::fmt;

const CLASS: &str = "AttributeValue";

/// Why a value is invalid. Displayed with AWS's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueError {
    NoType,
    SeveralTypes,
    FalseNull,
    Number(NumberError),
    EmptyStringSet,
    EmptyNumberSet,
    EmptyBinarySet,
    NullInSet,
    DuplicateStrings(String),
    DuplicateNumbers,
    DuplicateBinaries(String),
    TooDeep,
    EmptyName,
    LongName,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            ValueError::NoType => {
                "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
            }
            ValueError::SeveralTypes => {
                "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
            }
            ValueError::FalseNull => {
                "One or more parameter values were invalid: Null attribute value types must have the value of true"
            }
            ValueError::Number(error) => return error.fmt(f),
            ValueError::EmptyStringSet => {
                "One or more parameter values were invalid: An string set  may not be empty"
            }
            ValueError::EmptyNumberSet => {
                "One or more parameter values were invalid: An number set  may not be empty"
            }
            ValueError::EmptyBinarySet => {
                "One or more parameter values were invalid: Binary sets should not be empty"
            }
            ValueError::NullInSet => {
                "One or more parameter values were invalid: An string set may not have a null string as a member"
            }
            ValueError::DuplicateStrings(all) => {
                return write!(
                    f,
                    "One or more parameter values were invalid: Input collection [{all}] contains duplicates."
                );
            }
            ValueError::DuplicateNumbers => "Input collection contains duplicates",
            ValueError::DuplicateBinaries(all) => {
                return write!(
                    f,
                    "One or more parameter values were invalid: Input collection [{all}]of type BS contains duplicates."
                );
            }
            ValueError::TooDeep => {
                "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
            }
            ValueError::EmptyName => "Empty attribute name",
            ValueError::LongName => "Attribute name is too large, must be less than 65536 bytes",
        };
        f.write_str(text)
    }
}

impl From<&ValueError> for Exception {
    fn from(error: &ValueError) -> Exception {
        Exception::validation(error.to_string())
    }
}

/// Checks the length of an attribute's name.
pub(crate) fn check_name(name: &str) -> Result<(), ValueError> {
    match name.len() {
        0 => Err(ValueError::EmptyName),
        1..=limits::ATTRIBUTE_NAME_BYTES => Ok(()),
        _ => Err(ValueError::LongName),
    }
}

/// An item or a key that may have an invalid value.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    item: Item,
    error: Option<ValueError>,
}

impl Attributes {
    /// Reads a map of attributes. `shape` is how AWS declares the map.
    pub(crate) fn read(reader: &mut Reader<'_>, shape: Shape) -> Result<Option<Attributes>, Exception> {
        let mut builder = ItemBuilder::default();
        let mut values = ValueReader::default();
        let present = reader.map(shape, |reader, name| {
            if name.is_empty() {
                // An empty name of an attribute is reported before any invalid value.
                values.error = Some(ValueError::EmptyName);
            }
            values.name(builder.encoder(), &name);
            values.value(reader, builder.encoder(), Shape::Element(CLASS), 1)
        })?;
        Ok(present.then(|| Attributes { item: builder.finish().shrunk(), error: values.error }))
    }

    /// Reads a member that is a map of attributes.
    pub(crate) fn read_member(reader: &mut Reader<'_>) -> Result<Option<Attributes>, Exception> {
        Attributes::read(reader, Shape::Map(CLASS))
    }

    /// Returns the item if all of its values are valid.
    pub(crate) fn checked(self) -> Result<Item, Exception> {
        match &self.error {
            None => Ok(self.item),
            Some(error) => Err(error.into()),
        }
    }

    /// Returns the start key of a page if it is valid. AWS mentions the start key in some errors only.
    pub(crate) fn checked_start_key(self) -> Result<Item, Exception> {
        match &self.error {
            Some(
                error @ (ValueError::NoType
                | ValueError::SeveralTypes
                | ValueError::FalseNull
                | ValueError::EmptyStringSet
                | ValueError::EmptyBinarySet),
            ) => Err(Exception::validation(format!("{START_KEY_INVALID}: {error}"))),
            _ => self.checked(),
        }
    }

    /// The encoded bytes, valid or not, for fingerprints.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.item.view().bytes()
    }
}

/// A value that may be invalid.
#[derive(Clone, Debug)]
pub(crate) struct UncheckedValue {
    value: Value,
    error: Option<ValueError>,
}

impl UncheckedValue {
    /// Reads a value that is an element of a list or a map. An explicit null is a value without a type.
    pub(crate) fn read_element(reader: &mut Reader<'_>) -> Result<UncheckedValue, Exception> {
        let mut encoder = Encoder::new();
        let mut values = ValueReader::default();
        values.value(reader, &mut encoder, Shape::Element(CLASS), 1)?;
        Ok(UncheckedValue { value: Value::from_encoder(encoder), error: values.error })
    }

    /// A valid value that was not read from JSON.
    pub(crate) fn of(value: ValueRef<'_>) -> UncheckedValue {
        UncheckedValue { value: value.into(), error: None }
    }

    /// Reads a value that is a member of a structure, where it may be absent.
    pub(crate) fn read_member(reader: &mut Reader<'_>) -> Result<Option<UncheckedValue>, Exception> {
        match reader.peek()? {
            JsonType::Object => UncheckedValue::read_element(reader).map(Some),
            JsonType::Null => reader.skip().map(|()| None),
            _ => Err(reader.mismatch(Shape::Structure(CLASS))),
        }
    }

    pub(crate) fn error(&self) -> Option<&ValueError> {
        self.error.as_ref()
    }

    /// Returns the value if it is valid.
    pub(crate) fn checked(self) -> Result<Value, Exception> {
        match &self.error {
            None => Ok(self.value),
            Some(error) => Err(error.into()),
        }
    }

    pub(crate) fn view(&self) -> ValueRef<'_> {
        self.value.view()
    }

    /// The value, valid or not.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }
}

#[derive(Clone, Copy)]
enum Type {
    Null,
    Bool,
    S,
    N,
    B,
    Ss,
    Ns,
    Bs,
    L,
    M,
}

impl Type {
    fn from_name(name: &str) -> Option<Type> {
        Some(match name {
            "S" => Type::S,
            "N" => Type::N,
            "B" => Type::B,
            "BOOL" => Type::Bool,
            "NULL" => Type::Null,
            "L" => Type::L,
            "M" => Type::M,
            "SS" => Type::Ss,
            "NS" => Type::Ns,
            "BS" => Type::Bs,
            _ => return None,
        })
    }
}

/// Reads values and records the first error. Exactly one value is written for every value read, so that the bytes around an
/// invalid one stay well formed.
#[derive(Default)]
struct ValueReader {
    error: Option<ValueError>,
}

impl ValueReader {
    fn record(&mut self, error: ValueError) {
        self.error.get_or_insert(error);
    }

    fn name(&mut self, encoder: &mut Encoder, name: &str) {
        if let Err(error) = check_name(name) {
            self.record(error);
        }
        encoder.name(name);
    }

    /// `level` is the nesting level, 1 for the value of an attribute.
    fn value(
        &mut self,
        reader: &mut Reader<'_>,
        encoder: &mut Encoder,
        shape: Shape,
        level: usize,
    ) -> Result<(), Exception> {
        if level > limits::NESTING_LEVELS {
            self.record(ValueError::TooDeep);
            encoder.null();
            return reader.skip();
        }
        let mut types = 0;
        reader.structure(shape, |reader, name| {
            let Some(kind) = Type::from_name(name) else { return reader.skip() };
            if reader.peek()? == JsonType::Null {
                return reader.skip();
            }
            types += 1;
            match types {
                1 => self.typed(reader, encoder, kind, level),
                _ => self.typed(reader, &mut Encoder::new(), kind, level),
            }
        })?;
        match types {
            0 => {
                self.record(ValueError::NoType);
                encoder.null();
            }
            1 => {}
            _ => self.record(ValueError::SeveralTypes),
        }
        Ok(())
    }

    fn typed(
        &mut self,
        reader: &mut Reader<'_>,
        encoder: &mut Encoder,
        kind: Type,
        level: usize,
    ) -> Result<(), Exception> {
        match kind {
            Type::S => encoder.string(&reader.text()?.unwrap_or_default()),
            Type::N => {
                let number = reader.text()?.unwrap_or_default();
                encoder
                    .number_text(&number)
                    .unwrap_or_else(|error| self.invalid(encoder, ValueError::Number(error)));
            }
            Type::B => encoder.binary(&read_binary(reader)?),
            Type::Bool => encoder.boolean(reader.boolean()?.unwrap_or_default()),
            Type::Null => {
                if reader.boolean()? == Some(false) {
                    self.record(ValueError::FalseNull);
                }
                encoder.null();
            }
            Type::Ss => self.string_set(reader, encoder)?,
            Type::Ns => self.number_set(reader, encoder)?,
            Type::Bs => self.binary_set(reader, encoder)?,
            Type::L => {
                let mark = encoder.begin_list();
                reader.list(Shape::List, |reader| {
                    self.value(reader, encoder, Shape::Element(CLASS), level + 1)
                })?;
                encoder.end_list(mark);
            }
            Type::M => {
                let mark = encoder.begin_map();
                reader.map(Shape::Map(CLASS), |reader, name| {
                    self.name(encoder, &name);
                    self.value(reader, encoder, Shape::Element(CLASS), level + 1)
                })?;
                encoder.end_map(mark);
            }
        }
        Ok(())
    }

    fn invalid(&mut self, encoder: &mut Encoder, error: ValueError) {
        self.record(error);
        encoder.null();
    }

    fn string_set(&mut self, reader: &mut Reader<'_>, encoder: &mut Encoder) -> Result<(), Exception> {
        let mut elements = Vec::new();
        reader.list(Shape::List, |reader| {
            match reader.text()? {
                Some(text) => elements.push(text),
                None => self.record(ValueError::NullInSet),
            }
            Ok(())
        })?;
        if elements.is_empty() {
            self.invalid(encoder, ValueError::EmptyStringSet);
        } else if encoder.string_set(&elements).is_err() {
            self.invalid(encoder, ValueError::DuplicateStrings(elements.join(", ")));
        }
        Ok(())
    }

    fn number_set(&mut self, reader: &mut Reader<'_>, encoder: &mut Encoder) -> Result<(), Exception> {
        let mut elements = Vec::new();
        reader.list(Shape::List, |reader| {
            let text = reader.text()?.unwrap_or_default();
            elements.push(Number::parse(&text).unwrap_or_else(|error| {
                self.record(ValueError::Number(error));
                Number::ZERO
            }));
            Ok(())
        })?;
        if elements.is_empty() {
            self.invalid(encoder, ValueError::EmptyNumberSet);
        } else if encoder.number_set(&elements).is_err() {
            self.invalid(encoder, ValueError::DuplicateNumbers);
        }
        Ok(())
    }

    fn binary_set(&mut self, reader: &mut Reader<'_>, encoder: &mut Encoder) -> Result<(), Exception> {
        let mut elements = Vec::new();
        reader.list(Shape::List, |reader| {
            match reader.peek()? {
                JsonType::Null => {
                    self.record(ValueError::NullInSet);
                    reader.skip()?;
                }
                _ => elements.push(read_binary(reader)?),
            }
            Ok(())
        })?;
        if elements.is_empty() {
            self.invalid(encoder, ValueError::EmptyBinarySet);
        } else if encoder.binary_set(&elements).is_err() {
            let all = elements.iter().map(|element| STANDARD.encode(element)).collect::<Vec<_>>().join(", ");
            self.invalid(encoder, ValueError::DuplicateBinaries(all));
        }
        Ok(())
    }
}

/// AWS reports binary that is not base64 like a wrong JSON type.
fn read_binary(reader: &mut Reader<'_>) -> Result<Vec<u8>, Exception> {
    if reader.peek()? != JsonType::String {
        return Err(reader.mismatch(Shape::Blob));
    }
    let text = reader.string()?;
    if !text.len().is_multiple_of(4) {
        let length = text.len();
        return Err(Exception::serialization(format!(
            "Base64 encoded length is expected a multiple of 4 bytes but found: {length}"
        )));
    }
    STANDARD.decode(text.as_bytes()).map_err(|error| {
        Exception::serialization(match error {
            DecodeError::InvalidByte(_, byte) if byte != b'=' => {
                format!("Invalid base 64 character: '{}'", char::from(byte))
            }
            _ => "Invalid last non-pad Base64 character dectected".into(),
        })
    })
}

/// Encodes the attributes of an item or a key as an object.
pub(crate) fn encode_item(json: &mut Writer, item: ItemRef<'_>) {
    json.written_by(|out| item_json::write_map(out, item.attributes()));
}

/// Encodes an array of items.
pub(crate) fn encode_items(json: &mut Writer, items: &[Item]) {
    // JSON takes about nine bytes per attribute more than the binary encoding.
    let bytes: usize = items.iter().map(|item| item.view().bytes().len()).sum();
    json.reserve(bytes + bytes / 2);
    json.array(|json| items.iter().for_each(|item| encode_item(json, item.view())));
}

/// Encodes a value: `{"S": …}`.
pub(crate) fn encode_value(json: &mut Writer, value: ValueRef<'_>) {
    json.written_by(|out| item_json::write_value(out, value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::AttributeValue;
    use proptest::prelude::*;

    fn read(json: &str) -> Result<Attributes, Exception> {
        let mut reader = Reader::new(json.as_bytes())?;
        Attributes::read_member(&mut reader).map(|attributes| attributes.expect("the body is a map"))
    }

    /// The error of an item whose attribute `a` has this value.
    fn message(value: &str) -> String {
        let result = read(&format!(r#"{{"a":{value},"z":{{"S":"after"}}}}"#)).and_then(Attributes::checked);
        result.map_or_else(|exception| exception.message, |item| format!("{item:?}"))
    }

    fn written(item: ItemRef<'_>) -> String {
        let mut json = Writer::default();
        encode_item(&mut json, item);
        String::from_utf8(json.finish()).unwrap()
    }

    #[test]
    fn values_of_every_type_survive_the_round_trip() {
        let json = r#"{"b":{"B":"AP8="},"bs":{"BS":["","AA=="]},"f":{"BOOL":false},"l":{"L":[{"S":""},{"L":[]}]},"m":{"M":{"x":{"M":{}},"ä\"\n":{"NULL":true}}},"n":{"N":"-1.5"},"ns":{"NS":["-2","1","10"]},"s":{"S":"q\"\\\u0001"},"ss":{"SS":["a","b"]},"t":{"BOOL":true}}"#;
        let item = read(json).unwrap().checked().unwrap();
        assert_eq!(written(item.view()), json);
    }

    #[test]
    fn numbers_are_made_canonical() {
        for (text, canonical) in
            [("00042", "42"), ("1.50", "1.5"), ("1.5E2", "150"), ("-0", "0"), ("+3", "3")]
        {
            let item = read(&format!(r#"{{"n":{{"N":"{text}"}}}}"#)).unwrap().checked().unwrap();
            assert_eq!(written(item.view()), format!(r#"{{"n":{{"N":"{canonical}"}}}}"#));
        }
    }

    #[test]
    fn unknown_types_are_ignored() {
        let item = read(r#"{"a":{"X":{"Y":[1,2]},"S":"s","N":null}}"#).unwrap().checked().unwrap();
        assert_eq!(item.get("a"), Some(ValueRef::S(b"s")));
    }

    #[test]
    fn values_need_exactly_one_type() {
        let none = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
        for value in ["{}", r#"{"a":""}"#, "null", r#"{"S":null}"#, r#"{"M":{"a":{}}}"#, r#"{"L":[{}]}"#] {
            assert_eq!(message(value), none, "{value}");
        }
        let several = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";
        assert_eq!(message(r#"{"S":"a","N":"1"}"#), several);
        assert_eq!(
            message(r#"{"S":"a","N":"b"}"#),
            "The parameter cannot be converted to a numeric value: b"
        );
    }

    #[test]
    fn invalid_values_have_the_texts_of_aws() {
        let prefix = "One or more parameter values were invalid: ";
        for (value, text) in [
            (r#"{"NULL":"no"}"#, "Null attribute value types must have the value of true"),
            (r#"{"NULL":false}"#, "Null attribute value types must have the value of true"),
            (r#"{"SS":[]}"#, "An string set  may not be empty"),
            (r#"{"NS":[]}"#, "An number set  may not be empty"),
            (r#"{"BS":[]}"#, "Binary sets should not be empty"),
            (r#"{"SS":["a","a"]}"#, "Input collection [a, a] contains duplicates."),
            (r#"{"BS":["Yg==","Yg=="]}"#, "Input collection [Yg==, Yg==]of type BS contains duplicates."),
        ] {
            assert_eq!(message(value), format!("{prefix}{text}"));
        }
        for (value, text) in [
            (r#"{"N":""}"#, "The parameter cannot be converted to a numeric value"),
            (r#"{"NS":["1","b"]}"#, "The parameter cannot be converted to a numeric value: b"),
            (r#"{"NS":["1","1.0"]}"#, "Input collection contains duplicates"),
            (
                r#"{"N":"1e126"}"#,
                "Number overflow. Attempting to store a number with magnitude larger than supported range",
            ),
            (r#"{"M":{"":{"S":"x"}}}"#, "Empty attribute name"),
        ] {
            assert_eq!(message(value), text);
        }
    }

    #[test]
    fn wrong_json_types_are_reported_before_invalid_values() {
        for (value, text) in [
            ("1", "Unexpected value type in payload"),
            ("[]", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"),
            (r#"{"S":1}"#, "NUMBER_VALUE cannot be converted to String"),
            (r#"{"N":1}"#, "NUMBER_VALUE cannot be converted to String"),
            (r#"{"B":true}"#, "only base-64-encoded strings are convertible to bytes"),
            (r#"{"B":"23456"}"#, "Base64 encoded length is expected a multiple of 4 bytes but found: 5"),
            (r#"{"B":"=+/="}"#, "Invalid last non-pad Base64 character dectected"),
            (r#"{"B":"+/+="}"#, "Invalid last non-pad Base64 character dectected"),
            (r#"{"L":{}}"#, "Start of structure or map found where not expected"),
            (r#"{"SS":"a"}"#, "Unexpected field type"),
        ] {
            let json = format!(r#"{{"first":{{}},"a":{value}}}"#);
            assert_eq!(read(&json).unwrap_err(), Exception::serialization(text), "{value}");
        }
    }

    #[test]
    fn values_nest_up_to_thirty_two_levels() {
        let nested = |maps: usize| {
            format!("{}{}{}", r#"{"M":{"n":"#.repeat(maps), r#"{"S":"leaf"}"#, "}}".repeat(maps))
        };
        assert!(read(&format!(r#"{{"a":{}}}"#, nested(31))).unwrap().checked().is_ok());
        let too_deep = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";
        assert_eq!(message(&nested(32)), too_deep);
        assert_eq!(message(&nested(200)), too_deep);
        assert_eq!(message(&nested(1000)), "");
    }

    #[test]
    fn an_empty_attribute_name_is_reported_first() {
        let json = r#"{"a":{"SS":[]},"":{"S":"x"},"b":{}}"#;
        assert_eq!(read(json).unwrap().checked().unwrap_err().message, "Empty attribute name");
    }

    fn any_value() -> impl Strategy<Value = AttributeValue> {
        let leaf = prop_oneof![
            Just(AttributeValue::Null),
            any::<bool>().prop_map(AttributeValue::Bool),
            any::<String>().prop_map(AttributeValue::S),
            any::<i64>().prop_map(|n| AttributeValue::N(Number::parse(&n.to_string()).unwrap())),
            any::<Vec<u8>>().prop_map(AttributeValue::B),
            prop::collection::btree_set(any::<String>(), 1..5).prop_map(AttributeValue::Ss),
            prop::collection::btree_set(any::<Vec<u8>>(), 1..4).prop_map(AttributeValue::Bs),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(AttributeValue::L),
                prop::collection::btree_map(".{1,3}", inner, 0..5).prop_map(AttributeValue::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_round_trip(value in any_value()) {
            let item: Item = [("a", value)].into_iter().collect();
            prop_assert_eq!(read(&written(item.view())).unwrap().checked().unwrap(), item);
        }

        #[test]
        fn values_are_written_as_json(value in any_value()) {
            let item: Item = [("a", value)].into_iter().collect();
            prop_assert!(serde_json::from_str::<serde_json::Value>(&written(item.view())).is_ok());
        }
    }
}
