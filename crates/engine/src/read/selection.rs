//! The table or index that a query, scan or SELECT reads, what it may request of it, and where a page resumes.

use crate::catalog::table::{Index, Table};
use crate::key::item_key::{ItemKey, check_not_empty, fits, refuse_empty};
use crate::key::stored_key::Key;
use crate::read::ItemFetch;
use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_api::reporting::Select;
use partita_api::{Exception, messages};
use partita_expression::{Condition, Projection};
use partita_store::{Direction, KeyRange, Space};
use partita_value::{Item, ItemRef, ValueRef, ordered_key};

/// The table or index a request reads.
pub struct Selection<'a> {
    pub table: &'a Table,
    pub index: Option<&'a Index>,
}

/// The exception for an index that the table does not have.
pub fn no_index(name: &str) -> Exception {
    Exception::validation(format!("The table does not have the specified index: {name}"))
}

impl<'a> Selection<'a> {
    pub fn new(
        table: &'a Table,
        index: Option<&str>,
        consistent_read: bool,
    ) -> Result<Selection<'a>, Exception> {
        let Some(name) = index else { return Ok(Selection { table, index: None }) };
        let index = table.index(name).ok_or_else(|| no_index(name))?;
        if consistent_read && index.is_global() {
            return Err(Exception::validation(
                "Consistent reads are not supported on global secondary indexes",
            ));
        }
        if index.backfilling {
            return Err(Exception::validation(format!(
                "Cannot read from backfilling global secondary index: {name}"
            )));
        }
        Ok(Selection { table, index: Some(index) })
    }

    pub fn space(&self) -> Space {
        self.index.map_or(self.table.space, |index| index.space)
    }

    /// Whether each partition has at most one item: a table without a sort key.
    pub fn reads_single_items(&self) -> bool {
        self.index.is_none() && self.table.key.sort.is_empty()
    }

    /// Checks that the filter of a query uses only attributes that the index holds.
    pub fn check_filter(&self, filter: &Condition) -> Result<(), Exception> {
        let Some(index) = self.index else { return Ok(()) };
        let missing: Vec<&str> = filter.attribute_roots().filter(|name| !index.holds(name)).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(filter_not_projected(index, missing)),
        }
    }

    /// Whether items must be fetched in addition to their entries; an error if that is not allowed.
    pub fn item_fetch(
        &self,
        select: Option<Select>,
        projection: Option<&Projection>,
        filter: Option<&Condition>,
    ) -> Result<ItemFetch, Exception> {
        let Some(index) = self.index else { return Ok(ItemFetch::Never) };
        if select == Some(Select::AllAttributes) && index.attributes.is_some() {
            if index.is_global() {
                return Err(Exception::validation(format!(
                    "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index {} because its projection type is not ALL",
                    index.name
                )));
            }
            return Ok(ItemFetch::ToReturn);
        }
        let requested = projection.iter().flat_map(|projection| projection.attribute_roots());
        let missing: Vec<&str> = requested.filter(|name| !index.holds(name)).collect();
        if index.is_global() && !missing.is_empty() {
            return Err(Exception::validation(format!(
                "One or more parameter values were invalid: Global secondary index {} does not project [{}]",
                index.name,
                missing.join(", ")
            )));
        }
        let mut filtered = filter.iter().flat_map(|filter| filter.attribute_roots());
        Ok(match index.is_global() {
            false if !missing.is_empty() => ItemFetch::ToReturn,
            false if filtered.any(|name| !index.holds(name)) => ItemFetch::ToFilter,
            _ => ItemFetch::Never,
        })
    }

    /// The key that the rows are sorted by.
    pub fn schema(&self) -> &'a KeySchema {
        self.index.map_or(&self.table.key, |index| &index.key)
    }

    /// Checks that a starting key has as many attributes as the table's key and the index's together.
    pub fn check_start_key_size(&self, start_key: &Item) -> Result<(), Exception> {
        let schema = self.schema();
        let others = self.table.key.attributes().filter(|attribute| !schema.contains(&attribute.name));
        match start_key.view().attributes().len() == schema.len() + others.count() {
            true => Ok(()),
            false => Err(Exception::validation(messages::START_KEY_INVALID)),
        }
    }

    /// Checks that no key value is empty.
    fn check_start_values(&self, key: ItemRef<'_>) -> Result<(), Exception> {
        check_not_empty(&self.table.key, key)?;
        let Some(index) = self.index else { return Ok(()) };
        index.key.attributes().try_for_each(|attribute| match key.get(&attribute.name) {
            Some(value) => refuse_empty(Some(index), attribute, value),
            None => Ok(()),
        })
    }

    /// The stored key of a starting key.
    pub fn position(&self, start_key: &Item) -> Result<Vec<u8>, Exception> {
        let key = start_key.view();
        if !self.table.key.attributes().all(|attribute| fits(attribute, key)) {
            return Err(Exception::validation(start_key_mismatch()));
        }
        self.check_start_values(key).map_err(|exception| {
            Exception::validation(format!("{}: {}", messages::START_KEY_INVALID, exception.message))
        })?;
        let item_key = ItemKey::of_stored_item(self.table, key);
        let Some(index) = self.index else { return Ok(item_key.stored) };
        let value = |attribute: &KeyAttribute| key.get(&attribute.name).unwrap_or(ValueRef::Null);
        let sort: Vec<ValueRef<'_>> = index.key.sort.iter().map(value).collect();
        let token = ordered_key::keyed_token(index.token_key, index.key.partition.iter().map(value));
        Ok(Key::IndexEntry { space: index.space, token, sort: &sort, identity: item_key.identity }.to_bytes())
    }
}

/// Checks that a filter uses no key attributes: it runs after the read, so these belong in the key condition.
pub fn refuse_key_attributes(schema: &KeySchema, filter: &Condition, legacy: bool) -> Result<(), Exception> {
    let Some(key) = filter.attribute_roots().find(|name| schema.contains(name)) else {
        return Ok(());
    };
    let parameter = if legacy { "QueryFilter" } else { "Filter Expression" };
    Err(Exception::validation(format!(
        "{parameter} can only contain non-primary key attributes: Primary key attribute: {key}"
    )))
}

/// The exception for a filter on attributes that the index does not hold. AWS lists the names in the order of a small hash
/// table.
pub fn filter_not_projected(index: &Index, mut names: Vec<&str>) -> Exception {
    names.sort_by_key(|name| bucket(name));
    Exception::validation(format!(
        "One or more parameter values were invalid: Secondary index {} does not project one or more filter attributes: [{}]",
        index.name,
        names.join(", ")
    ))
}

fn bucket(name: &str) -> u32 {
    let hash = name.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    (hash ^ (hash >> 16)) & 15
}

/// Checks that a starting key has an attribute of the key that the rows are sorted by, with its type.
pub fn check_start_attribute(start_key: &Item, attribute: &KeyAttribute) -> Result<(), Exception> {
    match start_key.get(&attribute.name) {
        None => Err(Exception::validation(messages::START_KEY_INVALID)),
        Some(_) if fits(attribute, start_key.view()) => Ok(()),
        Some(_) => Err(Exception::validation(messages::KEY_MISMATCH)),
    }
}

/// The message for a starting key that does not have the table's key.
pub fn start_key_mismatch() -> String {
    format!("{}: {}", messages::START_KEY_INVALID, messages::KEY_MISMATCH)
}

/// The rest of a range after the row at `position`.
pub fn resume_after(range: KeyRange, direction: Direction, position: Vec<u8>) -> KeyRange {
    match direction {
        Direction::Ascending => {
            // There is no key between these bytes and the same with a zero appended.
            let mut start = position;
            start.push(0);
            KeyRange { start: start.max(range.start), end: range.end }
        }
        Direction::Descending => KeyRange { start: range.start, end: position.min(range.end) },
    }
}

/// The rest of a range from the row at `position` on.
pub fn resume_at(range: KeyRange, direction: Direction, position: Vec<u8>) -> KeyRange {
    match direction {
        Direction::Ascending => KeyRange { start: position.max(range.start), end: range.end },
        Direction::Descending => {
            let mut end = position;
            end.push(0);
            KeyRange { start: range.start, end: end.min(range.end) }
        }
    }
}
