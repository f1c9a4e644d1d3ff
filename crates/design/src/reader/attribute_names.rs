//! Names of attributes that DynamoDB accepts.

use super::Reader;
use super::field::Section;
use crate::source::Span;

/// The longest name of an attribute, in bytes.
pub(super) const LONGEST: usize = 65_535;
/// The longest name of an attribute that the table or an index is declared with: a key, a projected attribute, the expiry.
pub(super) const LONGEST_DECLARED: usize = 255;

impl Reader {
    /// Reports names among the values of a key that are empty, or longer than `longest`.
    pub(super) fn attribute_names<'n>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        names: impl IntoIterator<Item = &'n String>,
        longest: usize,
    ) {
        for name in names {
            self.attribute_name(section, &section.span_of(key), name, longest);
        }
    }

    /// Reports a name at a place.
    pub(super) fn attribute_name(&mut self, section: &Section<'_>, span: &Span, name: &str, longest: usize) {
        if !(1..=longest).contains(&name.len()) {
            let message = match name.len() {
                0 => "the name of an attribute is not empty".to_owned(),
                bytes => format!("DynamoDB refuses a name of {bytes} bytes here"),
            };
            self.fail("P230", section, span, message, &format!("write a name of 1 to {longest} bytes"));
        }
    }
}
