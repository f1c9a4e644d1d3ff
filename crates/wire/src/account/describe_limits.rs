//! DescribeLimits: decodes an empty request; encodes the throughput limits of the account and of a table.

use crate::json::{Reader, Writer};
use partita_api::account::describe_limits::{DescribeLimits, DescribeLimitsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    reader.request(|reader, _| reader.skip())?;
    Ok(Request::DescribeLimits(DescribeLimits))
}

pub(crate) fn encode(output: &DescribeLimitsOutput, json: &mut Writer) {
    json.object(|json| {
        json.member("AccountMaxReadCapacityUnits", &output.account_read)
            .member("AccountMaxWriteCapacityUnits", &output.account_write)
            .member("TableMaxReadCapacityUnits", &output.table_read)
            .member("TableMaxWriteCapacityUnits", &output.table_write);
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::account::describe_limits::{DescribeLimits, DescribeLimitsOutput};

    operation_tests!(DescribeLimits);

    #[test]
    fn an_empty_request_returns_four_limits() {
        decoded("{}");
        let output =
            DescribeLimitsOutput { account_read: 4, account_write: 3, table_read: 2, table_write: 1 };
        assert_eq!(
            encoded(Response::DescribeLimits(output)),
            r#"{"AccountMaxReadCapacityUnits":4,"AccountMaxWriteCapacityUnits":3,"TableMaxReadCapacityUnits":2,"TableMaxWriteCapacityUnits":1}"#
        );
    }
}
