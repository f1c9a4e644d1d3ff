//! Groups records of a bulk operation into runs, each of which is put in one commit.

use crate::bulk_operation::bulk_record::BulkRecord;
use crate::catalog::table::Table;
use crate::exchange::object_source::InvalidRecord;
use crate::index::index_entry::{check_index_keys, in_index};
use crate::key::item_key::ItemKey;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::bulk_operation::OutputType;
use partita_api::reporting::ReturnValues;
use partita_exchange::item_reader::PutLine;
use partita_value::Item;
use std::collections::HashSet;
use std::sync::Arc;

/// Conditions in one run, if their failures are reported: each report may contain two items of 400 KB.
const RUN_CONDITIONS: usize = 16;

/// Records with distinct keys, put in one commit.
#[derive(Default)]
pub struct Run {
    pub attempts: Vec<Attempt>,
    pub failed: Vec<FailedRecord>,
    pub records: u64,
}

/// What is known about a put before it is executed.
pub struct Attempt {
    pub number: u64,
    /// The item, if the put may fail and has to be reported then.
    pub item: Option<Item>,
    pub bytes: u64,
    /// In the order of the table's indexes.
    pub index_bytes: Vec<u64>,
}

/// A record that cannot be put.
pub struct FailedRecord {
    pub number: Option<u64>,
    pub code: &'static str,
    pub message: String,
    pub item: Option<Item>,
    pub text: Option<String>,
}

type ReadRecord = Result<PutLine, InvalidRecord>;

/// Plans records until a key repeats or the run is full. The record that did not fit is returned as well: it must be evaluated
/// after the others are committed.
pub fn next_run(
    record: &BulkRecord,
    table: &Arc<Table>,
    first: ReadRecord,
    rest: &mut impl Iterator<Item = ReadRecord>,
) -> (Run, Vec<ItemWrite>, Option<ReadRecord>) {
    let (mut run, mut writes, mut keys) = (Run::default(), Vec::new(), HashSet::new());
    let max_conditions =
        if record.has_output(OutputType::ConditionCheckFailure) { RUN_CONDITIONS } else { usize::MAX };
    let mut conditions = 0;
    let mut next = Some(first);
    while let Some(read) = next.take().or_else(|| rest.next()) {
        let number = record.position.records + run.records + 1;
        let put = match read {
            Ok(put) => put,
            Err(invalid) => {
                run.fail(FailedRecord::invalid(number, invalid));
                continue;
            }
        };
        let key = match key_of(table, &put.item) {
            Ok(key) => key,
            Err(exception) => {
                run.fail(FailedRecord::rejected(number, exception, put.item));
                continue;
            }
        };
        conditions += usize::from(put.condition.is_some());
        if conditions > max_conditions || !keys.insert(key.stored.clone()) {
            return (run, writes, Some(Ok(put)));
        }
        run.records += 1;
        run.attempts.push(Attempt::new(table, number, &key, &put));
        writes.push(ItemWrite {
            table: Arc::clone(table),
            key,
            action: Action::Put(put.item),
            condition: put.condition,
            return_values: ReturnValues::None,
            return_item_on_condition_failure: record.has_output(OutputType::ConditionCheckFailure),
        });
    }
    (run, writes, None)
}

fn key_of(table: &Table, item: &Item) -> Result<ItemKey, Exception> {
    let key = ItemKey::of_new_item(table, item.view())?;
    check_index_keys(table, item.view())?;
    Ok(key)
}

impl Run {
    fn fail(&mut self, failed: FailedRecord) {
        self.records += 1;
        self.failed.push(failed);
    }
}

impl Attempt {
    fn new(table: &Table, number: u64, key: &ItemKey, put: &PutLine) -> Attempt {
        let item = put.item.view();
        let entry_bytes =
            |index| in_index(index, key, item).ok().flatten().map_or(0, |entry| entry.size as u64);
        // A planned put fails only because of its condition or the size of its item collection.
        let may_fail = put.condition.is_some() || table.collections.is_some();
        Attempt {
            number,
            item: may_fail.then(|| put.item.clone()),
            bytes: item.size() as u64,
            index_bytes: table.indexes.iter().map(entry_bytes).collect(),
        }
    }
}

impl FailedRecord {
    fn invalid(number: u64, record: InvalidRecord) -> FailedRecord {
        let text = Some(record.text);
        FailedRecord {
            number: Some(number),
            code: "MalformedRecord",
            message: record.reason,
            item: None,
            text,
        }
    }

    fn rejected(number: u64, exception: Exception, item: Item) -> FailedRecord {
        let (code, message) = (exception.kind.name(), exception.message);
        FailedRecord { number: Some(number), code, message, item: Some(item), text: None }
    }

    pub fn malformed_object(reason: String) -> FailedRecord {
        FailedRecord { number: None, code: "MalformedObject", message: reason, item: None, text: None }
    }
}
