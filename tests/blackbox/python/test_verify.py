"""`partita verify` on a running server and on a folder, and damage in the data file, which affects only the damaged item."""

import json
import os
import subprocess
import time

import pytest
from botocore.exceptions import ClientError

from conftest import server_binary
from test_process import TABLE, Running, folder, make_table  # noqa: F401, a fixture

MARK = "the bytes that will be altered"


def partita(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PARTITA_ENDPOINT"}
    return subprocess.run([server_binary(), *arguments], capture_output=True, text=True, timeout=60, env=environment)


def verified(*arguments):
    """The exit code and the lines of a verification."""
    done = partita("verify", *arguments)
    return done.returncode, done.stdout.splitlines(), done.stderr


def until_read(read):
    """Retries until the damaged page has been rewritten, which happens in the background."""
    end = time.monotonic() + 10
    while True:
        try:
            return read()
        except ClientError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def fill(client):
    make_table(client)
    for number in range(50):
        note = MARK if number == 7 else f"note {number}"
        client.put_item(TableName=TABLE, Item={"pk": {"S": f"item {number}"}, "note": {"S": note}})


def alter(folder):
    """Alters one letter of the marked item in every copy in the data file."""
    file = folder / "data.mdb"
    content = file.read_bytes()
    assert MARK.encode() in content
    file.write_bytes(content.replace(MARK.encode(), MARK.replace("bytes", "bites").encode()))


def test_an_intact_database_has_no_findings(folder):
    with Running(folder) as running:
        fill(running.client())
        code, lines, _ = verified("--endpoint", running.endpoint)
        assert code == 0 and "no findings" in lines[-1], lines
    code, lines, _ = verified(folder)
    assert code == 0 and "no findings" in lines[-1], lines


def test_an_unreadable_database_is_an_error(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    code, _, errors = verified(tmp_path)
    assert code == 2 and "not the data folder" in errors
    code, _, errors = verified("--endpoint", "http://127.0.0.1:1")
    assert code == 2 and "no database answers" in errors
    assert verified()[0] == 2


def test_a_damaged_item_affects_only_itself(folder, tmp_path):
    with Running(folder) as running:
        fill(running.client())
    alter(folder)
    code, lines, _ = verified(folder)
    assert code == 3 and lines[0].startswith("damaged: "), lines
    with Running(folder) as running:
        client = running.client()
        with pytest.raises(ClientError, match="damaged"):
            client.get_item(TableName=TABLE, Key={"pk": {"S": "item 7"}})
        with pytest.raises(ClientError, match="after item pk=item .* and before item pk=item"):
            client.scan(TableName=TABLE)
        code, lines, _ = verified("--endpoint", running.endpoint)
        assert code == 3 and lines[0].startswith(f"damaged: table {TABLE}"), lines

        dump = tmp_path / "dump.jsonl"
        done = partita("dump", dump, "--endpoint", running.endpoint)
        assert done.returncode == 3 and "damaged: table" in done.stderr, done.stderr
        kinds = [next(iter(json.loads(line))) for line in dump.read_text().splitlines()]
        assert kinds.count("Item") == 49 and kinds.count("Damaged") == 1

        client.put_item(TableName=TABLE, Item={"pk": {"S": "item 7"}, "note": {"S": "new"}})
        assert until_read(lambda: client.scan(TableName=TABLE)["Count"]) == 50
    # The size of the lost item is unknown, so its table's total must be recomputed.
    code, lines, _ = verified(folder)
    assert code == 3 and all(line.startswith("wrong-counter") for line in lines[1:-1]), lines
    assert verified(folder, "--repair")[0] == 0
    assert verified(folder)[0] == 0


LOST = "TableWhoseRecordIsLost"


def alter_record(folder, copies):
    """Alters a letter in the record of a table, in one or both of its copies in the data file."""
    file = folder / "data.mdb"
    content = file.read_bytes()
    record = b'"name":"' + LOST.encode() + b'"'
    places = [at for at in range(len(content)) if content.startswith(record, at)]
    # The catalog has the first keys of a page, whose rows are at its end; the second copies are the other way round.
    for at in places if copies == 2 else places[:1]:
        content = content[: at + 10] + b"X" + content[at + 11 :]
    assert places
    file.write_bytes(content)


def make_lost_table(client):
    client.create_table(
        TableName=LOST,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    client.put_item(TableName=LOST, Item={"pk": {"S": "a"}})


def test_one_copy_of_a_record_is_enough(folder):
    with Running(folder) as running:
        fill(running.client())
        make_lost_table(running.client())
    alter_record(folder, copies=1)
    with Running(folder) as running:
        client = running.client()
        assert client.scan(TableName=LOST)["Count"] == 1
        assert client.scan(TableName=TABLE)["Count"] == 50
        client.put_item(TableName=LOST, Item={"pk": {"S": "b"}})
    code, lines, _ = verified(folder)
    assert code == 0, lines


def test_a_salvaged_database_has_the_models_it_had(folder, tmp_path):
    model = tmp_path / "model.toml"
    model.write_text(
        f'format = 1\n[table]\nname = "{TABLE}"\nkeys = ["pk"]\n'
        '[entity.Item]\nattributes = { id = "id" }\nkey = ["ITEM#{id}"]\n'
    )
    with Running(folder) as running:
        fill(running.client())
        attached = partita("model", "attach", model, "--enforce", "--endpoint", running.endpoint)
        assert attached.returncode == 0, attached.stderr
    assert partita("salvage", folder, "--into", tmp_path / "new").returncode == 0
    with Running(tmp_path / "new") as running:
        with pytest.raises(ClientError, match="The model's key rule is broken"):
            running.client().put_item(TableName=TABLE, Item={"pk": {"S": "new"}})


def test_a_lost_record_affects_only_its_table(folder, tmp_path):
    with Running(folder) as running:
        fill(running.client())
        make_lost_table(running.client())
    alter_record(folder, copies=2)
    salvaged = partita("salvage", folder, "--into", tmp_path / "new")
    assert salvaged.returncode == 3 and f"lost: the record of table {LOST}" in salvaged.stdout, salvaged.stdout
    with Running(folder) as running:
        client = running.client()
        assert client.list_tables()["TableNames"] == sorted([LOST, TABLE])
        with pytest.raises(ClientError, match=f"the record of table {LOST} is damaged"):
            client.get_item(TableName=LOST, Key={"pk": {"S": "a"}})
        assert client.scan(TableName=TABLE)["Count"] == 50
        client.put_item(TableName=TABLE, Item={"pk": {"S": "new"}})
        code, lines, _ = verified("--endpoint", running.endpoint)
        assert code == 3 and any(line.startswith(f"damaged: table {LOST}") for line in lines), lines
        dump = tmp_path / "dump.jsonl"
        done = partita("dump", dump, "--endpoint", running.endpoint)
        assert done.returncode == 3 and f"damaged: table {LOST}" in done.stderr, done.stderr
        kinds = [next(iter(json.loads(line))) for line in dump.read_text().splitlines()]
        assert kinds.count("Item") == 51 and kinds.count("Table") == 1 and kinds.count("Damaged") == 1
    code, lines, _ = verified(folder, "--repair")
    assert code == 0, lines
    with Running(folder) as running:
        assert running.client().list_tables()["TableNames"] == [TABLE]
        make_lost_table(running.client())
        assert running.client().scan(TableName=LOST)["Count"] == 1
