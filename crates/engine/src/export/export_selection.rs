//! Which items an export takes, and what of them: its `FilterSpecification` against the table's key.

use crate::item::query::refuse_key_attributes;
use crate::read::key_range::{KeyBounds, has_sort_prefix};
use partita_api::Exception;
use partita_api::key_schema::KeySchema;
use partita_exchange::{ExportFilter, decode_export_filter};
use partita_store::{KeyRange, Space};
use partita_value::ordered_key::TokenKey;
use partita_value::{Item, ItemRef};
use std::borrow::Cow;

pub struct ExportSelection {
    filter: Option<ExportFilter>,
    /// The items' rows that the key condition means; all, if there is none.
    pub rows: Option<KeyRange>,
    /// What a sort attribute begins with, where the rows may hold others too.
    sort_prefix: Option<(String, Vec<u8>)>,
}

impl ExportSelection {
    /// `filter` is the specification's text; `items` the space that they are in.
    pub fn new(
        filter: Option<&str>,
        (key, token_key): (&KeySchema, TokenKey),
        items: Space,
    ) -> Result<ExportSelection, Exception> {
        let filter = filter.map(decode_export_filter).transpose()?;
        if let Some(ExportFilter { key_condition: Some(_), filter: Some(filter), .. }) = &filter {
            refuse_key_attributes(key, filter, false)?;
        }
        let condition = filter.as_ref().and_then(|filter| filter.key_condition.as_ref());
        let bounds =
            condition.map(|condition| KeyBounds::new(key, None, condition, |_| Ok(()))).transpose()?;
        let rows = bounds.as_ref().map(|bounds| bounds.range(items, token_key));
        let sort_prefix = bounds.as_ref().and_then(KeyBounds::sort_prefix);
        let sort_prefix = sort_prefix.map(|(attribute, prefix)| (attribute.to_owned(), prefix.to_vec()));
        Ok(ExportSelection { filter, rows, sort_prefix })
    }

    pub fn takes(&self, item: ItemRef<'_>) -> Result<bool, Exception> {
        let condition = self.filter.as_ref().and_then(|filter| filter.filter.as_ref());
        let prefix = self.sort_prefix.as_ref().map(|(attribute, prefix)| (attribute.as_str(), &prefix[..]));
        Ok(has_sort_prefix(item, prefix)
            && condition.map_or(Ok(true), |condition| condition.matches(Some(item)))?)
    }

    /// What is shown of an item; `None` if that is all of it.
    fn projected(&self, item: ItemRef<'_>) -> Option<Item> {
        let projection = self.filter.as_ref().and_then(|filter| filter.projection.as_ref())?;
        Some(projection.apply(item))
    }

    pub fn shown<'a>(&self, item: &'a Item) -> Cow<'a, Item> {
        self.projected(item.view()).map_or(Cow::Borrowed(item), Cow::Owned)
    }

    /// Calls with what is shown of an item.
    pub fn show(&self, item: ItemRef<'_>, write: impl FnOnce(ItemRef<'_>)) {
        match self.projected(item) {
            Some(part) => write(part.view()),
            None => write(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_api::key_schema::KeyAttribute;
    use partita_value::ScalarType;

    fn refusal(filter: &str) -> Option<String> {
        let key = |name: &str| vec![KeyAttribute { name: name.to_owned(), kind: ScalarType::S }];
        let schema = KeySchema { partition: key("pk"), sort: key("sk") };
        ExportSelection::new(Some(filter), (&schema, TokenKey::FIXED), Space(16))
            .err()
            .map(|exception| exception.message)
    }

    #[test]
    fn beside_a_key_condition_the_filter_names_no_key() {
        let filter = |key_condition: &str, filter: &str| {
            refusal(&format!(
                r#"{{{key_condition}"FilterExpression":"{filter}","ExpressionAttributeValues":{{":p":{{"S":"a"}}}}}}"#
            ))
        };
        let key_condition = r#""KeyConditionExpression":"pk = :p","#;
        assert_eq!(
            filter(key_condition, "size(sk) > x OR sk = :p").as_deref(),
            Some("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk")
        );
        assert_eq!(filter(key_condition, "x = :p"), None);
        assert_eq!(filter("", "sk = :p"), None);
    }
}
