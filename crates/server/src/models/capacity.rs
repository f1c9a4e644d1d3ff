//! Capacity units of a watched request: asked of the engine, and taken out of the answer if the client did not ask for them.

use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use partita_api::{Request, Response};

/// Asks for the total; says whether the client had not.
pub fn ask(request: &mut Request) -> bool {
    let wish = match request {
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
    let silent = *wish == ReturnConsumedCapacity::None;
    if silent {
        *wish = ReturnConsumedCapacity::Total;
    }
    silent
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

/// Units that a request used of one table, its indexes included.
pub fn used(response: &Response, table: &str) -> f64 {
    let one = |capacity: &Option<ConsumedCapacity>| capacity.as_ref().map(|used| used.total().as_f64());
    let several = |capacity: &Option<Vec<ConsumedCapacity>>| {
        let own = capacity.iter().flatten().filter(|used| used.table_name.as_str() == table);
        Some(own.map(|used| used.total().as_f64()).sum())
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
