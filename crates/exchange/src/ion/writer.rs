//! Writes items and changes as lines of Ion text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partita_value::{ItemRef, MapRef, ValueRef};
use partita_wire::ChangeLine;
use std::io::Write;

/// Writes an item.
pub fn write_line(item: ItemRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"$ion_1_0 {Item:");
    write_map(item.attributes(), out);
    out.extend_from_slice(b"}\n");
}

/// Writes the change of an item, in the same structure as DynamoDB JSON.
pub fn write_change_line(change: &ChangeLine<'_>, out: &mut Vec<u8>) {
    // Writing to a Vec never fails.
    let _ = write!(out, "$ion_1_0 {{Record:{{Metadata:{{WriteTimestampMicros:{}.}}", change.written_micros);
    for (name, image) in change.images() {
        let _ = write!(out, ",{name}:");
        write_map(image.attributes(), out);
    }
    out.extend_from_slice(b"}}\n");
}

fn write_map(map: MapRef<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (i, (name, value)) in map.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_symbol(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

fn write_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::S(text) => write_quoted(b'"', text, out),
        ValueRef::N(digits) => write_decimal(digits, out),
        ValueRef::B(bytes) => write_blob(bytes, out),
        ValueRef::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::M(map) => write_map(map, out),
        ValueRef::L(list) => {
            write_elements(list, out, write_value);
        }
        ValueRef::Ss(set) => {
            out.extend_from_slice(b"$dynamodb_SS::");
            write_elements(set, out, |text, out| write_quoted(b'"', text, out));
        }
        ValueRef::Ns(set) => {
            out.extend_from_slice(b"$dynamodb_NS::");
            write_elements(set, out, write_decimal);
        }
        ValueRef::Bs(set) => {
            out.extend_from_slice(b"$dynamodb_BS::");
            write_elements(set, out, write_blob);
        }
    }
}

fn write_elements<T>(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    for (i, element) in elements.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// A decimal has a point or an exponent written with `d`; digits alone would be an integer.
fn write_decimal(digits: &[u8], out: &mut Vec<u8>) {
    let is_decimal = digits.iter().any(|byte| matches!(byte, b'.' | b'E'));
    out.extend(digits.iter().map(|byte| if *byte == b'E' { b'd' } else { *byte }));
    if !is_decimal {
        out.push(b'.');
    }
}

fn write_blob(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{{");
    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
    out.extend_from_slice(b"}}");
}

fn write_symbol(name: &[u8], out: &mut Vec<u8>) {
    let is_word = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && !matches!(name, b"null" | b"true" | b"false" | b"nan");
    if is_word { out.extend_from_slice(name) } else { write_quoted(b'\'', name, out) }
}

fn write_quoted(quote: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(quote);
    for byte in text {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte if *byte == quote => out.extend([b'\\', quote]),
            byte if *byte < 0x20 || *byte == 0x7f => out.extend(format!("\\x{byte:02x}").into_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(quote);
}
