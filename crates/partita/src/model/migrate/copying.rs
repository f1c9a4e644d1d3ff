//! Every item into another table, in the new model's form. What stands there already is compared, never overwritten.

use super::{Migration, Tally};
use crate::model::item_json::encode;
use crate::model::items;
use crate::progress::Progress;
use partita_design::capacity::estimate::write_units;
use partita_design::item::Item;
use partita_design::migration::{Rewrite, preserves_origin, rewrite};
use partita_exchange::item_reader::decode_put_line;
use serde_json::{Map, Value, json};

impl Migration<'_> {
    pub(super) fn copy(&mut self, into: &str) -> Result<Tally, String> {
        let description = items::describe(&mut self.client, &self.table)?;
        let progress = Progress::new(description["ItemCount"].as_u64().unwrap_or_default());
        let mut course = self.resume()?;
        loop {
            let (page, next) = items::page(&mut self.client, &self.table, course.start())?;
            for item in &page {
                self.copy_one(item, into, course.tally())?;
            }
            progress.advance(page.len() as u64);
            if course.advance(next)? {
                progress.finish();
                return Ok(course.into_tally());
            }
        }
    }

    fn copy_one(&mut self, item: &Item, into: &str, tally: &mut Tally) -> Result<(), String> {
        let made = match rewrite(&self.old, &self.new, item) {
            Rewrite::Keep => item.clone(),
            Rewrite::Put(made) | Rewrite::Move { put: made, .. } => made,
            Rewrite::Removed(entity) => {
                *tally.gone.entry(entity).or_default() += 1;
                return Ok(());
            }
            Rewrite::Unknown(reason) => {
                *tally.unknown.entry(reason).or_default() += 1;
                return Ok(());
            }
        };
        let encoded = Value::Object(encode(&made));
        tally.units += write_units(encoded.to_string().len() as u64);
        let request = json!({
            "TableName": into, "Item": encoded, "ConditionExpression": "attribute_not_exists(#pk)",
            "ExpressionAttributeNames": { "#pk": self.new.table.keys[0] },
        });
        match self.client.call("PutItem", &request) {
            Ok(_) => tally.moved += 1,
            Err(failure) if failure.is("ConditionalCheckFailedException") => {
                self.compare(item, &made, into, tally)?;
            }
            Err(failure) => return Err(failure.to_string()),
        }
        Ok(())
    }

    /// The item whose place was taken: by itself, from a copy that was interrupted, or by another. Two items that have become
    /// the same are two, unless what was made of them tells them apart.
    fn compare(&mut self, item: &Item, made: &Item, into: &str, tally: &mut Tally) -> Result<(), String> {
        let keys = &self.new.table.keys;
        let made_json = encode(made);
        let key: Map<String, Value> =
            keys.iter().filter_map(|name| Some((name.clone(), made_json.get(name)?.clone()))).collect();
        let request = json!({ "TableName": into, "Key": key, "ConsistentRead": true });
        let found = self.call("GetItem", &request)?;
        if is_same(&found["Item"], &Value::Object(made_json))
            && preserves_origin(&self.old, &self.new, item, made)
        {
            tally.present += 1;
        } else {
            tally.collide(Value::Object(key).to_string());
        }
        Ok(())
    }
}

/// Whether two items are equal as a database sees it: sets have no order, and numbers many spellings.
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
        assert!(!is_same(&Value::Null, &item), "it was deleted meanwhile, so it is not there");
    }
}
