//! DeleteBackup: a body → the ARN of a backup; and what it was.

use crate::backup::backup_description::read_backup_arn;
use crate::json::Reader;
use partita_api::backup::delete_backup::DeleteBackup;
use partita_api::{Exception, Request};

pub(crate) use crate::backup::describe_backup::encode;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DeleteBackup(DeleteBackup { arn: read_backup_arn(reader)? }))
}
