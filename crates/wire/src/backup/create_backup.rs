//! CreateBackup: decodes a table and the name of its backup; encodes the details of the new backup.

use crate::backup::backup_description::encode_details;
use crate::json::{Reader, Writer};
use crate::members::{read_request, required, structure, validate};
use crate::table::table_name::{TableReference, resource_name};
use crate::validation::present;
use partita_api::backup::create_backup::{CreateBackup, CreateBackupOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

structure! {
    struct CreateBackupMembers<'a> {
        table: TableReference<'a> = "TableName";
        name: Cow<'a, str> = "BackupName", required, resource_name;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: CreateBackupMembers = read_request(reader)?;
    let table = TableReference::resolve(&members.table)?;
    validate(&members)?;
    Ok(Request::CreateBackup(CreateBackup { table, name: present(members.name)?.into_owned() }))
}

pub(crate) fn encode(output: &CreateBackupOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("BackupDetails").object(|json| encode_details(&output.details, json));
    });
}

#[cfg(test)]
mod tests {
    use crate::backup::backup_description::tests::{ARN, details};
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::backup::create_backup::{CreateBackup, CreateBackupOutput};

    operation_tests!(CreateBackup);

    #[test]
    fn a_table_and_a_backup_name_are_read() {
        for table in ["Music", "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"] {
            let body = format!(r#"{{"TableName": "{table}", "BackupName": "a.b-c_9"}}"#);
            let request = decoded(&body);
            assert_eq!((request.table.as_str(), request.name.as_str()), ("Music", "a.b-c_9"));
        }
    }

    #[test]
    fn invalid_names_are_refused() {
        assert_eq!(
            refused(r#"{"BackupName": "abc"}"#),
            "The parameter 'TableName' is required but was not present in the request"
        );
        assert_eq!(refused(r#"{"TableName": "abc"}"#), errors(&[("null", "backupName", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"TableName": "a b c", "BackupName": "a$"}"#),
            errors(&[
                ("'a b c'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("'a$'", "backupName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("'a$'", "backupName", "have length greater than or equal to 3"),
            ])
        );
    }

    #[test]
    fn the_response_has_the_details() {
        assert_eq!(
            encoded(Response::CreateBackup(CreateBackupOutput { details: details() })),
            format!(
                r#"{{"BackupDetails":{{"BackupArn":"{ARN}","BackupName":"nightly","BackupSizeBytes":9,"BackupStatus":"AVAILABLE","BackupType":"USER","BackupCreationDateTime":1.5}}}}"#
            )
        );
    }
}
