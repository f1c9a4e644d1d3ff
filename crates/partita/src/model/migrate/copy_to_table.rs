//! Copies every item into another table, in the new model's form. Existing items are compared, never overwritten.

use super::{Migration, MigrationSummary};
use crate::model::items::{self, Item};
use crate::progress_bar::ProgressBar;
use partita_design::estimate::write_units;
use partita_design::migration::{Rewrite, rewrite, tells_origin};
use partita_exchange::item_reader::decode_put_line;
use serde_json::{Value, json};

impl Migration<'_> {
    pub(super) fn copy(&mut self, into: &str) -> Result<MigrationSummary, String> {
        let description = items::describe(&mut self.client, &self.table)?;
        let bar = ProgressBar::new(description["ItemCount"].as_u64().unwrap_or_default());
        let mut progress = self.resume()?;
        loop {
            let (page, next) = items::page(&mut self.client, &self.table, progress.start())?;
            for item in &page {
                self.copy_one(item, into, progress.summary())?;
            }
            bar.advance(page.len() as u64);
            if progress.advance(next)? {
                bar.finish();
                return Ok(progress.into_summary());
            }
        }
    }

    fn copy_one(&mut self, item: &Item, into: &str, summary: &mut MigrationSummary) -> Result<(), String> {
        let rewritten = match rewrite(&self.old, &self.new, item) {
            Rewrite::Keep => item.clone(),
            Rewrite::Put(rewritten) | Rewrite::Move { put: rewritten, .. } => rewritten,
            Rewrite::Gone(entity) => {
                *summary.gone.entry(entity).or_default() += 1;
                return Ok(());
            }
            Rewrite::Unknown(reason) => {
                *summary.unknown.entry(reason).or_default() += 1;
                return Ok(());
            }
        };
        summary.units += write_units(json!(rewritten).to_string().len() as u64);
        let request = json!({
            "TableName": into, "Item": rewritten, "ConditionExpression": "attribute_not_exists(#pk)",
            "ExpressionAttributeNames": { "#pk": self.new.table.keys[0] },
        });
        match self.client.call("PutItem", &request) {
            Ok(_) => summary.moved += 1,
            Err(failure) if failure.is("ConditionalCheckFailedException") => {
                self.compare(item, &rewritten, into, summary)?;
            }
            Err(failure) => return Err(failure.to_string()),
        }
        Ok(())
    }

    /// Handles an item whose new key exists: it is the same item, from a copy that was interrupted, or another. Two items that
    /// have become equal count as different, unless the new item shows which of them it comes from.
    fn compare(
        &mut self,
        item: &Item,
        rewritten: &Item,
        into: &str,
        summary: &mut MigrationSummary,
    ) -> Result<(), String> {
        let keys = &self.new.table.keys;
        let key: Item =
            keys.iter().filter_map(|name| Some((name.clone(), rewritten.get(name)?.clone()))).collect();
        let request = json!({ "TableName": into, "Key": key, "ConsistentRead": true });
        let found = self.call("GetItem", &request)?;
        if is_same(&found["Item"], &json!(rewritten)) && tells_origin(&self.old, &self.new, item, rewritten) {
            summary.present += 1;
        } else {
            summary.add_collision(Value::Object(key).to_string());
        }
        Ok(())
    }
}

/// Whether two items are equal for a database: sets have no order, and numbers several notations.
fn is_same(left: &Value, right: &Value) -> bool {
    let item = |item: &Value| {
        let line = json!({ "Item": item }).to_string();
        decode_put_line(line.as_bytes()).map(|put| put.item)
    };
    matches!((item(left), item(right)), (Ok(left), Ok(right)) if left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_compared_by_value() {
        let item = json!({ "PK": { "N": "7" }, "tags": { "SS": ["a", "b"] } });
        assert!(is_same(&item, &json!({ "tags": { "SS": ["b", "a"] }, "PK": { "N": "007" } })));
        assert!(!is_same(&item, &json!({ "PK": { "N": "7" } })));
        assert!(!is_same(&Value::Null, &item), "it was deleted meanwhile");
    }
}
