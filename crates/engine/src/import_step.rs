//! Imports in the background. A step reads a page of records, puts the items and stores how far it came; killed in between, it
//! puts the same items again. When the last object is done, the table is there.

use crate::Engine;
use crate::batch_write_item::plan;
use crate::bucket::{Bucket, failure};
use crate::change_table::SideWrites;
use crate::exchange_record::ExchangeRecord;
use crate::maintenance::Progress;
use crate::object_source::{OpenObject, Page, Place};
use crate::stored_key::ExchangeKind;
use crate::table::{Table, TableRecord};
use partita_api::batch_write_item::BatchWrite;
use partita_api::exchange::{ExchangeFailure, ExchangeStatus, InputFormat};
use partita_api::import::Import;
use partita_api::{Exception, ExceptionKind};
use partita_exchange::item_reader;
use partita_store::Store;
use partita_value::names::TableName;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

/// An import as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportRecord {
    pub import: Import,
    pub table: String,
    /// The keys of the source's objects, once they are known.
    pub objects: Option<Vec<String>>,
    /// The object that is being read, and how many of its records are done.
    pub object: usize,
    pub records: u64,
}

impl ExchangeRecord for ImportRecord {
    const KIND: ExchangeKind = ExchangeKind::Import;
    const NOT_FOUND: ExceptionKind = ExceptionKind::ImportNotFoundException;
    const CONFLICT: ExceptionKind = ExceptionKind::ImportConflictException;

    fn arn(&self) -> &str {
        &self.import.arn
    }

    fn table_arn(&self) -> &str {
        &self.import.table_arn
    }

    fn is_open(&self) -> bool {
        self.import.status == ExchangeStatus::InProgress
    }

    fn ended_millis(&self) -> Option<u64> {
        self.import.ended_millis
    }
}

impl<S: Store> Engine<S> {
    pub(crate) async fn import_step(&self) -> Result<Progress, Exception> {
        let Some(mut record) = self.open_exchange::<ImportRecord>(&self.open_imports)? else {
            return Ok(Progress::Done);
        };
        match self.read_import(&mut record) {
            Ok(Some((table, page))) => self.put_page(&mut record, &table, page).await?,
            Ok(None) => {}
            Err(_) if self.has_stopped_exchanges() => return Ok(Progress::Done),
            Err(failure) => record.end(ExchangeStatus::Failed, Some(failure), self.clock.now_millis()),
        }
        record.end_if_done(self.clock.now_millis());
        if record.is_open() {
            self.keep(record).await?;
        } else {
            self.finish_import(record).await?;
        }
        Ok(Progress::More)
    }

    /// The next page, or none where only the objects were listed.
    fn read_import(&self, record: &mut ImportRecord) -> Result<Option<(Arc<Table>, Page)>, ExchangeFailure> {
        let bucket = Bucket::open(self.buckets.get(), &record.import.source.bucket)?;
        if record.objects.is_none() {
            let listed = bucket.list(record.import.source.prefix.as_deref().unwrap_or_default())?;
            record.objects = Some(listed.into_iter().map(|object| object.key).collect());
            return Ok(None);
        }
        let table =
            self.catalog.find(&record.table).filter(|table| table.record.id == record.import.table_id);
        let table =
            table.ok_or_else(|| failure("TableNotFound", "The table was deleted during the import"))?;
        let mut kept = self.open_object.lock().unwrap_or_else(PoisonError::into_inner);
        let format = record.input_format(&table);
        let compression = record.import.compression;
        let mut open = OpenObject::at(kept.take(), &record.place(), &bucket, compression, format)?;
        let page = open.page()?;
        *kept = Some(open);
        Ok(Some((table, page)))
    }

    async fn put_page(
        &self,
        record: &mut ImportRecord,
        table: &Arc<Table>,
        page: Page,
    ) -> Result<(), Exception> {
        let mut errors = u64::from(page.broken.is_some());
        let mut imported = 0;
        let records = page.records.len() as u64;
        // Of items with the same key one stays; they are no errors.
        let mut writes = HashMap::new();
        for record in page.records {
            let write = record.map_err(|bad| bad.reason).and_then(|put| {
                plan(table, BatchWrite::Put(put.item)).map_err(|exception| exception.message)
            });
            match write {
                Ok(write) => {
                    imported += 1;
                    writes.insert(write.key.stored.clone(), write);
                }
                Err(error) => {
                    tracing::warn!(error, "an item cannot be imported");
                    errors += 1;
                }
            }
        }
        for outcome in self.write_each(writes.into_values().collect()).await? {
            if outcome.is_err() {
                imported -= 1;
                errors += 1;
            }
        }
        let import = &mut record.import;
        import.processed_items += records;
        import.processed_bytes += page.bytes;
        import.imported_items += imported;
        import.errors += errors;
        if page.ended {
            record.object += 1;
            record.records = 0;
        } else {
            record.records += records;
        }
        Ok(())
    }

    /// The record's last version and the table's readiness are stored together. Of an import whose source is not there,
    /// no table stays.
    async fn finish_import(&self, record: ImportRecord) -> Result<(), Exception> {
        let name = TableName::new(&record.table);
        if record.objects.is_none() {
            self.unmake_table(name, record.import.table_id.clone()).await?;
            return self.keep(record).await;
        }
        let (id, last) = (record.import.table_id.clone(), record.clone());
        let change = move |table: &mut TableRecord, _: &mut _| {
            table.importing &= table.id != id;
            Ok(SideWrites::of(vec![last.store()]))
        };
        match self.change_table(&name, change).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => {
                self.keep(record).await
            }
            outcome => outcome.map(|_| ()),
        }
    }

    /// Deletes the table that an import has made. Killed thereafter, the import fails again, and finds none.
    async fn unmake_table(&self, name: TableName, id: String) -> Result<(), Exception> {
        let is_it = move |record: &TableRecord| match record.id == id {
            true => Ok(()),
            false => Err(Exception::resource_not_found("")),
        };
        match self.remove_table(name, is_it).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

impl ImportRecord {
    fn place(&self) -> Place {
        let key = self.objects.iter().flatten().nth(self.object).cloned().unwrap_or_default();
        Place { reader: self.import.arn.clone(), key, records: self.records }
    }

    fn input_format(&self, table: &Table) -> item_reader::InputFormat {
        match self.import.format {
            InputFormat::DynamoDbJson => item_reader::InputFormat::DynamoDbJson,
            InputFormat::Ion => item_reader::InputFormat::Ion,
            InputFormat::Csv => {
                let options = self.import.csv.clone().unwrap_or_default();
                let definitions = table.record.attribute_definitions.iter();
                item_reader::InputFormat::Csv {
                    delimiter: options.delimiter.and_then(|c| u8::try_from(c).ok()).unwrap_or(b','),
                    header: options.header,
                    keys: definitions.map(|key| (key.name.clone(), key.kind)).collect(),
                }
            }
        }
    }

    fn end_if_done(&mut self, now: u64) {
        let is_done = self.objects.as_ref().is_some_and(|objects| self.object >= objects.len());
        if !self.is_open() || !is_done {
            return;
        }
        if self.import.errors == 0 {
            return self.end(ExchangeStatus::Completed, None, now);
        }
        let invalid = failure(
            "ItemValidationError",
            "Some of the items failed validation checks. Please check CloudWatch error logs for more details.",
        );
        self.end(ExchangeStatus::Failed, Some(invalid), now);
    }

    fn end(&mut self, status: ExchangeStatus, failure: Option<ExchangeFailure>, now: u64) {
        self.import.status = status;
        self.import.failure = failure;
        self.import.ended_millis = Some(now);
    }
}
