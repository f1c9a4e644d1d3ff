//! Request bodies: at most 16 MiB, also when chunked, in memory that is reserved as they arrive.

use crate::limits::budget::{BudgetExceeded, Reservation};
use crate::limits::slow_client_timeout::SlowClientTimeout;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use partita_value::limits::REQUEST_BYTES;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// How much of an oversized body is read before the connection is closed.
const DRAIN_BYTES: usize = 4 * REQUEST_BYTES;

pub enum BodyError {
    TooLarge,
    /// The connection broke.
    Broken,
    /// The client sends too slowly.
    Stalled,
    BudgetExceeded,
}

impl From<BudgetExceeded> for BodyError {
    fn from(_: BudgetExceeded) -> BodyError {
        BodyError::BudgetExceeded
    }
}

/// Reads to the end even if the body is too large: a client that is still sending would otherwise see a reset
/// instead of the response.
pub async fn read(
    mut incoming: Incoming,
    reservation: &mut Reservation,
    mut timeout: SlowClientTimeout,
) -> Result<Bytes, BodyError> {
    let mut collected = Vec::new();
    let mut first: Option<Bytes> = None;
    let mut total = 0usize;
    while let Some(frame) = next(&mut incoming, &mut timeout).await? {
        let Ok(data) = frame.into_data() else { continue };
        timeout.transferred(data.len());
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
            None => extend(&mut collected, &data, reservation)?,
            Some(begin) => {
                extend(&mut collected, &begin, reservation)?;
                extend(&mut collected, &data, reservation)?;
            }
        }
    }
    if total > REQUEST_BYTES {
        return Err(BodyError::TooLarge);
    }
    Ok(first.unwrap_or_else(|| Bytes::from(collected)))
}

async fn next(
    incoming: &mut Incoming,
    timeout: &mut SlowClientTimeout,
) -> Result<Option<Frame<Bytes>>, BodyError> {
    let mut frame = pin!(incoming.frame());
    poll_fn(|context| match frame.as_mut().poll(context) {
        Poll::Ready(frame) => Poll::Ready(frame.transpose().map_err(|_| BodyError::Broken)),
        Poll::Pending => timeout.poll(context).map(|()| Err(BodyError::Stalled)),
    })
    .await
}

fn extend(collected: &mut Vec<u8>, data: &[u8], reservation: &mut Reservation) -> Result<(), BudgetExceeded> {
    if collected.capacity() - collected.len() < data.len() {
        let more = collected.len().max(data.len());
        reservation.grow_to(collected.len() + more)?;
        collected.reserve_exact(more);
    }
    collected.extend_from_slice(data);
    Ok(())
}
