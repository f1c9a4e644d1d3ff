//! Request bodies: at most 16 MiB, also when chunked, and compression undone.

use crate::content_coding::{Coding, DecodeError};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use partita_auth::Headers;
use partita_value::limits::REQUEST_BYTES;
use std::time::Duration;
use tokio::time::timeout;

/// How much of an oversized body is taken before the connection is given up.
const DRAIN_BYTES: usize = 4 * REQUEST_BYTES;

/// How long a client may pause within a body.
const PAUSE: Duration = Duration::from_secs(60);

/// A body as it was sent, which is what was signed, and as it is meant.
pub struct RequestBody {
    pub as_sent: Bytes,
    pub decoded: Bytes,
}

impl RequestBody {
    pub fn is_empty(&self) -> bool {
        self.as_sent.is_empty()
    }
}

pub enum BodyError {
    TooLarge,
    /// The client broke off.
    Broken,
    /// The client sent nothing more for too long.
    Stalled,
    /// Not the compression it claims to be, or one that is not known.
    Undecodable,
}

impl From<DecodeError> for BodyError {
    fn from(error: DecodeError) -> BodyError {
        match error {
            DecodeError::TooLarge => BodyError::TooLarge,
            DecodeError::Undecodable => BodyError::Undecodable,
        }
    }
}

pub async fn read(headers: Headers<'_>, incoming: Incoming) -> Result<RequestBody, BodyError> {
    let as_sent = collect(incoming).await?;
    let decoded = match Coding::of_request(headers)? {
        Some(coding) => coding.decode(&as_sent, REQUEST_BYTES)?.into(),
        None => as_sent.clone(),
    };
    Ok(RequestBody { as_sent, decoded })
}

/// Reads to the end even where the body is too large: a client that is still sending would otherwise see
/// a reset instead of the answer.
async fn collect(mut incoming: Incoming) -> Result<Bytes, BodyError> {
    let expected = incoming.size_hint().lower() as usize;
    let mut collected = BytesMut::new();
    let mut first: Option<Bytes> = None;
    let mut total = 0usize;
    while let Some(frame) = timeout(PAUSE, incoming.frame()).await.map_err(|_| BodyError::Stalled)? {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        total = total.saturating_add(data.len());
        if total > DRAIN_BYTES {
            return Err(BodyError::TooLarge);
        }
        if total > REQUEST_BYTES {
            continue;
        }
        match first.take() {
            // Most bodies arrive in one piece, which is then not copied.
            None if collected.is_empty() => first = Some(data),
            None => collected.extend_from_slice(&data),
            Some(begin) => {
                collected.reserve(expected.clamp(total, REQUEST_BYTES));
                collected.extend_from_slice(&begin);
                collected.extend_from_slice(&data);
            }
        }
    }
    if total > REQUEST_BYTES {
        return Err(BodyError::TooLarge);
    }
    Ok(first.unwrap_or_else(|| collected.freeze()))
}
