"""The rules of single-table design that the database and the commands serve, by their numbers in docs/models.md. Those of the checker are in
crates/design/tests/rules.rs."""

import json
import subprocess
import time
import urllib.request
from contextlib import contextmanager

import boto3
import pytest

from conftest import REPOSITORY, announced_endpoint, server_binary, started_server
from dynamo import Table, column, eventually, index, invalid, refused, until_active

SHOP = REPOSITORY / "models" / "shop-orders.toml"
GROUPS = REPOSITORY / "models" / "users-and-groups.toml"
SHARDS = REPOSITORY / "models" / "write-sharding.toml"


def partita(*arguments, code=0):
    """The output of a command, which must end with this exit code."""
    done = subprocess.run([server_binary(), "model", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def explained(model, *name):
    return partita("explain", model, *name)


@contextmanager
def served(*arguments):
    """A server of its own, with these arguments."""
    server = started_server(*arguments)
    try:
        yield announced_endpoint(server)
    finally:
        server.terminate()
        server.wait(timeout=20)


def table_at(endpoint, name):
    client = boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    return Table(client, name)


@pytest.fixture(scope="module")
def shop(make_table):
    """A user with three orders, and an index of orders by status that only pending ones are in."""
    table = make_table("PK:S SK:S", also="GSI1PK:S GSI1SK:S", indexes=[index("GSI1", "GSI1PK GSI1SK")])
    table.put({"PK": "USER#1", "SK": "PROFILE", "type": "User", "name": "Ada"})
    for day, status in ((5, "PAID"), (7, "PENDING"), (6, "PENDING")):
        key = f"ORDER#2026-04-0{day}#o{day}"
        pending = {"GSI1PK": "STATUS#PENDING", "GSI1SK": f"2026-04-0{day}"} if status == "PENDING" else {}
        table.put({"PK": "USER#1", "SK": key, "type": "Order", "status": status} | pending)
    table.put({"PK": "USER#10", "SK": "PROFILE", "type": "User", "name": "Bob"})
    return table


def orders(shop, **more):
    return shop.query("PK = :u AND begins_with(SK, :o)", values={":u": "USER#1", ":o": "ORDER#"}, **more)


def test_rule_06_the_structure_of_the_table_is_the_query_plan():
    text = explained(SHOP, "recentOrders")
    assert 'PK = "USER#{userId}" AND begins_with(SK, "ORDER#")' in text and "1 request" in text


def test_rule_07_designs_are_tried_with_realistic_data():
    items = [json.loads(line) for line in partita("seed", SHOP, "--items", 300).splitlines()]
    kinds = {item["EntityType"]["S"] for item in items if "EntityType" in item}
    assert len(items) >= 300 and {"User", "Order", "OrderItem"} <= kinds
    tried = partita("try", SHOP, "--items", 500)
    assert all(name in tried for name in ("userWithOrders", "pendingOrders", "predict", "measured"))


def test_rule_18_items_of_a_partition_key_are_stored_together(shop):
    response = shop.query("PK = :u", values={":u": "USER#1"}, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    # Four items are read as one range: the unit is rounded up once, not for each item.
    assert response["Count"] == 4 and response["ConsumedCapacity"]["CapacityUnits"] == 1


@pytest.mark.parametrize(
    "condition, days",
    [
        ("SK = :a", [6]),
        ("SK < :a", [5]),
        ("SK <= :a", [5, 6]),
        ("SK > :a", [7]),
        ("SK >= :a", [6, 7]),
        ("SK BETWEEN :a AND :b", [6, 7]),
        ("begins_with(SK, :c)", [5, 6, 7]),
    ],
)
def test_rule_23_conditions_on_sort_keys(shop, condition, days):
    all_values = {":u": "USER#1", ":a": "ORDER#2026-04-06#o6", ":b": "ORDER#2026-04-08", ":c": "ORDER#2026-04"}
    values = {name: value for name, value in all_values.items() if name == ":u" or name in condition}
    found = shop.query(f"PK = :u AND {condition}", values=values)
    assert [key for key in column(found, "SK") if key != "PROFILE"] == [f"ORDER#2026-04-0{day}#o{day}" for day in days]


def test_rule_24_contains_is_no_key_condition(shop):
    with invalid("Invalid operator used in KeyConditionExpression: contains"):
        shop.query("PK = :u AND contains(SK, :o)", values={":u": "USER#1", ":o": "04"})


def test_rule_25_results_come_in_the_order_of_the_sort_key(shop):
    assert column(orders(shop), "SK") == sorted(column(orders(shop), "SK"))


def test_rule_26_descending(shop):
    assert column(orders(shop, ScanIndexForward=False), "SK") == sorted(column(orders(shop), "SK"), reverse=True)


def test_rule_27_the_newest_of_many(shop):
    newest = orders(shop, ScanIndexForward=False, Limit=1)
    assert column(newest, "SK") == ["ORDER#2026-04-07#o7"] and newest["ScannedCount"] == 1
    assert "descending, Limit 10" in explained(SHOP, "recentOrders")


def test_rule_31_a_whole_collection_in_one_read(shop):
    assert column(shop.query("PK = :u", values={":u": "USER#1"}), "type").count("Order") == 3
    assert explained(SHOP, "userWithOrders").count("  1. Query") == 1


def test_rule_32_without_a_sort_key_a_partition_key_has_one_item(make_table):
    table = make_table("PK:S")
    table.put({"PK": "USER#1", "name": "Ada"})
    table.put({"PK": "USER#1", "name": "Bob"})
    assert column(table.scan(), "name") == ["Bob"]


def test_rule_36_the_sort_key_is_the_path_below_the_root():
    assert 'begins_with(SK, "' in explained(REPOSITORY / "models" / "locations.toml")


def test_rule_37_many_entities_share_a_table(shop):
    assert set(column(shop.scan(), "type")) == {"User", "Order"}


def test_rule_41_any_delimiter_will_do(make_table):
    table = make_table("PK:S SK:S")
    table.fill({"PK": "user|1", "SK": f"order|{n}"} for n in range(3))
    table.put({"PK": "user|1", "SK": "order-draft"})
    assert table.query("PK = :u AND begins_with(SK, :o)", values={":u": "user|1", ":o": "order|"})["Count"] == 3


def test_rule_42_types_are_recognised_by_attribute_and_by_prefix(tmp_path):
    typed = partita("seed", GROUPS, "--items", 120).splitlines()
    kind = "EntityType" if any("EntityType" in line for line in typed) else "type"
    untyped = [json.dumps({name: value for name, value in json.loads(line).items() if name != kind}) for line in typed]
    for lines in (typed, untyped):
        items = tmp_path / "items.jsonl"
        items.write_text("\n".join(lines) + "\n")
        model = partita("infer", items, "--table", "T")
        assert "[entity.User]" in model and model.count("[entity.") >= 3


def test_rule_43_one_query_returns_several_entities():
    assert "split   the items by EntityType" in explained(SHOP, "userWithOrders")


def test_rule_44_prefixes_cost_storage(tmp_path):
    model = tmp_path / "model.toml"
    text = '[table]\nname = "T"\nkeys = ["PK"]\n[entity.E]\nattributes = {{ id = "ulid" }}\nkey = ["{}{{id}}"]\nexpect.count = 1_000_000\n[pattern]\np = {{ in = ["id"], out = "E" }}\n'
    stored = []
    for prefix in ("E#", "AN_ENTITY_WITH_A_LONG_PREFIX#"):
        model.write_text("format = 1\n" + text.format(prefix))
        cost = json.loads(partita("cost", model, "--format", "json"))
        stored.append(find(cost, "bytes"))
    assert stored[1] - stored[0] == 27 * 1_000_000


def find(value, name):
    """The first number of this name."""
    if isinstance(value, dict):
        if isinstance(value.get(name), (int, float)):
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        return next((found for found in (find(part, name) for part in value) if found is not None), None)
    return None


def test_rule_45_one_table_is_compared_with_a_table_per_entity():
    assert "one table   table per entity" in partita("cost", SHOP)


def test_rule_46_there_are_no_joins(raw):
    status, answer = raw("ExecuteStatement", {"Statement": 'SELECT * FROM "a" JOIN "b" ON a.x = b.x'})
    assert status == 400 and answer["__type"].endswith("ValidationException")


def test_rule_50_relationships_have_attributes(make_table):
    table = make_table("PK:S SK:S")
    table.put({"PK": "USER#1", "SK": "GROUP#g", "role": "admin", "since": "2026-01-01"})
    assert table.get({"PK": "USER#1", "SK": "GROUP#g"})["role"] == "admin"


def test_rule_52_a_query_and_then_a_batch():
    assert "BatchGetItem on the table" in explained(REPOSITORY / "models" / "task-manager.toml")


def test_rule_58_a_global_index_has_its_own_keys_and_capacity(shop):
    more = {"IndexName": "GSI1", "ReturnConsumedCapacity": "INDEXES"}
    found = eventually(lambda: pending(shop, **more))
    assert list(found["ConsumedCapacity"]["GlobalSecondaryIndexes"]) == ["GSI1"]
    with invalid("Consistent reads are not supported on global secondary indexes"):
        pending(shop, **more, ConsistentRead=True)


def pending(shop, **more):
    found = shop.query("GSI1PK = :s", values={":s": "STATUS#PENDING"}, **more)
    assert column(found, "SK") == ["ORDER#2026-04-06#o6", "ORDER#2026-04-07#o7"]
    return found


def test_rules_61_and_69_a_global_index_is_added_later_and_filled(client, make_table):
    table = make_table("PK:S SK:S")
    table.fill({"PK": f"USER#{n}", "SK": "PROFILE", "mail": f"{n}@example.com"} for n in range(200))
    change = {"IndexName": "ByMail", "KeySchema": [{"AttributeName": "mail", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    client.update_table(
        TableName=table.name,
        AttributeDefinitions=[{"AttributeName": "mail", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": change}],
    )
    description = client.describe_table(TableName=table.name)["Table"]["GlobalSecondaryIndexes"][0]
    assert description["IndexStatus"] in ("CREATING", "ACTIVE")
    table.put({"PK": "USER#late", "SK": "PROFILE", "mail": "late@example.com"})
    until_active(client, table.name)
    assert table.scan(IndexName="ByMail")["Count"] == 201
    assert table.query("mail = :m", values={":m": "7@example.com"}, IndexName="ByMail")["Count"] == 1


def test_rule_63_items_without_its_keys_are_not_in_an_index(shop):
    eventually(lambda: pending(shop, IndexName="GSI1"))
    assert shop.scan(IndexName="GSI1")["Count"] == 2


def test_rule_65_write_amplification():
    assert "each item becomes" in explained(SHOP, "placeOrder")


def test_rules_72_to_74_shards_spread_writes_and_reads_gather_them():
    seeded = [json.loads(line) for line in partita("seed", SHARDS, "--items", 400).splitlines()]
    partitions = {item["PK"]["S"] for item in seeded}
    assert len(partitions) > 1
    assert "times" in explained(SHARDS)


def test_rule_77_hot_keys_are_shown_with_their_template():
    with served("--model", SHOP) as endpoint:
        partita("seed", SHOP, "--items", 200, "--endpoint", endpoint)
        table = table_at(endpoint, "Shop")
        users = {item["PK"] for item in table.scan()["Items"] if item["PK"].startswith("USER#")}
        hot = sorted(users)[0]
        for _ in range(20):
            table.query("PK = :u", values={":u": hot})
        figures = json.load(urllib.request.urlopen(f"{endpoint}/_partita/model?table=Shop"))
        assert hot in json.dumps(figures)
        assert "USER#{userId}" in json.dumps(figures)


def test_rule_08_a_design_is_refined_from_traffic():
    with served("--model", SHOP) as endpoint:
        partita("seed", SHOP, "--items", 100, "--endpoint", endpoint)
        table_at(endpoint, "Shop").scan(Limit=1)
        watched = partita("watch", "Shop", "--endpoint", endpoint)
        assert "Scan" in watched and "pendingOrders" in watched


def test_rule_80_pages_end_with_the_key_to_go_on_with(make_table):
    table = make_table("PK:S SK:N")
    table.fill({"PK": "P", "SK": n, "text": "x" * 100_000} for n in range(25))
    pages = list(table.pages(table.query, "PK = :p", values={":p": "P"}))
    assert len(pages) == 3 and sum(page["Count"] for page in pages) == 25


def test_rule_82_a_filter_is_billed_in_full(make_table):
    table = make_table("PK:S SK:N")
    table.fill({"PK": "P", "SK": n, "text": "x" * 1000, "kept": n == 7} for n in range(50))
    more = {"FilterExpression": "kept = :yes", "ReturnConsumedCapacity": "TOTAL", "ConsistentRead": True}
    found = table.query("PK = :p", values={":p": "P", ":yes": True}, **more)
    assert (found["Count"], found["ScannedCount"]) == (1, 50)
    assert found["ConsumedCapacity"]["CapacityUnits"] == 13


def test_rule_84_consumed_capacity_is_returned(make_table):
    table = make_table("PK:S")
    written = table.put({"PK": "a", "text": "x" * 1500}, ReturnConsumedCapacity="TOTAL")
    assert written["ConsumedCapacity"]["CapacityUnits"] == 2


def test_rule_86_a_put_overwrites_unless_its_condition_forbids_it(make_table):
    table = make_table("PK:S")
    table.put({"PK": "a", "n": 1})
    with refused("ConditionalCheckFailedException"):
        table.put({"PK": "a", "n": 2}, ConditionExpression="attribute_not_exists(PK)")
    assert table.get({"PK": "a"})["n"] == 1
    assert "attribute_not_exists(PK)" in explained(SHOP, "register")


def test_rule_87_a_version_that_does_not_match_is_refused(make_table):
    table = make_table("PK:S")
    table.put({"PK": "a", "version": 1})
    change = {"update": "SET version = version + :one", "ConditionExpression": "version = :seen", "values": {":one": 1, ":seen": 1}}
    table.update({"PK": "a"}, **change)
    with refused("ConditionalCheckFailedException"):
        table.update({"PK": "a"}, **change)
    assert table.get({"PK": "a"})["version"] == 2


def test_rule_90_prices_are_in_one_dated_file(tmp_path):
    source = REPOSITORY / "crates" / "design" / "src" / "capacity" / "prices.toml"
    prices = tmp_path / "prices.toml"
    prices.write_text(source.read_text().replace("2024-11-01", "2031-01-01"))
    assert "prices of 2031-01-01" in partita("cost", SHOP, "--prices", prices)


def test_rule_91_provisioned_capacity_against_capacity_on_demand(client, make_table):
    table = make_table("PK:S", BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5})
    client.update_table(TableName=table.name, BillingMode="PAY_PER_REQUEST")
    described = until_active(client, table.name)
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert "units to provision" in partita("cost", SHOP)


def test_rule_95_the_size_of_a_table_does_not_slow_down_its_reads(make_table):
    table = make_table("PK:S SK:N")

    def median():
        times = []
        for n in range(101):
            start = time.perf_counter()
            table.get({"PK": "P", "SK": n})
            times.append(time.perf_counter() - start)
        return sorted(times)[50]

    table.fill({"PK": "P", "SK": n} for n in range(101))
    small = median()
    table.fill({"PK": f"Q{n % 50}", "SK": n, "text": "x" * 200} for n in range(10_000))
    assert median() < 5 * small + 0.01


def test_rule_106_reads_can_be_enforced():
    with served("--model", SHOP, "--model-reads", "enforce") as endpoint:
        partita("seed", SHOP, "--items", 50, "--endpoint", endpoint)
        with invalid("Scan table is not a declared pattern"):
            table_at(endpoint, "Shop").scan()


def test_rule_107_a_design_is_tried_at_its_rates():
    tried = partita("try", SHOP, "--items", 300, "--rate", "declared", "--for", "2s", "--scale", "0.2")
    assert "recentOrders" in tried
