//! Reads that take turns with others. What they have gathered so far waits in memory, so that it must have room.

use crate::http::reply::Refusal;
use crate::limits::budget::Share;
use partita_api::{Exception, Request};
use partita_partiql::Statement;
use partita_value::limits;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// About as much as a page takes while it is gathered.
const PAGE_BYTES: usize = 1_024 * 1_024;

/// About as much as an answer takes while it is gathered.
pub fn gathered_bytes(request: &Request) -> usize {
    match request {
        Request::BatchGetItem(_) | Request::BatchExecuteStatement(_) => limits::BATCH_GET_BYTES,
        _ => PAGE_BYTES,
    }
}

/// Whether a request changes nothing, and its answer may be large.
pub fn only_reads(request: &Request) -> bool {
    let selects = |statement: &Statement| matches!(statement, Statement::Select(_));
    match request {
        Request::GetItem(_)
        | Request::Query(_)
        | Request::Scan(_)
        | Request::BatchGetItem(_)
        | Request::TransactGetItems(_)
        | Request::GetRecords(_) => true,
        Request::ExecuteStatement(request) => selects(&request.statement),
        Request::BatchExecuteStatement(request) => {
            request.statements.iter().all(|one| one.statement.as_ref().is_ok_and(selects))
        }
        Request::ExecuteTransaction(request) => request.statements.iter().all(|one| selects(&one.statement)),
        _ => false,
    }
}

/// Runs a read to its end. One that does so in a single turn is only counted when its answer is there; one that takes
/// turns needs room for what it gathers.
pub async fn run<T>(
    gathered_bytes: usize,
    mut read: Pin<&mut impl Future<Output = Result<T, Exception>>>,
    share: &mut Share,
) -> Result<T, Refusal> {
    let mut is_counted = false;
    poll_fn(|context| match read.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(done.map_err(Refusal::from)),
        Poll::Pending if is_counted => Poll::Pending,
        Poll::Pending => {
            is_counted = true;
            match share.grow_by(gathered_bytes) {
                Ok(()) => Poll::Pending,
                Err(no_room) => Poll::Ready(Err(no_room.into())),
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::budget::Budget;
    use std::pin::pin;

    async fn read(turns: usize) -> Result<usize, Exception> {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        Ok(turns)
    }

    #[tokio::test]
    async fn only_those_that_take_turns_need_room() {
        let (wide, narrow) = (Budget::new(8 << 20, || ()), Budget::new(1 << 20, || ()));
        assert_eq!(run(PAGE_BYTES, pin!(read(0)), &mut narrow.share()).await.unwrap(), 0);
        assert!(matches!(run(PAGE_BYTES, pin!(read(1)), &mut narrow.share()).await, Err(Refusal::NoRoom)));
        let mut share = wide.share();
        assert_eq!(run(PAGE_BYTES, pin!(read(3)), &mut share).await.unwrap(), 3);
        assert_eq!(wide.used(), PAGE_BYTES);
    }
}
