//! DescribeTimeToLive: decodes the name of a table; encodes whether its items expire, and by which attribute.

use crate::json::{Reader, Writer};
use crate::table::table_name::read_only_table_name;
use partita_api::time_to_live::describe_time_to_live::{DescribeTimeToLive, DescribeTimeToLiveOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeTimeToLive(DescribeTimeToLive { table: read_only_table_name(reader)? }))
}

pub(crate) fn encode(output: &DescribeTimeToLiveOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("TimeToLiveDescription").object(|json| {
            json.member("TimeToLiveStatus", output.status.name()).member("AttributeName", &output.attribute);
        });
    });
}
