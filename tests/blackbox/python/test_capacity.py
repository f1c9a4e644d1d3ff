"""Consumed capacity, to the half unit: reads by 4 KB, writes by 1 KB, transactions double, indexes accounted separately."""

import pytest

from dynamo import attributes, eventually, index

KB = 1024


def sized(key, size, **more):
    """An item of exactly `size` bytes, including names."""
    item = key | more
    used = sum(len(name) + len(value) for name, value in item.items())
    return item | {"d": "x" * (size - used - 1)}


def units(response):
    return response["ConsumedCapacity"]["CapacityUnits"]


TOTAL = {"ReturnConsumedCapacity": "TOTAL"}
INDEXES = {"ReturnConsumedCapacity": "INDEXES"}


@pytest.fixture
def get(client, simple):
    def consumed(pk, **more):
        return units(client.get_item(TableName=simple.name, Key=attributes({"pk": pk}), **TOTAL, **more))

    return consumed


class TestReads:
    @pytest.mark.parametrize("size, expected", [(100, 0.5), (4 * KB, 0.5), (4 * KB + 1, 1.0), (8 * KB, 1.0), (20 * KB + 1, 3.0)])
    def test_get_item(self, simple, pk, get, size, expected):
        simple.put(sized({"pk": pk}, size))
        assert get(pk) == expected
        assert get(pk, ConsistentRead=True) == 2 * expected

    def test_a_missing_item_costs_the_minimum(self, pk, get):
        assert get(pk) == 0.5
        assert get(pk, ConsistentRead=True) == 1.0

    def test_a_projection_saves_nothing(self, simple, pk, get):
        simple.put(sized({"pk": pk}, 9 * KB))
        assert get(pk, ProjectionExpression="pk") == 1.5

    def test_a_query_adds_up_before_rounding(self, ordered, pk):
        ordered.fill(sized({"pk": pk, "sk": str(n)}, KB) for n in range(9))
        query = lambda **more: units(ordered.query("pk = :p", values={":p": pk}, **TOTAL, **more))
        assert query() == 1.5
        assert query(ConsistentRead=True) == 3.0
        assert query(Limit=4) == 0.5
        assert query(Limit=5) == 1.0
        assert query(Select="COUNT") == 1.5
        assert query(ProjectionExpression="sk") == 1.5

    def test_a_filter_is_billed_for_what_it_reads(self, ordered, pk):
        ordered.fill(sized({"pk": pk, "sk": f"{n:02}"}, KB) for n in range(50))
        response = ordered.query("pk = :p", FilterExpression="attribute_exists(never)", values={":p": pk}, **TOTAL)
        assert (response["Count"], units(response)) == (0, 6.5)

    def test_an_empty_query_costs_the_minimum(self, ordered, pk):
        assert units(ordered.query("pk = :p", values={":p": pk}, **TOTAL)) == 0.5
        assert units(ordered.query("pk = :p", values={":p": pk}, ConsistentRead=True, **TOTAL)) == 1.0

    def test_a_scan_adds_up_too(self, make_table):
        table = make_table()
        table.fill(sized({"pk": str(n)}, 4 * KB) for n in range(10))
        assert units(table.scan(**TOTAL)) == 5.0
        assert units(table.scan(ConsistentRead=True, **TOTAL)) == 10.0

    def test_a_batch_rounds_each_item(self, client, simple, pk):
        simple.fill([sized({"pk": f"{pk}-a"}, KB), sized({"pk": f"{pk}-b"}, 5 * KB)])
        keys = [attributes({"pk": f"{pk}-{n}"}) for n in ("a", "b", "none")]
        read = lambda **more: client.batch_get_item(RequestItems={simple.name: {"Keys": keys} | more}, **TOTAL)
        assert read()["ConsumedCapacity"] == [{"TableName": simple.name, "CapacityUnits": 2.0}]
        assert read(ConsistentRead=True)["ConsumedCapacity"][0]["CapacityUnits"] == 4.0

    def test_a_transaction_reads_double(self, client, simple, pk):
        simple.fill([sized({"pk": f"{pk}-a"}, KB), sized({"pk": f"{pk}-b"}, 5 * KB)])
        wanted = [{"Get": {"TableName": simple.name, "Key": attributes({"pk": f"{pk}-{n}"})}} for n in "ab"]
        [consumed] = client.transact_get_items(TransactItems=wanted, **TOTAL)["ConsumedCapacity"]
        assert consumed["CapacityUnits"] == 6.0


class TestWrites:
    @pytest.mark.parametrize("size, expected", [(50, 1.0), (KB, 1.0), (KB + 1, 2.0), (10 * KB, 10.0)])
    def test_put_item(self, simple, pk, size, expected):
        assert units(simple.put(sized({"pk": pk}, size), **TOTAL)) == expected

    def test_the_larger_of_before_and_after(self, simple, pk):
        simple.put(sized({"pk": pk}, 5 * KB))
        assert units(simple.put(sized({"pk": pk}, KB), **TOTAL)) == 5.0
        assert units(simple.put(sized({"pk": pk}, 3 * KB), **TOTAL)) == 3.0
        assert units(simple.delete({"pk": pk}, **TOTAL)) == 3.0
        assert units(simple.delete({"pk": pk}, **TOTAL)) == 1.0

    def test_update_item(self, client, simple, pk):
        simple.put(sized({"pk": pk}, 4 * KB))
        update = lambda expression, **values: units(client.update_item(
            TableName=simple.name, Key=attributes({"pk": pk}), UpdateExpression=expression, **TOTAL,
            **({"ExpressionAttributeValues": attributes(values)} if values else {}),
        ))
        assert update("SET n = :x", **{":x": 1}) == 5.0
        assert update("REMOVE d") == 5.0
        assert update("SET n = :x", **{":x": 2}) == 1.0

    def test_a_batch(self, client, simple, pk):
        batch = [{"PutRequest": {"Item": attributes(sized({"pk": f"{pk}-{n}"}, n * KB))}} for n in (1, 2, 3)]
        response = client.batch_write_item(RequestItems={simple.name: batch}, **TOTAL)
        assert response["ConsumedCapacity"] == [{"TableName": simple.name, "CapacityUnits": 6.0}]

    def test_a_transaction_writes_double(self, client, simple, pk):
        puts = [{"Put": {"TableName": simple.name, "Item": attributes(sized({"pk": f"{pk}-{n}"}, n * KB))}} for n in (1, 2)]
        [consumed] = client.transact_write_items(TransactItems=puts, **TOTAL)["ConsumedCapacity"]
        assert consumed["CapacityUnits"] == 6.0

    def test_capacity_is_only_returned_on_request(self, client, simple, pk):
        assert "ConsumedCapacity" not in simple.put({"pk": pk})
        assert "ConsumedCapacity" not in simple.put({"pk": pk}, ReturnConsumedCapacity="NONE")
        assert "ConsumedCapacity" not in client.batch_get_item(RequestItems={simple.name: {"Keys": [attributes({"pk": pk})]}})


@pytest.fixture(scope="module")
def indexed(make_table):
    return make_table(
        "pk:S sk:S",
        also="group:S rank:S",
        indexes=[index("byGroup", "group"), index("keys", "group", "KEYS_ONLY")],
        local=[index("byRank", "pk rank", "KEYS_ONLY")],
    )


def breakdown(response):
    consumed = response["ConsumedCapacity"]
    parts = consumed.get("GlobalSecondaryIndexes", {}) | consumed.get("LocalSecondaryIndexes", {})
    return {"": consumed["CapacityUnits"], "table": consumed["Table"]["CapacityUnits"]} | {
        name: part["CapacityUnits"] for name, part in parts.items()
    }


class TestIndexes:
    def test_a_put_pays_for_every_index_it_enters(self, indexed, pk):
        item = sized({"pk": pk, "sk": "a"}, 2 * KB, group="g", rank="1")
        assert breakdown(indexed.put(item, **INDEXES)) == {"": 6.0, "table": 2.0, "byGroup": 2.0, "keys": 1.0, "byRank": 1.0}

    def test_an_item_in_no_index_pays_for_none(self, indexed, pk):
        assert breakdown(indexed.put({"pk": pk, "sk": "a"}, **INDEXES)) == {"": 1.0, "table": 1.0}

    def test_an_index_whose_projection_is_unchanged_costs_nothing(self, indexed, pk):
        indexed.put({"pk": pk, "sk": "a", "group": "g", "n": "1"})
        response = indexed.put({"pk": pk, "sk": "a", "group": "g", "n": "2"}, **INDEXES)
        assert breakdown(response) == {"": 2.0, "table": 1.0, "byGroup": 1.0}

    def test_a_moved_entry_is_deleted_and_put(self, indexed, pk):
        indexed.put({"pk": pk, "sk": "a", "group": "g"})
        response = indexed.put({"pk": pk, "sk": "a", "group": "h"}, **INDEXES)
        assert breakdown(response) == {"": 5.0, "table": 1.0, "byGroup": 2.0, "keys": 2.0}

    def test_leaving_an_index_costs_a_delete(self, indexed, pk):
        indexed.put({"pk": pk, "sk": "a", "group": "g"})
        assert breakdown(indexed.delete({"pk": pk, "sk": "a"}, **INDEXES)) == {"": 3.0, "table": 1.0, "byGroup": 1.0, "keys": 1.0}

    def test_a_query_of_an_index_is_charged_to_the_index(self, indexed, pk):
        indexed.fill(sized({"pk": pk, "sk": str(n)}, KB, group=pk) for n in range(9))

        def query(name):
            response = indexed.query("#g = :g", IndexName=name, values={":g": pk}, names={"#g": "group"}, **INDEXES)
            assert response["Count"] == 9
            return breakdown(response)

        assert eventually(lambda: query("byGroup")) == {"": 1.5, "table": 0.0, "byGroup": 1.5}
        assert eventually(lambda: query("keys")) == {"": 0.5, "table": 0.0, "keys": 0.5}

    def test_a_local_index_that_fetches_pays_for_the_table_too(self, indexed, pk):
        indexed.fill(sized({"pk": pk, "sk": str(n)}, KB, rank=str(n)) for n in range(3))
        query = lambda **more: units(indexed.query("pk = :p", IndexName="byRank", values={":p": pk}, **TOTAL, **more))
        assert query() == 0.5
        assert query(Select="ALL_ATTRIBUTES") == 2.0

    def test_the_total_has_no_parts(self, indexed, pk):
        response = indexed.put({"pk": pk, "sk": "a", "group": "g"}, **TOTAL)
        assert response["ConsumedCapacity"] == {"TableName": indexed.name, "CapacityUnits": 3.0}
