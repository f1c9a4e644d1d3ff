"""The API is complete: every operation and every request member of the installed botocore's service models is
either known to the server or listed in docs/operations.md as missing. A new SDK release shows here what is new."""

import json
import re
import urllib.error
import urllib.request

import botocore.session
import pytest

from conftest import REPOSITORY
from dynamo import headers

SERVICES = ["dynamodb", "dynamodbstreams"]
# A value whose JSON type differs from the member's.
WRONG = {"structure": "x", "list": "x", "map": "x"}


def service(name):
    return botocore.session.get_session().get_service_model(name)


def listed_as_missing():
    """The names in backquotes below the heading: `Operation`, or `Operation.Member.Member` where only a member is missing."""
    text = (REPOSITORY / "docs/operations.md").read_text().split("## Not there yet")[1].split("\n## ")[0]
    return set(re.findall(r"`([A-Z][A-Za-z.]+)`", text))


def error_type(endpoint, model, operation, body):
    """The name of the exception in response to a body; None if the request succeeds."""
    target = f"{model.metadata['targetPrefix']}.{operation}"
    request = urllib.request.Request(endpoint, json.dumps(body).encode(), headers(operation) | {"X-Amz-Target": target})
    try:
        with urllib.request.urlopen(request):
            return None
    except urllib.error.HTTPError as error:
        return json.load(error)["__type"].split("#")[1]


def members(shape, visited=()):
    """Paths of all members with the bodies that have a wrong JSON type there: `("Key.*.S", {"Key": {"k": {"S": []}}})`."""
    if shape.name in visited or shape.type_name not in ("structure", "list", "map"):
        return
    visited += (shape.name,)
    if shape.type_name == "list":
        inner = members(shape.member, visited)
        yield from ((path, [body]) for path, body in inner)
    elif shape.type_name == "map":
        yield "*", {"k": WRONG.get(shape.value.type_name, [])}
        yield from ((f"*.{path}", {"k": body}) for path, body in members(shape.value, visited))
    else:
        for name, member in shape.members.items():
            yield name, {name: WRONG.get(member.type_name, [])}
            yield from ((f"{name}.{path}", {name: body}) for path, body in members(member, visited))


def assert_none(names, what):
    assert not names, f"{what}: {', '.join(sorted(names))}"


@pytest.mark.parametrize("name", SERVICES)
def test_every_operation_is_answered_or_listed(endpoint, name):
    model = service(name)
    unknown = {operation for operation in model.operation_names
               if error_type(endpoint, model, operation, {}) == "UnknownOperationException"}
    listed = listed_as_missing() & set(model.operation_names)
    assert_none(unknown - listed, "operations that are neither answered nor listed in docs/operations.md")
    assert_none(listed - unknown, "operations that docs/operations.md lists, but they are answered")


@pytest.mark.parametrize("name", SERVICES)
def test_every_member_is_read_or_listed(endpoint, name):
    model = service(name)
    missing = listed_as_missing()
    unread = set()
    requests = 0
    for operation in set(model.operation_names) - missing:
        for path, body in members(model.operation_model(operation).input_shape):
            requests += 1
            if error_type(endpoint, model, operation, body) != "SerializationException":
                unread.add(f"{operation}.{path}")
    listed = {path for path in missing if path.split(".")[0] in model.operation_names and "." in path}
    uncovered = {path for path in unread if not any(path == known or path.startswith(known + ".") for known in listed)}
    assert_none(uncovered, "members that are neither read nor listed in docs/operations.md")
    assert_none(listed - unread, "members that docs/operations.md lists, but they are read")
    assert requests > 500 or name != "dynamodb"
