//! ListTables: decodes the start and size of a page; encodes a page of names.

use crate::json::{Reader, Writer};
use crate::members::{range, read_valid_request, structure};
use crate::table::table_name::resource_name;
use partita_api::table::list_tables::{ListTables, ListTablesOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The maximum and default number of names of a page.
const MAX_NAMES: i32 = 100;

structure! {
    struct ListTablesMembers<'a> {
        start: Cow<'a, str> = "ExclusiveStartTableName", resource_name;
        limit: i32 = "Limit", range(1, MAX_NAMES);
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ListTablesMembers = read_valid_request(reader)?;
    let limit = members.limit.unwrap_or(MAX_NAMES).unsigned_abs();
    Ok(Request::ListTables(ListTables { exclusive_start: members.start.map(Cow::into_owned), limit }))
}

pub(crate) fn encode(output: &ListTablesOutput, json: &mut Writer) {
    json.object(|json| {
        json.strings("TableNames", output.names.iter().map(|name| name.as_str()))
            .member("LastEvaluatedTableName", &output.last_evaluated);
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::table::list_tables::{ListTables, ListTablesOutput};
    use partita_value::names::TableName;

    operation_tests!(ListTables);

    #[test]
    fn a_page_has_a_hundred_names_by_default() {
        let all = decoded("{}");
        assert_eq!((all.exclusive_start, all.limit), (None, 100));
        let page = decoded(r#"{"ExclusiveStartTableName": "abc", "Limit": 7}"#);
        assert_eq!((page.exclusive_start.as_deref(), page.limit), (Some("abc"), 7));
    }

    #[test]
    fn limits_and_start_names_out_of_bounds_are_reported_together() {
        assert_eq!(
            refused(r#"{"ExclusiveStartTableName": "a;", "Limit": 500}"#),
            errors(&[
                ("'a;'", "exclusiveStartTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("'a;'", "exclusiveStartTableName", "have length greater than or equal to 3"),
                ("'500'", "limit", "have value less than or equal to 100")
            ])
        );
        assert_eq!(
            refused(r#"{"Limit": 0}"#),
            errors(&[("'0'", "limit", "have value greater than or equal to 1")])
        );
        assert_eq!(
            refused(r#"{"ExclusiveStartTableName": ""}"#),
            errors(&[
                ("''", "exclusiveStartTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("''", "exclusiveStartTableName", "have length greater than or equal to 3")
            ])
        );
    }

    #[test]
    fn the_last_page_has_no_continuation() {
        let page = |last_evaluated| {
            let names = vec![TableName::new("abc"), TableName::new("abd")];
            encoded(Response::ListTables(ListTablesOutput { names, last_evaluated }))
        };
        assert_eq!(page(None), r#"{"TableNames":["abc","abd"]}"#);
        assert_eq!(
            page(Some(TableName::new("abd"))),
            r#"{"TableNames":["abc","abd"],"LastEvaluatedTableName":"abd"}"#
        );
    }
}
