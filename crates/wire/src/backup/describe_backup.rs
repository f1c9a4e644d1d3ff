//! DescribeBackup: decodes the ARN of a backup; encodes its description with the source table.

use crate::backup::backup_description::{encode_description, read_backup_arn};
use crate::json::{Reader, Writer};
use partita_api::backup::describe_backup::{DescribeBackup, DescribeBackupOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeBackup(DescribeBackup { arn: read_backup_arn(reader)? }))
}

pub(crate) fn encode(output: &DescribeBackupOutput, json: &mut Writer) {
    encode_description(&output.backup, json);
}

#[cfg(test)]
mod tests {
    use crate::backup::backup_description::tests::ARN;
    use crate::testing::*;
    use partita_api::{Operation, Request};

    const OPERATIONS: [Operation; 2] = [Operation::DescribeBackup, Operation::DeleteBackup];

    #[test]
    fn a_backup_is_named_by_its_arn() {
        for operation in OPERATIONS {
            let arn = match decode_any(operation, &format!(r#"{{"BackupArn": "{ARN}"}}"#)) {
                Ok(Request::DescribeBackup(request)) => request.arn,
                Ok(Request::DeleteBackup(request)) => request.arn,
                other => panic!("{other:?}"),
            };
            assert_eq!(arn, ARN);
        }
    }

    #[test]
    fn invalid_arns_are_refused() {
        for operation in OPERATIONS {
            assert_eq!(refusal(operation, "{}"), errors(&[("null", "backupArn", NOT_NULL)]));
            assert_eq!(
                refusal(operation, r#"{"BackupArn": "x"}"#),
                errors(&[("'x'", "backupArn", "have length greater than or equal to 37")])
            );
            for arn in [
                "arn:aws:dynamodb:eu-west-1:000000000000:table/Music",
                "arn:aws:dynamodb:eu-west-1:000000000000:table/Music/backup/",
                "arn:aws:dynamodb:eu-west-1:000000000000:table/Music/export/01234567890123-a1b2c3d4",
                "0123456789012345678901234567890123456789",
            ] {
                let body = format!(r#"{{"BackupArn": "{arn}"}}"#);
                assert_eq!(refusal(operation, &body), "Invalid Backup ARN");
            }
        }
    }
}
