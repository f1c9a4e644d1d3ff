//! ListBackups: decodes a filter and the start of a page; encodes a page of backups.

use crate::backup::backup_description::{check_backup_arn, encode_details};
use crate::json::{Reader, Writer};
use crate::members::{Choice, Millis, Named, chosen, length, range, read_request, structure, validate};
use crate::table::table_name::TableReference;
use crate::table::table_settings::invalid;
use partita_api::backup::BackupKind;
use partita_api::backup::list_backups::{ListBackups, ListBackupsOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The maximum and default number of backups of a page.
const MAX_BACKUPS: i32 = 100;

/// The kinds of backups that a filter accepts.
type BackupFilter = &'static [BackupKind];

impl Named for BackupFilter {
    /// No backup is made by AWS Backup.
    const NAMES: &'static [(&'static str, BackupFilter)] = &[
        ("USER", &[BackupKind::User]),
        ("SYSTEM", &[BackupKind::System]),
        ("AWS_BACKUP", &[]),
        ("ALL", &[BackupKind::User, BackupKind::System]),
    ];
}

structure! {
    struct ListBackupsMembers<'a> {
        table: TableReference<'a> = "TableName";
        limit: i32 = "Limit", range(1, MAX_BACKUPS);
        from: Millis = "TimeRangeLowerBound";
        before: Millis = "TimeRangeUpperBound";
        start: Cow<'a, str> = "ExclusiveStartBackupArn", length(37, 1024);
        filter: Choice<'a, BackupFilter> = "BackupType";
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ListBackupsMembers = read_request(reader)?;
    let table = members.table.is_some().then(|| TableReference::resolve(&members.table)).transpose()?;
    validate(&members)?;
    if members.from.zip(members.before).is_some_and(|(from, before)| from > before) {
        return Err(invalid("Time range lower bound must be less than or equal to upper bound"));
    }
    members.start.as_deref().map(check_backup_arn).transpose()?;
    // No backup was made before 1970.
    let millis = |time: Millis| u64::try_from(time.0).unwrap_or(0);
    Ok(Request::ListBackups(ListBackups {
        table,
        limit: members.limit.unwrap_or(MAX_BACKUPS).unsigned_abs() as usize,
        from_millis: members.from.map(millis),
        before_millis: members.before.map(millis),
        start_after: members.start.map(Cow::into_owned),
        kinds: chosen(&members.filter).unwrap_or(&[BackupKind::User]).to_vec(),
    }))
}

pub(crate) fn encode(output: &ListBackupsOutput, json: &mut Writer) {
    json.object(|json| {
        json.objects("BackupSummaries", &output.backups, |backup, json| {
            json.member("TableName", &backup.table_name)
                .member("TableId", &backup.table_id)
                .member("TableArn", &backup.table_arn);
            encode_details(&backup.details, json);
        });
        json.member("LastEvaluatedBackupArn", &output.last);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::backup_description::tests::{ARN, details};
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::backup::BackupSummary;
    use partita_value::names::TableName;

    operation_tests!(ListBackups);

    #[test]
    fn a_page_has_a_hundred_user_backups_by_default() {
        let all = decoded("{}");
        assert_eq!((all.table, all.limit, all.start_after), (None, 100, None));
        assert_eq!((all.from_millis, all.before_millis, all.kinds), (None, None, vec![BackupKind::User]));
        let page = decoded(&format!(
            r#"{{"TableName": "abc", "Limit": 7, "TimeRangeLowerBound": -1, "TimeRangeUpperBound": 1.5,
                "ExclusiveStartBackupArn": "{ARN}", "BackupType": "ALL"}}"#
        ));
        assert_eq!(
            (page.table, page.limit, page.start_after.as_deref()),
            (Some(TableName::new("abc")), 7, Some(ARN))
        );
        assert_eq!((page.from_millis, page.before_millis), (Some(0), Some(1_500)));
        assert_eq!(page.kinds, [BackupKind::User, BackupKind::System]);
        assert!(decoded(r#"{"BackupType": "AWS_BACKUP"}"#).kinds.is_empty());
        assert_eq!(
            decoded(r#"{"TimeRangeLowerBound": 1, "TimeRangeUpperBound": 1}"#).from_millis,
            Some(1_000)
        );
    }

    #[test]
    fn members_out_of_bounds_are_reported_together() {
        assert_eq!(
            refused(r#"{"Limit": 101, "ExclusiveStartBackupArn": "x", "BackupType": "user"}"#),
            errors(&[
                ("'101'", "limit", "have value less than or equal to 100"),
                ("'x'", "exclusiveStartBackupArn", "have length greater than or equal to 37"),
                ("'user'", "backupType", "satisfy enum value set: [USER, SYSTEM, AWS_BACKUP, ALL]"),
            ])
        );
        assert_eq!(
            refused(r#"{"TimeRangeLowerBound": 2, "TimeRangeUpperBound": 1.999}"#),
            "One or more parameter values were invalid: Time range lower bound must be less than or equal to upper bound"
        );
        let table = r#"{"ExclusiveStartBackupArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"}"#;
        assert_eq!(refused(table), "Invalid Backup ARN");
    }

    #[test]
    fn the_last_page_has_no_continuation() {
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
