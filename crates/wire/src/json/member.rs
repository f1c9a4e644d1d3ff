//! Writing the members of responses.

use super::Writer;
use partita_value::names::TableName;

/// A value that a member of a response can have.
pub(crate) trait Encode {
    fn encode(&self, json: &mut Writer);

    /// Whether to omit the member.
    fn is_absent(&self) -> bool {
        false
    }
}

impl Writer {
    /// Writes a member of an object, unless it is absent.
    pub(crate) fn member(&mut self, name: &str, value: &(impl Encode + ?Sized)) -> &mut Writer {
        if !value.is_absent() {
            value.encode(self.name(name));
        }
        self
    }

    /// Writes a member that is an array of objects, whose members `write` writes.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        elements: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Writer),
    ) -> &mut Writer {
        self.name(name).array(|json| {
            elements.into_iter().for_each(|element| json.object(|json| write(element, json)));
        });
        self
    }

    /// Writes a member that is an array of strings.
    pub(crate) fn strings<'s>(
        &mut self,
        name: &str,
        texts: impl IntoIterator<Item = &'s str>,
    ) -> &mut Writer {
        self.name(name).array(|json| texts.into_iter().for_each(|text| json.string(text)));
        self
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, json: &mut Writer) {
        (**self).encode(json);
    }

    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, json: &mut Writer) {
        if let Some(value) = self {
            value.encode(json);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A time in milliseconds since 1970, written in seconds.
pub(crate) struct Seconds(pub(crate) u64);

macro_rules! encode {
    ($($type:ty: |$value:ident| $write:ident($argument:expr);)*) => {
        $(impl Encode for $type {
            fn encode(&self, json: &mut Writer) {
                let $value = self;
                json.$write($argument);
            }
        })*
    };
}

encode! {
    str: |text| string(text);
    String: |text| string(text);
    TableName: |name| string(name.as_str());
    bool: |value| boolean(*value);
    i32: |number| integer(*number);
    u32: |number| integer(*number);
    u64: |number| integer(*number);
    i64: |number| integer(*number);
    f64: |number| double(*number);
    Seconds: |millis| double(millis.0 as f64 / 1_000.0);
}
