"""Sends the same random requests to Partita and to DynamoDB Local, and reports where the responses differ.

    compare.py PARTITA LOCAL --requests N --seed S

Known differences of DynamoDB Local are in known_differences.py; any other difference fails.
"""

import argparse
import collections
import http.client
import json
import sys
from decimal import Decimal
from urllib.parse import urlparse

from operations import Requests
from known_differences import leaves_different_state, reason_for
from tables import TABLES, all_keys

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=differential/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0"
)
# Members without a defined order.
UNORDERED = ("Items", "Responses")


class Database:
    def __init__(self, endpoint):
        self.address = urlparse(endpoint)
        self.connection = None

    def send(self, operation, request):
        """Returns the status and the response."""
        headers = {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        body = json.dumps(request)
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
                self.connection.request("POST", "/", body, headers)
                response = self.connection.getresponse()
                return response.status, json.loads(response.read() or b"null")
            except (ConnectionError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    raise


def comparable(status, response, operation, request):
    """Normalizes a response: the order of sets and rows, and the notation of numbers."""
    if status != 200:
        kind = response.get("__type", "").split("#")[-1]
        message = response.get("Message") or response.get("message") or ""
        reasons = response.get("CancellationReasons")
        item = response.get("Item")
        return {
            "type": kind,
            "message": message,
            **({"reasons": [plain(reason) for reason in reasons]} if reasons else {}),
            **({"item": plain(item)} if item else {}),
        }
    response = plain(response)
    # Local returns it without being asked.
    response.pop("ConsumedCapacity", None)
    # The order of scans is unspecified, so their pages differ.
    if operation == "Scan" and "ExclusiveStartKey" in request:
        return {}
    ordered = operation == "Query" and "IndexName" not in request or operation.startswith("Transact")
    ordered = ordered or operation in ("BatchExecuteStatement", "ExecuteTransaction")
    if not ordered:
        response.pop("LastEvaluatedKey", None)
        for member in UNORDERED:
            if member in response:
                response[member] = in_order(response[member])
    return response


def in_order(rows):
    if isinstance(rows, dict):
        return {name: in_order(part) for name, part in rows.items()}
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def plain(value):
    if isinstance(value, list):
        return [plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (kind, content), = value.items()
        if kind in ("SS", "BS") and isinstance(content, list):
            return {kind: sorted(content)}
        if kind == "NS" and isinstance(content, list):
            return {kind: sorted(number(part) for part in content)}
        if kind == "N" and isinstance(content, str):
            return {kind: number(content)}
    return {name: plain(part) for name, part in value.items()}


def number(text):
    value = Decimal(text).normalize()
    return str(value + 0) if value else "0"


def empty(databases):
    """Makes both identical again, by deleting all items."""
    for table in TABLES:
        deletes = [{"DeleteRequest": {"Key": key}} for key in all_keys(table)]
        for database in databases:
            database.send("BatchWriteItem", {"RequestItems": {table.name: deletes}})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("partita")
    parser.add_argument("local")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3, help="examples of each difference")
    parser.add_argument("--known", action="store_true", help="also show examples of known differences")
    arguments = parser.parse_args()
    partita, local = databases = Database(arguments.partita), Database(arguments.local)
    for table in TABLES:
        for database in databases:
            database.send("DeleteTable", {"TableName": table.name})
            status, response = database.send("CreateTable", table.create())
            if status != 200:
                sys.exit(f"cannot create table {table.name}: {response}")
    requests = Requests(arguments.seed)
    statuses = collections.Counter()
    known, unknown = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(arguments.requests):
        operation, request = requests.next()
        responses = [database.send(operation, request) for database in databases]
        ours, theirs = (comparable(*response, operation, request) for response in responses)
        statuses[operation, responses[0][0]] += 1
        if (responses[0][0], ours) == (responses[1][0], theirs):
            if responses[0][0] == 200 and leaves_different_state(operation, request):
                empty(databases)
            continue
        reason = reason_for(operation, request, (responses[0][0], ours), (responses[1][0], theirs))
        if reason:
            known[reason].append((request, ours, theirs))
        else:
            signature = (operation, summary(responses[0][0], ours), summary(responses[1][0], theirs))
            unknown[signature].append((request, ours, theirs))
        if 200 in (responses[0][0], responses[1][0]) and not is_read(operation, request):
            empty(databases)
    report(arguments, statuses, known, unknown)
    sys.exit(1 if unknown else 0)


def is_read(operation, request):
    if operation == "ExecuteStatement":
        return request["Statement"].startswith("SELECT")
    return operation in ("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems")


def summary(status, response):
    if status == 200:
        return "200"
    return f"{response['type']}: {response['message'][:90]}"


def report(arguments, statuses, known, unknown):
    total, succeeded = sum(statuses.values()), sum(count for (_, status), count in statuses.items() if status == 200)
    print(f"{total} requests of seed {arguments.seed}, {succeeded} successful, {total - succeeded} rejected by Partita")
    for reason, examples in sorted(known.items(), key=lambda entry: -len(entry[1])):
        print(f"known {len(examples):6}  {reason}")
        if arguments.known:
            show(examples[: arguments.show])
    for (operation, ours, theirs), examples in sorted(unknown.items(), key=lambda entry: -len(entry[1])):
        print(f"\nDIFFERS {len(examples)} × {operation}\n  Partita {ours}\n  Local   {theirs}")
        show(examples[: arguments.show])
    print(f"\n{sum(len(examples) for examples in unknown.values())} unknown differences")


def show(examples):
    for request, ours, theirs in examples:
        print(f"    {json.dumps(request)}\n      Partita {json.dumps(ours)}\n      Local   {json.dumps(theirs)}")


main()
