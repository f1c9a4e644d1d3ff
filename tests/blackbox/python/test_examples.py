"""Every pattern of every system under examples/ gets exactly the response that its file specifies."""

import json
import uuid
from decimal import Decimal
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from dynamo import attributes, eventually, plain, until_active

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FILES = sorted(EXAMPLES.glob("*/system.json"))


def renamed(request, old, new):
    """The request with the table's own name in place of the example's."""
    if isinstance(request, list):
        return [renamed(part, old, new) for part in request]
    if not isinstance(request, dict):
        return request
    out = {name: renamed(part, old, new) for name, part in request.items()}
    if out.get("TableName") == old:
        out["TableName"] = new
    if "RequestItems" in out:
        out["RequestItems"] = {new if name == old else name: part for name, part in out["RequestItems"].items()}
    return out


class System:
    """One example: its file, and the table made from it."""

    def __init__(self, client, path):
        self.client, self.file = client, json.loads(path.read_text(), parse_float=Decimal)
        self.example_name = self.file["table"]["TableName"]
        self.name = f"{self.example_name}-{uuid.uuid4().hex[:8]}"
        self.keys = [part["AttributeName"] for part in self.file["table"]["KeySchema"]]

    def create(self):
        self.client.create_table(**renamed(self.file["table"], self.example_name, self.name))
        until_active(self.client, self.name)
        for item in self.file["items"]:
            self.client.put_item(TableName=self.name, Item=attributes(item))

    def send(self, request):
        """The response, and the exception if there is one."""
        parameters = renamed(request, self.example_name, self.name)
        operation = getattr(self.client, xform_name(parameters.pop("operation")))
        try:
            return operation(**parameters), None
        except ClientError as error:
            return error.response, error.response["Error"]["Code"]

    def items(self, response):
        if "Responses" in response:
            assert not response["UnprocessedKeys"]
            return [plain(item) for item in response["Responses"][self.name]]
        return [plain(item) for item in response.get("Items", [])]

    def key(self, item):
        return [item[name] for name in self.keys]

    def run(self, pattern):
        gathered = []
        for step in pattern.get("steps", [pattern]):
            gathered += self.step(step["request"], step["expect"])
        if gather := pattern.get("gather"):
            gathered.sort(key=lambda item: item[gather["by"]])
            assert [self.key(item) for item in gathered] == gather["keys"]

    def step(self, request, expect):
        check = lambda: self.check(*self.send(request), expect)
        return eventually(check) if "IndexName" in request else check()

    def check(self, response, error, expect):
        assert error == expect.get("error"), response
        items = self.items(response)
        if "Responses" in response:  # a batch is unordered
            order = self.key
            items.sort(key=order)
            expect = expect | {"keys": sorted(expect["keys"])} if "keys" in expect else expect
            expect = expect | {"items": sorted(expect["items"], key=order)} if "items" in expect else expect
        for name, expected in expect.items():
            assert self.actual(name, response, items) == expected, name
        return items

    def actual(self, name, response, items):
        match name:
            case "error":
                return response["Error"]["Code"]
            case "reasons":
                return [reason["Code"] for reason in response["CancellationReasons"]]
            case "keys":
                return [self.key(item) for item in items]
            case "items":
                return items
            case "item":
                return plain(response["Item"]) if "Item" in response else None
            case "attributes":
                return plain(response["Attributes"])
            case "count":
                return response["Count"]
            case "scannedCount":
                return response["ScannedCount"]
            case "more":
                return "LastEvaluatedKey" in response
            case "lastEvaluatedKey":
                return plain(response["LastEvaluatedKey"])
        raise ValueError(f"unknown expectation: {name}")


def test_there_are_examples():
    assert len(FILES) >= 17


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.parent.name)
def system(client, request):
    made = System(client, request.param)
    made.create()
    yield made
    client.delete_table(TableName=made.name)


def test_every_pattern_is_served(system, subtests):
    for pattern in system.file["patterns"]:
        with subtests.test(pattern["name"]):
            system.run(pattern)
