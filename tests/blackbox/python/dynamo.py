"""Helpers of the tests: tables in short form, items as plain values, expected exceptions with their messages, and waiting."""

import time
from contextlib import contextmanager

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

to_value = TypeSerializer().serialize
to_plain = TypeDeserializer().deserialize


STREAM_OPERATIONS = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")


def headers(operation):
    """The headers that a request without the SDK needs; the signature is fake."""
    service = "DynamoDBStreams_20120810" if operation in STREAM_OPERATIONS else "DynamoDB_20120810"
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"{service}.{operation}",
        "X-Amz-Date": now,
        "Authorization": f"AWS4-HMAC-SHA256 Credential=test/{now[:8]}/us-east-1/dynamodb/aws4_request, "
        f"SignedHeaders=host;x-amz-date;x-amz-target, Signature={'0' * 64}",
    }


def attributes(plain):
    """A plain item as DynamoDB JSON."""
    return {name: to_value(value) for name, value in plain.items()}


def plain(attributes):
    """DynamoDB JSON as a plain item."""
    return {name: to_plain(value) for name, value in attributes.items()}


def key_schema(names):
    """`"pk sk"` as a key schema; `"a+b c+d"` has several attributes in each part."""
    partition, *sort = names.split()
    schema = [{"AttributeName": name, "KeyType": "HASH"} for name in partition.split("+")]
    for part in sort:
        schema += [{"AttributeName": name, "KeyType": "RANGE"} for name in part.split("+")]
    return schema


def index(name, keys, project="ALL"):
    """A secondary index; `project` is a projection type or a list of attributes to include."""
    if isinstance(project, list):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": project}
    else:
        projection = {"ProjectionType": project}
    return {"IndexName": name, "KeySchema": key_schema(keys), "Projection": projection}


def table_request(name, keys, also="", indexes=(), local=(), **more):
    """A CreateTable request from `"pk:S sk:N"`; `also` defines the attributes only indexes use."""
    definitions = [pair.split(":") for pair in f"{keys} {also}".split()]
    request = {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in definitions],
        "KeySchema": key_schema(" ".join(pair.split(":")[0] for pair in keys.split())),
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = list(indexes)
    if local:
        request["LocalSecondaryIndexes"] = list(local)
    return request | more


def create_table(client, name, keys, **more):
    client.create_table(**table_request(name, keys, **more))
    until_active(client, name)


def until_active(client, name, seconds=30):
    """Waits until the table and all its indexes are ACTIVE."""

    def active():
        table = client.describe_table(TableName=name)["Table"]
        states = [table["TableStatus"]] + [i["IndexStatus"] for i in table.get("GlobalSecondaryIndexes", [])]
        assert set(states) == {"ACTIVE"}, states
        return table

    return eventually(active, seconds)


def eventually(check, seconds=5):
    """Repeats a check until it holds: reads of a global index may lag behind the writes."""
    end = time.monotonic() + seconds
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def refused(code, text=""):
    """The request within must fail with this exception. AWS has changed the case of member names in its messages
    and the beginning of some of them, so the text may occur anywhere in the message, in any case."""
    try:
        yield
    except ClientError as error:
        response = error.response["Error"]
        assert response["Code"] == code, f"{response['Code']}: {response['Message']}"
        assert text.lower() in response["Message"].lower(), response["Message"]
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    else:
        raise AssertionError(f"expected {code}, but the request succeeded")


def invalid(text=""):
    return refused("ValidationException", text)


class Table:
    """One table, with plain items in and out; further parameters are given in the API's spelling."""

    def __init__(self, client, name):
        self.client, self.name = client, name

    def put(self, item, **more):
        return self.client.put_item(TableName=self.name, Item=attributes(item), **expression(more))

    def get(self, key, **more):
        """The item, or None."""
        more.setdefault("ConsistentRead", True)
        response = self.client.get_item(TableName=self.name, Key=attributes(key), **expression(more))
        return plain(response["Item"]) if "Item" in response else None

    def delete(self, key, **more):
        return self.client.delete_item(TableName=self.name, Key=attributes(key), **expression(more))

    def update(self, key, update=None, **more):
        """The returned attributes, or None; `returns` is short for ReturnValues."""
        if update is not None:
            more["UpdateExpression"] = update
        if "returns" in more:
            more["ReturnValues"] = more.pop("returns")
        response = self.client.update_item(TableName=self.name, Key=attributes(key), **expression(more))
        return plain(response["Attributes"]) if "Attributes" in response else None

    def query(self, condition=None, **more):
        if condition is not None:
            more["KeyConditionExpression"] = condition
        return with_plain_items(self.client.query(TableName=self.name, **expression(more)))

    def scan(self, **more):
        return with_plain_items(self.client.scan(TableName=self.name, **expression(more)))

    def fill(self, items):
        """Puts many items with BatchWriteItem."""
        items = list(items)
        for start in range(0, len(items), 25):
            requests = [{"PutRequest": {"Item": attributes(item)}} for item in items[start : start + 25]]
            left = {self.name: requests}
            while left:
                left = self.client.batch_write_item(RequestItems=left)["UnprocessedItems"]

    def pages(self, read, *arguments, **more):
        """Every page of a query or scan, following LastEvaluatedKey."""
        while True:
            page = read(*arguments, **dict(more))
            yield page
            if "LastEvaluatedKey" not in page:
                return
            more["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def expression(more):
    """`values` and `names` are short for the expression attributes, with values in plain form."""
    if "values" in more:
        more["ExpressionAttributeValues"] = attributes(more.pop("values"))
    if "names" in more:
        more["ExpressionAttributeNames"] = more.pop("names")
    return more


def with_plain_items(response):
    if "Items" in response:
        response["Items"] = [plain(item) for item in response["Items"]]
    return response


def column(response, name):
    """One attribute of every item returned."""
    return [item.get(name) for item in response["Items"]]
