//! What fuzz targets (fuzz/) see of the log's files and the data file's pages. No part of the crate's interface.

use crate::log::manifest;
use crate::log::record::{self, BLOCK_BYTES, Head, Stamp};
use crate::log::segment_header::{self, Salt};
use crate::pages::page::{self, Kind, Meta, Page};
use crate::random;
use crate::tree::entry;
use crate::write::batch::Batch;

const SALT: Salt = [7; 16];
const STAMP: Stamp = Stamp { sequence: 5, durable: 4 };

/// Reads bytes as all that may stand in a log's folder, none of which they are. A fuzzer sees what is compared, the right
/// seal included, as no client does; so the salt is another one every time.
pub fn read_log_files(bytes: &[u8]) {
    let salt: Salt = random::bytes().expect("random bytes");
    for blocks in bytes.chunks(BLOCK_BYTES) {
        assert!(Head::find(blocks, &salt).is_none(), "what nobody sealed is taken for a record");
    }
    // These have checksums that anybody can make: they are looked at, not believed.
    segment_header::decode(bytes);
    manifest::segments_of(bytes);
    let _ = entry::read(b"key", bytes);
}

/// Reads bytes as the body of a record that is sealed. What is read of it is written and read again as the same.
pub fn read_record_body(bytes: &[u8]) {
    let Ok(blocks) = record::of_body(bytes, &SALT, STAMP) else { return };
    let head = Head::find(&blocks, &SALT).filter(|head| head.record_bytes() == blocks.len());
    let body = head.and_then(|head| head.body(&blocks, &SALT)).filter(|body| *body == bytes);
    let Some(body) = body else { panic!("a sealed record is not found") };
    let mut batch = Batch::default();
    if record::replay(STAMP.sequence, body, &mut batch).is_err() {
        return;
    }
    let (mut again, mut encoded) = (Batch::default(), Vec::new());
    let Ok(length) = record::encode(&mut encoded, &batch) else { return };
    record::seal(&mut encoded, length, &SALT, STAMP);
    let body = Head::find(&encoded, &SALT).and_then(|head| head.body(&encoded, &SALT));
    let replayed = body.map(|body| record::replay(STAMP.sequence, body, &mut again));
    assert!(matches!(replayed, Some(Ok(()))), "what was encoded cannot be replayed");
    assert!(again.rows().eq(batch.rows()) && again.dropped() == batch.dropped());
}

/// Reads bytes as a page of the data file. One that is well formed has all its nodes, and is read again as the same from
/// what is made of them.
pub fn read_page(bytes: &[u8]) {
    Meta::read(bytes);
    let page = Page(bytes);
    let _ = (page.used_parts(), page.overflow_pages(), page.first_not_below(b"k"), page.child_with(b"k"));
    for index in 0..page.nodes() {
        let _ = (page.leaf_node(index), page.child(index), page.key(index));
    }
    let Some(number) = page.number().filter(|number| page.is_well_formed(*number)) else { return };
    if page.kind() != Some(Kind::Leaf) {
        return;
    }
    let nodes: Vec<_> = (0..page.nodes()).filter_map(|index| page.leaf_node(index)).collect();
    assert_eq!(nodes.len(), page.nodes(), "a node of a well-formed page is missing");
    if let Some(made) = page::new_leaf(number, bytes.len(), &nodes) {
        let made = Page(&made);
        assert!(made.is_well_formed(number));
        assert!((0..made.nodes()).map(|index| made.leaf_node(index)).eq(nodes.into_iter().map(Some)));
    }
}
