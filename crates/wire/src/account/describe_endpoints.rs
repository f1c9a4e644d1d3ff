//! DescribeEndpoints: an empty body; and where to send requests.

use crate::json::{Reader, Writer};
use partita_api::account::describe_endpoints::{DescribeEndpoints, DescribeEndpointsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    reader.request(|reader, _| reader.skip())?;
    Ok(Request::DescribeEndpoints(DescribeEndpoints))
}

pub(crate) fn encode(output: &DescribeEndpointsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Endpoints").array(|json| {
            json.object(|json| {
                json.member("Address", &output.address)
                    .member("CachePeriodInMinutes", &output.cache_period_minutes);
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use crate::{decode, encode};
    use partita_api::account::describe_endpoints::DescribeEndpointsOutput;
    use partita_api::{Operation, Request, Response};

    #[test]
    fn asks_for_nothing_and_answers_an_address() {
        assert!(matches!(decode(Operation::DescribeEndpoints, b"{}"), Ok(Request::DescribeEndpoints(_))));
        let output = DescribeEndpointsOutput { address: "localhost:8000".into(), cache_period_minutes: 1440 };
        assert_eq!(
            String::from_utf8(encode(&Response::DescribeEndpoints(output))).unwrap(),
            r#"{"Endpoints":[{"Address":"localhost:8000","CachePeriodInMinutes":1440}]}"#
        );
    }
}
