//! Objects that are made to harm: an import of one ends, and its table can be used and deleted.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use partita_api::exchange::ExchangeFailure;
use partita_engine::bucket::{Buckets, Listed, ObjectParts, Objects};
use partita_store_memory::MemoryStore;
use std::sync::Arc;
use support::Database;

/// Buckets with one object. Without bytes, reading it panics.
struct OneObject(Option<Vec<u8>>);

impl Buckets for OneObject {
    fn open(&self, _: &str) -> Result<Box<dyn Objects>, ExchangeFailure> {
        Ok(Box::new(OneObject(self.0.clone())))
    }
}

impl Objects for OneObject {
    fn write(&self, _: &str, _: &[u8]) -> Result<(), ExchangeFailure> {
        unreachable!("imports write nothing")
    }

    fn read(&self, _: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure> {
        Ok(Box::new(OneObject(self.0.clone())))
    }

    fn list(&self, _: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        Ok(vec![Listed { key: "object".to_owned(), bytes: 1 }])
    }
}

impl ObjectParts for OneObject {
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure> {
        let bytes = self.0.as_mut().unwrap_or_else(|| panic!("on purpose"));
        Ok(Some(std::mem::take(bytes)).filter(|part| !part.is_empty()))
    }
}

/// What is said about an import of the object once there is nothing left to do.
async fn import(object: Option<Vec<u8>>) -> String {
    let database = Database::new(MemoryStore::default());
    database.engine.set_buckets(Arc::new(OneObject(object)));
    let request = r#"{"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "ZSTD",
        "TableCreationParameters": {"TableName": "Target", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}"#;
    let begun = database.run("ImportTable", request).await;
    let arn = begun.split('"').find(|text| text.contains("/import/")).unwrap_or_else(|| panic!("{begun}"));
    database.maintain().await;
    let described = database.run("DescribeImport", &format!(r#"{{"ImportArn": "{arn}"}}"#)).await;
    let deleted = database.run("DeleteTable", r#"{"TableName": "Target"}"#).await;
    assert!(deleted.contains("DELETING"), "{deleted}");
    described
}

#[tokio::test]
async fn a_frame_that_claims_a_terabyte_is_no_import() {
    let head = [&[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..], &(1_u64 << 40).to_le_bytes()].concat();
    // Each block is 128 KiB of blanks.
    let blocks = [0x02, 0x00, 0x10, b' '].repeat(100_000);
    let described = import(Some([head, blocks].concat())).await;
    assert!(described.contains(r#""ImportStatus":"FAILED""#), "{described}");
    assert!(described.contains(r#""FailureCode":"ItemValidationError""#), "{described}");
}

#[tokio::test]
async fn an_object_whose_reading_panics_fails_its_import() {
    let described = import(None).await;
    assert!(described.contains(r#""ImportStatus":"FAILED""#), "{described}");
    assert!(described.contains(r#""FailureCode":"InternalServerError""#), "{described}");
}
