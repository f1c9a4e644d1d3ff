"""Requests of every operation, damaged by a seeded generator, and connections that violate the protocol. Whatever is
sent, there is never a 5xx, never a missing response where one is possible, never a panic, and the data is unchanged
afterwards. PARTITA_FUZZ_SECONDS sets the duration, PARTITA_FUZZ_SEED the seed."""

import gzip
import json
import os
import random
import socket
import time
import zlib
from contextlib import closing
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from conftest import announced_endpoint, server_binary, started_server
from dynamo import Table, create_table, headers, index

SECONDS = float(os.environ.get("PARTITA_FUZZ_SECONDS", "10"))
SEED = int(os.environ.get("PARTITA_FUZZ_SEED", "20261115"))
ITEMS = [{"pk": f"p{n % 3}", "sk": f"{n:02}", "n": n, "tags": {"a", f"t{n}"}, "doc": {"list": [n, {"deep": True}]}} for n in range(12)]


class Server:
    """The server under test, and its standard error if the test has started it."""

    def __init__(self, endpoint, errors=None):
        self.endpoint, self.errors = endpoint, errors
        self.address = urlsplit(endpoint)
        self.client = boto3.client(
            "dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
        )

    def connect(self):
        return socket.create_connection((self.address.hostname, self.address.port), timeout=20)

    def stderr_text(self):
        return self.errors.read_text() if self.errors else ""


@pytest.fixture(scope="module")
def server(request, tmp_path_factory):
    if not server_binary().exists():
        yield Server(request.getfixturevalue("endpoint"))
        return
    errors = tmp_path_factory.mktemp("fuzz") / "stderr"
    with open(errors, "w") as file:
        process = started_server(stderr=file)
    try:
        yield Server(announced_endpoint(process), errors)
        assert process.poll() is None, "the server has ended"
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def untouched(server):
    """A table that no damaged request names; its content must not change. Returns the check."""
    create_table(server.client, "fuzz-untouched", "pk:S sk:S", also="n:N", indexes=[index("byNumber", "n")])
    table = Table(server.client, "fuzz-untouched")
    table.fill(ITEMS)

    def check():
        found = sorted(table.scan()["Items"], key=lambda item: item["sk"])
        assert found == ITEMS
        assert [item["sk"] for item in table.query("pk = :p", values={":p": "p1"})["Items"]] == ["01", "04", "07", "10"]
        assert table.query("n = :n", IndexName="byNumber", values={":n": 5})["Items"] == [ITEMS[5]]

    yield check
    check()
    assert "panic" not in server.stderr_text(), server.stderr_text()[-2000:]


def request_bytes(operation, body, *, version="1.1", close=False, more=(), length=None):
    fields = headers(operation) | {"Host": "localhost", "Content-Length": str(len(body) if length is None else length)}
    if close:
        fields["Connection"] = "close"
    fields |= dict(more)
    lines = [f"POST / HTTP/{version}"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Responses:
    """Reads the responses on one connection, each as its status and its body."""

    def __init__(self, stream):
        self.stream, self.buffer = stream, b""

    def more(self):
        part = self.stream.recv(1 << 16)
        self.buffer += part
        return bool(part)

    def next(self):
        """Returns None if the connection ended without a response."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.more():
                assert not self.buffer, self.buffer[:200]
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        status = int(head.split(b" ", 2)[1])
        if status == 100:
            return self.next()
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        length = int(fields.get(b"content-length", b"0"))
        while len(self.buffer) < length:
            assert self.more(), "the connection ended within a response"
        content, self.buffer = self.buffer[:length], self.buffer[length:]
        if b"x-amz-crc32" in fields:
            assert int(fields[b"x-amz-crc32"]) == zlib.crc32(content)
        return status, content


# ---- damaged bodies ---------------------------------------------------------------------------------------------

TABLE, OTHER = "fuzz-one", "fuzz-two"
KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
ITEM = KEY | {
    "s": {"S": "text é 🎵"}, "n": {"N": "-12.5e3"}, "b": {"B": "AQID"}, "t": {"BOOL": True}, "z": {"NULL": True},
    "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2.5"]}, "bs": {"BS": ["AQ==", "Ag=="]},
    "l": {"L": [{"S": "x"}, {"L": [{"N": "1"}]}]}, "m": {"M": {"k": {"M": {"deep": {"S": "y"}}}}},
}
NAMES, VALUES = {"#n": "n", "#m": "m"}, {":n": {"N": "1"}, ":s": {"S": "a"}}
CONDITION = "attribute_not_exists(pk) OR (#n BETWEEN :n AND :n AND NOT contains(#m.k, :s)) OR size(l[0]) IN (:n, :s)"
UPDATE = "SET #n = if_not_exists(#n, :n) + :n, l[1] = :s, #m.k.deep = list_append(l, l) REMOVE t ADD c :n"
CONDITIONAL = {"ConditionExpression": CONDITION, "ExpressionAttributeNames": NAMES, "ExpressionAttributeValues": VALUES}
SETTINGS = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
COMPARE = {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"S": "a"}, {"S": "z"}]}
ARN = f"arn:aws:dynamodb:us-east-1:123456789012:table/{TABLE}"
BACKUP_ARN = f"{ARN}/backup/01794700800000-a1b2c3d4"
EXPORT_ARN, IMPORT_ARN, BULK_OPERATION_ARN = (f"{ARN}/{kind}/01794700800000-a1b2c3d4" for kind in ("export", "import", "bulk-operation"))
STREAM_ARN, SHARD = f"{ARN}/stream/2026-11-15T18:44:54.123", "shardId-00000001794700800000-00000000"
CREATE = {
    "TableName": TABLE, "BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in (("pk", "S"), ("sk", "S"), ("n", "N"))],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [{"IndexName": "local", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}],
    "GlobalSecondaryIndexes": [{"IndexName": "global", "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["s"]}, "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}, "SSESpecification": {"Enabled": False},
    "Tags": [{"Key": "k", "Value": "v"}], "TableClass": "STANDARD", "DeletionProtectionEnabled": False,
}
OVERRIDES = {
    "BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": CREATE["ProvisionedThroughput"],
    "GlobalSecondaryIndexOverride": CREATE["GlobalSecondaryIndexes"], "LocalSecondaryIndexOverride": CREATE["LocalSecondaryIndexes"],
}
VALID = [
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ReturnValues": "ALL_OLD"} | CONDITIONAL | SETTINGS),
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "ConditionalOperator": "OR", "Expected": {"pk": {"Exists": False}, "sk": COMPARE}}),
    ("GetItem", {"TableName": ARN, "Key": KEY, "ProjectionExpression": "pk, #m.k, l[0]", "ExpressionAttributeNames": {"#m": "m"}, "ConsistentRead": True}),
    ("GetItem", {"TableName": TABLE, "Key": KEY, "AttributesToGet": ["pk", "s"]}),
    ("UpdateItem", {"TableName": TABLE, "Key": KEY, "UpdateExpression": UPDATE, "ReturnValues": "UPDATED_NEW"} | CONDITIONAL | SETTINGS),
    ("UpdateItem", {"TableName": TABLE, "Key": KEY, "AttributeUpdates": {"n": {"Action": "ADD", "Value": {"N": "1"}}, "s": {"Action": "DELETE"}}}),
    ("DeleteItem", {"TableName": TABLE, "Key": KEY, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"} | CONDITIONAL),
    ("Query", {"TableName": TABLE, "KeyConditionExpression": "pk = :s AND begins_with(sk, :s)", "FilterExpression": "#n <> :n", "ExpressionAttributeNames": {"#n": "s"}, "ExpressionAttributeValues": VALUES, "Limit": 3, "ScanIndexForward": False, "ExclusiveStartKey": KEY, "Select": "COUNT"}),
    ("Query", {"TableName": TABLE, "IndexName": "global", "KeyConditions": {"n": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "1"}]}}, "QueryFilter": {"s": COMPARE}}),
    ("Scan", {"TableName": TABLE, "FilterExpression": CONDITION, "ExpressionAttributeNames": NAMES, "ExpressionAttributeValues": VALUES, "Segment": 0, "TotalSegments": 4, "Limit": 10, "IndexName": "local"}),
    ("Scan", {"TableName": TABLE, "ScanFilter": {"s": COMPARE, "n": {"ComparisonOperator": "NOT_NULL"}}, "ConditionalOperator": "AND", "ExclusiveStartKey": KEY}),
    ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [KEY], "ProjectionExpression": "pk"}, OTHER: {"Keys": [KEY], "AttributesToGet": ["n"]}}}),
    ("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": ITEM}}, {"DeleteRequest": {"Key": {"pk": {"S": "x"}, "sk": {"S": "y"}}}}]}} | SETTINGS),
    ("TransactWriteItems", {"ClientRequestToken": "token", "TransactItems": [{"Put": {"TableName": TABLE, "Item": ITEM}}, {"ConditionCheck": {"TableName": OTHER, "Key": KEY} | CONDITIONAL}, {"Delete": {"TableName": TABLE, "Key": {"pk": {"S": "x"}, "sk": {"S": "y"}}}}]}),
    ("TransactWriteItems", {"TransactItems": [{"Update": {"TableName": TABLE, "Key": KEY, "UpdateExpression": UPDATE} | CONDITIONAL}]}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": TABLE, "Key": KEY, "ProjectionExpression": "pk, l[0]"}}]}),
    ("ExecuteStatement", {"Statement": f"SELECT pk, m.k, l[0] FROM \"{TABLE}\".\"local\" WHERE pk IN ['a', ?] AND (n BETWEEN 1 AND ?) AND NOT contains(s, 'x''y') AND z IS NOT MISSING ORDER BY pk DESC, n", "Parameters": [{"S": "b"}, {"N": "2"}], "Limit": 2, "ConsistentRead": True, "NextToken": "AAEC", "ReturnConsumedCapacity": "INDEXES"}),
    ("ExecuteStatement", {"Statement": f"INSERT INTO \"{TABLE}\" VALUE {{'pk': ?, 'sk': 'b', 'm': {{'k': [1, -2.5e3, <<'a', 'b'>>]}}}}", "Parameters": [{"S": "a"}]}),
    ("ExecuteStatement", {"Statement": f"UPDATE \"{TABLE}\" SET n = n + 1 - 2 SET l = list_append(l, [?]), ss = set_add(ss, <<'c'>>) REMOVE m.k.deep WHERE pk = 'a' AND sk = 'b' AND size(l) > 0 RETURNING MODIFIED NEW *", "Parameters": [{"S": "x"}], "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
    ("BatchExecuteStatement", {"Statements": [{"Statement": f"SELECT * FROM \"{TABLE}\" WHERE pk = ? AND sk = 'b'", "Parameters": [{"S": "a"}], "ConsistentRead": True}], "ReturnConsumedCapacity": "TOTAL"}),
    ("BatchExecuteStatement", {"Statements": [{"Statement": f"DELETE FROM \"{TABLE}\" WHERE pk = 'x' AND sk = 'y' RETURNING ALL OLD *"}]}),
    ("ExecuteTransaction", {"TransactStatements": [{"Statement": f"EXISTS(SELECT * FROM \"{TABLE}\" WHERE pk = 'a' AND sk = 'b' AND n = 1)"}, {"Statement": f"DELETE FROM \"{TABLE}\" WHERE pk = 'x' AND sk = ?", "Parameters": [{"S": "y"}]}], "ClientRequestToken": "token"}),
    ("CreateTable", CREATE), ("CreateTable", CREATE | {"TableName": OTHER}),
    ("UpdateTable", {"TableName": TABLE, "AttributeDefinitions": [{"AttributeName": "s", "AttributeType": "S"}], "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "late", "KeySchema": [{"AttributeName": "s", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}]}),
    ("UpdateTable", {"TableName": TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "late"}}]}),
    ("UpdateTable", {"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}}),
    ("DescribeTable", {"TableName": TABLE}), ("DeleteTable", {"TableName": OTHER}), ("ListTables", {"Limit": 2, "ExclusiveStartTableName": "fuzz"}),
    ("DescribeTimeToLive", {"TableName": TABLE}), ("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}}),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}), ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["a"]}),
    ("ListTagsOfResource", {"ResourceArn": ARN, "NextToken": "x"}), ("DescribeLimits", {}), ("DescribeEndpoints", {}),
    ("ListStreams", {"TableName": TABLE, "Limit": 3, "ExclusiveStartStreamArn": STREAM_ARN}),
    ("DescribeStream", {"StreamArn": STREAM_ARN, "Limit": 3, "ExclusiveStartShardId": SHARD, "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": SHARD}}),
    ("GetShardIterator", {"StreamArn": STREAM_ARN, "ShardId": SHARD, "ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": "100000000000000000001"}),
    ("GetRecords", {"ShardIterator": "A" * 54 + "==", "Limit": 10}),
    ("CreateBackup", {"TableName": "fuzz-nowhere", "BackupName": "nightly"}), ("DescribeBackup", {"BackupArn": BACKUP_ARN}), ("DeleteBackup", {"BackupArn": BACKUP_ARN}),
    ("ListBackups", {"TableName": TABLE, "Limit": 3, "TimeRangeLowerBound": 1.5, "TimeRangeUpperBound": 1e10, "ExclusiveStartBackupArn": BACKUP_ARN, "BackupType": "ALL"}),
    ("RestoreTableFromBackup", {"TargetTableName": OTHER, "BackupArn": BACKUP_ARN, "SSESpecificationOverride": {"Enabled": False}} | OVERRIDES),
    ("RestoreTableToPointInTime", {"SourceTableArn": ARN, "TargetTableName": OTHER, "RestoreDateTime": 1.5} | OVERRIDES),
    ("DescribeContinuousBackups", {"TableName": ARN}), ("UpdateContinuousBackups", {"TableName": TABLE, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}}),
    ("DescribeExport", {"ExportArn": EXPORT_ARN}), ("ListExports", {"TableArn": ARN, "MaxResults": 3, "NextToken": "x"}),
    ("ImportTable", {"ClientToken": "token", "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": "a/"}, "InputFormat": "CSV", "InputCompressionType": "GZIP", "InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk"]}}, "TableCreationParameters": {"TableName": "fuzz-imported", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}),
    ("DescribeImport", {"ImportArn": IMPORT_ARN}), ("ListImports", {"TableArn": ARN, "PageSize": 3, "NextToken": "x"}),
    ("StartBulkPutItems", {"ClientToken": "token", "TableName": TABLE, "InputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "a/", "InputFormat": "ION", "InputCompressionType": "ZSTD"}, "OutputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "b/", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]}, "MaxWriteRequestUnits": 1024, "PerformanceTier": "STANDARD"}),
    ("DescribeBulkOperation", {"BulkOperationArn": BULK_OPERATION_ARN}), ("CancelBulkOperation", {"BulkOperationArn": BULK_OPERATION_ARN}), ("ListBulkOperations", {"MaxResults": 3, "NextToken": "0" * 16}),
    ("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket", "ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": {"ExportFromTime": 1.5, "ExportToTime": 2.5, "ExportViewType": "NEW_IMAGE"}, "FilterSpecification": {"KeyConditionExpression": "pk = :s", "FilterExpression": "#n > :n", "ExpressionAttributeNames": {"#n": "n"}, "ExpressionAttributeValues": VALUES}}),
]


class Raw(str):
    """Text to be written as it is, whether or not it is JSON."""


class Members(list):
    """An object as pairs, so that a name can be repeated."""


def text(node):
    if isinstance(node, Raw):
        return str(node)
    if isinstance(node, Members):
        return "{" + ",".join(f"{json.dumps(name)}:{text(value)}" for name, value in node) + "}"
    if isinstance(node, dict):
        return text(Members(node.items()))
    if isinstance(node, list):
        return "[" + ",".join(map(text, node)) + "]"
    return json.dumps(node, ensure_ascii=False)


EXPRESSIONS = [
    "(" * 2000 + "a = :n" + ")" * 2000, "NOT " * 1000 + "a = :n", "a" + ".a" * 2000 + " = :n", "a" + "[0]" * 1300 + " = :n", " AND ".join(["a = :n"] * 450),
    "a IN (" + ", ".join([":n"] * 900) + ")", "size(" * 600 + "a" + ")" * 600 + " > :n", "SET " + ", ".join(f"a{n} = :n" for n in range(300)), "REMOVE " + ", ".join(f"l[{n}]" for n in range(400)),
    "SET a = " + "if_not_exists(a, " * 200 + ":n" + ")" * 200, "SET a = " + "list_append(l, " * 250 + "l" + ")" * 250, "SET " * 1000, "#" * 4000, ":" * 4000, "a" * 4096, "é" * 2048, "\x00", "a[99999999999999999999] = :n",
    "a[-1] = :n", "((a = :n))", "a = :n OR", ", ,", "pk,pk,pk", "\ufeffa = :n", "a\u200b = :n", "SET m.k = :n, m.k.deep = :n", "ADD l :n DELETE ss :s", "a BETWEEN :n AND", "contains(contains(a, :n), :n)", "🎵 = :n", "", " ", "\t\n", "-- :n", "';--",
]
NUMBERS = ["1e126", "-1e-131", "9" * 39, "9" * 5000, "1e99999999999", "0x1", "NaN", "-Infinity", "", " 1", "1_000", "+5", "--1", "1e", ".", "١", "0" * 4000, "-0", "1" + "0" * 125]
JSON_NUMBERS = [Raw(n) for n in ["-1", "0", "1.5", "1e400", "-1e400", "1e-400", "99999999999999999999", "2147483648", "-2147483649", "9" * 400, "1E+2", "-0"]]
TEXTS = ["", "\x00", "a\x00b", "é" * 300, "x" * 300, "x" * 70_000, "\uffff", "🎵" * 70, "../..", "%00", "arn:", ARN + "/index/global", "null", "{", "AA=", "A===", "AAA*", "=" * 8, "AQID\n", "-", "true"]
INVALID_JSON = [Raw(w) for w in ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x"', '"', "{", "[", "tru", "nul", "01", "1.", "'a'", "/**/1", '"\t"', "\ufeff1", "", ",", "[1,]", '{"a":1,}', "[" * 200 + "]" * 200, '{"L":[' * 40 + '{"S":"x"}' + "]}" * 40, '{"M":{"a":' * 400 + '{"NULL":true}' + "}}" * 400]]
PLAIN = [None, True, False, [], {}, [[]], {"": ""}, [None], {"S": "a", "N": "1"}, {"S": None}, {"N": 1}, {"B": "%"}, {"BOOL": "true"}, {"NULL": False}, {"SS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": ["AQ", ""]}, {"L": {}}, {"M": []}, {"X": 1}]


class Damage:
    """Damages a valid body at random."""

    def __init__(self, rng):
        self.rng = rng

    def body(self, valid):
        node, self.grown = valid, False
        for _ in range(self.rng.choice([1, 1, 1, 2, 3, 6])):
            node = self.node(node)
        content = text(node).encode("utf-8", "surrogatepass")
        return self.bytes(content) if self.rng.random() < 0.2 else content

    def node(self, node):
        """Descends at random, and damages the node where it stops."""
        pairs = list(node.items()) if isinstance(node, dict) else node
        if not isinstance(node, (dict, Members, list)) or not pairs or self.rng.random() < 0.12:
            return self.replaced(node)
        at = self.rng.randrange(len(pairs))
        if isinstance(node, (dict, Members)):
            return self.object(list(pairs), at)
        return self.array(list(pairs), at)

    def object(self, pairs, at):
        name, value = pairs[at]
        match self.rng.randrange(12):
            case 0:
                pairs.append((name, self.node(value)))
            case 1:
                pairs[at] = (self.rng.choice(TEXTS + EXPRESSIONS), value)
            case 2:
                del pairs[at]
            case 3:
                pairs *= self.growth(30)
            case _:
                pairs[at] = (name, self.node(value))
        return Members(pairs)

    def array(self, elements, at):
        match self.rng.randrange(8):
            case 0:
                elements *= self.growth(120)
            case 1:
                elements.insert(at, self.replaced(elements[at]))
            case 2:
                del elements[at]
            case _:
                elements[at] = self.node(elements[at])
        return elements

    def growth(self, most):
        """A factor by which to repeat elements, once in a body: other tests cover bodies that are too large."""
        factor = 1 if self.grown else self.rng.choice([2, 12, most])
        self.grown = True
        return factor

    def replaced(self, node):
        pools = [PLAIN, JSON_NUMBERS, INVALID_JSON, TEXTS, [self.rng.choice(VALID)[1]]]
        if isinstance(node, str):
            pools += [EXPRESSIONS, NUMBERS, TEXTS, [node + self.rng.choice(TEXTS), node * 2, node[:-1], node.upper()]]
        return self.rng.choice(self.rng.choice(pools))

    def bytes(self, content):
        at = self.rng.randrange(len(content) + 1)
        fragment = self.rng.choice([b"\xff", b"\x00", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b'"', b"}", b"\\", b"\r\n", b"{}"])
        return self.rng.choice([content[:at], content[:at] + fragment + content[at:], content[:at] + fragment + content[at + 1 :], content + content])


class TestDamagedBodies:
    def test_valid_bodies_are_accepted(self, server, untouched):
        """Every operation is in the list, and its body is decoded."""
        assert len({operation for operation, _ in VALID}) == 47
        with closing(server.connect()) as stream:
            responses = Responses(stream)
            for operation, body in sorted(VALID, key=lambda valid: valid[0] != "CreateTable"):
                stream.sendall(request_bytes(operation, text(body).encode()))
                status, content = responses.next()
                assert status in (200, 400) and b"SerializationException" not in content, (operation, content)

    def test_damaged_bodies_are_answered(self, server, untouched):
        rng = random.Random(SEED)
        damage = Damage(rng)
        end, sent = time.monotonic() + SECONDS, 0
        stream = server.connect()
        responses = Responses(stream)
        while time.monotonic() < end:
            operation, valid = rng.choice(VALID)
            if sent % 500 == 0:
                operation, body = "CreateTable", text(CREATE).encode()
            else:
                body = damage.body(valid)
            # Enough to reproduce a failure: the seed and the number of the request.
            about = (SEED, sent, operation, body[:500])
            stream.sendall(request_bytes(operation, body))
            response = responses.next()
            assert response is not None, about
            status, content = response
            assert 200 <= status < 500, (about, status, content)
            sent += 1
            if status == 413:
                stream.close()
                stream = server.connect()
                responses = Responses(stream)
            elif content or status != 200 or operation not in ("TagResource", "UntagResource"):
                assert isinstance(json.loads(content), dict), (about, content)
        stream.close()
        assert sent > 100


# ---- connections -----------------------------------------------------------------------------------------------

LIST = b'{"Limit": 1}'


def exchange(server, sent):
    """All responses to the bytes sent on one connection, until the server closes it."""
    with closing(server.connect()) as stream:
        stream.sendall(sent)
        try:
            stream.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server has already closed; its response can still be read
        responses, found = Responses(stream), []
        while response := responses.next():
            found.append(response)
        return found


def statuses(server, sent):
    return [status for status, _ in exchange(server, sent)]


def chunked(*chunks, end=b"0\r\n\r\n"):
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


def in_chunks(body):
    return request_bytes("ListTables", body, close=True, more={"Content-Length": None, "Transfer-Encoding": "chunked"})


class TestConnections:
    """A client that half-closes a connection still gets the responses to its earlier requests."""

    @pytest.mark.parametrize("sent, expected", [
        (request_bytes("ListTables", LIST, close=True), [200]),
        (request_bytes("ListTables", LIST, version="1.0"), [200]),
        (request_bytes("ListTables", LIST, version="1.0", more={"Host": None}), [403]),
        (request_bytes("ListTables", LIST, close=True, more={"Expect": "100-continue"}), [200]),
        (request_bytes("ListTables", LIST) * 20, [200] * 20),
        (request_bytes("ListTables", b"{") + request_bytes("ListTables", LIST), [400, 200]),
        (b"\r\n" + request_bytes("ListTables", LIST), [200]),
        (in_chunks(chunked(b'{"Lim', b'it": 1', b"}")), [200]),
        (in_chunks(chunked(*(LIST[n : n + 1] for n in range(len(LIST))))), [200]),
        (in_chunks(chunked(LIST, end=b"0\r\nTrailer: x\r\n\r\n")), [200]),
        (request_bytes("ListTables", gzip.compress(LIST, mtime=0), close=True, more={"Content-Encoding": "gzip"}), [200]),
    ])
    def test_requests_that_the_protocol_allows(self, server, untouched, sent, expected):
        assert statuses(server, sent) == expected

    @pytest.mark.parametrize("sent", [
        in_chunks(b"zz\r\n{}\r\n0\r\n\r\n"), in_chunks(b"-1\r\n{}\r\n0\r\n\r\n"), in_chunks(b"ffffffffffffffffff\r\n{}"), in_chunks(b"2\r\n{}X0\r\n\r\n"), in_chunks(b"5\r\n{}"),
        request_bytes("ListTables", LIST, length=100), request_bytes("ListTables", LIST, length=-1), request_bytes("ListTables", LIST, length="x"), request_bytes("ListTables", LIST, length=2**70),
        request_bytes("ListTables", LIST, length="12, 13"), request_bytes("ListTables", LIST, more={"content-length ": "3"}), request_bytes("ListTables", b"not gzip", more={"Content-Encoding": "gzip"}),
        request_bytes("ListTables", gzip.compress(LIST, mtime=0)[:-4], more={"Content-Encoding": "gzip"}), request_bytes("ListTables", LIST, version="9.9"), request_bytes("ListTables", LIST, version="2.0"),
        request_bytes("ListTables", LIST, more={"X-Long": "x" * 1_000_000}), request_bytes("ListTables", LIST, more={f"X-{n}": "x" for n in range(5000)}), request_bytes("ListTables", LIST, more={"X-\x00": "x"}),
        b"GET\r\n\r\n", b"POST / \r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"A" * 500_000, b"POST /" + b"a" * 500_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n",
    ])
    def test_requests_that_the_protocol_forbids(self, server, untouched, sent):
        responses = exchange(server, sent)
        assert responses, "no response"
        assert all(400 <= status < 500 for status, _ in responses), responses

    def test_no_request_hides_in_another(self, server, untouched):
        """A body with two lengths must not be ambiguous: a proxy in front must see the same requests as the server."""
        hidden = request_bytes("DeleteTable", b'{"TableName": "fuzz-untouched"}')
        for fields in ({"Transfer-Encoding": "chunked"}, {"Transfer-Encoding": "chunked, identity"}, {"Transfer-Encoding": "x"}, {"Transfer-Encoding": "\x0bchunked"}):
            exchange(server, request_bytes("ListTables", b"0\r\n\r\n" + hidden, more=fields))
        untouched()

    @pytest.mark.parametrize("end", [0, 1, 10, 100, 330, -1, -5])
    def test_truncated_requests(self, server, untouched, end):
        whole = request_bytes("PutItem", text({"TableName": "fuzz-untouched", "Item": ITEM}).encode())
        for half_close in (True, False):
            with closing(server.connect()) as stream:
                stream.sendall(whole[:end])
                if half_close:
                    stream.shutdown(socket.SHUT_WR)
                    responses = Responses(stream)
                    while response := responses.next():
                        assert 400 <= response[0] < 500
        untouched()

    def test_a_response_does_not_wait_for_the_next_request(self, server, untouched):
        with closing(server.connect()) as stream:
            stream.sendall(request_bytes("ListTables", LIST) + b"POST / HT")
            assert Responses(stream).next()[0] == 200

    def test_abandoned_responses(self, server, untouched):
        body = text({"TableName": "fuzz-untouched"}).encode()
        for _ in range(50):
            with closing(server.connect()) as stream:
                stream.sendall(request_bytes("Scan", body) * 10)
        untouched()

    def test_a_client_that_sends_slowly(self, server, untouched):
        with closing(server.connect()) as stream:
            for byte in request_bytes("ListTables", LIST, close=True):
                stream.sendall(bytes([byte]))
            assert Responses(stream).next()[0] == 200

    def test_many_idle_connections(self, server, untouched):
        idle = [server.connect() for _ in range(200)]
        try:
            for stream in idle[::2]:
                stream.sendall(b"POST / HTTP/1.1\r\nHost: loc")
            assert statuses(server, request_bytes("ListTables", LIST, close=True)) == [200]
        finally:
            for stream in idle:
                stream.close()

    def test_an_expectation_is_met_before_the_body_is_sent(self, server, untouched):
        whole = request_bytes("ListTables", LIST, close=True, more={"Expect": "100-continue"})
        with closing(server.connect()) as stream:
            stream.sendall(whole[: -len(LIST)])
            assert stream.recv(100).startswith(b"HTTP/1.1 100 ")
            stream.sendall(LIST)
            assert Responses(stream).next()[0] == 200
