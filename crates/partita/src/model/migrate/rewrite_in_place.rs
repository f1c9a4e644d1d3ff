//! Rewrites items from one version to the next: read page by page, rewritten one by one.

use super::progress::MigrationProgress;
use super::{Migration, MigrationSummary};
use crate::model::items;
use crate::progress_bar::ProgressBar;
use partita_design::estimate::write_units;
use partita_design::migration::{Rewrite, rewrite};
use serde_json::{Map, Value, json};

impl Migration<'_> {
    /// Reads all items; rewrites them if `apply`.
    pub(super) fn pass(&mut self, apply: bool) -> Result<MigrationSummary, String> {
        let description = items::describe(&mut self.client, &self.table)?;
        let bar = ProgressBar::new(description["ItemCount"].as_u64().unwrap_or_default());
        let mut progress = if apply { self.resume()? } else { MigrationProgress::without_checkpoint() };
        loop {
            let (page, next) = items::page(&mut self.client, &self.table, progress.start())?;
            for item in &page {
                self.rewrite_item(item, apply, progress.summary())?;
                bar.advance(1);
            }
            if progress.advance(next)? {
                bar.finish();
                return Ok(progress.into_summary());
            }
        }
    }

    fn rewrite_item(
        &mut self,
        item: &Map<String, Value>,
        apply: bool,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        let units = write_units(Value::Object(item.clone()).to_string().len() as u64);
        match rewrite(&self.old, &self.new, item) {
            Rewrite::Keep => summary.kept += 1,
            Rewrite::Unknown(reason) => *summary.unknown.entry(reason).or_default() += 1,
            Rewrite::Gone(entity) => {
                *summary.gone.entry(entity).or_default() += 1;
                if apply && self.arguments.delete_removed {
                    self.delete(item)?;
                }
            }
            Rewrite::Put(rewritten) => {
                summary.put += 1;
                summary.units += units;
                if apply {
                    self.update_item(item, &rewritten)?;
                }
            }
            Rewrite::Move { put, delete } => {
                summary.moved += 1;
                summary.units += units * 4;
                if apply {
                    self.relocate(&put, &delete)?;
                }
            }
        }
        Ok(())
    }

    /// Updates only what differs, so that concurrent changes by the application are preserved.
    fn update_item(
        &mut self,
        item: &Map<String, Value>,
        rewritten: &Map<String, Value>,
    ) -> Result<(), String> {
        let (mut names, mut values) = (Map::new(), Map::new());
        let (mut set, mut remove) = (Vec::new(), Vec::new());
        for (number, name) in
            item.keys().chain(rewritten.keys().filter(|name| !item.contains_key(*name))).enumerate()
        {
            if item.get(name) == rewritten.get(name) {
                continue;
            }
            names.insert(format!("#n{number}"), json!(name));
            match rewritten.get(name) {
                Some(value) => {
                    values.insert(format!(":v{number}"), value.clone());
                    set.push(format!("#n{number} = :v{number}"));
                }
                None => remove.push(format!("#n{number}")),
            }
        }
        names.insert("#pk".to_owned(), json!(self.old.table.keys[0]));
        let part = |word: &str, list: &[String]| {
            if list.is_empty() { String::new() } else { format!("{word} {} ", list.join(", ")) }
        };
        let mut request = json!({
            "TableName": self.table,
            "Key": self.key_of(item),
            "UpdateExpression": format!("{}{}", part("SET", &set), part("REMOVE", &remove)),
            "ConditionExpression": "attribute_exists(#pk)",
            "ExpressionAttributeNames": names,
        });
        if !values.is_empty() {
            request["ExpressionAttributeValues"] = json!(values);
        }
        match self.client.call("UpdateItem", &request) {
            // The application has deleted it meanwhile.
            Err(failure) if failure.is("ConditionalCheckFailedException") => Ok(()),
            outcome => outcome.map(|_| ()).map_err(|failure| failure.to_string()),
        }
    }

    /// Puts the new item and deletes the old one in one transaction.
    fn relocate(&mut self, put: &Map<String, Value>, delete: &Map<String, Value>) -> Result<(), String> {
        let names = json!({ "#pk": self.old.table.keys[0] });
        let request = json!({ "TransactItems": [
            // Existing items are never overwritten; the verification reports what could not move.
            { "Put": {
                "TableName": self.table, "Item": put,
                "ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": names,
            } },
            { "Delete": {
                "TableName": self.table, "Key": delete,
                "ConditionExpression": "attribute_exists(#pk)", "ExpressionAttributeNames": names,
            } },
        ]});
        match self.client.call("TransactWriteItems", &request) {
            Err(failure) if failure.is("TransactionCanceledException") => Ok(()),
            outcome => outcome.map(|_| ()).map_err(|failure| failure.to_string()),
        }
    }

    fn key_of(&self, item: &Map<String, Value>) -> Map<String, Value> {
        let keys = self.old.table.keys.iter();
        keys.filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect()
    }

    /// Deletes an item of a type that the new model does not have.
    fn delete(&mut self, item: &Map<String, Value>) -> Result<(), String> {
        let request = json!({ "TableName": self.table, "Key": self.key_of(item) });
        self.call("DeleteItem", &request).map(|_| ())
    }
}
