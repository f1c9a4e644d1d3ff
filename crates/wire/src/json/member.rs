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

impl Encode for str {
    fn encode(&self, json: &mut Writer) {
        json.string(self);
    }
}

impl Encode for String {
    fn encode(&self, json: &mut Writer) {
        json.string(self);
    }
}

impl Encode for TableName {
    fn encode(&self, json: &mut Writer) {
        json.string(self.as_str());
    }
}

impl Encode for bool {
    fn encode(&self, json: &mut Writer) {
        json.boolean(*self);
    }
}

impl Encode for u32 {
    fn encode(&self, json: &mut Writer) {
        json.integer(*self);
    }
}

impl Encode for u64 {
    fn encode(&self, json: &mut Writer) {
        json.integer(*self);
    }
}

impl Encode for i64 {
    fn encode(&self, json: &mut Writer) {
        json.integer(*self);
    }
}

impl Encode for f64 {
    fn encode(&self, json: &mut Writer) {
        json.double(*self);
    }
}

/// A time in milliseconds since 1970, written in seconds.
pub(crate) struct Seconds(pub(crate) u64);

impl Encode for Seconds {
    fn encode(&self, json: &mut Writer) {
        json.double(self.0 as f64 / 1_000.0);
    }
}
