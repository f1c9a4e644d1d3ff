//! ListBackups: a body → which backups to list; and a page of them.

use crate::backup::backup_description::{check_backup_arn, encode_details};
use crate::exchange::check_arn_length;
use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, check_table_name, invalid};
use crate::validation::Validation;
use partita_api::backup::BackupKind;
use partita_api::backup::list_backups::{ListBackups, ListBackupsOutput};
use partita_api::{Exception, Request};

/// The most backups of a page, and how many a request gets that does not say.
const MOST_BACKUPS: i32 = 100;

/// What each filter lets through. Nothing here is made by AWS Backup.
const FILTERS: [(&str, &[BackupKind]); 4] = [
    ("USER", &[BackupKind::User]),
    ("SYSTEM", &[BackupKind::System]),
    ("AWS_BACKUP", &[]),
    ("ALL", &[BackupKind::User, BackupKind::System]),
];

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    table: Text<'a>,
    limit: Option<i32>,
    from: Option<i64>,
    before: Option<i64>,
    start: Text<'a>,
    filter: Text<'a>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let mut validation = Validation::new();
    let table = match &sent.table {
        None => None,
        table => Some(check_table_name(&mut validation, table)?),
    };
    validation.at_least("limit", sent.limit, 1);
    validation.at_most("limit", sent.limit, MOST_BACKUPS);
    check_arn_length(&mut validation, "exclusiveStartBackupArn", &sent.start);
    let kinds = validation.one_of("backupType", sent.filter.as_deref(), &FILTERS);
    validation.finish()?;
    if sent.from.zip(sent.before).is_some_and(|(from, before)| from > before) {
        return Err(invalid("Time range lower bound must be less than or equal to upper bound"));
    }
    sent.start.as_deref().map(check_backup_arn).transpose()?;
    // Nothing was made before 1970.
    let moment = |millis: i64| u64::try_from(millis).unwrap_or(0);
    Ok(Request::ListBackups(ListBackups {
        table,
        limit: sent.limit.unwrap_or(MOST_BACKUPS).unsigned_abs() as usize,
        from_millis: sent.from.map(moment),
        before_millis: sent.before.map(moment),
        behind: sent.start.map(|arn| arn.into_owned()),
        kinds: kinds.unwrap_or(&[BackupKind::User]).to_vec(),
    }))
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "TableName" => sent.table = reader.text()?,
            "Limit" => sent.limit = reader.integer()?,
            "TimeRangeLowerBound" => sent.from = reader.time()?,
            "TimeRangeUpperBound" => sent.before = reader.time()?,
            "ExclusiveStartBackupArn" => sent.start = reader.text()?,
            "BackupType" => sent.filter = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

pub(crate) fn encode(output: &ListBackupsOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("BackupSummaries").array(|json| {
            for backup in &output.backups {
                json.object(|json| {
                    json.name("TableName").string(backup.table_name.as_str());
                    json.name("TableId").string(&backup.table_id);
                    json.name("TableArn").string(&backup.table_arn);
                    encode_details(&backup.details, json);
                });
            }
        });
        if let Some(last) = &output.last {
            json.name("LastEvaluatedBackupArn").string(last);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::backup_description::tests::{ARN, details};
    use crate::testing::*;
    use partita_api::backup::BackupSummary;
    use partita_api::{Operation, Response};
    use partita_value::names::TableName;

    fn list(body: &str) -> ListBackups {
        match decoded(Operation::ListBackups, body) {
            Request::ListBackups(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_has_a_hundred_backups_of_users_unless_told() {
        let all = list("{}");
        assert_eq!((all.table, all.limit, all.behind), (None, 100, None));
        assert_eq!((all.from_millis, all.before_millis, all.kinds), (None, None, vec![BackupKind::User]));
        let page = list(&format!(
            r#"{{"TableName": "abc", "Limit": 7, "TimeRangeLowerBound": -1, "TimeRangeUpperBound": 1.5,
                "ExclusiveStartBackupArn": "{ARN}", "BackupType": "ALL"}}"#
        ));
        assert_eq!(
            (page.table, page.limit, page.behind.as_deref()),
            (Some(TableName::new("abc")), 7, Some(ARN))
        );
        assert_eq!((page.from_millis, page.before_millis), (Some(0), Some(1_500)));
        assert_eq!(page.kinds, [BackupKind::User, BackupKind::System]);
        assert!(list(r#"{"BackupType": "AWS_BACKUP"}"#).kinds.is_empty());
        assert_eq!(list(r#"{"TimeRangeLowerBound": 1, "TimeRangeUpperBound": 1}"#).from_millis, Some(1_000));
    }

    #[test]
    fn members_out_of_bounds_are_told_together() {
        let told = |body| refusal(Operation::ListBackups, body);
        assert_eq!(
            told(r#"{"Limit": 101, "ExclusiveStartBackupArn": "x", "BackupType": "user"}"#),
            errors(&[
                ("'101'", "limit", "Member must have value less than or equal to 100"),
                ("'x'", "exclusiveStartBackupArn", "Member must have length greater than or equal to 37"),
                (
                    "'user'",
                    "backupType",
                    "Member must satisfy enum value set: [USER, SYSTEM, AWS_BACKUP, ALL]"
                ),
            ])
        );
        assert_eq!(
            told(r#"{"TimeRangeLowerBound": 2, "TimeRangeUpperBound": 1.999}"#),
            "One or more parameter values were invalid: Time range lower bound must be less than or equal to upper bound"
        );
        let table = r#"{"ExclusiveStartBackupArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"}"#;
        assert_eq!(told(table), "Invalid Backup ARN");
    }

    #[test]
    fn the_last_page_does_not_say_where_to_go_on() {
        let backups = vec![BackupSummary {
            details: details(),
            table_name: TableName::new("Music"),
            table_id: "id".into(),
            table_arn: "arn".into(),
        }];
        let summary = format!(
            r#"{{"TableName":"Music","TableId":"id","TableArn":"arn","BackupArn":"{ARN}","BackupName":"nightly","BackupSizeBytes":9,"BackupStatus":"AVAILABLE","BackupType":"USER","BackupCreationDateTime":1.5}}"#
        );
        let page =
            |last| encoded(Response::ListBackups(ListBackupsOutput { backups: backups.clone(), last }));
        assert_eq!(page(None), format!(r#"{{"BackupSummaries":[{summary}]}}"#));
        assert_eq!(
            page(Some(ARN.into())),
            format!(r#"{{"BackupSummaries":[{summary}],"LastEvaluatedBackupArn":"{ARN}"}}"#)
        );
    }
}
