//! The parts of the log's files and the data file's pages that fuzz targets (fuzz/) exercise. Not part of the public API.

use crate::log::manifest;
use crate::log::record::{self, BLOCK_BYTES, RecordHeader, Stamp};
use crate::log::segment_header::{self, Salt};
use crate::pages::page::{self, Meta, Page, PageKind};
use crate::random;
use crate::tree::entry;
use crate::write::batch::Batch;

const SALT: Salt = [7; 16];
const STAMP: Stamp = Stamp { sequence: 5, durable: 4 };

/// Reads bytes as every kind of file in a log's folder, none of which they are. A fuzzer sees what is compared, the
/// correct seal included, as no client does; so the salt is a different one every time.
pub fn read_log_files(bytes: &[u8]) {
    let salt: Salt = random::bytes().expect("random bytes");
    for blocks in bytes.chunks(BLOCK_BYTES) {
        assert!(RecordHeader::parse(blocks, &salt).is_none(), "unsealed bytes are taken for a record");
    }
    // These have checksums that anybody can compute: decoding must be safe, its result is not trusted.
    segment_header::decode(bytes);
    manifest::decode_segments(bytes);
    let _ = entry::read(b"key", bytes);
}

/// Reads bytes as the body of a sealed record. What is decoded must encode and decode to the same again.
pub fn read_record_body(bytes: &[u8]) {
    let Ok(blocks) = record::of_body(bytes, &SALT, STAMP) else { return };
    let header = RecordHeader::parse(&blocks, &SALT).filter(|header| header.record_bytes() == blocks.len());
    let body = header.and_then(|header| header.body(&blocks, &SALT)).filter(|body| *body == bytes);
    let Some(body) = body else { panic!("a sealed record is not found") };
    let mut batch = Batch::default();
    if record::replay(STAMP.sequence, body, &mut batch).is_err() {
        return;
    }
    let (mut decoded, mut encoded) = (Batch::default(), Vec::new());
    let Ok(length) = record::encode(&mut encoded, &batch) else { return };
    record::seal(&mut encoded, length, &SALT, STAMP);
    let body = RecordHeader::parse(&encoded, &SALT).and_then(|header| header.body(&encoded, &SALT));
    let replayed = body.map(|body| record::replay(STAMP.sequence, body, &mut decoded));
    assert!(matches!(replayed, Some(Ok(()))), "an encoded batch cannot be replayed");
    assert!(decoded.rows().eq(batch.rows()) && decoded.dropped() == batch.dropped());
}

/// Reads bytes as a page of the data file. A well-formed page yields all its nodes, and a page rebuilt from them reads
/// back the same.
pub fn read_page(bytes: &[u8]) {
    Meta::read(bytes);
    let page = Page(bytes);
    let _ = (page.used_parts(), page.overflow_pages(), page.lower_bound(b"k"), page.child_with(b"k"));
    for index in 0..page.nodes() {
        let _ = (page.leaf_node(index), page.child(index), page.key(index));
    }
    let Some(number) = page.number().filter(|number| page.is_well_formed(*number)) else { return };
    if page.kind() != Some(PageKind::Leaf) {
        return;
    }
    let nodes: Vec<_> = (0..page.nodes()).filter_map(|index| page.leaf_node(index)).collect();
    assert_eq!(nodes.len(), page.nodes(), "a node of a well-formed page is missing");
    if let Some(rebuilt) = page::new_leaf(number, bytes.len(), &nodes) {
        let rebuilt = Page(&rebuilt);
        assert!(rebuilt.is_well_formed(number));
        assert!((0..rebuilt.nodes()).map(|index| rebuilt.leaf_node(index)).eq(nodes.into_iter().map(Some)));
    }
}
