//! CreateTable: decodes a table to create; encodes its description.

use crate::json::{Reader, Writer};
use crate::table::{new_table, table_description};
use partita_api::table::create_table::CreateTableOutput;
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::CreateTable(new_table::decode(reader)?))
}

pub(crate) fn encode(output: &CreateTableOutput, json: &mut Writer) {
    table_description::encode_member("TableDescription", &output.table, json);
}

#[cfg(test)]
mod tests;
