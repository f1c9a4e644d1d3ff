//! Key attributes are scalars: no path of an expression leads into one.

use crate::catalog::table::Table;
use partita_api::Exception;

/// Refuses paths into the table's key or an index's. `nested` are the attributes that paths lead into.
pub fn check<'a>(table: &Table, nested: impl Iterator<Item = &'a str>) -> Result<(), Exception> {
    let nested: Vec<&str> = nested.collect();
    if nested.is_empty() {
        return Ok(());
    }
    let keys = table.key.attributes().map(|attribute| ("Key", attribute));
    let index_keys = table.indexes.iter().flat_map(|index| index.key.attributes());
    let mut keys = keys.chain(index_keys.map(|attribute| ("IndexKey", attribute)));
    match keys.find(|(_, attribute)| nested.contains(&attribute.name.as_str())) {
        None => Ok(()),
        Some((kind, attribute)) => Err(Exception::validation(format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {kind}: {}",
            attribute.name
        ))),
    }
}
