//! What Query and Scan have in common: which table or index they read, what of it they may ask for, and
//! where a page goes on.

use crate::catalog::table::{Index, Table};
use crate::key::item_key::{ItemKey, check_not_empty, fits, refuse_empty};
use crate::key::stored_key::Key;
use crate::read::Fetch;
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

    /// Whether each partition is one item: a table without a sort key.
    pub fn reads_single_items(&self) -> bool {
        self.index.is_none() && self.table.key.sort.is_empty()
    }

    /// A query's filter looks at nothing but what the index holds.
    pub fn check_filter(&self, filter: &Condition) -> Result<(), Exception> {
        let Some(index) = self.index else { return Ok(()) };
        let missing: Vec<&str> = filter.attribute_roots().filter(|name| !index.holds(name)).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(filter_not_projected(index, missing)),
        }
    }

    /// What must be read besides the entries to answer the request; an error where that cannot be.
    pub fn fetch(
        &self,
        select: Option<Select>,
        projection: Option<&Projection>,
        filter: Option<&Condition>,
    ) -> Result<Fetch, Exception> {
        let Some(index) = self.index else { return Ok(Fetch::Nothing) };
        if select == Some(Select::AllAttributes) && index.attributes.is_some() {
            if index.is_global() {
                return Err(Exception::validation(format!(
                    "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index {} because its projection type is not ALL",
                    index.name
                )));
            }
            return Ok(Fetch::ToShow);
        }
        let wanted = projection.iter().flat_map(|projection| projection.attribute_roots());
        let missing: Vec<&str> = wanted.filter(|name| !index.holds(name)).collect();
        if index.is_global() && !missing.is_empty() {
            return Err(Exception::validation(format!(
                "One or more parameter values were invalid: Global secondary index {} does not project [{}]",
                index.name,
                missing.join(", ")
            )));
        }
        let mut filtered = filter.iter().flat_map(|filter| filter.attribute_roots());
        Ok(match index.is_global() {
            false if !missing.is_empty() => Fetch::ToShow,
            false if filtered.any(|name| !index.holds(name)) => Fetch::ToFilter,
            _ => Fetch::Nothing,
        })
    }

    /// The key that rows are in the order of.
    pub fn schema(&self) -> &'a KeySchema {
        self.index.map_or(&self.table.key, |index| &index.key)
    }

    /// A starting key has as many attributes as the table's key and the index's have together.
    pub fn check_start_key_size(&self, start_key: &Item) -> Result<(), Exception> {
        let schema = self.schema();
        let others = self.table.key.attributes().filter(|attribute| !schema.contains(&attribute.name));
        match start_key.view().attributes().len() == schema.len() + others.count() {
            true => Ok(()),
            false => Err(Exception::validation(messages::START_KEY_INVALID)),
        }
    }

    /// No key value is empty.
    fn check_start_values(&self, key: ItemRef<'_>) -> Result<(), Exception> {
        check_not_empty(&self.table.key, key)?;
        let Some(index) = self.index else { return Ok(()) };
        index.key.attributes().try_for_each(|attribute| match key.get(&attribute.name) {
            Some(value) => refuse_empty(Some(index), attribute, value),
            None => Ok(()),
        })
    }

    /// The stored key that a starting key stands for.
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

/// AWS lists the names in the order of a small hash table.
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

/// A starting key has each attribute of the key that rows are in the order of, with its type.
pub fn check_start_attribute(start_key: &Item, attribute: &KeyAttribute) -> Result<(), Exception> {
    match start_key.get(&attribute.name) {
        None => Err(Exception::validation(messages::START_KEY_INVALID)),
        Some(_) if fits(attribute, start_key.view()) => Ok(()),
        Some(_) => Err(Exception::validation(messages::KEY_MISMATCH)),
    }
}

/// A starting key whose part of the table's key is wrong.
pub fn start_key_mismatch() -> String {
    format!("{}: {}", messages::START_KEY_INVALID, messages::KEY_MISMATCH)
}

/// What is left of a range once all up to `position` was shown.
pub fn go_on_behind(range: KeyRange, direction: Direction, position: Vec<u8>) -> KeyRange {
    match direction {
        Direction::Ascending => {
            // No key lies between these bytes and the same with a zero behind them.
            let mut start = position;
            start.push(0);
            KeyRange { start: start.max(range.start), end: range.end }
        }
        Direction::Descending => KeyRange { start: range.start, end: position.min(range.end) },
    }
}

/// What is left of a range from a row on that was not shown yet.
pub fn go_on_at(range: KeyRange, direction: Direction, position: Vec<u8>) -> KeyRange {
    match direction {
        Direction::Ascending => KeyRange { start: position.max(range.start), end: range.end },
        Direction::Descending => {
            let mut end = position;
            end.push(0);
            KeyRange { start: range.start, end: end.min(range.end) }
        }
    }
}
