"""Tables: created, described, listed, changed and deleted, and which definitions are refused."""

import re
import uuid

import pytest

from dynamo import Table, attributes, index, invalid, refused, table_request, until_active


@pytest.fixture
def name():
    return f"tables-{uuid.uuid4().hex[:12]}"


def without(request, *members):
    return {name: value for name, value in request.items() if name not in members}


PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}


class TestCreated:
    def test_the_response_describes_the_table(self, client, name):
        table = client.create_table(**table_request(name, "pk:S sk:N"))["TableDescription"]
        assert table["TableName"] == name
        assert table["TableStatus"] in ("CREATING", "ACTIVE")
        assert table["KeySchema"] == [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ]
        assert sorted(table["AttributeDefinitions"], key=lambda a: a["AttributeName"]) == [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ]
        assert table["ItemCount"] == 0 and table["TableSizeBytes"] == 0
        assert re.fullmatch(rf"arn:aws:dynamodb:us-east-1:\d{{12}}:table/{name}", table["TableArn"])
        assert uuid.UUID(table["TableId"])
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        until_active(client, name)
        client.delete_table(TableName=name)

    def test_it_becomes_active_and_is_otherwise_unchanged(self, client, name):
        created = client.create_table(**table_request(name, "pk:S"))["TableDescription"]
        described = until_active(client, name)
        for member in ("TableId", "TableArn", "CreationDateTime", "KeySchema", "AttributeDefinitions"):
            assert described[member] == created[member]
        client.delete_table(TableName=name)

    def test_provisioned_throughput_is_returned(self, client, name):
        client.create_table(**table_request(name, "pk:S") | PROVISIONED)
        table = until_active(client, name)
        assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
        assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 5
        assert table["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
        client.delete_table(TableName=name)

    def test_on_demand_shows_no_units(self, make_table, client):
        table = client.describe_table(TableName=make_table().name)["Table"]
        assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
        assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 0

    def test_indexes_are_described(self, client, make_table):
        made = make_table(
            "pk:S sk:S",
            also="group:S rank:N",
            indexes=[index("byGroup", "group rank", ["title"])],
            local=[index("byRank", "pk rank", "KEYS_ONLY")],
        )
        table = client.describe_table(TableName=made.name)["Table"]
        [globally], [locally] = table["GlobalSecondaryIndexes"], table["LocalSecondaryIndexes"]
        assert globally["IndexStatus"] == "ACTIVE"
        assert globally["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]}
        assert globally["IndexArn"] == table["TableArn"] + "/index/byGroup"
        assert locally["Projection"] == {"ProjectionType": "KEYS_ONLY"}
        assert locally["IndexArn"] == table["TableArn"] + "/index/byRank"
        assert "IndexStatus" not in locally

    def test_an_index_created_with_its_table_is_not_backfilled(self, client, name):
        request = table_request(name, "pk:S", also="group:S", indexes=[index("byGroup", "group")])
        [created] = client.create_table(**request)["TableDescription"]["GlobalSecondaryIndexes"]
        assert created["IndexStatus"] == "CREATING" and not {"Backfilling", "WarmThroughput"} & created.keys()

    def test_a_name_may_have_255_characters_and_all_allowed_symbols(self, client):
        name = ("a.b-c_D9" * 32)[:247] + uuid.uuid4().hex[:8]
        client.create_table(**table_request(name, "pk:S"))
        until_active(client, name)
        client.delete_table(TableName=name)

    def test_creating_twice_is_refused(self, client, make_table):
        name = make_table().name
        with refused("ResourceInUseException", f"Table already exists: {name}"):
            client.create_table(**table_request(name, "pk:S"))

    def test_an_arn_names_the_table_too(self, client, make_table):
        table = make_table()
        arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
        Table(client, arn).put({"pk": "a"})
        assert table.get({"pk": "a"}) == {"pk": "a"}
        assert client.describe_table(TableName=arn)["Table"]["TableName"] == table.name


class TestRefused:
    @pytest.mark.parametrize("bad", ["ab", "a" * 256, "with space", "slash/name", "ünicode", ""])
    def test_names(self, client, bad):
        with invalid():
            client.create_table(**table_request(bad, "pk:S"))

    def test_no_name(self, client, name):
        with invalid():
            client.create_table(**without(table_request(name, "pk:S"), "TableName"))

    def test_a_key_without_definition(self, client, name):
        request = table_request(name, "pk:S sk:S")
        request["AttributeDefinitions"].pop()
        with invalid("Some index key attribute"):
            client.create_table(**request)

    def test_a_definition_without_key(self, client, name):
        with invalid("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"):
            client.create_table(**table_request(name, "pk:S", also="other:S"))

    def test_a_definition_without_key_in_a_table_with_indexes(self, client, name):
        with invalid("Some AttributeDefinitions are not used"):
            client.create_table(**table_request(name, "pk:S", also="group:S other:S", indexes=[index("byGroup", "group")]))

    def test_an_attribute_type_that_cannot_be_a_key(self, client, name):
        with invalid("failed to satisfy constraint: Member must satisfy enum value set"):
            client.create_table(**table_request(name, "pk:BOOL"))

    def test_a_sort_key_alone(self, client, name):
        request = table_request(name, "pk:S")
        request["KeySchema"][0]["KeyType"] = "RANGE"
        with invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"):
            client.create_table(**request)

    def test_three_key_attributes(self, client, name):
        with invalid():
            client.create_table(**table_request(name, "a:S b:S c:S"))

    def test_the_same_attribute_twice(self, client, name):
        request = table_request(name, "pk:S")
        request["KeySchema"].append({"AttributeName": "pk", "KeyType": "RANGE"})
        with invalid():
            client.create_table(**request)

    def test_provisioned_without_throughput(self, client, name):
        with invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"):
            client.create_table(**table_request(name, "pk:S", BillingMode="PROVISIONED"))

    def test_on_demand_with_throughput(self, client, name):
        throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        with invalid("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"):
            client.create_table(**table_request(name, "pk:S", ProvisionedThroughput=throughput))

    def test_no_key_schema(self, client, name):
        with invalid():
            client.create_table(**without(table_request(name, "pk:S"), "KeySchema"))

    def test_an_unknown_billing_mode(self, client, name):
        with invalid("enum value set"):
            client.create_table(**table_request(name, "pk:S", BillingMode="FREE"))

    def test_an_empty_list_of_indexes(self, client, name):
        with invalid("One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty"):
            client.create_table(**table_request(name, "pk:S", GlobalSecondaryIndexes=[]))

    def test_two_indexes_of_one_name(self, client, name):
        indexes = [index("same", "a"), index("same", "b")]
        with invalid("Duplicate index name: same"):
            client.create_table(**table_request(name, "pk:S", also="a:S b:S", indexes=indexes))

    def test_a_local_index_on_a_table_without_sort_key(self, client, name):
        with invalid("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"):
            client.create_table(**table_request(name, "pk:S", also="b:S", local=[index("local", "pk b")]))

    def test_more_than_five_local_indexes(self, client, name):
        local = [index(f"local{n}", f"pk a{n}") for n in range(6)]
        also = " ".join(f"a{n}:S" for n in range(6))
        with invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5"):
            client.create_table(**table_request(name, "pk:S sk:S", also=also, local=local))

    def test_more_than_twenty_global_indexes(self, client, name):
        indexes = [index(f"global{n}", f"a{n}") for n in range(21)]
        also = " ".join(f"a{n}:S" for n in range(21))
        with invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20"):
            client.create_table(**table_request(name, "pk:S", also=also, indexes=indexes))

    def test_included_attributes_without_include(self, client, name):
        wrong = index("byA", "a") | {"Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}}
        with invalid("ProjectionType is ALL, but NonKeyAttributes is specified"):
            client.create_table(**table_request(name, "pk:S", also="a:S", indexes=[wrong]))

    def test_a_stream_without_a_view(self, client, name):
        with invalid():
            client.create_table(**table_request(name, "pk:S", StreamSpecification={"StreamEnabled": True}))


class TestMissing:
    def test_describe(self, client, name):
        with refused("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found"):
            client.describe_table(TableName=name)

    def test_delete(self, client, name):
        with refused("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found"):
            client.delete_table(TableName=name)

    @pytest.mark.parametrize("operation, parameters", [
        ("get_item", {"Key": attributes({"pk": "a"})}),
        ("put_item", {"Item": attributes({"pk": "a"})}),
        ("delete_item", {"Key": attributes({"pk": "a"})}),
        ("update_item", {"Key": attributes({"pk": "a"})}),
        ("query", {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": attributes({":a": "a"})}),
        ("scan", {}),
    ])
    def test_items(self, client, name, operation, parameters):
        with refused("ResourceNotFoundException", "Requested resource not found"):
            getattr(client, operation)(TableName=name, **parameters)


class TestDeleted:
    def test_the_table_is_gone_with_its_items(self, client, name):
        client.create_table(**table_request(name, "pk:S"))
        until_active(client, name)
        Table(client, name).put({"pk": "a"})
        deleted = client.delete_table(TableName=name)["TableDescription"]
        assert deleted["TableStatus"] == "DELETING"
        assert not {"KeySchema", "AttributeDefinitions", "CreationDateTime", "WarmThroughput"} & deleted.keys()
        client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 20})
        client.create_table(**table_request(name, "pk:S"))
        until_active(client, name)
        assert Table(client, name).scan()["Count"] == 0
        client.delete_table(TableName=name)

    def test_a_protected_table_stays(self, client, name):
        client.create_table(**table_request(name, "pk:S", DeletionProtectionEnabled=True))
        assert until_active(client, name)["DeletionProtectionEnabled"] is True
        with invalid("protected against deletion"):
            client.delete_table(TableName=name)
        client.update_table(TableName=name, DeletionProtectionEnabled=False)
        until_active(client, name)
        client.delete_table(TableName=name)


class TestChanged:
    def test_billing_mode_changes_in_both_directions(self, client, make_table):
        name = make_table().name
        client.update_table(TableName=name, **PROVISIONED)
        assert until_active(client, name)["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
        client.update_table(TableName=name, BillingMode="PAY_PER_REQUEST")
        assert until_active(client, name)["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"

    def test_throughput(self, client, make_table):
        name = make_table(**PROVISIONED).name
        changing = client.update_table(TableName=name, ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 8})["TableDescription"]
        assert changing["TableStatus"] == "UPDATING"
        assert changing["ProvisionedThroughput"].items() >= PROVISIONED["ProvisionedThroughput"].items()
        throughput = until_active(client, name)["ProvisionedThroughput"]
        assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (7, 8)

    def test_the_same_throughput_is_refused(self, client, make_table):
        name = make_table(**PROVISIONED).name
        with invalid("The provisioned throughput for the table will not change"):
            client.update_table(TableName=name, ProvisionedThroughput=PROVISIONED["ProvisionedThroughput"])

    def test_units_for_every_index_when_a_table_gets_units(self, client, make_table):
        name = make_table("pk:S", also="g:S", indexes=[index("byG", "g")]).name
        units = PROVISIONED["ProvisionedThroughput"]
        with invalid("ProvisionedThroughput must be specified for index: byG"):
            client.update_table(TableName=name, **PROVISIONED)
        changed = [{"Update": {"IndexName": "byG", "ProvisionedThroughput": units}}]
        with invalid("The only Updates for index: byG when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"):
            client.update_table(TableName=name, GlobalSecondaryIndexUpdates=changed)
        client.update_table(TableName=name, **PROVISIONED, GlobalSecondaryIndexUpdates=changed)
        described = until_active(client, name)["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
        assert described.items() >= units.items()

    def test_four_decreases_a_day(self, client, make_table):
        name = make_table(**PROVISIONED).name
        for read in (4, 3, 2, 1):
            client.update_table(TableName=name, ProvisionedThroughput={"ReadCapacityUnits": read, "WriteCapacityUnits": 5})
        assert until_active(client, name)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 4
        with refused("LimitExceededException", "Number of decreases today: 4. Last decrease at"):
            client.update_table(TableName=name, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 4})
        client.update_table(TableName=name, ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 6})

    def test_warm_throughput_can_only_increase(self, client, make_table):
        name = make_table().name
        client.update_table(TableName=name, WarmThroughput={"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000})
        client.update_table(TableName=name, WarmThroughput={"WriteUnitsPerSecond": 6000})
        with invalid("decreasing WarmThroughput is not supported"):
            client.update_table(TableName=name, WarmThroughput={"ReadUnitsPerSecond": 12999})
        warm = until_active(client, name)["WarmThroughput"]
        assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == (13000, 6000)

    def test_nothing_to_change_is_refused(self, client, make_table):
        with invalid():
            client.update_table(TableName=make_table().name)

    def test_a_missing_table(self, client, name):
        with refused("ResourceNotFoundException"):
            client.update_table(TableName=name, BillingMode="PAY_PER_REQUEST")


@pytest.fixture(scope="module")
def names(make_table):
    return sorted(make_table().name for _ in range(5))


class TestListed:
    def test_every_table_once_in_order(self, client, names):
        found, more = [], {}
        while True:
            page = client.list_tables(Limit=2, **more)
            assert len(page["TableNames"]) <= 2
            found += page["TableNames"]
            if "LastEvaluatedTableName" not in page:
                break
            assert page["LastEvaluatedTableName"] == page["TableNames"][-1]
            more = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}
        assert found == sorted(set(found))
        assert set(names) <= set(found)

    def test_the_start_key_need_not_exist(self, client, names):
        page = client.list_tables(ExclusiveStartTableName=names[1] + "0", Limit=1)
        assert page["TableNames"] and page["TableNames"][0] > names[1]

    @pytest.mark.parametrize("limit", [0, 101, -1])
    def test_limits(self, client, limit):
        with invalid():
            client.list_tables(Limit=limit)
