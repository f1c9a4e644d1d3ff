"""Nobody has to wait long because of what somebody else asks: the worst requests of several kinds, sent without pause, beside a client
that is timed.

What is left of it is some milliseconds on a quiet machine. The bound is generous, because tests may run on a busy one.
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
    """A server of its own, with two threads and its data on the disk."""
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
    """Sends what was made ready before: to make it takes longer than to answer it."""

    def __init__(self, endpoint):
        self.connection = http.client.HTTPConnection(endpoint.removeprefix("http://"))

    def ask(self, request):
        operation, body = request
        self.connection.request("POST", "/", body, headers(operation))
        answer = self.connection.getresponse()
        told = answer.read()
        assert answer.status == 200, told[:300]


def ready(operation, **body):
    return operation, json.dumps(body).encode()


def heavy_filter(looks=100, needle=10_000):
    """Looks that each go through the whole value."""
    values = {":n": {"S": "a" * needle + "b"}}
    return {"FilterExpression": " OR ".join(["contains(v, :n)"] * looks), "ExpressionAttributeValues": values}


def query_with_heavy_filter(partition="p", **more):
    request = heavy_filter(**more)
    request["ExpressionAttributeValues"][":p"] = {"S": partition}
    return [ready("Query", TableName="large", KeyConditionExpression="pk = :p", **request)]


def scan_of_index_that_fetches_items():
    return [ready("Scan", TableName="large", IndexName="lsi", **heavy_filter())]


def update_under_heavy_condition():
    values = {":n": {"S": "a" * 190_000 + "b"}, ":one": {"N": "1"}}
    condition = " AND ".join(["NOT contains(v, :n)"] * 60)
    update = {"UpdateExpression": "ADD c :one", "ConditionExpression": condition, "ExpressionAttributeValues": values}
    return [ready("UpdateItem", TableName="large", Key={"pk": {"S": "p"}, "sk": {"N": "1"}}, **update)]


def transaction(partition, count, kind, action):
    keys = [{"pk": {"S": partition}, "sk": {"N": str(number)}} for number in range(count)]
    return [ready("TransactWriteItems", TransactItems=[{kind: {"TableName": "large", "Key": key, **action}} for key in keys])]


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
    return [ready("UpdateItem", UpdateExpression=expression, **update) for expression in ("ADD c :n", "DELETE c :n")]


def many_attributes_in_twenty_indexes():
    attributes = {f"a{number}": {"N": "1"} for number in range(40_000)}
    keys = [{f"k{number}": {"S": f"{name}{number}"} for number in range(20)} for name in "xy"]
    return [ready("PutItem", TableName="wide", Item={"pk": {"S": "w"}, **key, **attributes}) for key in keys]


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
    requests = [ready("PutItem", TableName="probe", Item=item), ready("GetItem", TableName="probe", Key={"pk": item["pk"]})]
    waits = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        begin = time.monotonic()
        connection.ask(requests[len(waits) % 2])
        waits.append(time.monotonic() - begin)
        time.sleep(0.002)
    return max(waits)


@pytest.mark.parametrize("attack", KINDS, ids=lambda attack: attack.__name__)
def test_others_go_on(endpoint, tables, attack):
    over = threading.Event()
    failures = []
    requests = attack()

    def send():
        connection = Connection(endpoint)
        try:
            while not over.is_set():
                for request in requests:
                    connection.ask(request)
        except Exception as failure:
            failures.append(failure)

    senders = [threading.Thread(target=send) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        assert longest_wait(Connection(endpoint)) < LONGEST_WAIT
    finally:
        over.set()
        for sender in senders:
            sender.join()
    assert not failures


def test_what_is_longer_than_an_item_is_not_looked_for_in_it(endpoint, tables):
    [search] = query_with_heavy_filter("small", needle=370_000)
    begin = time.monotonic()
    Connection(endpoint).ask(search)
    # It took half a minute when each item was searched.
    assert time.monotonic() - begin < 3
