"""Sends the same random requests to Partita and to DynamoDB Local, and tells where they answer differently.

    compare.py PARTITA LOCAL --requests N --seed S

What is known of DynamoDB Local stands in peculiarities.py; any other difference fails.
"""

import argparse
import collections
import http.client
import json
import sys
from decimal import Decimal
from urllib.parse import urlparse

from operations import Requests
from peculiarities import leaves_another_state, reason_for
from tables import TABLES, all_keys

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=differential/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0"
)
# What has no order.
UNORDERED = ("Items", "Responses")


class Database:
    def __init__(self, endpoint):
        self.address = urlparse(endpoint)
        self.connection = None

    def send(self, operation, request):
        """The status and the answer."""
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


def comparable(status, answer, operation, request):
    """An answer without what says nothing: the order of sets and of rows, how a number is written."""
    if status != 200:
        kind = answer.get("__type", "").split("#")[-1]
        message = answer.get("Message") or answer.get("message") or ""
        reasons = answer.get("CancellationReasons")
        item = answer.get("Item")
        return {
            "type": kind,
            "message": message,
            **({"reasons": [plain(reason) for reason in reasons]} if reasons else {}),
            **({"item": plain(item)} if item else {}),
        }
    answer = plain(answer)
    # Local tells it unasked.
    answer.pop("ConsumedCapacity", None)
    # Pages of a scan are in another order, which is not promised.
    if operation == "Scan" and "ExclusiveStartKey" in request:
        return {}
    ordered = operation == "Query" and "IndexName" not in request or operation.startswith("Transact")
    ordered = ordered or operation in ("BatchExecuteStatement", "ExecuteTransaction")
    if not ordered:
        answer.pop("LastEvaluatedKey", None)
        for member in UNORDERED:
            if member in answer:
                answer[member] = in_order(answer[member])
    return answer


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
    """Makes both the same again: no items."""
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
    parser.add_argument("--known", action="store_true", help="examples also of differences that are known")
    arguments = parser.parse_args()
    partita, local = databases = Database(arguments.partita), Database(arguments.local)
    for table in TABLES:
        for database in databases:
            database.send("DeleteTable", {"TableName": table.name})
            status, answer = database.send("CreateTable", table.create())
            if status != 200:
                sys.exit(f"no table {table.name}: {answer}")
    requests = Requests(arguments.seed)
    statuses = collections.Counter()
    known, unknown = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(arguments.requests):
        operation, request = requests.next()
        answers = [database.send(operation, request) for database in databases]
        ours, theirs = (comparable(*answer, operation, request) for answer in answers)
        statuses[operation, answers[0][0]] += 1
        if (answers[0][0], ours) == (answers[1][0], theirs):
            if answers[0][0] == 200 and leaves_another_state(operation, request):
                empty(databases)
            continue
        reason = reason_for(operation, request, (answers[0][0], ours), (answers[1][0], theirs))
        if reason:
            known[reason].append((request, ours, theirs))
        else:
            signature = (operation, summary(answers[0][0], ours), summary(answers[1][0], theirs))
            unknown[signature].append((request, ours, theirs))
        if 200 in (answers[0][0], answers[1][0]) and not is_read(operation, request):
            empty(databases)
    report(arguments, statuses, known, unknown)
    sys.exit(1 if unknown else 0)


def is_read(operation, request):
    if operation == "ExecuteStatement":
        return request["Statement"].startswith("SELECT")
    return operation in ("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems")


def summary(status, answer):
    if status == 200:
        return "200"
    return f"{answer['type']}: {answer['message'][:90]}"


def report(arguments, statuses, known, unknown):
    total, answered = sum(statuses.values()), sum(count for (_, status), count in statuses.items() if status == 200)
    print(f"{total} requests of seed {arguments.seed}, {answered} answered, {total - answered} refused by Partita")
    for reason, examples in sorted(known.items(), key=lambda entry: -len(entry[1])):
        print(f"known {len(examples):6}  {reason}")
        if arguments.known:
            show(examples[: arguments.show])
    for (operation, ours, theirs), examples in sorted(unknown.items(), key=lambda entry: -len(entry[1])):
        print(f"\nDIFFERS {len(examples)} × {operation}\n  Partita {ours}\n  Local   {theirs}")
        show(examples[: arguments.show])
    print(f"\n{sum(len(examples) for examples in unknown.values())} differences that are not known")


def show(examples):
    for request, ours, theirs in examples:
        print(f"    {json.dumps(request)}\n      Partita {json.dumps(ours)}\n      Local   {json.dumps(theirs)}")


main()
