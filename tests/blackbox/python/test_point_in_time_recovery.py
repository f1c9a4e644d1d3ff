"""Point-in-time recovery: enabled and disabled, tables as of a point in time, and the backups of deleted tables."""

import signal
import time
from datetime import timedelta

import pytest

from backups import back_up, description, index_names, indexed_table, item, listed, throughput, write
from conftest import server_binary
from dynamo import Table, create_table, eventually, index, invalid, refused, until_active
from moments import between
from test_dump_load import items_of
from test_process import Running


def recovery(client, table):
    return client.describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]


def set_recovery(client, table, enabled=True, **more):
    specification = {"PointInTimeRecoveryEnabled": enabled} | more
    response = client.update_continuous_backups(TableName=table.name, PointInTimeRecoverySpecification=specification)
    return response["ContinuousBackupsDescription"]


def recoverable(client, make_table, **more):
    table = indexed_table(make_table, **more)
    set_recovery(client, table)
    return table


@pytest.fixture
def restore_to(client, new_name):
    """Restores a table to a point in time, or to the latest, into a new table, and returns the table once it is active."""

    def to_point_in_time(table, moment=None, **more):
        name = new_name()
        when = {"UseLatestRestorableTime": True} if moment is None else {"RestoreDateTime": moment}
        client.restore_table_to_point_in_time(SourceTableName=table.name, TargetTableName=name, **when, **more)
        until_active(client, name)
        return Table(client, name)

    return to_point_in_time


class TestSetting:
    def test_initially_disabled(self, client, make_table):
        table = make_table()
        for name in (table.name, description(table)["TableArn"]):
            assert client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"] == {
                "ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"}}

    def test_enabled_and_disabled(self, client, make_table):
        table = make_table()
        response = set_recovery(client, table)
        assert response["ContinuousBackupsStatus"] == "ENABLED"
        shown = response["PointInTimeRecoveryDescription"]
        assert (shown["PointInTimeRecoveryStatus"], shown["RecoveryPeriodInDays"]) == ("ENABLED", 35)
        assert description(table)["CreationDateTime"] - timedelta(seconds=1) <= shown["EarliestRestorableDateTime"] <= shown["LatestRestorableDateTime"]
        assert recovery(client, table)["PointInTimeRecoveryStatus"] == "ENABLED"
        assert set_recovery(client, table, False)["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}
        assert recovery(client, table) == {"PointInTimeRecoveryStatus": "DISABLED"}
        set_recovery(client, table, False)

    def test_recovery_period(self, client, make_table):
        table = make_table()
        assert set_recovery(client, table, RecoveryPeriodInDays=7)["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 7
        assert set_recovery(client, table, RecoveryPeriodInDays=1)["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 1
        set_recovery(client, table, False)
        set_recovery(client, table)
        assert recovery(client, table)["RecoveryPeriodInDays"] == 35

    def test_invalid_settings(self, client, make_table):
        table = make_table()
        with refused("TableNotFoundException", "Table not found: Nope"):
            client.describe_continuous_backups(TableName="Nope")
        with refused("TableNotFoundException", "Table not found: Nope"):
            set_recovery(client, Table(client, "Nope"))
        path = "pointInTimeRecoverySpecification"
        with invalid(f"Value null at '{path}' failed to satisfy constraint: Member must not be null"):
            client.update_continuous_backups(TableName=table.name)
        with invalid(f"Value null at '{path}.pointInTimeRecoveryEnabled' failed to satisfy constraint: Member must not be null"):
            client.update_continuous_backups(TableName=table.name, PointInTimeRecoverySpecification={})
        for days, bound in ((0, "greater than or equal to 1"), (36, "less than or equal to 35")):
            with invalid(f"Value '{days}' at '{path}.recoveryPeriodInDays' failed to satisfy constraint: Member must have value {bound}"):
                set_recovery(client, table, RecoveryPeriodInDays=days)
        with invalid("Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."):
            set_recovery(client, table, False, RecoveryPeriodInDays=7)


class TestRestores:
    def test_to_moments_between_changes(self, client, make_table, restore_to):
        table = recoverable(client, make_table)
        states = []

        def remember():
            states.append((items_of(client, table.name), between()))

        write(table, range(30))
        remember()
        write(table, range(30, 45))
        for number in range(0, 30, 3):
            table.update({"pk": f"p{number % 7}", "sk": number}, "SET v = :v, g = :g REMOVE x", values={":v": number, ":g": "moved"})
        remember()
        for number in range(0, 45, 2):
            table.delete({"pk": f"p{number % 7}", "sk": number})
        write(table, [0])
        remember()
        client.transact_write_items(TransactItems=[{"Put": {"TableName": table.name, "Item": item(100)}},
                                                   {"Delete": {"TableName": table.name, "Key": {"pk": {"S": "p1"}, "sk": {"N": "1"}}}}])
        for expected, moment in states:
            assert items_of(client, restore_to(table, moment).name) == expected
        second = restore_to(table, states[1][1])
        assert len(second.query("g = :v", IndexName="byG", values={":v": "moved"})["Items"]) == 10

    def test_to_the_latest_moment(self, client, make_table, restore_to):
        table = recoverable(client, make_table)
        write(table, range(20))
        copy = restore_to(table)
        assert items_of(client, copy.name) == items_of(client, table.name)
        assert index_names(copy) == ["byG", "keys"] and index_names(copy, "LocalSecondaryIndexes") == ["byL"]
        assert recovery(client, copy) == {"PointInTimeRecoveryStatus": "DISABLED"}

    def test_items_written_before_it_was_enabled(self, client, make_table, restore_to):
        table = indexed_table(make_table)
        write(table, range(20))
        before = items_of(client, table.name)
        set_recovery(client, table)
        moment = between()
        write(table, range(5, 25))
        table.delete({"pk": "p0", "sk": 0})
        assert items_of(client, restore_to(table, moment).name) == before

    def test_the_restore_summary_names_the_source(self, client, make_table, new_name):
        table = recoverable(client, make_table)
        moment, name = between(), new_name()
        arn = description(table)["TableArn"]
        response = client.restore_table_to_point_in_time(SourceTableArn=arn, TargetTableName=name, RestoreDateTime=moment)["TableDescription"]
        assert (response["TableName"], response["TableStatus"]) == (name, "CREATING")
        summary = response["RestoreSummary"]
        assert (summary["SourceTableArn"], summary["RestoreInProgress"]) == (arn, True) and "SourceBackupArn" not in summary
        assert summary["RestoreDateTime"].timestamp() == moment
        assert until_active(client, name)["RestoreSummary"] == summary | {"RestoreInProgress": False}

    def test_with_other_settings(self, client, make_table, restore_to, new_name):
        table = recoverable(client, make_table)
        write(table, range(10))
        copy = restore_to(table, BillingModeOverride="PROVISIONED", ProvisionedThroughputOverride=throughput(3, 4),
                          GlobalSecondaryIndexOverride=[], SSESpecificationOverride={"Enabled": True, "SSEType": "KMS"})
        shown = description(copy)
        assert shown["ProvisionedThroughput"]["WriteCapacityUnits"] == 4 and shown["SSEDescription"]["SSEType"] == "KMS"
        assert index_names(copy) == [] and items_of(client, copy.name) == items_of(client, table.name)
        latest = {"SourceTableName": table.name, "TargetTableName": new_name(), "UseLatestRestorableTime": True}
        with invalid("does not match a secondary index that existed in the source table"):
            client.restore_table_to_point_in_time(**latest, GlobalSecondaryIndexOverride=[index("other", "l")])
        with invalid("WarmThroughput"):
            client.restore_table_to_point_in_time(**latest, GlobalSecondaryIndexOverride=[index("byG", "g sk") | {"WarmThroughput": {"ReadUnitsPerSecond": 12_001}}])

    def test_settings_are_the_current_ones(self, client, make_table, restore_to):
        table = recoverable(client, make_table)
        write(table, range(10))
        moment = between()
        client.update_table(TableName=table.name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "keys"}}])
        until_active(client, table.name)
        assert index_names(restore_to(table, moment)) == ["byG"]

    def test_refused_restores(self, client, make_table, new_name):
        table, other = make_table(), make_table()
        arn = description(table)["TableArn"]

        def attempt(**more):
            client.restore_table_to_point_in_time(**{"SourceTableName": table.name, "TargetTableName": new_name(), "UseLatestRestorableTime": True} | more)

        with refused("PointInTimeRecoveryUnavailableException", f"Point in time recovery is not enabled for table '{table.name}'"):
            attempt(TargetTableName=other.name)
        with refused("TableNotFoundException", "Table not found: Nope"):
            attempt(SourceTableName="Nope")
        set_recovery(client, table)
        with refused("TableAlreadyExistsException", f"Table already exists: {other.name}"):
            attempt(TargetTableName=other.name)
        for moment in (0, time.time() - 86_400, time.time() + 3600):
            with refused("InvalidRestoreTimeException", "EarliestRestorableDateTime"):
                attempt(UseLatestRestorableTime=False, RestoreDateTime=moment)
        with invalid("Both RestoreDateTime and UseLatestRestorableTime cannot be set"):
            attempt(RestoreDateTime=time.time())
        with invalid("Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"):
            attempt(UseLatestRestorableTime=False)
        with invalid("Must provide exactly one of: sourceTableArn, sourceTableName"):
            attempt(SourceTableArn=arn)
        with invalid("The parameter 'TableName' is required but was not present in the request"):
            client.restore_table_to_point_in_time(TargetTableName=new_name(), UseLatestRestorableTime=True)
        with invalid("Value 'bad name!' at 'targetTableName' failed to satisfy constraint: Member must satisfy regular expression pattern"):
            attempt(TargetTableName="bad name!")

    def test_not_before_it_was_enabled(self, client, make_table, new_name):
        table = make_table()
        set_recovery(client, table)
        early = between()
        set_recovery(client, table, False)
        between()
        set_recovery(client, table)
        with refused("InvalidRestoreTimeException"):
            client.restore_table_to_point_in_time(SourceTableName=table.name, TargetTableName=new_name(), RestoreDateTime=early)


class TestDeletedTables:
    def system_backup(self, client, table):
        def found():
            backups = client.list_backups(TableName=table.name, BackupType="SYSTEM")["BackupSummaries"]
            assert len(backups) == 1
            return backups[0]

        return eventually(found, 10)

    def test_leave_a_backup(self, client, make_table, restore):
        table = recoverable(client, make_table)
        write(table, range(20))
        mine = back_up(client, table)["BackupArn"]
        before = items_of(client, table.name)
        client.delete_table(TableName=table.name)
        backup = self.system_backup(client, table)
        assert (backup["BackupName"], backup["BackupType"], backup["BackupStatus"]) == (f"{table.name}$DeletedTableBackup", "SYSTEM", "AVAILABLE")
        assert backup["BackupExpiryDateTime"] - backup["BackupCreationDateTime"] == timedelta(days=35)
        assert listed(client, TableName=table.name) == [mine]
        assert listed(client, TableName=table.name, BackupType="ALL") == [mine, backup["BackupArn"]]
        with invalid("User is not allowed to delete the system backup"):
            client.delete_backup(BackupArn=backup["BackupArn"])
        copy = restore(backup)
        assert items_of(client, copy.name) == before and index_names(copy) == ["byG", "keys"]
        with refused("TableNotFoundException", f"Table not found: {table.name}"):
            client.restore_table_to_point_in_time(SourceTableName=table.name, TargetTableName=f"{table.name}-x", UseLatestRestorableTime=True)

    def test_leave_nothing_if_it_is_disabled(self, client, make_table):
        table = recoverable(client, make_table)
        set_recovery(client, table, False)
        client.delete_table(TableName=table.name)
        assert listed(client, TableName=table.name, BackupType="ALL") == []


def test_restorable_times_survive_kills(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    with Running(tmp_path) as first:
        client = first.client()
        create_table(client, "Source", "pk:S sk:N", also="g:S", indexes=[index("byG", "g sk")])
        table = Table(client, "Source")
        set_recovery(client, table)
        write(table, range(50))
        expected, moment = items_of(client, "Source"), between()
        write(table, range(40, 90))
        table.delete({"pk": "p0", "sk": 0})
        first.stop(signal.SIGKILL)
    with Running(tmp_path) as second:
        client = second.client()
        assert recovery(client, Table(client, "Source"))["PointInTimeRecoveryStatus"] == "ENABLED"
        latest = items_of(client, "Source")
        client.restore_table_to_point_in_time(SourceTableName="Source", TargetTableName="Then", RestoreDateTime=moment)
        client.restore_table_to_point_in_time(SourceTableName="Source", TargetTableName="Now", UseLatestRestorableTime=True)
        second.stop(signal.SIGKILL)
    with Running(tmp_path) as third:
        client = third.client()
        until_active(client, "Then")
        until_active(client, "Now")
        assert (items_of(client, "Then"), items_of(client, "Now")) == (expected, latest)
