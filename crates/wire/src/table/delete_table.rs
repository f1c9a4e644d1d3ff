//! DeleteTable: decodes the name of a table; encodes its last description.

use crate::json::{Reader, Writer};
use crate::table::table_description;
use crate::table::table_name::read_only_table_name;
use partita_api::table::delete_table::{DeleteTable, DeleteTableOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DeleteTable(DeleteTable { name: read_only_table_name(reader)? }))
}

pub(crate) fn encode(output: &DeleteTableOutput, json: &mut Writer) {
    table_description::encode_member("TableDescription", &output.table, json);
}
