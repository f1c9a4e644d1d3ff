//! Reads that yield to other requests. What they have collected so far stays in memory, and is part of the budget.

use crate::http::reply::Refusal;
use crate::limits::budget::Reservation;
use partita_api::{Exception, Request};
use partita_partiql::Statement;
use partita_value::limits;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// About how much a page takes while it is collected.
const PAGE_BYTES: usize = 1_024 * 1_024;

/// About how much memory a response takes while it is collected.
pub fn collected_bytes(request: &Request) -> usize {
    match request {
        Request::BatchGetItem(_) | Request::BatchExecuteStatement(_) => limits::BATCH_GET_BYTES,
        _ => PAGE_BYTES,
    }
}

/// Whether a request changes nothing and may have a large response.
pub fn is_read_only(request: &Request) -> bool {
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

/// Runs a read to completion. One that never yields is counted once its response is there; one that yields needs a
/// reservation for what it collects.
pub async fn run<T>(
    collected_bytes: usize,
    mut read: Pin<&mut impl Future<Output = Result<T, Exception>>>,
    reservation: &mut Reservation,
) -> Result<T, Refusal> {
    let mut is_counted = false;
    poll_fn(|context| match read.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(done.map_err(Refusal::from)),
        Poll::Pending if is_counted => Poll::Pending,
        Poll::Pending => {
            is_counted = true;
            match reservation.grow_by(collected_bytes) {
                Ok(()) => Poll::Pending,
                Err(exceeded) => Poll::Ready(Err(exceeded.into())),
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

    async fn read(yields: usize) -> Result<usize, Exception> {
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        Ok(yields)
    }

    #[tokio::test]
    async fn only_reads_that_yield_need_a_reservation() {
        let (wide, narrow) = (Budget::new(8 << 20, || ()), Budget::new(1 << 20, || ()));
        assert_eq!(run(PAGE_BYTES, pin!(read(0)), &mut narrow.reservation()).await.unwrap(), 0);
        assert!(matches!(
            run(PAGE_BYTES, pin!(read(1)), &mut narrow.reservation()).await,
            Err(Refusal::BudgetExceeded)
        ));
        let mut reservation = wide.reservation();
        assert_eq!(run(PAGE_BYTES, pin!(read(3)), &mut reservation).await.unwrap(), 3);
        assert_eq!(wide.used(), PAGE_BYTES);
    }
}
