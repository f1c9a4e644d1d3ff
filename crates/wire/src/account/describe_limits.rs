//! DescribeLimits: an empty body; and how much throughput an account and a table may have.

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
    use crate::{decode, encode};
    use partita_api::account::describe_limits::DescribeLimitsOutput;
    use partita_api::{Operation, Request, Response};

    #[test]
    fn asks_for_nothing_and_answers_four_numbers() {
        assert!(matches!(decode(Operation::DescribeLimits, b"{}"), Ok(Request::DescribeLimits(_))));
        let output =
            DescribeLimitsOutput { account_read: 4, account_write: 3, table_read: 2, table_write: 1 };
        assert_eq!(
            String::from_utf8(encode(&Response::DescribeLimits(output))).unwrap(),
            r#"{"AccountMaxReadCapacityUnits":4,"AccountMaxWriteCapacityUnits":3,"TableMaxReadCapacityUnits":2,"TableMaxWriteCapacityUnits":1}"#
        );
    }
}
