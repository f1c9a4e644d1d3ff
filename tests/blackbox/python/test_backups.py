"""Backups: copies of a table that outlive it, and the tables restored from them."""

import signal
import time

import pytest

from backups import back_up, described, description, index_names, indexed_table, item, listed, throughput, write
from conftest import server_binary
from dynamo import Table, attributes, column, create_table, eventually, index, invalid, refused, until_active
from moments import between
from test_dump_load import items_of
from test_process import Running

NO_BACKUP = "arn:aws:dynamodb:us-east-1:123456789012:table/Nope/backup/01234567890123-a1b2c3d4"


@pytest.fixture(scope="module")
def source(make_table):
    table = indexed_table(make_table)
    write(table, range(60))
    return table


@pytest.fixture(scope="module")
def backup(client, source):
    return back_up(client, source)


class TestBackups:
    def test_is_described_with_its_table(self, client, source, backup):
        assert backup["BackupStatus"] in ("CREATING", "AVAILABLE")
        assert (backup["BackupName"], backup["BackupType"]) == ("a-backup", "USER")
        table = description(source)
        assert backup["BackupArn"].startswith(f"{table['TableArn']}/backup/0")
        shown = described(client, backup)
        details = shown["BackupDetails"]
        assert details["BackupStatus"] == "AVAILABLE" and details["BackupSizeBytes"] == table["TableSizeBytes"]
        assert details["BackupCreationDateTime"] == backup["BackupCreationDateTime"] and "BackupExpiryDateTime" not in details
        of = shown["SourceTableDetails"]
        for member in ("TableName", "TableId", "TableArn", "KeySchema", "ItemCount", "TableSizeBytes"):
            assert of[member] == table[member]
        assert of["TableCreationDateTime"] == table["CreationDateTime"]
        assert (of["BillingMode"], of["ProvisionedThroughput"]) == ("PAY_PER_REQUEST", throughput(0, 0))
        features = shown["SourceTableFeatureDetails"]
        assert sorted(each["IndexName"] for each in features["GlobalSecondaryIndexes"]) == ["byG", "keys"]
        assert [each["IndexName"] for each in features["LocalSecondaryIndexes"]] == ["byL"]

    def test_describes_optional_settings(self, client, make_table):
        plain = make_table()
        assert described(client, back_up(client, plain))["SourceTableFeatureDetails"] == {}
        table = make_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
                           SSESpecification={"Enabled": True, "SSEType": "KMS"})
        client.update_time_to_live(TableName=table.name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
        features = described(client, back_up(client, table))["SourceTableFeatureDetails"]
        assert features["StreamDescription"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        assert features["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        assert features["SSEDescription"]["SSEType"] == "KMS"

    def test_names_need_not_be_unique(self, client, make_table):
        table = make_table()
        arns = [back_up(client, table, "same")["BackupArn"] for _ in range(3)]
        assert len(set(arns)) == 3 and listed(client, TableName=table.name) == arns

    def test_is_not_found_once_deleted(self, client, make_table, new_name):
        table = make_table()
        doomed, other = back_up(client, table), back_up(client, table)
        arn = doomed["BackupArn"]
        response = client.delete_backup(BackupArn=arn)["BackupDescription"]
        assert (response["BackupDetails"]["BackupStatus"], response["SourceTableDetails"]["TableName"]) == ("DELETED", table.name)
        assert listed(client, TableName=table.name) == [other["BackupArn"]]
        for call in (lambda: client.describe_backup(BackupArn=arn), lambda: client.delete_backup(BackupArn=arn),
                     lambda: client.restore_table_from_backup(TargetTableName=new_name(), BackupArn=arn)):
            with refused("BackupNotFoundException", f"Backup not found: {arn}"):
                call()

    def test_missing_tables_and_backups(self, client):
        with refused("TableNotFoundException", "Table not found: Nope"):
            client.create_backup(TableName="Nope", BackupName="a-backup")
        with refused("BackupNotFoundException", f"Backup not found: {NO_BACKUP}"):
            client.describe_backup(BackupArn=NO_BACKUP)

    def test_invalid_requests(self, client, source):
        with invalid("2 validation errors detected: Value 'a$' at 'backupName' failed to satisfy constraint: Member must satisfy regular "
                     "expression pattern: [a-zA-Z0-9_.-]+; Value 'a$' at 'backupName' failed to satisfy constraint: Member must have length"):
            client.create_backup(TableName=source.name, BackupName="a$")
        with invalid("Value null at 'backupName' failed to satisfy constraint: Member must not be null"):
            client.create_backup(TableName=source.name)
        for call in (client.describe_backup, client.delete_backup):
            with invalid("Value null at 'backupArn' failed to satisfy constraint: Member must not be null"):
                call()
            with invalid("Member must have length greater than or equal to 37"):
                call(BackupArn="short")
            with invalid("Invalid Backup ARN"):
                call(BackupArn=description(source)["TableArn"])


class TestLists:
    @pytest.fixture(scope="class")
    def backups(self, client, make_table):
        """A table and its backups: two, a point in time, and two more."""
        table = make_table()
        early = [back_up(client, table, f"early-{n}")["BackupArn"] for n in range(2)]
        moment = between()
        late = [back_up(client, table, f"late-{n}")["BackupArn"] for n in range(2)]
        return table, early, moment, late

    def test_pages(self, client, backups):
        table, early, _, late = backups
        first = client.list_backups(TableName=table.name, Limit=3)
        assert len(first["BackupSummaries"]) == 3 and first["LastEvaluatedBackupArn"] == late[0]
        rest = client.list_backups(TableName=table.name, Limit=3, ExclusiveStartBackupArn=first["LastEvaluatedBackupArn"])
        assert [backup["BackupArn"] for backup in rest["BackupSummaries"]] == late[1:] and "LastEvaluatedBackupArn" not in rest
        pages = client.get_paginator("list_backups").paginate(TableName=table.name, PaginationConfig={"PageSize": 1})
        assert [backup["BackupArn"] for page in pages for backup in page["BackupSummaries"]] == early + late

    def test_summaries(self, client, backups):
        table, early, _, _ = backups
        summary = client.list_backups(TableName=description(table)["TableArn"], Limit=1)["BackupSummaries"][0]
        shown = described(client, summary)
        assert summary["BackupArn"] == early[0] and summary["BackupStatus"] == "AVAILABLE"
        assert {name: summary[name] for name in shown["BackupDetails"]} == shown["BackupDetails"]
        assert (summary["TableName"], summary["TableId"]) == (table.name, shown["SourceTableDetails"]["TableId"])

    def test_between_two_times(self, client, backups):
        table, early, moment, late = backups
        assert listed(client, TableName=table.name, TimeRangeUpperBound=moment) == early
        assert listed(client, TableName=table.name, TimeRangeLowerBound=moment) == late
        assert listed(client, TableName=table.name, TimeRangeLowerBound=0, TimeRangeUpperBound=moment + 3600) == early + late
        assert listed(client, TableName=table.name, TimeRangeLowerBound=moment, TimeRangeUpperBound=moment) == []
        with invalid("Time range lower bound must be less than or equal to upper bound"):
            client.list_backups(TimeRangeLowerBound=moment + 1, TimeRangeUpperBound=moment)

    def test_by_type(self, client, backups):
        table, early, _, late = backups
        for kind, expected in (("USER", early + late), ("ALL", early + late), ("SYSTEM", []), ("AWS_BACKUP", [])):
            assert listed(client, TableName=table.name, BackupType=kind) == expected, kind
        with invalid("at 'backupType' failed to satisfy constraint: Member must satisfy enum value set"):
            client.list_backups(BackupType="user")

    def test_of_all_tables_or_none(self, client, backups):
        _, early, _, _ = backups
        pages = client.get_paginator("list_backups").paginate()
        assert early[0] in [backup["BackupArn"] for page in pages for backup in page["BackupSummaries"]]
        assert listed(client, TableName="no-such-table") == []

    def test_limits(self, client):
        with invalid("Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100"):
            client.list_backups(Limit=101)
        with invalid("Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"):
            client.list_backups(Limit=0)


class TestRestores:
    def test_items_are_equal_and_indexes_can_be_queried(self, client, source, backup, restore):
        table = restore(backup)
        assert items_of(client, table.name) == items_of(client, source.name)
        restored, original = description(table), description(source)
        for member in ("KeySchema", "ItemCount", "TableSizeBytes"):
            assert restored[member] == original[member]
        assert restored["TableId"] != original["TableId"]
        assert index_names(table) == ["byG", "keys"] and index_names(table, "LocalSecondaryIndexes") == ["byL"]
        for condition, name, values in (("g = :v", "byG", {":v": "g1"}), ("g = :v", "keys", {":v": "g1"}), ("pk = :p AND l = :v", "byL", {":p": "p1", ":v": "l1"})):
            results = [sorted(column(t.query(condition, IndexName=name, values=values), "sk")) for t in (table, source)]
            assert results[0] == results[1] and results[0], name
        assert (restored["BillingModeSummary"]["BillingMode"], restored["DeletionProtectionEnabled"]) == ("PAY_PER_REQUEST", False)

    def test_later_changes_are_not_included(self, client, make_table, restore):
        table = make_table()
        table.fill({"pk": f"k{n}", "v": 1} for n in range(10))
        before = items_of(client, table.name)
        backup = back_up(client, table)
        table.put({"pk": "later"})
        table.put({"pk": "k1", "v": 2})
        table.update({"pk": "k2"}, "SET v = :v", values={":v": 3})
        table.delete({"pk": "k3"})
        copy = restore(backup)
        assert items_of(client, copy.name) == before
        copy.put({"pk": "only in the copy"})
        assert table.get({"pk": "only in the copy"}) is None

    def test_a_backup_of_a_deleted_table(self, client, make_table, restore):
        table = indexed_table(make_table)
        write(table, range(20))
        before = items_of(client, table.name)
        backup = back_up(client, table)
        client.delete_table(TableName=table.name)
        assert described(client, backup)["SourceTableDetails"]["TableName"] == table.name
        assert listed(client, TableName=table.name) == [backup["BackupArn"]]
        copy = restore(backup)
        assert items_of(client, copy.name) == before and len(copy.query("g = :v", IndexName="byG", values={":v": "g1"})["Items"]) == 7
        back = client.restore_table_from_backup(TargetTableName=table.name, BackupArn=backup["BackupArn"])["TableDescription"]
        assert back["TableName"] == table.name
        until_active(client, table.name)
        assert items_of(client, table.name) == before

    def test_an_empty_table(self, client, make_table, restore):
        assert items_of(client, restore(back_up(client, make_table())).name) == []

    def test_settings_that_are_not_restored(self, client, make_table, restore):
        table = make_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}, Tags=[{"Key": "a", "Value": "b"}],
                           SSESpecification={"Enabled": True, "SSEType": "KMS"})
        client.update_time_to_live(TableName=table.name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
        client.update_continuous_backups(TableName=table.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        copy = restore(back_up(client, table))
        shown = description(copy)
        assert "StreamSpecification" not in shown and "LatestStreamArn" not in shown
        assert client.describe_time_to_live(TableName=copy.name)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
        assert client.list_tags_of_resource(ResourceArn=shown["TableArn"])["Tags"] == []
        backups = client.describe_continuous_backups(TableName=copy.name)["ContinuousBackupsDescription"]
        assert backups["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}
        assert shown["SSEDescription"]["SSEType"] == "KMS"

    def test_the_restore_summary_names_the_source(self, client, source, backup, new_name):
        name = new_name()
        response = client.restore_table_from_backup(TargetTableName=name, BackupArn=backup["BackupArn"])["TableDescription"]
        assert (response["TableName"], response["TableStatus"]) == (name, "CREATING")
        summary = response["RestoreSummary"]
        assert summary["SourceBackupArn"] == backup["BackupArn"] and summary["SourceTableArn"] == description(source)["TableArn"]
        assert summary["RestoreInProgress"] is True and summary["RestoreDateTime"] == backup["BackupCreationDateTime"]
        assert until_active(client, name)["RestoreSummary"] == summary | {"RestoreInProgress": False}

    def test_existing_tables_are_not_overwritten(self, client, source, backup):
        with refused("TableAlreadyExistsException", f"Table already exists: {source.name}"):
            client.restore_table_from_backup(TargetTableName=source.name, BackupArn=backup["BackupArn"])

    def test_refused_restores(self, client, backup):
        with invalid("2 validation errors detected: Value null at 'targetTableName' failed to satisfy constraint: Member must not be null; "
                     "Value null at 'backupArn' failed to satisfy constraint: Member must not be null"):
            client.restore_table_from_backup()
        with invalid("Value 'bad name!' at 'targetTableName' failed to satisfy constraint: Member must satisfy regular expression pattern"):
            client.restore_table_from_backup(TargetTableName="bad name!", BackupArn=backup["BackupArn"])
        with invalid("Invalid Backup ARN"):
            client.restore_table_from_backup(TargetTableName="fine", BackupArn="arn:aws:dynamodb:us-east-1:123456789012:table/Nope")
        with refused("BackupNotFoundException", f"Backup not found: {NO_BACKUP}"):
            client.restore_table_from_backup(TargetTableName="fine", BackupArn=NO_BACKUP)


class TestOverrides:
    def test_some_indexes_or_none(self, client, source, backup, restore):
        some = restore(backup, GlobalSecondaryIndexOverride=[index("keys", "g", "KEYS_ONLY")])
        assert index_names(some) == ["keys"] and index_names(some, "LocalSecondaryIndexes") == ["byL"]
        assert len(some.query("g = :v", IndexName="keys", values={":v": "g1"})["Items"]) == 20
        none = restore(backup, GlobalSecondaryIndexOverride=[], LocalSecondaryIndexOverride=[])
        assert index_names(none) == index_names(none, "LocalSecondaryIndexes") == []
        assert items_of(client, none.name) == items_of(client, source.name)

    def test_an_index_may_have_another_name(self, backup, restore):
        table = restore(backup, GlobalSecondaryIndexOverride=[index("renamed", "g sk")], LocalSecondaryIndexOverride=[index("renamedL", "pk l")])
        assert index_names(table) == ["renamed"] and index_names(table, "LocalSecondaryIndexes") == ["renamedL"]
        assert len(table.query("g = :v", IndexName="renamed", values={":v": "g1"})["Items"]) == 20

    @pytest.mark.parametrize("override", [
        {"GlobalSecondaryIndexOverride": [index("other", "l")]},
        {"GlobalSecondaryIndexOverride": [index("other", "g sk", "KEYS_ONLY")]},
        {"LocalSecondaryIndexOverride": [index("other", "pk g")]},
    ])
    def test_indexes_are_those_of_the_backup(self, client, backup, new_name, override):
        with invalid("Index other does not match a secondary index that existed in the source table and cannot be created during the restore operation"):
            client.restore_table_from_backup(TargetTableName=new_name(), BackupArn=backup["BackupArn"], **override)

    def test_another_billing_mode(self, backup, restore, client, make_table):
        provisioned = description(restore(backup, BillingModeOverride="PROVISIONED", ProvisionedThroughputOverride=throughput(7, 8),
                                          GlobalSecondaryIndexOverride=[index("byG", "g sk") | {"ProvisionedThroughput": throughput(3, 4)}]))
        assert provisioned["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
        units = provisioned["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
        assert (units["ReadCapacityUnits"], units["WriteCapacityUnits"]) == (3, 4)
        table = make_table(BillingMode="PROVISIONED", ProvisionedThroughput=throughput(5, 6))
        of_provisioned = back_up(client, table)
        on_demand = description(restore(of_provisioned, BillingModeOverride="PAY_PER_REQUEST", OnDemandThroughputOverride={"MaxReadRequestUnits": 50}))
        assert on_demand["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        assert on_demand["OnDemandThroughput"]["MaxReadRequestUnits"] == 50
        more = description(restore(of_provisioned, ProvisionedThroughputOverride=throughput(9, 9)))
        assert more["ProvisionedThroughput"]["WriteCapacityUnits"] == 9
        same = description(restore(of_provisioned))
        assert same["ProvisionedThroughput"]["WriteCapacityUnits"] == 6

    @pytest.mark.parametrize("override, text", [
        ({"ProvisionedThroughputOverride": throughput(1, 1)}, "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"),
        ({"BillingModeOverride": "PROVISIONED"}, "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"),
        ({"BillingModeOverride": "PAY_PER_REQUEST", "ProvisionedThroughputOverride": throughput(1, 1)},
         "Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"),
        ({"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": throughput(1, 1), "GlobalSecondaryIndexOverride": [index("byG", "g sk")]},
         "Must specify provisioned throughput for index byG"),
        ({"BillingModeOverride": "BOGUS"}, "at 'billingModeOverride' failed to satisfy constraint: Member must satisfy enum value set"),
        ({"ProvisionedThroughputOverride": throughput(0, 1)}, "Value '0' at 'provisionedThroughputOverride.readCapacityUnits'"),
        ({"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}}, "Requested MaxReadRequestUnits for OnDemandThroughput"),
        ({"SSESpecificationOverride": {"SSEType": "AES256"}}, "SSEType AES256 is not supported"),
    ])
    def test_conflicting_settings(self, client, backup, new_name, override, text):
        with invalid(text):
            client.restore_table_from_backup(TargetTableName=new_name(), BackupArn=backup["BackupArn"], **override)

    def test_another_encryption(self, client, make_table, backup, restore):
        assert description(restore(backup, SSESpecificationOverride={"Enabled": True, "SSEType": "KMS"}))["SSEDescription"]["Status"] == "ENABLED"
        encrypted = make_table(SSESpecification={"Enabled": True, "SSEType": "KMS"})
        assert "SSEDescription" not in description(restore(back_up(client, encrypted), SSESpecificationOverride={"Enabled": False}))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A folder with a table of 20,000 items and its backup."""
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    folder = tmp_path_factory.mktemp("backups")
    with Running(folder) as running:
        client = running.client()
        create_table(client, "Source", "pk:S sk:N", also="g:S", indexes=[index("byG", "g sk")])
        fill = attributes({"fill": "z" * 1000})
        for start in range(0, 20_000, 25):
            puts = [{"PutRequest": {"Item": item(number) | fill}} for number in range(start, start + 25)]
            client.batch_write_item(RequestItems={"Source": puts})
        back_up(client, Table(client, "Source"))
    return folder


def only_backup(client):
    return client.list_backups()["BackupSummaries"][0]["BackupArn"]


def test_a_restore_resumes_after_kills(large):
    running = Running(large)
    client = running.client()
    response = client.restore_table_from_backup(TargetTableName="Copy", BackupArn=only_backup(client))["TableDescription"]
    assert response["TableStatus"] == "CREATING"
    for pause in (0.01, 0.05, 0.1):
        time.sleep(pause)
        running.stop(signal.SIGKILL)
        running = Running(large)
        client = running.client()
        assert client.describe_table(TableName="Copy")["Table"]["TableStatus"] in ("CREATING", "ACTIVE")
    until_active(client, "Copy", 60)
    assert items_of(client, "Copy") == items_of(client, "Source")
    pages = client.get_paginator("query").paginate(TableName="Copy", IndexName="byG", KeyConditionExpression="g = :g", Select="COUNT",
                                                   ExpressionAttributeValues={":g": {"S": "g1"}})
    assert sum(page["Count"] for page in pages) == 6667
    assert running.stop(signal.SIGTERM) == 0


def test_a_table_while_it_is_restored(large):
    with Running(large) as running:
        client = running.client()
        arn = only_backup(client)
        client.restore_table_from_backup(TargetTableName="Slow", BackupArn=arn)
        assert client.describe_table(TableName="Slow")["Table"]["RestoreSummary"]["RestoreInProgress"]
        with refused("TableInUseException", "Slow"):
            client.restore_table_from_backup(TargetTableName="Slow", BackupArn=arn)
        with refused("ResourceInUseException"):
            client.delete_table(TableName="Slow")
        with refused("BackupInUseException", arn):
            client.delete_backup(BackupArn=arn)
        with refused("TableNotFoundException", "Table not found: Slow"):
            client.create_backup(TableName="Slow", BackupName="too-early")
        until_active(client, "Slow", 60)

        def deleted():
            assert client.delete_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "DELETED"

        eventually(deleted)
