//! ImportTable: makes the table and notes the import, which goes on in the background (`import_step.rs`).

use crate::Engine;
use crate::catalog::store_record;
use crate::exchange::exchange_record::{ExchangeRecord, ExchangeToken};
use crate::import::import_step::ImportRecord;
use crate::key::stored_key::{ExchangeKind, Key};
use crate::storage_failed;
use crate::table::create_table::{already_exists, new_record};
use partita_api::Exception;
use partita_api::exchange::ExchangeStatus;
use partita_api::import::Import;
use partita_api::import::import_table::{ImportTable, ImportTableOutput};
use partita_store::{Decision, Rows, Store};
use partita_value::names::table_arn;

impl<S: Store> Engine<S> {
    pub async fn import_table(&self, request: ImportTable) -> Result<ImportTableOutput, Exception> {
        self.catalog.refuse_lost(&request.table.name)?;
        let now = self.clock.now_millis();
        let token = request
            .client_token
            .as_ref()
            .map(|token| ExchangeToken::new(ExchangeKind::Import, token, &format!("{request:?}"), now));
        let record = self.new_import(&request, now);
        let mut keys = vec![
            Key::TableRecord { name: request.table.name.as_str() }.to_bytes(),
            Key::NextSpace.to_bytes(),
        ];
        keys.extend(token.iter().map(ExchangeToken::key));
        let (catalog, new, token_key) = (self.catalog.clone(), record.clone(), self.new_token_key()?);
        let decision = move |rows: &Rows<'_>| {
            // A repeated request finds its own table.
            if let Some(token) = &token {
                match token.judge::<ImportRecord>(rows[2].as_deref()) {
                    Ok(None) => {}
                    known => return Decision::rejection(known),
                }
            }
            if rows[0].is_some() {
                return Decision::rejection(Err(already_exists(&request.table)));
            }
            let mut spaces = catalog.spaces(rows[1].as_deref());
            let made = (new.import.table_id.clone(), token_key);
            let mut table = new_record(&request.table, made, now, &mut spaces);
            table.importing = true;
            let mut writes = [store_record(&table), spaces.remember()].concat();
            writes.push(new.store());
            writes.extend(token.iter().map(|token| token.remember(new.id())));
            let catalog = catalog.clone();
            Decision { writes, answer: Ok(None), on_commit: Some(Box::new(move || catalog.publish(table))) }
        };
        let record = match self.store.decide(keys, decision).await.map_err(storage_failed)?? {
            None => record,
            Some(id) => self.exchange(&id)?,
        };
        self.open_imports.add(record.id());
        self.wake_maintenance();
        Ok(ImportTableOutput { import: record.import })
    }

    fn new_import(&self, request: &ImportTable, now: u64) -> ImportRecord {
        let table_arn = table_arn(&self.region, request.table.name.as_str());
        let import = Import {
            arn: format!("{table_arn}/import/{}", self.new_exchange_id()),
            table_arn,
            table_id: self.new_id(),
            status: ExchangeStatus::InProgress,
            started_millis: now,
            ended_millis: None,
            source: request.source.clone(),
            format: request.format,
            csv: request.csv.clone(),
            compression: request.compression,
            table_parameters: request.table_parameters.clone(),
            client_token: request.client_token.clone(),
            processed_items: 0,
            processed_bytes: 0,
            imported_items: 0,
            errors: 0,
            failure: None,
        };
        ImportRecord::new(import, request.table.name.to_string())
    }
}
