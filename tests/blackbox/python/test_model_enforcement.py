"""A model in mode `enforce` refuses writes that break it, whatever the operation; what it accepts, an audit accepts."""

import json
import subprocess

import boto3
import pytest
from botocore.exceptions import ClientError

from conftest import announced_endpoint, server_binary, started_server

TABLE = "Mixed"
MODEL = """
format = 1
[table]
name = "Mixed"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string", name = { type = "string", optional = true } }
key = ["USER#{userId}", "USER"]
unique = ["email"]
[entity.Task]
attributes = { taskId = "id", userId = "id", status = "OPEN|DONE", revision = "int" }
key = ["USER#{userId}", "TASK#{taskId}"]
index.GSI1 = { key = ["STATUS#{status}", "{taskId}"], when = "status == 'OPEN'" }
lock = "revision"
[entity.Order]
attributes = { orderId = "id", userId = "id", total = "int", note = { type = "string", optional = true } }
key = ["USER#{userId}", "ORDER#{orderId}"]
[entity.OrderById]
copies = "Order"
attributes = { orderId = "id", userId = "id", total = "int" }
key = ["ORDER#{orderId}", "ORDER"]
[entity.Version]
attributes = { docId = "id", version = "int", content = "string" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:08}"]
versions = "version"
[entity.Latest]
copies = "Version"
identity = "docId"
attributes = { docId = "id", version = "int", content = "string" }
key = ["DOC#{docId}", "LATEST"]
[write]
register = { create = "User" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.toml").write_text(MODEL)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    server = started_server("--model", folder / "model.toml", "--model-mode", "enforce")
    try:
        yield announced_endpoint(server)
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(timeout=20)


def command(server, *arguments, code=0):
    done = subprocess.run([server_binary(), "model", *arguments, "--endpoint", server], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def db(server, folder):
    """A client with an empty table, which is audited after the test."""
    db = boto3.client("dynamodb", endpoint_url=server, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    key = lambda first, second: [{"AttributeName": first, "KeyType": "HASH"}, {"AttributeName": second, "KeyType": "RANGE"}]
    db.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=key("PK", "SK"),
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")],
        GlobalSecondaryIndexes=[{"IndexName": "GSI1", "KeySchema": key("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}],
    )
    db.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
    yield db
    assert "0 violations" in command(server, "audit", str(folder / "model.toml"))
    db.delete_table(TableName=TABLE)


def item(**attributes):
    return {name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in attributes.items()}


def key(item):
    return {name: item[name] for name in ("PK", "SK")}


def user(id, email):
    return item(PK=f"USER#{id}", SK="USER", type="User", userId=id, email=email)


def marker(email):
    return item(PK=f"UNIQUE#User#email#{email}", SK=f"UNIQUE#User#email#{email}")


def task(revision=1, status="OPEN", **more):
    index = {"GSI1PK": "STATUS#OPEN", "GSI1SK": "t"} if status == "OPEN" else {}
    return item(PK="USER#u", SK="TASK#t", type="Task", taskId="t", userId="u", status=status, revision=revision, **(index | more))


def order(total, **more):
    return item(PK="USER#u", SK="ORDER#o", type="Order", orderId="o", userId="u", total=total, **more)


def copy(total, user="u"):
    return item(PK="ORDER#o", SK="ORDER", type="OrderById", orderId="o", userId=user, total=total)


def version(number):
    return item(PK="DOC#d", SK=f"V#{number:08}", type="Version", docId="d", version=number, content=f"c{number}")


def latest(number):
    return item(PK="DOC#d", SK="LATEST", type="Latest", docId="d", version=number, content=f"c{number}")


def put(item, **more):
    return {"Put": {"TableName": TABLE, "Item": item, **more}}


def delete(item):
    return {"Delete": {"TableName": TABLE, "Key": key(item)}}


def check(item, condition="attribute_exists(PK)"):
    return {"ConditionCheck": {"TableName": TABLE, "Key": key(item), "ConditionExpression": condition}}


def update(to, expression, **values):
    """Reserved words become names."""
    reserved = [name for name in ("status", "total") if name in expression]
    for name in reserved:
        expression = expression.replace(name, f"#{name}")
    request = {"TableName": TABLE, "Key": key(to), "UpdateExpression": expression}
    if reserved:
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in reserved}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in item(**values).items()}
    return request


def together(db, *actions):
    return db.transact_write_items(TransactItems=list(actions))


def refused(rule, call, *arguments, **named):
    """Expects a refusal; in a transaction at the position of its first reason. Returns the message."""
    with pytest.raises(ClientError) as caught:
        call(*arguments, **named)
    response = caught.value.response
    if response["Error"]["Code"] == "TransactionCanceledException":
        reasons = [reason for reason in response["CancellationReasons"] if reason["Code"] != "None"]
        assert all(reason["Code"] == "ValidationError" for reason in reasons), reasons
        message = reasons[0]["Message"]
    else:
        assert response["Error"]["Code"] == "ValidationException", response
        message = response["Error"]["Message"]
    assert message.startswith(f"The model's {rule} rule is broken: "), message
    return message


def create_user(db, id="u", email="a@b"):
    new = "attribute_not_exists(PK)"
    together(db, put(user(id, email), ConditionExpression=new), put(marker(email), ConditionExpression=new))


def test_a_wrong_index_key_by_update(db):
    db.put_item(TableName=TABLE, Item=task())
    refused("index", db.update_item, **update(task(), "SET GSI1PK = :k, revision = :r", k="STATUS#WRONG", r=2))
    refused("index", db.update_item, **update(task(), "SET status = :s, revision = :r", s="DONE", r=2))
    db.update_item(**update(task(), "SET status = :s, revision = :r REMOVE GSI1PK, GSI1SK", s="DONE", r=2))


def test_an_item_outside_a_sparse_index_may_be_updated(db):
    db.put_item(TableName=TABLE, Item=task(status="DONE"))
    db.update_item(**update(task(), "SET status = :s, revision = :r", s="DONE", r=2))


def test_an_upsert_without_type(db):
    refused("type", db.update_item, **update(task(), "SET revision = :r", r=1))


def test_the_type_stays(db):
    db.put_item(TableName=TABLE, Item=task())
    for expression, values in [("REMOVE #t SET revision = :r", {"r": 2}), ("SET #t = :t, revision = :r", {"t": "Order", "r": 2})]:
        request = update(task(), expression, **values) | {"ExpressionAttributeNames": {"#t": "type"}}
        with pytest.raises(ClientError, match="rule is broken"):
            db.update_item(**request)


def test_values_have_their_types(db):
    refused("value", db.put_item, TableName=TABLE, Item=task(status="LOST"))
    db.put_item(TableName=TABLE, Item=task(status="DONE"))
    refused("value", db.update_item, **update(task(), "SET status = :s, revision = :r", s=7, r=2))
    refused("value", db.put_item, TableName=TABLE, Item=task("second", "DONE"))


def test_unique_values(db):
    refused("unique", db.put_item, TableName=TABLE, Item=user("u", "a@b"))
    create_user(db)
    message = refused("unique", together, db, put(user("v", "a@b")), put(marker("a@b") | item(owner="v")))
    assert "is taken" in message
    refused("unique", db.update_item, **update(user("u", ""), "SET email = :e", e="c@d"))
    rename = {"Update": update(user("u", ""), "SET email = :e", e="c@d")}
    refused("unique", together, db, rename, put(marker("c@d")))
    refused("unique", db.delete_item, TableName=TABLE, Key=key(user("u", "")))
    refused("unique", db.delete_item, TableName=TABLE, Key=key(marker("a@b")))
    refused("unique", db.put_item, TableName=TABLE, Item=marker("x@y"))
    together(db, rename, delete(marker("a@b")), put(marker("c@d")))
    create_user(db, "v", "a@b")
    together(db, delete(user("v", "")), delete(marker("a@b")))


def test_copies(db):
    refused("copy", db.put_item, TableName=TABLE, Item=order(1))
    refused("copy", db.put_item, TableName=TABLE, Item=copy(1))
    refused("copy", together, db, put(order(1)), put(copy(2)))
    together(db, put(order(1)), put(copy(1)))
    refused("copy", db.update_item, **update(order(1), "SET total = :n", n=2))
    refused("copy", db.update_item, **update(copy(1), "SET total = :n", n=2))
    refused("copy", db.delete_item, TableName=TABLE, Key=key(order(1)))
    refused("copy", db.delete_item, TableName=TABLE, Key=key(copy(1)))
    db.update_item(**update(order(1), "SET note = :n", n="not in the copy"))
    together(db, {"Update": update(order(1), "SET total = :n", n=2)}, {"Update": update(copy(1), "SET total = :n", n=2)})
    together(db, delete(order(2)), delete(copy(2)))


def test_versions(db):
    refused("version", db.put_item, TableName=TABLE, Item=version(1))
    together(db, put(version(1)), put(latest(1)))
    refused("version", together, db, put(version(3)), put(latest(3)))
    together(db, put(version(2)), put(latest(2)))
    refused("version", db.put_item, TableName=TABLE, Item=latest(1))
    refused("version", db.delete_item, TableName=TABLE, Key=key(version(1)))
    together(db, delete(version(1)), check(latest(2)))
    together(db, delete(version(2)), delete(latest(2)), check(version(1), "attribute_not_exists(PK)"))


def test_a_skipped_lock(db):
    db.put_item(TableName=TABLE, Item=task())
    refused("lock", db.update_item, **update(task(), "SET due = :d", d="soon"))
    refused("lock", db.update_item, **update(task(), "SET revision = :r", r=3))
    refused("lock", db.put_item, TableName=TABLE, Item=task(due="soon"))
    db.update_item(**update(task(), "SET due = :d, revision = :r", d="soon", r=2))


def test_a_batch_is_refused_as_a_whole(db):
    requests = [{"PutRequest": {"Item": one}} for one in (task(), user("u", "a@b"), marker("a@b"))]
    refused("unique", db.batch_write_item, RequestItems={TABLE: requests})
    assert db.scan(TableName=TABLE)["Count"] == 0
    db.batch_write_item(RequestItems={TABLE: requests[:1]})


def test_statements(db):
    insert = f"INSERT INTO \"{TABLE}\" VALUE {{'PK': 'USER#u', 'SK': 'TASK#t', 'type': 'Task', 'status': 'OPEN'}}"
    refused("index", db.execute_statement, Statement=insert)
    answer = db.batch_execute_statement(Statements=[{"Statement": insert}])
    assert "index rule is broken" in answer["Responses"][0]["Error"]["Message"]
    refused("index", db.execute_transaction, TransactStatements=[{"Statement": insert}])
    db.put_item(TableName=TABLE, Item=task())
    where = "WHERE PK = 'USER#u' AND SK = 'TASK#t'"
    refused("index", db.execute_statement, Statement=f"UPDATE \"{TABLE}\" SET status = 'DONE' SET revision = 2 {where}")
    db.execute_statement(Statement=f"DELETE FROM \"{TABLE}\" {where}")


def test_a_create_with_its_marker_is_attributed(db, server):
    create_user(db)
    writes = json.loads(command(server, "watch", TABLE, "--format", "json"))["writes"]
    assert [write["write"] for write in writes] == ["register"]


def test_attach_lowers_no_rule_in_silence(db, server, folder):
    text = command(server, "attach", str(folder / "model.toml"), code=2)
    assert "mode enforce becomes warn" in text and "--force" in text
    fewer = folder / "fewer.toml"
    fewer.write_text(MODEL.replace('unique = ["email"]\n', ""))
    assert "unique email of User" in command(server, "attach", str(fewer), "--enforce", code=2)
    refused("unique", db.put_item, TableName=TABLE, Item=user("u", "a@b"))
    assert "no longer checked as before: unique email of User" in command(server, "attach", str(fewer), "--enforce", "--force")
    command(server, "attach", str(folder / "model.toml"), "--enforce")


def test_what_was_wrong_before_can_be_repaired(db, server, folder):
    model = str(folder / "model.toml")
    command(server, "attach", model, "--force")
    wrong = item(PK="X", SK="Y")
    for one in (wrong, user("u", "a@b"), order(1), copy(2)):
        db.put_item(TableName=TABLE, Item=one)
    command(server, "attach", model, "--enforce")
    refused("type", db.update_item, **update(wrong, "SET note = :n", n="still wrong"))
    db.delete_item(TableName=TABLE, Key=key(wrong))
    together(db, check(user("u", "")), put(marker("a@b")))
    together(db, check(order(1)), put(copy(1)))
