//! Reading of members with a declared type. A JSON value of another type is a `SerializationException` whose text depends on
//! both types, as in AWS's deserializer. An explicit `null` is an absent member.

use super::reader::{JsonType, Reader, malformed};
use partita_api::Exception;
use std::borrow::Cow;

const PACKAGE: &str = "com.amazonaws.dynamodb.v20120810.";
const UNEXPECTED_STRUCTURE: &str = "Start of structure or map found where not expected";

/// The maximum number of elements that are stored of a list of structures. Every limit on such lists is far lower, so the rest
/// does not change any error; but `{}` takes two bytes in a body and a hundred times that in memory.
const MAX_STRUCTURES: usize = 1_000;

/// The entries of a map in the order of the body.
pub(crate) type Entries<'a, T> = Vec<(Cow<'a, str>, T)>;

/// The declared type of a member. Classes are named without AWS's package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Boolean,
    Integer,
    Long,
    /// A time, as a number of seconds.
    Time,
    Blob,
    List,
    /// A list inside a map, for which AWS has a text of its own.
    ListInMap,
    /// A map from strings to this class.
    Map(&'static str),
    /// Such a map inside a list, for which AWS has the same text as for lists in maps.
    MapInList(&'static str),
    /// A map from strings to strings.
    TextMap,
    /// A map from strings to lists of this class.
    ListMap(&'static str),
    /// A structure that is a member of a structure.
    Structure(&'static str),
    /// A structure that is an element of a list or a map.
    Element(&'static str),
}

impl Shape {
    /// The error text for a value of the wrong type. `decimal` is set for numbers with a fraction or an exponent.
    fn mismatch(self, found: JsonType, decimal: bool) -> String {
        match (self.scalar_class(), found) {
            (Some(class), JsonType::Array) => format!("Unrecognized collection type class {class}"),
            (_, JsonType::Object) => UNEXPECTED_STRUCTURE.into(),
            (None, JsonType::Array) => self.unexpected_list(),
            (_, scalar) => self.unexpected_scalar(scalar, decimal),
        }
    }

    fn scalar_class(self) -> Option<&'static str> {
        match self {
            Shape::Text => Some("java.lang.String"),
            Shape::Boolean => Some("java.lang.Boolean"),
            Shape::Integer => Some("java.lang.Integer"),
            Shape::Long => Some("java.lang.Long"),
            Shape::Time => Some("java.util.Date"),
            Shape::Blob => Some("java.nio.ByteBuffer"),
            _ => None,
        }
    }

    fn unexpected_list(self) -> String {
        match self {
            Shape::Map(class) | Shape::MapInList(class) => {
                format!("Unrecognized collection type java.util.Map<java.lang.String, {PACKAGE}{class}>")
            }
            Shape::ListMap(class) => {
                format!(
                    "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<{PACKAGE}{class}>>"
                )
            }
            Shape::TextMap => {
                "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>".into()
            }
            Shape::Structure(class) | Shape::Element(class) => {
                format!("Unrecognized collection type class {PACKAGE}{class}")
            }
            _ => "Start of list found where not expected".into(),
        }
    }

    fn unexpected_scalar(self, found: JsonType, decimal: bool) -> String {
        let found = match found {
            JsonType::True => "TRUE_VALUE",
            JsonType::False => "FALSE_VALUE",
            JsonType::Number if decimal => "DECIMAL_VALUE",
            JsonType::Number => "NUMBER_VALUE",
            _ => "STRING_VALUE",
        };
        match self {
            Shape::Boolean if found == "STRING_VALUE" => "Unexpected token received from parser".into(),
            Shape::Blob => "only base-64-encoded strings are convertible to bytes".into(),
            Shape::Element(_) => "Unexpected value type in payload".into(),
            Shape::ListInMap | Shape::MapInList(_) => "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')".into(),
            _ => match self.scalar_class().and_then(|class| class.rsplit('.').next()) {
                Some(class) => format!("{found} cannot be converted to {class}"),
                None => "Unexpected field type".into(),
            },
        }
    }
}

impl<'a> Reader<'a> {
    /// The error for the next value, which does not have this shape.
    pub(crate) fn mismatch(&mut self, shape: Shape) -> Exception {
        let Ok(found) = self.peek() else { return malformed() };
        let decimal = match found {
            JsonType::Number => self.number().is_ok_and(|number| number.contains(['.', 'e', 'E'])),
            _ => false,
        };
        Exception::serialization(shape.mismatch(found, decimal))
    }

    /// Reads the next value if it is a `null`, and returns whether it was.
    fn is_null(&mut self) -> Result<bool, Exception> {
        let null = self.peek()? == JsonType::Null;
        if null {
            self.literal("null")?;
        }
        Ok(null)
    }

    pub(crate) fn text(&mut self) -> Result<Option<Cow<'a, str>>, Exception> {
        match self.peek()? {
            JsonType::String => self.string().map(Some),
            _ if self.is_null()? => Ok(None),
            _ => Err(self.mismatch(Shape::Text)),
        }
    }

    /// Reads a boolean or, like AWS, a text for one.
    pub(crate) fn boolean(&mut self) -> Result<Option<bool>, Exception> {
        match self.peek()? {
            JsonType::True => self.literal("true").map(|()| Some(true)),
            JsonType::False => self.literal("false").map(|()| Some(false)),
            JsonType::String => match self.string()?.to_ascii_uppercase().as_str() {
                "TRUE" | "1" | "YES" => Ok(Some(true)),
                "FALSE" | "0" | "NO" => Ok(Some(false)),
                _ => Err(Exception::serialization(Shape::Boolean.mismatch(JsonType::String, false))),
            },
            _ if self.is_null()? => Ok(None),
            _ => Err(self.mismatch(Shape::Boolean)),
        }
    }

    /// Reads a 32-bit number, clamped to its range.
    pub(crate) fn integer(&mut self) -> Result<Option<i32>, Exception> {
        let nearest = |number: i64| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        self.whole_number(Shape::Integer).map(|number| number.map(nearest))
    }

    /// Reads a 64-bit number, clamped to its range.
    pub(crate) fn long(&mut self) -> Result<Option<i64>, Exception> {
        self.whole_number(Shape::Long)
    }

    fn whole_number(&mut self, shape: Shape) -> Result<Option<i64>, Exception> {
        match self.peek()? {
            JsonType::Number => {
                let text = self.number()?;
                // Fractions are dropped; a cast from a float saturates.
                Ok(Some(text.parse().unwrap_or_else(|_| text.parse::<f64>().unwrap_or(0.0).floor() as i64)))
            }
            _ if self.is_null()? => Ok(None),
            _ => Err(self.mismatch(shape)),
        }
    }

    /// Reads a time in seconds since 1970 with any fraction; returns milliseconds.
    pub(crate) fn time(&mut self) -> Result<Option<i64>, Exception> {
        match self.peek()? {
            JsonType::Number => {
                let seconds = self.number()?.parse().unwrap_or(0.0);
                // A cast from a float saturates.
                Ok(Some(f64::round(seconds * 1_000.0) as i64))
            }
            _ if self.is_null()? => Ok(None),
            _ => Err(self.mismatch(Shape::Time)),
        }
    }

    /// Reads a request body: one structure and nothing after it.
    pub(crate) fn request(
        mut self,
        member: impl FnMut(&mut Reader<'a>, &str) -> Result<(), Exception>,
    ) -> Result<(), Exception> {
        match self.peek()? {
            JsonType::Object => self.structure(Shape::Element("Request"), member)?,
            JsonType::Array => {
                return Err(Exception::serialization("Start of list found where not expected"));
            }
            _ => return Err(Exception::serialization("Unexpected value type in payload")),
        };
        self.end()
    }

    /// Reads a structure: `member` reads the value of each name that it knows and skips the others. Returns whether the
    /// structure was present.
    pub(crate) fn structure(
        &mut self,
        shape: Shape,
        mut member: impl FnMut(&mut Reader<'a>, &str) -> Result<(), Exception>,
    ) -> Result<bool, Exception> {
        self.map(shape, |reader, name| member(reader, &name))
    }

    /// Reads a map: `entry` gets each name and reads its value. Returns whether the map was present.
    pub(crate) fn map(
        &mut self,
        shape: Shape,
        mut entry: impl FnMut(&mut Reader<'a>, Cow<'a, str>) -> Result<(), Exception>,
    ) -> Result<bool, Exception> {
        match self.peek()? {
            JsonType::Object => self.open()?,
            _ if self.is_null()? => return Ok(false),
            _ => return Err(self.mismatch(shape)),
        }
        while let Some(name) = self.next_member()? {
            entry(self, name)?;
        }
        Ok(true)
    }

    /// Reads a list: `element` reads one value. Returns whether the list was present.
    pub(crate) fn list(
        &mut self,
        shape: Shape,
        mut element: impl FnMut(&mut Reader<'a>) -> Result<(), Exception>,
    ) -> Result<bool, Exception> {
        match self.peek()? {
            JsonType::Array => self.open()?,
            _ if self.is_null()? => return Ok(false),
            _ => return Err(self.mismatch(shape)),
        }
        while self.next_element()? {
            element(self)?;
        }
        Ok(true)
    }

    /// Reads a list of structures, and returns at most [`MAX_STRUCTURES`] of them.
    pub(crate) fn structures<T>(
        &mut self,
        shape: Shape,
        mut element: impl FnMut(&mut Reader<'a>) -> Result<T, Exception>,
    ) -> Result<Option<Vec<T>>, Exception> {
        let mut elements = Vec::new();
        let present = self.list(shape, |reader| {
            let value = element(reader)?;
            if elements.len() < MAX_STRUCTURES {
                elements.push(value);
            }
            Ok(())
        })?;
        Ok(present.then_some(elements))
    }

    /// Like [`Reader::structures`], with the JSON of the list for errors that repeat it.
    pub(crate) fn structures_with_json<T>(
        &mut self,
        element: impl FnMut(&mut Reader<'a>) -> Result<T, Exception>,
    ) -> Result<Option<(Vec<T>, &'a str)>, Exception> {
        let start = self.offset();
        let list = self.structures(Shape::List, element)?;
        Ok(list.map(|list| (list, self.since(start))))
    }

    /// Reads a list of strings, without its nulls.
    pub(crate) fn text_list(&mut self) -> Result<Option<Vec<Cow<'a, str>>>, Exception> {
        let mut texts = Vec::new();
        let present = self.list(Shape::List, |reader| {
            texts.extend(reader.text()?);
            Ok(())
        })?;
        Ok(present.then_some(texts))
    }

    /// Reads a map from strings to strings in the order of the body, without its nulls.
    pub(crate) fn text_map(&mut self) -> Result<Option<Entries<'a, Cow<'a, str>>>, Exception> {
        let mut entries = Vec::new();
        let present = self.map(Shape::TextMap, |reader, name| {
            entries.extend(reader.text()?.map(|text| (name, text)));
            Ok(())
        })?;
        Ok(present.then_some(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a, T>(
        body: &'a str,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, Exception>,
    ) -> Result<T, String> {
        let mut reader = Reader::new(body.as_bytes()).unwrap();
        read(&mut reader).map_err(|error| error.message)
    }

    #[test]
    fn values_of_the_declared_type_are_read() {
        assert_eq!(read("\"a\"", |r| r.text().map(|t| t.map(Cow::into_owned))), Ok(Some("a".into())));
        assert_eq!(read("true", Reader::boolean), Ok(Some(true)));
        assert_eq!(read("\"no\"", Reader::boolean), Ok(Some(false)));
        assert_eq!(read("-12", Reader::integer), Ok(Some(-12)));
        assert_eq!(read("1.9", Reader::integer), Ok(Some(1)));
        assert_eq!(read("99999999999", Reader::integer), Ok(Some(i32::MAX)));
        assert_eq!(read("1e300", Reader::long), Ok(Some(i64::MAX)));
        for (seconds, millis) in
            [("1700000000", 1_700_000_000_000), ("1700000000.1234", 1_700_000_000_123), ("-0.5", -500)]
        {
            assert_eq!(read(seconds, Reader::time), Ok(Some(millis)));
        }
        assert_eq!(read("1e300", Reader::time), Ok(Some(i64::MAX)));
        assert_eq!(read("null", Reader::time), Ok(None));
        for null in [
            read("null", Reader::integer).map(|v| v.is_none()),
            read("null", |r| r.list(Shape::List, Reader::skip)).map(|v| !v),
        ] {
            assert_eq!(null, Ok(true));
        }
    }

    #[test]
    fn other_types_are_named_in_the_error() {
        let text = |body| read(body, Reader::text).unwrap_err();
        assert_eq!(text("1"), "NUMBER_VALUE cannot be converted to String");
        assert_eq!(text("1.5"), "DECIMAL_VALUE cannot be converted to String");
        assert_eq!(text("true"), "TRUE_VALUE cannot be converted to String");
        assert_eq!(text("[]"), "Unrecognized collection type class java.lang.String");
        assert_eq!(text("{}"), "Start of structure or map found where not expected");
        assert_eq!(
            read("\"a\"", Reader::integer).unwrap_err(),
            "STRING_VALUE cannot be converted to Integer"
        );
        assert_eq!(read("\"a\"", Reader::boolean).unwrap_err(), "Unexpected token received from parser");
        assert_eq!(read("\"a\"", Reader::time).unwrap_err(), "STRING_VALUE cannot be converted to Date");
        assert_eq!(read("1", Reader::boolean).unwrap_err(), "NUMBER_VALUE cannot be converted to Boolean");
    }

    #[test]
    fn collections_of_the_wrong_kind_are_named_in_the_error() {
        let map = |body| read(body, |r| r.map(Shape::Map("AttributeValue"), |r, _| r.skip())).unwrap_err();
        assert_eq!(
            map("[]"),
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"
        );
        assert_eq!(map("1"), "Unexpected field type");
        let element = |body| read(body, |r| r.structure(Shape::Element("Tag"), |r, _| r.skip())).unwrap_err();
        assert_eq!(element("[]"), "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Tag");
        assert_eq!(element("1"), "Unexpected value type in payload");
        let list = |body| read(body, |r| r.list(Shape::List, Reader::skip)).unwrap_err();
        assert_eq!(list("{}"), "Start of structure or map found where not expected");
        assert_eq!(list("1"), "Unexpected field type");
    }
}
