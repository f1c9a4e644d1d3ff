//! Capacity units of a watched request: requested from the engine, and removed from the response if the client did not request
//! them.

use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_api::{Request, Response};

/// Requests the total. Returns whether the client had not.
pub fn request_total(request: &mut Request) -> bool {
    let requested = match request {
        Request::BatchExecuteStatement(request) => &mut request.return_consumed_capacity,
        Request::BatchGetItem(request) => &mut request.return_consumed_capacity,
        Request::BatchWriteItem(request) => &mut request.return_consumed_capacity,
        Request::ExecuteStatement(request) => &mut request.return_consumed_capacity,
        Request::ExecuteTransaction(request) => &mut request.return_consumed_capacity,
        Request::DeleteItem(request) => &mut request.return_consumed_capacity,
        Request::GetItem(request) => &mut request.return_consumed_capacity,
        Request::PutItem(request) => &mut request.return_consumed_capacity,
        Request::Query(request) => &mut request.return_consumed_capacity,
        Request::Scan(request) => &mut request.return_consumed_capacity,
        Request::TransactGetItems(request) => &mut request.return_consumed_capacity,
        Request::TransactWriteItems(request) => &mut request.return_consumed_capacity,
        Request::UpdateItem(request) => &mut request.return_consumed_capacity,
        _ => return false,
    };
    let is_added = *requested == ReturnConsumedCapacity::None;
    if is_added {
        *requested = ReturnConsumedCapacity::Total;
    }
    is_added
}

pub fn hide(response: &mut Response) {
    match response {
        Response::GetItem(output) => output.consumed_capacity = None,
        Response::Query(output) | Response::Scan(output) => output.consumed_capacity = None,
        Response::PutItem(output) | Response::UpdateItem(output) | Response::DeleteItem(output) => {
            output.consumed_capacity = None;
        }
        Response::BatchGetItem(output) => output.consumed_capacity = None,
        Response::BatchWriteItem(output) => output.consumed_capacity = None,
        Response::TransactGetItems(output) => output.consumed_capacity = None,
        Response::TransactWriteItems(output) => output.consumed_capacity = None,
        Response::ExecuteStatement(output) => output.consumed_capacity = None,
        Response::BatchExecuteStatement(output) => output.consumed_capacity = None,
        Response::ExecuteTransaction(output) => output.consumed_capacity = None,
        _ => {}
    }
}

/// Units that a request consumed of one table, its indexes included.
pub fn consumed(response: &Response, table: &str) -> f64 {
    let one = |capacity: &Option<ConsumedCapacity>| capacity.as_ref().map(|one| one.total().as_f64());
    let several = |capacity: &Option<Vec<ConsumedCapacity>>| {
        let own = capacity.iter().flatten().filter(|one| one.table_name.as_str() == table);
        Some(own.map(|one| one.total().as_f64()).sum())
    };
    let units = match response {
        Response::GetItem(output) => one(&output.consumed_capacity),
        Response::Query(output) | Response::Scan(output) => one(&output.consumed_capacity),
        Response::PutItem(output) | Response::UpdateItem(output) | Response::DeleteItem(output) => {
            one(&output.consumed_capacity)
        }
        Response::BatchGetItem(output) => several(&output.consumed_capacity),
        Response::BatchWriteItem(output) => several(&output.consumed_capacity),
        Response::TransactGetItems(output) => several(&output.consumed_capacity),
        Response::TransactWriteItems(output) => several(&output.consumed_capacity),
        Response::ExecuteStatement(output) => one(&output.consumed_capacity),
        Response::BatchExecuteStatement(output) => several(&output.consumed_capacity),
        Response::ExecuteTransaction(output) => several(&output.consumed_capacity),
        _ => None,
    };
    units.unwrap_or_default()
}
