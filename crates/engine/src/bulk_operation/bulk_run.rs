//! Records of a bulk operation that are put in one commit.

use crate::bulk_operation::bulk_record::BulkRecord;
use crate::catalog::table::Table;
use crate::exchange::object_source::BadRecord;
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

/// Conditions in one commit, if their failures are reported: each may have to tell of two items of 400 KB.
const RUN_CONDITIONS: usize = 16;

/// Records with different keys, which are put in one commit.
#[derive(Default)]
pub struct Run {
    pub attempts: Vec<Attempt>,
    pub failed: Vec<Failed>,
    pub records: u64,
}

/// What is known about a put before it is tried.
pub struct Attempt {
    pub number: u64,
    /// The item, if there may be something to report about it.
    pub item: Option<Item>,
    pub bytes: u64,
    /// In the order of the table's indexes.
    pub index_bytes: Vec<u64>,
}

/// A record that cannot be put.
pub struct Failed {
    pub number: Option<u64>,
    pub code: &'static str,
    pub message: String,
    pub item: Option<Item>,
    pub text: Option<String>,
}

type ReadRecord = Result<PutLine, BadRecord>;

/// Plans records until one has the key of another, or there are enough of them. The one that is too much is handed back: it
/// must see what the others did.
pub fn next_run(
    record: &BulkRecord,
    table: &Arc<Table>,
    first: ReadRecord,
    rest: &mut impl Iterator<Item = ReadRecord>,
) -> (Run, Vec<ItemWrite>, Option<ReadRecord>) {
    let (mut run, mut writes, mut keys) = (Run::default(), Vec::new(), HashSet::new());
    let most_conditions =
        if record.tells(OutputType::ConditionCheckFailure) { RUN_CONDITIONS } else { usize::MAX };
    let mut conditions = 0;
    let mut next = Some(first);
    while let Some(read) = next.take().or_else(|| rest.next()) {
        let number = record.position.records + run.records + 1;
        let put = match read {
            Ok(put) => put,
            Err(bad) => {
                run.fail(Failed::record(number, bad));
                continue;
            }
        };
        let key = match key_of(table, &put.item) {
            Ok(key) => key,
            Err(exception) => {
                run.fail(Failed::item(number, exception, put.item));
                continue;
            }
        };
        conditions += usize::from(put.condition.is_some());
        if conditions > most_conditions || !keys.insert(key.stored.clone()) {
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
            return_item_on_condition_failure: record.tells(OutputType::ConditionCheckFailure),
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
    fn fail(&mut self, failed: Failed) {
        self.records += 1;
        self.failed.push(failed);
    }
}

impl Attempt {
    fn new(table: &Table, number: u64, key: &ItemKey, put: &PutLine) -> Attempt {
        let item = put.item.view();
        let entry_bytes =
            |index| in_index(index, key, item).ok().flatten().map_or(0, |entry| entry.size as u64);
        // Nothing else can fail once an item is planned.
        let may_fail = put.condition.is_some() || table.collections.is_some();
        Attempt {
            number,
            item: may_fail.then(|| put.item.clone()),
            bytes: item.size() as u64,
            index_bytes: table.indexes.iter().map(entry_bytes).collect(),
        }
    }
}

impl Failed {
    fn record(number: u64, bad: BadRecord) -> Failed {
        let text = Some(bad.text);
        Failed { number: Some(number), code: "MalformedRecord", message: bad.reason, item: None, text }
    }

    fn item(number: u64, exception: Exception, item: Item) -> Failed {
        let (code, message) = (exception.kind.name(), exception.message);
        Failed { number: Some(number), code, message, item: Some(item), text: None }
    }

    pub fn object(reason: String) -> Failed {
        Failed { number: None, code: "MalformedObject", message: reason, item: None, text: None }
    }
}
