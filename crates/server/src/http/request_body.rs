//! Request bodies: at most 16 MiB, also when chunked, in room that grows with what has arrived.

use crate::limits::budget::{NoRoom, Share};
use crate::limits::slow_client_timeout::Pace;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use partita_value::limits::REQUEST_BYTES;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// How much of an oversized body is taken before the connection is given up.
const DRAIN_BYTES: usize = 4 * REQUEST_BYTES;

pub enum BodyError {
    TooLarge,
    /// The client broke off.
    Broken,
    /// The client sends too slowly.
    Stalled,
    NoRoom,
}

impl From<NoRoom> for BodyError {
    fn from(_: NoRoom) -> BodyError {
        BodyError::NoRoom
    }
}

/// Reads to the end even where the body is too large: a client that is still sending would otherwise see
/// a reset instead of the answer.
pub async fn read(mut incoming: Incoming, share: &mut Share, mut pace: Pace) -> Result<Bytes, BodyError> {
    let mut collected = Vec::new();
    let mut first: Option<Bytes> = None;
    let mut total = 0usize;
    while let Some(frame) = next(&mut incoming, &mut pace).await? {
        let Ok(data) = frame.into_data() else { continue };
        pace.moved(data.len());
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
            None => extend(&mut collected, &data, share)?,
            Some(begin) => {
                extend(&mut collected, &begin, share)?;
                extend(&mut collected, &data, share)?;
            }
        }
    }
    if total > REQUEST_BYTES {
        return Err(BodyError::TooLarge);
    }
    Ok(first.unwrap_or_else(|| Bytes::from(collected)))
}

async fn next(incoming: &mut Incoming, pace: &mut Pace) -> Result<Option<Frame<Bytes>>, BodyError> {
    let mut frame = pin!(incoming.frame());
    poll_fn(|context| match frame.as_mut().poll(context) {
        Poll::Ready(frame) => Poll::Ready(frame.transpose().map_err(|_| BodyError::Broken)),
        Poll::Pending => pace.poll(context).map(|()| Err(BodyError::Stalled)),
    })
    .await
}

fn extend(collected: &mut Vec<u8>, data: &[u8], share: &mut Share) -> Result<(), NoRoom> {
    if collected.capacity() - collected.len() < data.len() {
        let more = collected.len().max(data.len());
        share.grow_to(collected.len() + more)?;
        collected.reserve_exact(more);
    }
    collected.extend_from_slice(data);
    Ok(())
}
