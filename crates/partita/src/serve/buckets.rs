//! The buckets of exports and imports: folders, those of an S3 endpoint, or none.

use crate::arguments::Serve;
use crate::client::address::Address;
use crate::client::credentials;
use crate::client::tls;
use partita_bucket_s3::{S3Buckets, S3Endpoint, S3Options};
use partita_engine::bucket::Buckets;
use partita_engine::bucket::bucket_folder::BucketFolders;
use std::sync::Arc;

pub fn choose(arguments: &Serve) -> Result<Option<Arc<dyn Buckets>>, String> {
    if let Some(folder) = &arguments.s3_root {
        return Ok(Some(Arc::new(BucketFolders(folder.clone()))));
    }
    let Some(url) = &arguments.s3_endpoint else { return Ok(None) };
    let (endpoint, encrypted) = endpoint(url).map_err(|error| format!("--s3-endpoint: {error}"))?;
    let keys = credentials::from_environment(&format!("--s3-endpoint {url}"))?;
    let options = S3Options {
        endpoint,
        region: arguments.s3_region.clone().unwrap_or_else(|| arguments.region.clone()),
        access_key: keys.access_key,
        secret_key: keys.secret_key,
        session_token: keys.session_token,
        patience: arguments.s3_patience,
        tls: tls::config_for(encrypted).map_err(|error| format!("--s3-endpoint: {error}"))?,
    };
    let buckets = S3Buckets::start(options).map_err(|error| format!("--s3-endpoint: {error}"))?;
    Ok(Some(Arc::new(buckets)))
}

/// Parses the value of `--s3-endpoint`; also returns whether connections are encrypted.
fn endpoint(url: &str) -> Result<(S3Endpoint, bool), String> {
    if url == credentials::AWS {
        return Ok((S3Endpoint::Aws, true));
    }
    let (_, rest) = url.split_once("://").ok_or_else(|| {
        format!("{url} is not an address such as http://127.0.0.1:9000 or https://s3.example.com, nor `aws`")
    })?;
    let address = Address::parse(url)?;
    if address.host.contains(['@', '?', '#', ' ']) || rest.trim_end_matches('/') != address.host {
        return Err(format!("{url} has more than a host and a port; buckets are named in requests"));
    }
    if !address.encrypted && !address.is_loopback() {
        tracing::warn!(endpoint = address.host, "exports and imports are sent unencrypted");
    }
    Ok((S3Endpoint::At(address.url()), address.encrypted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_hosts() {
        let read = |url: &str| match endpoint(url) {
            Ok((S3Endpoint::At(url), encrypted)) => Some((url, encrypted)),
            _ => None,
        };
        assert_eq!(read("http://127.0.0.1:9000/"), Some(("http://127.0.0.1:9000".to_owned(), false)));
        assert_eq!(read("https://s3.example.com"), Some(("https://s3.example.com".to_owned(), true)));
        assert!(matches!(endpoint("aws"), Ok((S3Endpoint::Aws, true))));
        for wrong in [
            "",
            "minio",
            "minio:9000",
            "s3://bucket",
            "http://",
            "http://x:y",
            "http://x/bucket",
            "http://u@x",
            "http://x?y",
        ] {
            assert!(endpoint(wrong).is_err(), "{wrong}");
        }
    }
}
