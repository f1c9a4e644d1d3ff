//! DescribeTable: decodes the name of a table; encodes its description, as `Table`.

use crate::json::{Reader, Writer};
use crate::table::table_description;
use crate::table::table_name::read_only_table_name;
use partita_api::table::describe_table::{DescribeTable, DescribeTableOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeTable(DescribeTable { name: read_only_table_name(reader)? }))
}

pub(crate) fn encode(output: &DescribeTableOutput, json: &mut Writer) {
    table_description::encode_member("Table", &output.table, json);
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::{Operation, Request};

    const OPERATIONS: [Operation; 3] =
        [Operation::DescribeTable, Operation::DeleteTable, Operation::DescribeTimeToLive];

    fn table(operation: Operation, body: &str) -> Result<String, String> {
        match decode_any(operation, body) {
            Ok(Request::DescribeTable(request)) => Ok(request.name.to_string()),
            Ok(Request::DeleteTable(request)) => Ok(request.name.to_string()),
            Ok(Request::DescribeTimeToLive(request)) => Ok(request.table.to_string()),
            Err(exception) => Err(exception.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_table_is_named_by_name_or_arn() {
        for operation in OPERATIONS {
            assert_eq!(table(operation, r#"{"TableName": "Music", "Unknown": 1}"#).unwrap(), "Music");
            let arn = r#"{"TableName": "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"}"#;
            assert_eq!(table(operation, arn).unwrap(), "Music");
        }
    }

    #[test]
    fn invalid_names_are_refused() {
        for operation in OPERATIONS {
            let refused = |body: &str| table(operation, body).unwrap_err();
            assert_eq!(
                refused("{}"),
                "The parameter 'TableName' is required but was not present in the request"
            );
            assert_eq!(
                refused(r#"{"TableName": ""}"#),
                errors(&[
                    ("''", "tableName", "have length greater than or equal to 3"),
                    ("''", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
                ])
            );
            assert_eq!(
                refused(r#"{"TableName": "abc;"}"#),
                errors(&[("'abc;'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")])
            );
            assert_eq!(
                refused(r#"{"TableName": []}"#),
                "Unrecognized collection type class java.lang.String"
            );
        }
    }
}
