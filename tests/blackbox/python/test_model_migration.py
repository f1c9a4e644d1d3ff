"""Migration of models with boto3 beside it: killed at random moments, with an application that writes, enforced, followed."""

import http.server
import json
import random
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import boto3
import pytest

from conftest import announced_endpoint, server_binary, started_server

USERS = """
format = 1
[table]
name = "Users"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", userEmail = "string", firstName = "string", lastName = "string", visits = "int?" }
key = ["USER#{userId}", "USER"]
[pattern]
user = { in = ["userId"], out = "User" }
"""

CUSTOMERS = """
format = 1
[table]
name = "Users"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Customer]
was = "User"
key = ["CUSTOMER#{userId}", "CUSTOMER"]
unique = ["email"]
[entity.Customer.attributes]
userId = "id"
email = { type = "string", was = "userEmail" }
name = { type = "string", computed = "{firstName} {lastName}" }
visits = "int?"
[entity.CustomerByEmail]
attributes = { userId = "id", email = "string", name = "string" }
copies = "Customer"
key = ["EMAIL#{email}", "CUSTOMER"]
[pattern]
customer = { in = ["userId"], out = "Customer" }
byEmail = { in = ["email"], out = "CustomerByEmail" }
"""

POSTS = """
format = 1
[table]
name = "Blog"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Post]
attributes = { postId = "id", title = "string" }
key = ["POST#{postId}", "POST"]
[entity.Comment]
attributes = { postId = "id", commentId = "id", points = "int" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
expect = { per = "Post", average = 9, max = 20 }
[pattern]
post = { in = ["postId"], out = ["Post", "Comment*"] }
"""

COUNTED = POSTS.replace("POST#", "ARTICLE#").replace(
    'attributes = { postId = "id", title = "string" }',
    'attributes = { postId = "id", title = "string", comments = "int" }\n'
    'aggregates = { comments = "count Comment", score = "sum Comment.points", best = "max Comment.points" }',
)

ITEMS = 400


@pytest.fixture
def server():
    if not server_binary().exists():
        pytest.skip("there is no binary to run")
    process = started_server()
    yield announced_endpoint(process)
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture
def models(tmp_path):
    for name, text in [("old", USERS), ("new", CUSTOMERS)]:
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path / "old.toml", tmp_path / "new.toml"


def client(endpoint):
    return boto3.client(
        "dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )


def command(endpoint, *arguments):
    return [server_binary(), "model", *map(str, arguments), "--endpoint", endpoint]


def model(endpoint, *arguments, code=0):
    ended = subprocess.run(command(endpoint, *arguments), capture_output=True, text=True)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


def contents(endpoint, table):
    pages = client(endpoint).get_paginator("scan").paginate(TableName=table)
    items = [item for page in pages for item in page["Items"]]
    return sorted(str(sorted(item.items(), key=str)) for item in items)


@contextmanager
def intermediary(endpoint, intervene):
    """An endpoint that passes requests on to another. Before each, `intervene` gets the operation and the request; what it returns is answered instead, as an error."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def handle_request(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            operation = self.headers.get("x-amz-target", "").rpartition(".")[2]
            refusal = intervene(operation, json.loads(body) if operation else None)
            status, answer = (400, json.dumps(refusal).encode()) if refusal else self.passed_on(body)
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def passed_on(self, body):
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "connection")}
            data = None if self.command == "GET" else body
            request = urllib.request.Request(endpoint + self.path, data=data, method=self.command, headers=headers)
            try:
                with urllib.request.urlopen(request) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()

        do_POST = do_GET = do_PUT = do_DELETE = handle_request

    between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=between.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{between.server_port}"
    between.shutdown()
    between.server_close()


@contextmanager
def following(endpoint, old, new, *more):
    """A migration that has caught up; at the end it is stopped, and its code and output are in the dictionary."""
    running = subprocess.Popen(
        command(endpoint, "migrate", old, new, "--apply", "--follow", *more), stdout=subprocess.PIPE, text=True
    )
    ended = {}
    for line in running.stdout:
        if "caught up" in line:
            break
    yield ended
    running.send_signal(signal.SIGINT)
    ended["output"] = running.stdout.read()
    ended["code"] = running.wait(timeout=120)


def user(number, **more):
    texts = {
        "PK": f"USER#{number}", "SK": "USER", "type": "User", "userId": f"{number}",
        "userEmail": f"{number}@example.com", "firstName": "Ada", "lastName": "Byron",
    }
    return {name: {"S": text} for name, text in texts.items()} | more


def filled(endpoint, old):
    model(endpoint, "seed", old, "--items", ITEMS)


def test_a_migration_that_is_killed_anywhere_and_repeated_has_the_same_result(server, models, tmp_path):
    old, new = models
    filled(server, old)
    model(server, "migrate", old, new, "--into", "Expected", "--apply")
    expected = contents(server, "Expected")
    assert len(expected) == 3 * ITEMS
    moments = random.Random(13)
    for target, arguments in [("Users", []), ("Copied", ["--into", "Copied"])]:
        checkpoint = ["--checkpoint", str(tmp_path / f"{target}.checkpoint")]
        for _ in range(12):
            if target == "Users":
                more = moments.choice([[], checkpoint])
            else:
                more = checkpoint
            running = subprocess.Popen(
                command(server, "migrate", old, new, *arguments, "--apply", *more), stdout=subprocess.DEVNULL
            )
            time.sleep(moments.uniform(0.02, 0.5))
            running.send_signal(signal.SIGKILL)
            running.wait()
        if target == "Copied":
            # The copy is made from the table as it is: in the old form or in the new.
            assert "0 differences" in model(server, "migrate", old, new, *arguments, "--apply")
        else:
            assert "0 violations" in model(server, "migrate", old, new, *arguments, "--apply")
        assert contents(server, target) == expected
    model(server, "audit", new)
    model(server, "audit", new, "--table", "Copied")


def test_nothing_that_an_application_writes_during_a_migration_is_lost(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    for number in range(20):
        database.put_item(TableName="Users", Item=user(number))
    running = subprocess.Popen(command(server, "migrate", old, new, "--apply", "--follow"), stdout=subprocess.PIPE, text=True)
    stop = threading.Event()
    counts = [0] * 20

    def application():
        """Counts visits wherever the user is, in the old form or in the new."""
        while not stop.is_set():
            number = random.randrange(20)
            for key in [(f"USER#{number}", "USER"), (f"CUSTOMER#{number}", "CUSTOMER")]:
                try:
                    database.update_item(
                        TableName="Users", Key={"PK": {"S": key[0]}, "SK": {"S": key[1]}},
                        UpdateExpression="ADD visits :one", ConditionExpression="attribute_exists(PK)",
                        ExpressionAttributeValues={":one": {"N": "1"}},
                    )
                    counts[number] += 1
                    break
                except database.exceptions.ConditionalCheckFailedException:
                    pass
                except (database.exceptions.TransactionConflictException, database.exceptions.ClientError):
                    break

    writer = threading.Thread(target=application)
    writer.start()
    for line in running.stdout:
        if "caught up" in line:
            break
    # An application that is not switched yet still writes the old form.
    for number in range(100, 110):
        database.put_item(TableName="Users", Item=user(number))
    time.sleep(1)
    stop.set()
    writer.join()
    running.send_signal(signal.SIGINT)
    output = running.stdout.read()
    assert running.wait(timeout=60) == 0, output
    assert "0 violations" in output
    model(server, "audit", new)
    for number in range(20):
        key = {"PK": {"S": f"CUSTOMER#{number}"}, "SK": {"S": "CUSTOMER"}}
        item = database.get_item(TableName="Users", Key=key, ConsistentRead=True)["Item"]
        assert item.get("visits", {"N": "0"})["N"] == str(counts[number])
    assert "Item" in database.get_item(TableName="Users", Key={"PK": {"S": "CUSTOMER#105"}, "SK": {"S": "CUSTOMER"}})
    description = database.describe_table(TableName="Users")["Table"]
    assert not description.get("StreamSpecification", {}).get("StreamEnabled"), "the stream is disabled again"


def test_changes_and_deletions_are_carried_into_the_new_table_until_it_is_stopped(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    database.put_item(TableName="Users", Item=user(1))
    database.put_item(TableName="Users", Item=user(2))
    arguments = ["migrate", old, new, "--into", "Copied", "--apply", "--follow"]
    killed = subprocess.Popen(command(server, *arguments), stdout=subprocess.PIPE, text=True)
    for line in killed.stdout:
        if "caught up" in line:
            break
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    database.delete_item(TableName="Users", Key={"PK": {"S": "USER#2"}, "SK": {"S": "USER"}})
    running = subprocess.Popen(command(server, *arguments), stdout=subprocess.PIPE, text=True)
    for line in running.stdout:
        if "caught up" in line:
            break
    database.put_item(TableName="Users", Item=user(1, userEmail={"S": "new@example.com"}))
    database.put_item(TableName="Users", Item=user(3))
    database.delete_item(TableName="Users", Key={"PK": {"S": "USER#3"}, "SK": {"S": "USER"}})
    copied = lambda key: "Item" in database.get_item(TableName="Copied", Key={"PK": {"S": key[0]}, "SK": {"S": key[1]}})
    deadline = time.monotonic() + 30
    while not copied(("EMAIL#new@example.com", "CUSTOMER")) or copied(("EMAIL#1@example.com", "CUSTOMER")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    running.send_signal(signal.SIGTERM)
    output = running.stdout.read()
    assert running.wait(timeout=60) == 0, output
    assert "0 differences" in output
    for key in [("CUSTOMER#2", "CUSTOMER"), ("EMAIL#2@example.com", "CUSTOMER"), ("CUSTOMER#3", "CUSTOMER")]:
        assert not copied(key)
    model(server, "audit", new, "--table", "Copied")


def test_an_enforced_model_gives_way_to_the_new_one_which_is_enforced_then(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    model(server, "attach", old, "--enforce")
    with pytest.raises(database.exceptions.ClientError):
        database.put_item(TableName="Users", Item={"PK": {"S": "OTHER#1"}, "SK": {"S": "X"}, "type": {"S": "User"}})
    model(server, "migrate", old, new, "--apply")
    with pytest.raises(database.exceptions.ClientError):
        database.put_item(TableName="Users", Item=user(1))
    assert "mode enforce" in model(server, "watch", "Users")


@pytest.fixture
def counted_models(tmp_path):
    for name, text in [("posts", POSTS), ("counted", COUNTED)]:
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path / "posts.toml", tmp_path / "counted.toml"


def test_aggregates_are_right_after_a_migration_that_is_killed_anywhere(server, counted_models):
    old, new = counted_models
    filled(server, old)
    model(server, "attach", old, "--enforce")
    model(server, "migrate", old, new, "--into", "Expected", "--apply")
    moments = random.Random(17)
    for _ in range(12):
        running = subprocess.Popen(command(server, "migrate", old, new, "--apply"), stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.02, 0.6))
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert "0 violations" in model(server, "migrate", old, new, "--apply")
    assert contents(server, "Blog") == contents(server, "Expected")
    model(server, "audit", new)
    assert "mode enforce" in model(server, "watch", "Blog")


def comment(prefix, post, number):
    texts = {
        "PK": f"{prefix}#{post}", "SK": f"COMMENT#{number}", "type": "Comment", "postId": post, "commentId": f"{number}",
    }
    return {name: {"S": text} for name, text in texts.items()} | {"points": {"N": "3"}}


def test_aggregates_are_right_while_an_enforced_application_writes_in_either_form(server, counted_models):
    old, new = counted_models
    filled(server, old)
    database = client(server)
    posts = [item["postId"]["S"] for item in database.scan(TableName="Blog")["Items"] if item["type"]["S"] == "Post"]
    model(server, "attach", old, "--enforce")
    running = subprocess.Popen(
        command(server, "migrate", old, new, "--apply", "--follow"), stdout=subprocess.PIPE, text=True
    )
    stop, switched, written, wrongly_accepted = threading.Event(), threading.Event(), [0, 0], []
    numbers = iter(range(1_000_000, 2_000_000))

    def new_form(post, number):
        """A comment with its aggregates, as the new model demands."""
        return [
            {"Put": {"TableName": "Blog", "Item": comment("ARTICLE", post, number)}},
            {"Update": {
                "TableName": "Blog", "Key": {"PK": {"S": f"ARTICLE#{post}"}, "SK": {"S": "POST"}},
                "UpdateExpression": "ADD comments :one, score :points" + ("" if number % 2 else " SET title = :title"),
                "ConditionExpression": "attribute_exists(PK) AND best >= :points",
                "ExpressionAttributeValues": {":one": {"N": "1"}, ":points": {"N": "3"}}
                | ({} if number % 2 else {":title": {"S": "t"}}),
            }},
        ]

    def application():
        while not stop.is_set():
            time.sleep(0.02)
            post, number = random.choice(posts), next(numbers)
            try:
                if not switched.is_set():
                    database.put_item(TableName="Blog", Item=comment("POST", post, number))
                    written[0] += 1
                database.transact_write_items(TransactItems=new_form(post, number + 5_000_000))
                written[1] += 1
            except database.exceptions.ClientError:
                pass
            try:
                database.put_item(TableName="Blog", Item=comment("ELSE", post, number))
                wrongly_accepted.append(number)
            except database.exceptions.ClientError:
                pass

    writers = [threading.Thread(target=application) for _ in range(2)]
    for writer in writers:
        writer.start()
    for line in running.stdout:
        if "caught up" in line:
            break
    switched.set()
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    output = running.stdout.read()
    code = running.wait(timeout=120)
    stop.set()
    for writer in writers:
        writer.join()
    assert not wrongly_accepted, "nothing but the two models is accepted, at any time"
    assert min(written) > 0
    # The audit of a table that changes may count what is being written; that of a quiet one may not.
    broken = re.findall(r"^ *(\S+): \d+", output.partition("not verified: the audit")[2], re.MULTILINE)
    assert code == 0 or broken == ["aggregate"], output
    assert "0 violations" in model(server, "audit", new)
    model(server, "migrate", old, new, "--apply")


def test_what_is_put_before_the_aggregates_of_an_item_are_written_is_carried_over(server, counted_models):
    old, new = counted_models
    model(server, "seed", old, "--items", 20)
    database = client(server)
    post = {name: {"S": text} for name, text in {"PK": "POST#1", "SK": "POST", "type": "Post", "postId": "1"}.items()}
    for item in [post | {"title": {"S": "first"}}, comment("POST", "1", 1)]:
        database.put_item(TableName="Blog", Item=item)
    written = []

    def intervene(operation, request):
        if operation == "UpdateItem" and not written:
            assert request["Key"]["SK"] == {"S": "POST"}, "aggregates are written to what has moved"
            written.append(database.put_item(TableName="Blog", Item=post | {"title": {"S": "second"}}))

    with intermediary(server, intervene) as between, following(between, old, new) as ended:
        time.sleep(1.5)
    assert written and ended["code"] == 0, ended["output"]
    item = database.get_item(TableName="Blog", Key={"PK": {"S": "ARTICLE#1"}, "SK": {"S": "POST"}})["Item"]
    assert (item["title"], item["comments"]) == ({"S": "second"}, {"N": "1"})


def test_a_server_that_restarts_during_a_migration_takes_it_up_again(models, tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to run")
    old, new = models
    storage = ["--data", str(tmp_path / "data")]
    for with_model in [[], ["--model", str(old), "--model-mode", "enforce"]]:
        process = started_server(storage=storage)
        endpoint = announced_endpoint(process)
        if not with_model:
            filled(endpoint, old)
        else:
            model(endpoint, "migrate", new, old, "--apply", "--delete-removed")
        model(endpoint, "attach", old, "--enforce", "--force")
        running = subprocess.Popen(command(endpoint, "migrate", old, new, "--apply"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while "being migrated" not in model(endpoint, "watch", "Users"):
            time.sleep(0.02)
        process.kill()
        process.wait()
        assert running.wait(timeout=120) == 2
        process = started_server(*with_model, storage=storage)
        endpoint = announced_endpoint(process)
        output = model(endpoint, "migrate", old, new, "--apply")
        assert "0 violations" in output and "the new model of table Users is enforced" in output, output
        process.kill()
        process.wait()


UNIQUE = USERS.replace('[pattern]', 'unique = ["userEmail"]\n[pattern]')
LEVELS = UNIQUE.replace('visits = "int?" }', 'visits = "int?", level = { type = "int", default = 1 } }')


@pytest.fixture
def unique_models(tmp_path):
    for name, text in [("unique", UNIQUE), ("levels", LEVELS)]:
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path / "unique.toml", tmp_path / "levels.toml"


def marker_key(email):
    text = {"S": f"UNIQUE#User#userEmail#{email}"}
    return {"PK": text, "SK": text}


def sign_up(database, number):
    """A user and the marker of the e-mail address, in one transaction."""
    new = {"ConditionExpression": "attribute_not_exists(PK)", "TableName": "Users"}
    database.transact_write_items(TransactItems=[
        {"Put": {"Item": user(number, level={"N": "1"})} | new},
        {"Put": {"Item": marker_key(f"{number}@example.com")} | new},
    ])


def exists(database, key, table="Users"):
    return "Item" in database.get_item(TableName=table, Key=key, ConsistentRead=True)


def test_markers_of_users_who_sign_up_while_the_table_is_read_are_kept(server, unique_models):
    old, new = unique_models
    database = client(server)
    model(server, "seed", old, "--items", 20)
    for number in range(100):
        database.put_item(TableName="Users", Item=user(f"large{number}", userEmail={"S": f"large{number}@example.com"}, note={"S": "n" * 30_000}))
        database.put_item(TableName="Users", Item=marker_key(f"large{number}@example.com"))
    stale = marker_key("nobody@example.com")
    database.put_item(TableName="Users", Item=stale)
    numbers = iter(range(1_000, 2_000))
    signed_up, scans = [], [0]

    def between_pages(operation, request):
        if operation != "Scan":
            return
        scans[0] += "ExclusiveStartKey" not in request
        # Not while the result is audited.
        if "ExclusiveStartKey" in request and scans[0] <= 3:
            for _ in range(20):
                signed_up.append(next(numbers))
                sign_up(database, signed_up[-1])

    with intermediary(server, between_pages) as endpoint:
        model(endpoint, "migrate", old, new, "--apply")
    assert len(signed_up) >= 100
    lost = [number for number in signed_up if not exists(database, marker_key(f"{number}@example.com"))]
    assert not lost, "markers of living users"
    assert not exists(database, stale), "what belongs to nobody is removed"
    model(server, "audit", new)


def test_a_marker_that_was_an_orphan_is_kept_once_it_belongs_to_a_user(server, unique_models):
    old, new = unique_models
    database = client(server)
    model(server, "seed", old, "--items", 20)
    database.put_item(TableName="Users", Item=marker_key("7@example.com"))
    model(server, "attach", old, "--enforce")
    with following(server, old, new) as ended:
        assert not exists(database, marker_key("7@example.com"))
        sign_up(database, 7)
        time.sleep(1.5)
        assert exists(database, marker_key("7@example.com"))
    assert ended["code"] == 0, ended["output"]


def test_a_stream_is_read_on_when_its_iterators_have_expired(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    expired = {"__type": "com.amazonaws.dynamodb.v20120810#ExpiredIteratorException", "message": "Iterator expired."}
    seen, calls = set(), [0]

    def expire(operation, request):
        if operation == "GetRecords":
            calls[0] += 1
            # Each iterator works once at most, and every third not at all.
            if request["ShardIterator"] in seen or calls[0] % 3 == 1:
                return expired
            seen.add(request["ShardIterator"])

    with intermediary(server, expire) as endpoint, following(endpoint, old, new) as ended:
        database.put_item(TableName="Users", Item=user(1))
        deadline = time.monotonic() + 30
        while not exists(database, {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "CUSTOMER"}}):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert ended["code"] == 0, ended["output"]
    assert ended["output"].startswith("1 change of the application carried over\n"), "its own writes are not counted"


PETS = """
format = 1
[table]
name = "Pets"
keys = ["PK"]
type_attribute = "type"
[entity.Cat]
attributes = { petId = "id", purr = "string?" }
key = ["CAT#{petId}"]
[entity.Dog]
attributes = { petId = "id", bark = "string?" }
key = ["DOG#{petId}"]
[pattern]
cat = { in = ["petId"], out = "Cat" }
dog = { in = ["petId"], out = "Dog" }
"""

MERGED = """
format = 1
[table]
name = "Pets"
keys = ["PK"]
type_attribute = "type"
[entity.Pet]
was = ["Cat", "Dog"]
attributes = { petId = "id", purr = "string?", bark = "string?" }
key = ["PET#{petId}"]
[pattern]
pet = { in = ["petId"], out = "Pet" }
"""


@pytest.mark.parametrize(
    ("changed", "attributes", "follow"),
    [("bark", 0, False), ("bark", 0, True), ("note", 0, True), ("a99", 200, True)],
    ids=["declared", "declared-followed", "undeclared", "beyond-what-a-condition-compares"],
)
def test_what_an_application_adds_while_an_item_moves_is_not_lost(server, tmp_path, changed, attributes, follow):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text(PETS)
    new.write_text(MERGED)
    database = client(server)
    database.create_table(
        TableName="Pets", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
    )
    more = {f"a{number}": {"S": "x"} for number in range(attributes)}
    dog = {"PK": {"S": "DOG#1"}, "type": {"S": "Dog"}, "petId": {"S": "1"}} | more
    database.put_item(TableName="Pets", Item=dog)
    done = []

    def change(operation, request):
        if operation == "TransactWriteItems" and "DOG#1" in str(request) and not done:
            done.append(operation)
            database.update_item(
                TableName="Pets", Key={"PK": {"S": "DOG#1"}}, UpdateExpression="SET #a = :v",
                ExpressionAttributeNames={"#a": changed}, ExpressionAttributeValues={":v": {"S": "wuff"}},
            )

    with intermediary(server, change) as endpoint:
        if follow:
            with following(endpoint, old, new) as ended:
                pass
            assert ended["code"] == 0, ended["output"]
        else:
            model(endpoint, "migrate", old, new, "--apply")
    pet = database.get_item(TableName="Pets", Key={"PK": {"S": "PET#1"}})["Item"]
    assert done and pet == dog | {"PK": {"S": "PET#1"}, "type": {"S": "Pet"}, changed: {"S": "wuff"}}


def test_an_item_that_is_written_in_the_old_form_behind_the_pass_is_not_verified(server, tmp_path):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    # Items of both models have the same keys, and conform to both: only the name of an attribute differs.
    old.write_text(USERS)
    new.write_text(USERS.replace('visits = "int?"', 'count = { type = "int?", was = "visits" }'))
    database = client(server)
    filled(server, old)
    scans, done = [0], []

    def change(operation, request):
        if operation == "Scan" and "ExclusiveStartKey" not in request:
            scans[0] += 1
            if scans[0] == 3 and not done:
                done.append(operation)
                database.put_item(TableName="Users", Item=user(1, visits={"N": "7"}))

    with intermediary(server, change) as endpoint:
        output = model(endpoint, "migrate", old, new, "--apply", code=1)
    assert "not verified: 1 item still in the old form" in output
    assert "\nverified" in model(server, "migrate", old, new, "--apply")
    item = database.get_item(TableName="Users", Key={"PK": {"S": "USER#1"}, "SK": {"S": "USER"}})["Item"]
    assert item["count"] == {"N": "7"} and "visits" not in item


def test_the_dry_run_of_a_repeated_copy_shows_what_has_changed_and_no_collision(server, tmp_path):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text(USERS)
    new.write_text(USERS)
    database = client(server)
    filled(server, old)
    database.put_item(TableName="Users", Item=user(1, visits={"S": "no number"}))
    database.put_item(TableName="Users", Item=user(2, visits={"N": "6"}))
    output = model(server, "migrate", old, new, "--into", "Copied", "--apply", code=1)
    assert "not verified: the audit of table Copied" in output and "\nverified" not in output
    database.put_item(TableName="Users", Item=user(2, visits={"N": "7"}))
    foreseen = model(server, "migrate", old, new, "--into", "Copied", code=1)
    assert "--apply copies the items into table Copied" in foreseen and "1 items get other attributes" in foreseen
    assert "another item has their new key" not in foreseen
    database.put_item(TableName="Users", Item=user(1))
    assert "\nverified" in model(server, "migrate", old, new, "--into", "Copied", "--apply")


VERSIONS = """
format = 1
[table]
name = "Docs"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Version]
attributes = { docId = "id", version = "int", title = "string" }
key = ["DOC#{docId}", "V#{version:06}"]
versions = "version"
[pattern]
versions = { in = ["docId"], out = "Version*" }
"""

LATEST = """
latest = { in = ["docId"], out = "Latest" }
[entity.Latest]
attributes = { docId = "id", version = "int", title = "string" }
key = ["DOC#{docId}", "LATEST"]
copies = "Version"
identity = ["docId"]
"""


def test_the_copy_of_the_newest_version_is_right_after_that_version_was_removed(server, tmp_path):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text(VERSIONS)
    new.write_text(VERSIONS + LATEST)
    database = client(server)
    model(server, "seed", old, "--items", 1)
    for version in range(1, 9):
        texts = {"PK": "DOC#a", "SK": f"V#{version:06}", "type": "Version", "docId": "a", "title": f"t{version}"}
        item = {name: {"S": text} for name, text in texts.items()} | {"version": {"N": str(version)}}
        database.put_item(TableName="Docs", Item=item)
    with following(server, old, new) as ended:
        database.delete_item(TableName="Docs", Key={"PK": {"S": "DOC#a"}, "SK": {"S": "V#000008"}})
        time.sleep(1)
    assert ended["code"] == 0, ended["output"]
    latest = database.get_item(TableName="Docs", Key={"PK": {"S": "DOC#a"}, "SK": {"S": "LATEST"}})["Item"]
    assert latest["title"] == {"S": "t7"}


def test_an_item_that_is_put_again_in_the_old_form_after_it_has_moved_is_carried_over(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    key = {"PK": {"S": "CUSTOMER#1"}, "SK": {"S": "CUSTOMER"}}
    database.put_item(TableName="Users", Item=user(1, visits={"N": "3"}))
    with following(server, old, new) as ended:
        database.update_item(
            TableName="Users", Key=key, UpdateExpression="SET note = :n", ConditionExpression="attribute_exists(PK)",
            ExpressionAttributeValues={":n": {"S": "of the new form"}},
        )
        database.put_item(TableName="Users", Item=user(1, userEmail={"S": "new@example.com"}, firstName={"S": "Zoe"}))
        deadline = time.monotonic() + 30
        while exists(database, {"PK": {"S": "USER#1"}, "SK": {"S": "USER"}}):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        item = database.get_item(TableName="Users", Key=key)["Item"]
        assert item["email"] == {"S": "new@example.com"}
        assert (item["note"], item["visits"]) == ({"S": "of the new form"}, {"N": "3"}), "nothing is lost"
        assert item["name"] == {"S": "Zoe Byron"}, "what was computed is computed anew"
        copy = database.get_item(TableName="Users", Key={"PK": {"S": "EMAIL#new@example.com"}, "SK": {"S": "CUSTOMER"}})
        assert copy["Item"]["name"] == {"S": "Zoe Byron"}
    assert ended["code"] == 0, ended["output"]
    assert not exists(database, {"PK": {"S": "EMAIL#1@example.com"}, "SK": {"S": "CUSTOMER"}})


def test_what_an_application_deletes_or_updates_in_the_old_form_is_deleted_or_reported(server, models):
    old, new = models
    filled(server, old)
    database = client(server)
    for number in range(1, 4):
        database.put_item(TableName="Users", Item=user(number, visits={"N": "10"}))
    key = lambda number: {"PK": {"S": f"USER#{number}"}, "SK": {"S": "USER"}}
    moved = lambda number: {"PK": {"S": f"CUSTOMER#{number}"}, "SK": {"S": "CUSTOMER"}}
    with following(server, old, new) as ended:
        database.put_item(TableName="Users", Item=user(1))
        database.delete_item(TableName="Users", Key=key(1))
        for email in ["first", "second"]:
            database.delete_item(TableName="Users", Key=key(2))
            database.put_item(TableName="Users", Item=user(2, userEmail={"S": f"{email}@example.com"}))
        database.update_item(
            TableName="Users", Key=key(3), UpdateExpression="ADD visits :one", ExpressionAttributeValues={":one": {"N": "1"}}
        )
        time.sleep(1.5)
    assert not exists(database, moved(1)), "put and deleted again"
    assert not exists(database, {"PK": {"S": "EMAIL#1@example.com"}, "SK": {"S": "CUSTOMER"}})
    item = database.get_item(TableName="Users", Key=moved(2))["Item"]
    assert item["email"] == {"S": "second@example.com"}, "what was deleted does not come back"
    assert database.get_item(TableName="Users", Key=moved(3))["Item"]["visits"] == {"N": "10"}, "a counter is not set back"
    assert ended["code"] == 1 and "CUSTOMER#3 / CUSTOMER is the new form of USER#3 / USER" in ended["output"], ended["output"]


def member(number, team, is_new=False):
    key = {"PK": f"TEAM#{team}", "SK": f"USER#{number}"} if is_new else {"PK": f"USER#{number}", "SK": "USER"}
    texts = key | {"type": "User", "userId": f"{number}", "team": team, "userEmail": f"{number}@example.com"}
    return {name: {"S": text} for name, text in texts.items()}


@pytest.fixture
def team_models(tmp_path):
    """The new key holds an attribute that the old one does not."""
    old = USERS.replace('firstName = "string", lastName = "string"', 'team = "id"')
    old = old.replace("[pattern]", 'unique = ["userEmail"]\n[pattern]')
    new = old.replace('["USER#{userId}", "USER"]', '["TEAM#{team}", "USER#{userId}"]').replace('["userId"]', '["team"]')
    new = new.replace('out = "User"', 'out = "User*"') + (
        '[entity.UserById]\nattributes = { userId = "id", team = "string" }\ncopies = "User"\nkey = ["ID#{userId}", "USER"]\n'
    )
    for name, text in [("old", old), ("new", new)]:
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path / "old.toml", tmp_path / "new.toml"


@pytest.mark.parametrize("into", [[], ["--into", "Copied"]])
def test_an_item_stays_one_when_a_put_in_the_old_form_gives_it_another_new_key(server, team_models, into):
    old, new = team_models
    model(server, "seed", old, "--items", 50)
    database = client(server)
    for number in range(1, 5):
        database.put_item(TableName="Users", Item=member(number, "red"))
        database.put_item(TableName="Users", Item=marker_key(f"{number}@example.com"))
    table = "Copied" if into else "Users"
    with following(server, old, new, *into) as ended:
        database.put_item(TableName="Users", Item=member(1, "blue"))
        time.sleep(0.7)
        database.put_item(TableName="Users", Item=member(1, "green"))
        for number in (2, 3):
            database.put_item(TableName="Users", Item=member(number, "blue"))
            if number == 3:
                time.sleep(0.7)
                database.put_item(TableName="Users", Item=member(number, "red"))
            database.delete_item(TableName="Users", Key={"PK": {"S": f"USER#{number}"}, "SK": {"S": "USER"}})
            database.delete_item(TableName="Users", Key=marker_key(f"{number}@example.com"))
        if not into:
            database.delete_item(TableName="Users", Key={name: member(4, "red", True)[name] for name in ["PK", "SK"]})
            database.put_item(TableName="Users", Item=member(4, "white", True))
        database.put_item(TableName="Users", Item=member(4, "black"))
        time.sleep(1.5)
    assert ended["code"] == 0, ended["output"]
    items = database.scan(TableName=table)["Items"]
    own = {
        (item["PK"]["S"], item["SK"]["S"])
        for item in items if item.get("userId", {}).get("S") in [str(number) for number in range(1, 5)]
    }
    keys = {("TEAM#green", "USER#1"), ("ID#1", "USER"), ("TEAM#black", "USER#4"), ("ID#4", "USER")}
    assert own == keys, ended["output"]


def test_a_unique_value_stays_taken_until_the_application_is_switched(server, models, tmp_path):
    _, new = models
    old = tmp_path / "unique.toml"
    old.write_text(USERS.replace("[pattern]", 'unique = ["userEmail"]\n[pattern]'))
    database = client(server)
    model(server, "seed", old, "--items", 20)
    sign_up(database, 1)
    with following(server, old, new) as ended:
        assert exists(database, marker_key("1@example.com"))
        with pytest.raises(database.exceptions.TransactionCanceledException):
            sign_up(database, 1)
    assert ended["code"] == 0, ended["output"]
    assert not exists(database, marker_key("1@example.com")), "the new model has markers of its own"
