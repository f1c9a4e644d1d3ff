//! The members of control-plane requests, declared in one place.
//!
//! [`structure!`] takes the members of a request or of a nested structure in the order in which AWS validates them: the field,
//! its type, its name on the wire, and its constraints.
//!
//! ```text
//! structure! {
//!     /// The members of a ListBackups request.
//!     struct ListBackupsMembers<'a> {
//!         limit: i32 = "Limit", range(1, 100);
//!         start: Cow<'a, str> = "ExclusiveStartBackupArn", length(37, 1024);
//!         filter: Choice<'a, BackupFilter> = "BackupType";
//!     }
//! }
//! ```
//!
//! It expands to a struct with an `Option` for each member, the code that reads it ([`read_request`]; a wrong JSON type is a
//! `SerializationException`), and the code that validates it ([`Structure::check_members`]; all failures are collected). A
//! constraint is any function with the signature of [`required`]. The constraints of the type itself (a known enum value, the
//! members of a nested structure) are checked last. [`enum_names!`] declares the values of an enum. Rules between members are left
//! to the operation.
//!
//! Operations on the hot path do not use this form: they read their members by hand.

use crate::json::{Reader, Shape};
use crate::validation::Validation;
use partita_api::Exception;
use std::borrow::Cow;
use std::fmt;

/// The path of a member as AWS writes it: lower camel case, `keySchema.1.member.keyType`.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    /// The request itself.
    Request,
    /// A member and its name on the wire.
    Member(&'p Path<'p>, &'static str),
    /// An element of a list, counted from 1.
    Element(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Request => Ok(()),
            Path::Member(parent, name) => {
                if !matches!(parent, Path::Request) {
                    write!(f, "{parent}.")?;
                }
                let (first, rest) = name.split_at(1);
                write!(f, "{}{rest}", first.to_ascii_lowercase())
            }
            Path::Element(list, number) => write!(f, "{list}.{number}.member"),
        }
    }
}

/// A value that a member can have.
pub(crate) trait Member<'a>: Sized {
    /// Reads a value of this type; a null is `None`.
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception>;

    /// Checks the constraints of the type itself.
    fn check(&self, _path: &Path<'_>, _validation: &mut Validation) {}
}

/// A structure of members. [`structure!`] implements it.
pub(crate) trait Structure<'a>: Default {
    /// The class that AWS names in errors.
    const CLASS: &'static str;

    /// Reads the value of a member, or skips it if its name is unknown.
    fn read_member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<(), Exception>;

    /// Checks all members in the order of their declaration.
    fn check_members(&self, path: &Path<'_>, validation: &mut Validation);
}

/// Reads the members of a request body.
pub(crate) fn read_request<'a, T: Structure<'a>>(reader: Reader<'a>) -> Result<T, Exception> {
    let mut members = T::default();
    reader.request(|reader, name| members.read_member(reader, name))?;
    Ok(members)
}

/// Reads the members of a request body and validates them.
pub(crate) fn read_valid_request<'a, T: Structure<'a>>(reader: Reader<'a>) -> Result<T, Exception> {
    let members: T = read_request(reader)?;
    validate(&members)?;
    Ok(members)
}

/// Validates the members of a request as declared.
pub(crate) fn validate<'a>(members: &impl Structure<'a>) -> Result<(), Exception> {
    let mut validation = Validation::new();
    members.check_members(&Path::Request, &mut validation);
    validation.finish()
}

/// Reads a structure that is a member of another.
pub(crate) fn read_structure<'a, T: Structure<'a>>(reader: &mut Reader<'a>) -> Result<Option<T>, Exception> {
    let mut value = T::default();
    let shape = Shape::Structure(T::CLASS);
    let present = reader.structure(shape, |reader, name| value.read_member(reader, name))?;
    Ok(present.then_some(value))
}

macro_rules! members {
    ($($type:ty: $read:ident;)*) => {
        $(impl<'a> Member<'a> for $type {
            fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
                reader.$read()
            }
        })*
    };
}

members! {
    Cow<'a, str>: text;
    Vec<Cow<'a, str>>: text_list;
    bool: boolean;
    i32: integer;
    i64: long;
}

/// A time in milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Millis(pub(crate) i64);

impl<'a> Member<'a> for Millis {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        Ok(reader.time()?.map(Millis))
    }
}

/// A list of structures, in which a null is a structure without members.
impl<'a, T: Structure<'a>> Member<'a> for Vec<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        reader.structures(Shape::List, |reader| {
            let mut value = T::default();
            reader.structure(Shape::Element(T::CLASS), |reader, name| value.read_member(reader, name))?;
            Ok(value)
        })
    }

    fn check(&self, path: &Path<'_>, validation: &mut Validation) {
        for (index, element) in self.iter().enumerate() {
            element.check_members(&Path::Element(path, index + 1), validation);
        }
    }
}

/// The values of an enum member.
pub(crate) trait Named: Copy + 'static {
    /// All values with their names, in AWS's order.
    const NAMES: &'static [(&'static str, Self)];
}

/// Declares the names of the values of an enum, in AWS's order: `enum_names!(KeyType: "HASH" = Hash, "RANGE" = Range);`.
macro_rules! enum_names {
    ($type:ident: $($name:literal = $value:ident),*) => {
        impl $crate::members::Named for $type {
            const NAMES: &'static [(&'static str, $type)] = &[$(($name, $type::$value)),*];
        }
    };
}

pub(crate) use enum_names;

/// An enum member, which may have an unknown value until it is validated.
pub(crate) struct Choice<'a, T> {
    text: Cow<'a, str>,
    values: std::marker::PhantomData<T>,
}

impl<T: Named> Choice<'_, T> {
    /// The value as it is in the request.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The value; `None` if it is unknown, which validation rules out.
    pub(crate) fn value(&self) -> Option<T> {
        T::NAMES.iter().find(|(name, _)| *name == self.text).map(|(_, value)| *value)
    }
}

impl<'a, T: Named> Member<'a> for Choice<'a, T> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        let choice = |text| Choice { text, values: std::marker::PhantomData };
        Ok(reader.text()?.map(choice))
    }

    fn check(&self, path: &Path<'_>, validation: &mut Validation) {
        validation.one_of(path, Some(&self.text), T::NAMES);
    }
}

/// The value of an optional enum member, after validation.
pub(crate) fn chosen<T: Named>(choice: &Option<Choice<'_, T>>) -> Option<T> {
    choice.as_ref().and_then(Choice::value)
}

/// Requires the member to be present.
pub(crate) fn required<T>(path: &Path<'_>, value: &Option<T>, validation: &mut Validation) {
    validation.required(path, value);
}

/// Requires the number of characters to be in a range.
pub(crate) fn length(
    path: &Path<'_>,
    value: &Option<Cow<'_, str>>,
    validation: &mut Validation,
    min: usize,
    max: usize,
) {
    if let Some(text) = value {
        validation.length(path, text, text.chars().count(), min, max);
    }
}

/// Requires a number to be in a range.
pub(crate) fn range<N: PartialOrd + fmt::Display + Copy>(
    path: &Path<'_>,
    value: &Option<N>,
    validation: &mut Validation,
    min: N,
    max: N,
) {
    validation.at_least(path, *value, min);
    validation.at_most(path, *value, max);
}

/// Requires a number not to be below a bound.
pub(crate) fn at_least<N: PartialOrd + fmt::Display + Copy>(
    path: &Path<'_>,
    value: &Option<N>,
    validation: &mut Validation,
    min: N,
) {
    validation.at_least(path, *value, min);
}

/// Declares the members of requests and of nested structures. See the [module](self).
///
/// `as "Class"` is AWS's class of a nested structure. `..field: Type;` includes the members of another structure, which are
/// checked last.
macro_rules! structure {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident<$life:lifetime> $(as $class:literal)? { $($members:tt)* }
        $($rest:tt)*
    ) => {
        $crate::members::structure! { @parse [$(#[$attribute])*] [$visibility] [$name] [<$life>] [$life] [$($class)?] [] [] $($members)* }
        $crate::members::structure! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(as $class:literal)? { $($members:tt)* }
        $($rest:tt)*
    ) => {
        $crate::members::structure! { @parse [$(#[$attribute])*] [$visibility] [$name] [] ['r] [$($class)?] [] [] $($members)* }
        $crate::members::structure! { $($rest)* }
    };
    // One member with its constraints.
    (@parse $attributes:tt $visibility:tt $name:tt $generics:tt $life:tt $class:tt [$($plain:tt)*] $flat:tt
        $(#[$doc:meta])* $field:ident: $type:ty = $member:literal $(, $constraint:ident $(($($argument:expr),*))?)*;
        $($rest:tt)*
    ) => {
        $crate::members::structure! { @parse $attributes $visibility $name $generics $life $class
            [$($plain)* { [$(#[$doc])*] $field [$type] $member [$($constraint [$($(, $argument)*)?])*] }] $flat $($rest)* }
    };
    // The members of an included structure, at the end.
    (@parse $attributes:tt $visibility:tt $name:tt $generics:tt $life:tt $class:tt $plain:tt []
        $(#[$doc:meta])* ..$field:ident: $type:ty;
    ) => {
        $crate::members::structure! { @parse $attributes $visibility $name $generics $life $class $plain [[$(#[$doc])*] $field [$type]] }
    };
    (@parse [$($attribute:tt)*] [$visibility:vis] [$name:ident] [$($generics:tt)*] [$life:lifetime] [$($class:literal)?]
        [$({ [$($doc:tt)*] $field:ident [$type:ty] $member:literal [$($constraint:ident [$($argument:tt)*])*] })*]
        [$([$($flat_doc:tt)*] $flat:ident [$flat_type:ty])?]
    ) => {
        $($attribute)*
        #[derive(Default)]
        $visibility struct $name $($generics)* {
            $($($doc)* $visibility $field: Option<$type>,)*
            $($($flat_doc)* $visibility $flat: $flat_type,)?
        }

        impl<$life> $crate::members::Structure<$life> for $name $($generics)* {
            const CLASS: &'static str = concat!($($class)?);

            fn read_member(
                &mut self,
                reader: &mut $crate::json::Reader<$life>,
                name: &str,
            ) -> Result<(), partita_api::Exception> {
                match name {
                    $($member => self.$field = $crate::members::Member::read(reader)?,)*
                    _ => $crate::members::structure!(@otherwise self reader name $($flat)?)?,
                }
                Ok(())
            }

            #[allow(unused_variables, reason = "a structure may have no constraints")]
            fn check_members(
                &self,
                path: &$crate::members::Path<'_>,
                validation: &mut $crate::validation::Validation,
            ) {
                $(
                    let member = $crate::members::Path::Member(path, $member);
                    $($constraint(&member, &self.$field, validation $($argument)*);)*
                    if let Some(value) = &self.$field {
                        $crate::members::Member::check(value, &member, validation);
                    }
                )*
                $($crate::members::Structure::check_members(&self.$flat, path, validation);)?
            }
        }

        impl<$life> $crate::members::Member<$life> for $name $($generics)* {
            fn read(
                reader: &mut $crate::json::Reader<$life>,
            ) -> Result<Option<Self>, partita_api::Exception> {
                $crate::members::read_structure(reader)
            }

            fn check(
                &self,
                path: &$crate::members::Path<'_>,
                validation: &mut $crate::validation::Validation,
            ) {
                $crate::members::Structure::check_members(self, path, validation);
            }
        }
    };
    (@otherwise $self:ident $reader:ident $name:ident) => { $reader.skip() };
    (@otherwise $self:ident $reader:ident $name:ident $flat:ident) => {
        $crate::members::Structure::read_member(&mut $self.$flat, $reader, $name)
    };
}

pub(crate) use structure;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Colour {
        Red,
        Blue,
    }

    enum_names!(Colour: "RED" = Red, "BLUE" = Blue);

    structure! {
        struct Paint<'a> as "Paint" {
            colour: Choice<'a, Colour> = "Colour", required;
            litres: i64 = "SSELitres", at_least(1);
        }

        struct Walls as "Walls" {
            count: i32 = "Count", range(1, 4);
        }

        /// A request with every feature of a declaration.
        struct House<'a> {
            name: Cow<'a, str> = "Name", required, length(2, 3);
            built: Millis = "Built";
            is_open: bool = "IsOpen";
            paints: Vec<Paint<'a>> = "Paints";
            doors: Vec<Cow<'a, str>> = "Doors";
            ..walls: Walls;
        }
    }

    fn house(body: &str) -> Result<House<'_>, String> {
        let read = || read_valid_request(Reader::new(body.as_bytes())?);
        read().map_err(|exception: Exception| exception.message)
    }

    #[test]
    fn members_are_read_by_their_names() {
        let house = house(
            r#"{"Name": "inn", "Built": 1.5, "IsOpen": true, "Paints": [{"Colour": "BLUE", "Smell": 1}], "Doors": ["a"],
                "Count": 4, "Other": {}}"#,
        )
        .unwrap();
        assert_eq!(
            (house.name.as_deref(), house.is_open, house.walls.count),
            (Some("inn"), Some(true), Some(4))
        );
        assert!(house.built == Some(Millis(1_500)) && house.doors.is_some_and(|doors| doors == ["a"]));
        let paints = house.paints.unwrap();
        assert_eq!((chosen(&paints[0].colour), paints[0].litres), (Some(Colour::Blue), None));
    }

    #[test]
    fn failures_are_collected_in_the_order_of_the_declaration() {
        let text = |body| house(body).err().unwrap();
        assert_eq!(
            text(
                r#"{"Count": 5, "Paints": [{"Colour": "RED"}, {"SSELitres": 0}, {"Colour": "red"}], "Name": "x"}"#
            ),
            crate::testing::errors(&[
                ("'x'", "name", "have length greater than or equal to 2"),
                ("null", "paints.2.member.colour", "not be null"),
                ("'0'", "paints.2.member.sSELitres", "have value greater than or equal to 1"),
                ("'red'", "paints.3.member.colour", "satisfy enum value set: [RED, BLUE]"),
                ("'5'", "count", "have value less than or equal to 4"),
            ])
        );
        assert_eq!(text("{}"), crate::testing::errors(&[("null", "name", "not be null")]));
    }

    #[test]
    fn values_of_the_wrong_type_are_refused_as_they_are_read() {
        let text = |body| house(body).err().unwrap();
        assert_eq!(text(r#"{"Name": 1}"#), "NUMBER_VALUE cannot be converted to String");
        assert_eq!(
            text(r#"{"Paints": [[]]}"#),
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Paint"
        );
    }
}
