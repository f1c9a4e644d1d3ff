"""No client waits long because of the requests of another: the most expensive requests of several kinds are sent without pause while the
requests of another client are timed.

The remaining delay is some milliseconds on an idle machine. The bound is generous, because tests may run on a busy one.
"""

import http.client
import json
import subprocess
import threading
import time

import boto3
import pytest

from conftest import announced_endpoint, server_binary
from dynamo import create_table, headers, index

LONGEST_WAIT = 0.5
SECONDS = 2
SENDERS = 4
DOCUMENTS = 12
LARGE = "a" * 380_000


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    """A separate server with two threads and its data on disk."""
    folder = tmp_path_factory.mktemp("delays")
    command = [server_binary(), "serve", "--port", "0", "--threads", "2", "--data", folder / "data"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield announced_endpoint(server)
    finally:
        server.terminate()
        server.wait(timeout=60)


@pytest.fixture(scope="module")
def tables(endpoint):
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client = boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1", **keys)
    create_table(client, "probe", "pk:S")
    create_table(client, "large", "pk:S sk:N", also="x:N", local=[index("lsi", "pk x", "KEYS_ONLY")])
    keys = " ".join(f"k{number}:S" for number in range(20))
    create_table(client, "wide", "pk:S", also=keys, indexes=[index(f"by-k{number}", f"k{number}") for number in range(20)])
    for number in range(20):
        item = {"pk": {"S": "p"}, "sk": {"N": str(number)}, "x": {"N": str(number)}, "v": {"S": LARGE}}
        client.put_item(TableName="large", Item=item)
    for number in range(256):
        client.put_item(TableName="large", Item={"pk": {"S": "small"}, "sk": {"N": str(number)}, "v": {"S": "a" * 1_000}})
    numbers = {"NS": [str(number) for number in range(60_000)]}
    client.put_item(TableName="large", Item={"pk": {"S": "set"}, "sk": {"N": "0"}, "c": numbers})
    document = {"M": {f"a{number}": {"N": "1"} for number in range(30_000)}}
    for number in range(DOCUMENTS):
        client.put_item(TableName="large", Item={"pk": {"S": "map"}, "sk": {"N": str(number)}, "m": document})


class Connection:
    """Sends prepared requests: building one takes longer than answering it."""

    def __init__(self, endpoint):
        self.connection = http.client.HTTPConnection(endpoint.removeprefix("http://"))

    def send(self, request):
        operation, body = request
        self.connection.request("POST", "/", body, headers(operation))
        response = self.connection.getresponse()
        content = response.read()
        assert response.status == 200, content[:300]


def prepared(operation, **body):
    return operation, json.dumps(body).encode()


def heavy_filter(searches=100, needle=10_000):
    """A filter of searches that each scan the whole value."""
    values = {":n": {"S": "a" * needle + "b"}}
    return {"FilterExpression": " OR ".join(["contains(v, :n)"] * searches), "ExpressionAttributeValues": values}


def query_with_heavy_filter(partition="p", **more):
    request = heavy_filter(**more)
    request["ExpressionAttributeValues"][":p"] = {"S": partition}
    return [prepared("Query", TableName="large", KeyConditionExpression="pk = :p", **request)]


def scan_of_index_that_fetches_items():
    return [prepared("Scan", TableName="large", IndexName="lsi", **heavy_filter())]


def update_under_heavy_condition():
    values = {":n": {"S": "a" * 190_000 + "b"}, ":one": {"N": "1"}}
    condition = " AND ".join(["NOT contains(v, :n)"] * 60)
    update = {"UpdateExpression": "ADD c :one", "ConditionExpression": condition, "ExpressionAttributeValues": values}
    return [prepared("UpdateItem", TableName="large", Key={"pk": {"S": "p"}, "sk": {"N": "1"}}, **update)]


def transaction(partition, count, kind, action):
    keys = [{"pk": {"S": partition}, "sk": {"N": str(number)}} for number in range(count)]
    return [prepared("TransactWriteItems", TransactItems=[{kind: {"TableName": "large", "Key": key, **action}} for key in keys])]


def transaction_of_heavy_checks():
    values = {":n": {"S": "a" * 300 + "b"}}
    condition = " AND ".join(["NOT contains(v, :n)"] * 20)
    return transaction("p", 20, "ConditionCheck", {"ConditionExpression": condition, "ExpressionAttributeValues": values})


def transaction_of_edits_in_large_documents():
    edits = ", ".join(f"m.a{number * 100} = m.a{29_999 - number * 90} + :one" for number in range(140))
    update = {"UpdateExpression": f"SET {edits}", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    return transaction("map", DOCUMENTS, "Update", update)


def large_sets():
    key = {"pk": {"S": "set"}, "sk": {"N": "0"}}
    more = {":n": {"NS": [str(number) for number in range(60_000, 80_000)]}}
    update = {"TableName": "large", "Key": key, "ExpressionAttributeValues": more}
    return [prepared("UpdateItem", UpdateExpression=expression, **update) for expression in ("ADD c :n", "DELETE c :n")]


def many_attributes_in_twenty_indexes():
    attributes = {f"a{number}": {"N": "1"} for number in range(40_000)}
    keys = [{f"k{number}": {"S": f"{name}{number}"} for number in range(20)} for name in "xy"]
    return [prepared("PutItem", TableName="wide", Item={"pk": {"S": "w"}, **key, **attributes}) for key in keys]


KINDS = [
    query_with_heavy_filter,
    scan_of_index_that_fetches_items,
    update_under_heavy_condition,
    transaction_of_heavy_checks,
    transaction_of_edits_in_large_documents,
    large_sets,
    many_attributes_in_twenty_indexes,
]


def longest_wait(connection):
    item = {"pk": {"S": "probe"}, "v": {"S": "x" * 100}}
    requests = [prepared("PutItem", TableName="probe", Item=item), prepared("GetItem", TableName="probe", Key={"pk": item["pk"]})]
    waits = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        begin = time.monotonic()
        connection.send(requests[len(waits) % 2])
        waits.append(time.monotonic() - begin)
        time.sleep(0.002)
    return max(waits)


@pytest.mark.parametrize("attack", KINDS, ids=lambda attack: attack.__name__)
def test_other_clients_are_not_delayed(endpoint, tables, attack):
    over = threading.Event()
    failures = []
    requests = attack()

    def attack_until_over():
        connection = Connection(endpoint)
        try:
            while not over.is_set():
                for request in requests:
                    connection.send(request)
        except Exception as failure:
            failures.append(failure)

    senders = [threading.Thread(target=attack_until_over) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        assert longest_wait(Connection(endpoint)) < LONGEST_WAIT
    finally:
        over.set()
        for sender in senders:
            sender.join()
    assert not failures


def test_a_needle_longer_than_any_item_is_not_searched_for(endpoint, tables):
    [search] = query_with_heavy_filter("small", needle=370_000)
    begin = time.monotonic()
    Connection(endpoint).send(search)
    # Searching each item took half a minute.
    assert time.monotonic() - begin < 3
