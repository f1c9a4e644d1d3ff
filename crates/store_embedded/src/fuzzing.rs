//! What fuzz targets (fuzz/) see of the log's files. No part of the crate's interface.

use crate::batch::Batch;
use crate::record::{self, BLOCK_BYTES, Head, Stamp};
use crate::segment_header::{self, Salt};
use crate::{entry, manifest};

const SALT: Salt = [7; 16];
const STAMP: Stamp = Stamp { sequence: 5, durable: 4 };

/// Reads bytes as all that may stand in a log's folder, none of which they are.
pub fn read_log_files(bytes: &[u8]) {
    for blocks in bytes.chunks(BLOCK_BYTES) {
        assert!(Head::find(blocks, &SALT).is_none(), "what nobody sealed is taken for a record");
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
