//! `{"Metadata":{…},"Keys":{…},"NewImage":{…},"OldImage":{…}}`: a changed item as a line of an incremental export.

use crate::item_json;
use partita_value::ItemRef;
use std::io::Write;

/// A change to an item.
#[derive(Clone, Copy)]
pub struct ChangeLine<'a> {
    /// The time of the write, in microseconds since 1970.
    pub written_micros: u64,
    pub keys: ItemRef<'a>,
    /// The current item; `None` if it was deleted.
    pub new_image: Option<ItemRef<'a>>,
    /// The previous item, if it existed and the export includes old images.
    pub old_image: Option<ItemRef<'a>>,
}

impl<'a> ChangeLine<'a> {
    /// The items of the line with their names, in order.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, ItemRef<'a>)> {
        let images = [("Keys", Some(self.keys)), ("NewImage", self.new_image), ("OldImage", self.old_image)];
        images.into_iter().filter_map(|(name, image)| image.map(|image| (name, image)))
    }
}

pub fn encode_change_line(change: &ChangeLine<'_>, out: &mut Vec<u8>) {
    // Writing into a Vec never fails.
    let _ =
        write!(out, "{{\"Metadata\":{{\"WriteTimestampMicros\":{{\"N\":\"{}\"}}}}", change.written_micros);
    for (name, image) in change.images() {
        let _ = write!(out, ",\"{name}\":");
        item_json::write_map(out, image.attributes());
    }
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::{AttributeValue, Item};

    fn line(new_image: Option<&Item>, old_image: Option<&Item>) -> String {
        let keys: Item = [("pk", AttributeValue::S("k\"".into()))].into_iter().collect();
        let change = ChangeLine {
            written_micros: 1_712_345_678_901_234,
            keys: keys.view(),
            new_image: new_image.map(Item::view),
            old_image: old_image.map(Item::view),
        };
        let mut line = Vec::new();
        encode_change_line(&change, &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn absent_images_are_omitted() {
        let item: Item = [("pk", AttributeValue::Null)].into_iter().collect();
        let start =
            r#"{"Metadata":{"WriteTimestampMicros":{"N":"1712345678901234"}},"Keys":{"pk":{"S":"k\""}}"#;
        assert_eq!(line(None, None), format!("{start}}}\n"));
        assert_eq!(
            line(Some(&item), Some(&Item::default())),
            format!("{start},\"NewImage\":{{\"pk\":{{\"NULL\":true}}}},\"OldImage\":{{}}}}\n")
        );
        assert_eq!(line(None, Some(&item)), format!("{start},\"OldImage\":{{\"pk\":{{\"NULL\":true}}}}}}\n"));
    }
}
