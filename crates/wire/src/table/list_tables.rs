//! ListTables: a body → where to continue and how many names to list; and a page of names.

use crate::json::{Reader, Writer};
use crate::members::{range, read_valid_request, structure};
use crate::table::table_name::resource_name;
use partita_api::table::list_tables::{ListTables, ListTablesOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The most names of a page, and how many a request gets that does not say.
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
        json.name("TableNames").array(|json| {
            output.names.iter().for_each(|name| json.string(name.as_str()));
        });
        json.member("LastEvaluatedTableName", &output.last_evaluated);
    });
}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode, encode};
    use partita_api::table::list_tables::{ListTables, ListTablesOutput};
    use partita_api::{Operation, Request, Response};
    use partita_value::names::TableName;

    fn list(body: &str) -> Result<ListTables, String> {
        match decode(Operation::ListTables, body.as_bytes()) {
            Ok(Request::ListTables(request)) => Ok(request),
            Err(Rejection::Invalid(exception)) => Err(exception.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_has_a_hundred_names_unless_told() {
        let all = list("{}").unwrap();
        assert_eq!((all.exclusive_start, all.limit), (None, 100));
        let page = list(r#"{"ExclusiveStartTableName": "abc", "Limit": 7}"#).unwrap();
        assert_eq!((page.exclusive_start.as_deref(), page.limit), (Some("abc"), 7));
    }

    #[test]
    fn limits_and_start_names_out_of_bounds_are_told_together() {
        assert_eq!(
            list(r#"{"ExclusiveStartTableName": "a;", "Limit": 500}"#).unwrap_err(),
            "3 validation errors detected: \
             Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
             Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: Member must have length greater than or equal to 3; \
             Value '500' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100"
        );
        assert_eq!(
            list(r#"{"Limit": 0}"#).unwrap_err(),
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
        );
        assert_eq!(
            list(r#"{"ExclusiveStartTableName": ""}"#).unwrap_err(),
            "2 validation errors detected: \
             Value '' at 'exclusiveStartTableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
             Value '' at 'exclusiveStartTableName' failed to satisfy constraint: Member must have length greater than or equal to 3"
        );
    }

    #[test]
    fn the_last_page_does_not_say_where_to_go_on() {
        let page = |last_evaluated| {
            let names = vec![TableName::new("abc"), TableName::new("abd")];
            String::from_utf8(encode(&Response::ListTables(ListTablesOutput { names, last_evaluated })))
                .unwrap()
        };
        assert_eq!(page(None), r#"{"TableNames":["abc","abd"]}"#);
        assert_eq!(
            page(Some(TableName::new("abd"))),
            r#"{"TableNames":["abc","abd"],"LastEvaluatedTableName":"abd"}"#
        );
    }
}
