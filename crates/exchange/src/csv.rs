//! Records of comma-separated values: quotes around a field keep delimiters and line ends in it, two quotes are one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partita_value::{Item, ScalarType};

/// Whether a quoted field has not ended yet.
pub fn is_open(text: &[u8]) -> bool {
    text.iter().filter(|byte| **byte == b'"').count() % 2 == 1
}

pub fn fields(text: &[u8], delimiter: u8) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let (field, behind) = match rest.strip_prefix(b"\"") {
            Some(quoted) => quoted_field(quoted)?,
            None => {
                let end = rest.iter().position(|byte| *byte == delimiter).unwrap_or(rest.len());
                (rest[..end].to_vec(), &rest[end..])
            }
        };
        fields.push(String::from_utf8(field).map_err(|_| "a field is not UTF-8".to_owned())?);
        match behind.split_first() {
            None => return Ok(fields),
            Some((byte, next)) if *byte == delimiter => rest = next,
            Some(_) => return Err("text behind a closing quote".to_owned()),
        }
    }
}

/// The field up to its closing quote, and what is behind that.
fn quoted_field(text: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut field = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.iter().position(|byte| *byte == b'"').ok_or("a quote is not closed")?;
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"\"") {
            Some(next) => {
                field.push(b'"');
                rest = next;
            }
            None => return Ok((field, rest)),
        }
    }
}

pub fn item(
    text: &[u8],
    delimiter: u8,
    header: &[String],
    keys: &[(String, ScalarType)],
) -> Result<Item, String> {
    let fields = fields(text, delimiter)?;
    if fields.len() > header.len() {
        return Err(format!("{} fields, but {} columns", fields.len(), header.len()));
    }
    let mut failure = None;
    let item = Item::build(|encoder| {
        for (name, field) in header.iter().zip(&fields) {
            encoder.name(name);
            match keys.iter().find(|(key, _)| key == name).map(|(_, kind)| *kind) {
                Some(ScalarType::N) => {
                    if let Err(error) = encoder.number_text(field) {
                        encoder.null();
                        failure = Some(error.to_string());
                    }
                }
                Some(ScalarType::B) => match STANDARD.decode(field) {
                    Ok(bytes) => encoder.binary(&bytes),
                    Err(error) => {
                        encoder.null();
                        failure = Some(error.to_string());
                    }
                },
                Some(ScalarType::S) | None => encoder.string(field),
            }
        }
    });
    failure.map_or(Ok(item), Err)
}
