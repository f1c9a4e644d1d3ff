//! Encoded items → JSON text: what every read does most, so it is written for speed.
//!
//! Each attribute is a few copies: room is made once, the punctuation between name and value is one constant, and
//! names and texts are copied as they are after one look for characters that JSON escapes. Nothing else in this crate
//! writes JSON past the [`Writer`](crate::json::Writer).

use crate::json::{write_base64, write_text};
use partita_value::{ListRef, MapRef, SetRef, ValueRef};

/// `{"name":{"S":"…"},…}`
pub(crate) fn write_map(out: &mut Vec<u8>, map: MapRef<'_>) {
    out.push(b'{');
    let mut separator: &[u8] = b"\"";
    for (name, value) in map {
        out.reserve(name.len() + 16);
        out.extend_from_slice(separator);
        write_text(out, name);
        out.extend_from_slice(b"\":");
        write_value(out, value);
        separator = b",\"";
    }
    out.push(b'}');
}

/// `{"S":"…"}`
pub(crate) fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::S(text) => write_scalar(out, b"{\"S\":\"", text),
        ValueRef::N(digits) => write_scalar(out, b"{\"N\":\"", digits),
        ValueRef::Bool(true) => out.extend_from_slice(b"{\"BOOL\":true}"),
        ValueRef::Bool(false) => out.extend_from_slice(b"{\"BOOL\":false}"),
        ValueRef::Null => out.extend_from_slice(b"{\"NULL\":true}"),
        ValueRef::B(bytes) => {
            out.extend_from_slice(b"{\"B\":\"");
            write_base64(out, bytes);
            out.extend_from_slice(b"\"}");
        }
        ValueRef::M(map) => {
            out.extend_from_slice(b"{\"M\":");
            write_map(out, map);
            out.push(b'}');
        }
        ValueRef::L(list) => write_list(out, list),
        ValueRef::Ss(set) => write_set(out, b"{\"SS\":[", set, write_text),
        ValueRef::Ns(set) => write_set(out, b"{\"NS\":[", set, write_text),
        ValueRef::Bs(set) => write_set(out, b"{\"BS\":[", set, write_base64),
    }
}

#[inline]
fn write_scalar(out: &mut Vec<u8>, beginning: &[u8; 6], text: &[u8]) {
    out.reserve(text.len() + 16);
    out.extend_from_slice(beginning);
    write_text(out, text);
    out.extend_from_slice(b"\"}");
}

fn write_list(out: &mut Vec<u8>, list: ListRef<'_>) {
    out.extend_from_slice(b"{\"L\":[");
    for (i, value) in list.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_value(out, value);
    }
    out.extend_from_slice(b"]}");
}

fn write_set(out: &mut Vec<u8>, beginning: &[u8; 7], set: SetRef<'_>, write: fn(&mut Vec<u8>, &[u8])) {
    out.extend_from_slice(beginning);
    for (i, element) in set.into_iter().enumerate() {
        out.extend_from_slice(if i > 0 { b",\"" } else { b"\"" });
        write(out, element);
        out.push(b'"');
    }
    out.extend_from_slice(b"]}");
}
