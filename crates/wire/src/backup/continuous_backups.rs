//! `ContinuousBackupsDescription` → JSON, for DescribeContinuousBackups and UpdateContinuousBackups.

use crate::json::{Seconds, Writer};
use partita_api::backup::continuous_backups::{ContinuousBackups, Recovery};

pub(crate) fn encode(backups: &ContinuousBackups, json: &mut Writer) {
    json.object(|json| {
        json.name("ContinuousBackupsDescription").object(|json| {
            json.member("ContinuousBackupsStatus", "ENABLED");
            json.name("PointInTimeRecoveryDescription").object(|json| match &backups.recovery {
                None => json.name("PointInTimeRecoveryStatus").string("DISABLED"),
                Some(recovery) => encode_recovery(recovery, json),
            });
        });
    });
}

fn encode_recovery(recovery: &Recovery, json: &mut Writer) {
    json.member("PointInTimeRecoveryStatus", "ENABLED")
        .member("RecoveryPeriodInDays", &recovery.period_days)
        .member("EarliestRestorableDateTime", &Seconds(recovery.earliest_millis))
        .member("LatestRestorableDateTime", &Seconds(recovery.latest_millis));
}
