//! DeleteBackup: decodes the ARN of a backup; encodes the description of the deleted backup.

use crate::backup::backup_description::{encode_description, read_backup_arn};
use crate::json::{Reader, Writer};
use partita_api::backup::delete_backup::{DeleteBackup, DeleteBackupOutput};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DeleteBackup(DeleteBackup { arn: read_backup_arn(reader)? }))
}

pub(crate) fn encode(output: &DeleteBackupOutput, json: &mut Writer) {
    encode_description(&output.backup, json);
}
