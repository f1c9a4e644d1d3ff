//! Values of SQLite as `sqlite3` prints them. A column holds values of any type, and the program ends texts at NUL and prints bytes as
//! they are: so each value is printed in hexadecimal, behind a letter for its type.

use super::quoted;
use partita_design::model::Entity;
use partita_design::model::value_type::ValueType;
use partita_design::relational::rows::{attribute_of, from_hexadecimal};

/// How a database writes its texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Little,
    Utf16Big,
}

impl Encoding {
    /// The encoding that `PRAGMA encoding` prints.
    pub fn of(printed: &str) -> Result<Encoding, String> {
        match printed.lines().last() {
            Some("UTF-8") => Ok(Encoding::Utf8),
            Some("UTF-16le") => Ok(Encoding::Utf16Little),
            Some("UTF-16be") => Ok(Encoding::Utf16Big),
            _ => Err("sqlite3 does not tell the encoding of the database".to_owned()),
        }
    }

    fn decode(self, bytes: Vec<u8>) -> Option<String> {
        let unit = |pair: &[u8; 2]| match self {
            Encoding::Utf16Big => u16::from_be_bytes(*pair),
            _ => u16::from_le_bytes(*pair),
        };
        if self == Encoding::Utf8 {
            return String::from_utf8(bytes).ok();
        }
        let (pairs, rest) = bytes.as_chunks();
        String::from_utf16(&pairs.iter().map(unit).collect::<Vec<_>>()).ok().filter(|_| rest.is_empty())
    }
}

/// The columns of a table, given with their types, for a SELECT that [`value`] understands.
pub(super) fn selected(columns: &[(String, String)], entity: &Entity) -> Result<String, String> {
    let column = |(name, kind): &(String, String)| {
        let attribute = entity.attribute(attribute_of(entity, name)?);
        let is_binary = attribute.is_some_and(|attribute| attribute.kind == ValueType::Binary);
        Ok(printed(&quoted(name), kind, is_binary))
    };
    columns.iter().map(column).collect::<Result<Vec<_>, String>>().map(|columns| columns.join(", "))
}

/// A column as it is printed. Bytes in a column of text are a mistake, and so are numbers in one of bytes; a binary column whose attribute is a
/// text, as keys have to be, is written in hexadecimal.
fn printed(name: &str, kind: &str, is_binary: bool) -> String {
    let kind = kind.to_uppercase();
    let (text, number) = if is_binary {
        (format!("'x' || hex({name})"), "'!a number in a column of bytes'".to_owned())
    } else {
        (format!("'t' || hex({name})"), format!("'i' || {name}"))
    };
    let bytes = if is_binary || kind.contains("BLOB") || kind.contains("BINARY") {
        format!("'x' || hex({name})")
    } else {
        "'!bytes, which are no text and no number: make the attribute `binary`, or correct the row'"
            .to_owned()
    };
    let real = if is_binary { number.clone() } else { format!("'r' || hex(ieee754_to_blob({name}))") };
    format!(
        "CASE typeof({name}) WHEN 'text' THEN {text} WHEN 'blob' THEN {bytes} \
         WHEN 'integer' THEN {number} WHEN 'real' THEN {real} END AS {name}"
    )
}

/// The value that was printed; bytes as `\x6869`.
pub(super) fn value(printed: &str, encoding: Encoding) -> Result<String, String> {
    let garbled = || "sqlite3 prints no value of this form".to_owned();
    let (kind, rest) = printed.split_at_checked(1).ok_or_else(garbled)?;
    match kind {
        "i" => Ok(rest.to_owned()),
        "x" => Ok(format!("\\x{rest}")),
        "!" => Err(rest.to_owned()),
        "t" => encoding.decode(from_hexadecimal(rest).ok_or_else(garbled)?).ok_or_else(|| {
            format!(
                "the text with the bytes {rest} is not Unicode: make the column binary, or correct the row"
            )
        }),
        "r" => {
            let bits = from_hexadecimal(rest).and_then(|bytes| bytes.try_into().ok()).ok_or_else(garbled)?;
            Ok(format!("{:?}", f64::from_be_bytes(bits)))
        }
        _ => Err(garbled()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_all_their_bytes() {
        let read = |printed: &str| value(printed, Encoding::Utf8);
        assert_eq!(read("t6100C3A9"), Ok("a\0é".to_owned()));
        assert_eq!(read("t"), Ok(String::new()));
        assert_eq!(read("i-9223372036854775808"), Ok("-9223372036854775808".to_owned()));
        assert_eq!(read("r3FB999999999999A"), Ok("0.1".to_owned()));
        assert_eq!(read("x00FF"), Ok("\\x00FF".to_owned()));
        assert_eq!(value("t61003DD800DE", Encoding::Utf16Little), Ok("a😀".to_owned()));
        assert_eq!(value("t0061", Encoding::Utf16Big), Ok("a".to_owned()));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert!(value("t6100FF", Encoding::Utf8).unwrap_err().contains("6100FF is not Unicode"));
        assert!(value("t3DD8", Encoding::Utf16Little).is_err());
        assert!(value("!bytes", Encoding::Utf8).is_err());
        for garbled in ["", "secret", "t6", "r00", "é"] {
            assert!(value(garbled, Encoding::Utf8).is_err(), "{garbled}");
        }
    }
}
