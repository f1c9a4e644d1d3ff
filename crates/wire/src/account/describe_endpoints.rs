//! DescribeEndpoints: decodes an empty request; encodes the address of the endpoint.

use crate::json::{Reader, Writer};
use partita_api::account::describe_endpoints::{DescribeEndpoints, DescribeEndpointsOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    reader.request(|reader, _| reader.skip())?;
    Ok(Request::DescribeEndpoints(DescribeEndpoints))
}

pub(crate) fn encode(output: &DescribeEndpointsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("Endpoints", [output], |output, json| {
            json.member("Address", &output.address)
                .member("CachePeriodInMinutes", &output.cache_period_minutes);
        });
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::account::describe_endpoints::{DescribeEndpoints, DescribeEndpointsOutput};

    operation_tests!(DescribeEndpoints);

    #[test]
    fn an_empty_request_returns_an_address() {
        decoded("{}");
        let output = DescribeEndpointsOutput { address: "localhost:8000".into(), cache_period_minutes: 1440 };
        assert_eq!(
            encoded(Response::DescribeEndpoints(output)),
            r#"{"Endpoints":[{"Address":"localhost:8000","CachePeriodInMinutes":1440}]}"#
        );
    }
}
