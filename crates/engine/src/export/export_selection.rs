//! Which items an export contains, and which of their attributes: its `FilterSpecification`, resolved against the table's key.

use crate::read::key_range::{KeyBounds, has_sort_prefix};
use crate::read::selection::refuse_key_attributes;
use partita_api::Exception;
use partita_api::key_schema::KeySchema;
use partita_exchange::{ExportFilter, decode_export_filter};
use partita_store::{KeyRange, Space};
use partita_value::ordered_key::TokenKey;
use partita_value::{Item, ItemRef};
use std::borrow::Cow;

pub struct ExportSelection {
    filter: Option<ExportFilter>,
    /// The range of rows that the key condition selects; all rows if `None`.
    pub rows: Option<KeyRange>,
    /// A prefix of a sort attribute, which must be checked because the range may contain other values too.
    sort_prefix: Option<(String, Vec<u8>)>,
}

impl ExportSelection {
    /// `filter` is the text of the specification, `items` the space of the table's items.
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

    pub fn matches(&self, item: ItemRef<'_>) -> Result<bool, Exception> {
        let condition = self.filter.as_ref().and_then(|filter| filter.filter.as_ref());
        let prefix = self.sort_prefix.as_ref().map(|(attribute, prefix)| (attribute.as_str(), &prefix[..]));
        Ok(has_sort_prefix(item, prefix)
            && condition.map_or(Ok(true), |condition| condition.matches(Some(item)))?)
    }

    /// Returns the projected part of an item; `None` if that is the whole item.
    fn projection_of(&self, item: ItemRef<'_>) -> Option<Item> {
        let projection = self.filter.as_ref().and_then(|filter| filter.projection.as_ref())?;
        Some(projection.apply(item))
    }

    pub fn projected<'a>(&self, item: &'a Item) -> Cow<'a, Item> {
        self.projection_of(item.view()).map_or(Cow::Borrowed(item), Cow::Owned)
    }

    /// Calls `write` with the projected part of an item.
    pub fn with_projected(&self, item: ItemRef<'_>, write: impl FnOnce(ItemRef<'_>)) {
        match self.projection_of(item) {
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
    fn a_filter_next_to_a_key_condition_names_no_key_attribute() {
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
