//! The exception of a transaction that was cancelled: one reason per action.

use partita_api::exception::CancellationReason;
use partita_api::{Exception, ExceptionKind};

/// Collects what every action of a transaction yields. The first error cancels the transaction: like AWS, this looks no
/// further.
pub fn all_or_cancelled<T>(
    results: impl ExactSizeIterator<Item = Result<T, Exception>>,
) -> Result<Vec<T>, Exception> {
    let count = results.len();
    let mut values = Vec::with_capacity(count);
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(exception) => {
                let mut outcomes: Vec<_> = (0..count).map(|_| Ok(())).collect();
                outcomes[values.len()] = Err(exception);
                return Err(cancelled(outcomes));
            }
        }
    }
    Ok(values)
}

/// The exception for actions, at least one of which failed. A failure that cannot be a cancellation reason, such as an
/// internal error, is returned as it is.
pub fn cancelled<T>(outcomes: Vec<Result<T, Exception>>) -> Exception {
    let is_no_reason = |outcome: &&Result<T, Exception>| {
        outcome.as_ref().is_err_and(|exception| exception.kind.reason_code().is_none())
    };
    if let Some(Err(exception)) = outcomes.iter().find(is_no_reason) {
        return exception.clone();
    }
    cancelled_for(
        outcomes.into_iter().map(|outcome| outcome.err().map_or_else(Default::default, reason)).collect(),
    )
}

/// The exception with these reasons.
pub fn cancelled_for(reasons: Vec<CancellationReason>) -> Exception {
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code.unwrap_or("None")).collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let mut exception = Exception::new(ExceptionKind::TransactionCanceledException, message);
    exception.cancellation_reasons = Some(reasons);
    exception
}

fn reason(exception: Exception) -> CancellationReason {
    CancellationReason {
        code: exception.kind.reason_code(),
        message: Some(exception.message),
        item: exception.item,
    }
}
