"""`partita dump` and `partita load`: a database is copied into another that becomes equal, even if the commands are killed
in between. The dump is read here by an independent program."""

import gzip
import json
import os
import resource
import random
import re
import signal
import subprocess
import time

import pytest

from conftest import server_binary, started_server
from dynamo import eventually, index, table_request
from test_process import Running

ITEMS = 4000


@pytest.fixture
def two(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    with Running(tmp_path / "one") as one, Running(tmp_path / "two") as other:
        yield one, other


def partita(*arguments, code=0, **environment):
    run = subprocess.run([server_binary(), *map(str, arguments)], env=os.environ | environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


def fill(client, items=ITEMS):
    """Creates two tables that use everything a definition can contain."""
    client.create_table(**table_request(
        "Shop", "pk:S sk:N", also="g:S l:S", indexes=[index("byG", "g sk", ["x"])], local=[index("byL", "pk l", "KEYS_ONLY")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}, Tags=[{"Key": "team", "Value": "shop"}],
        TableClass="STANDARD_INFREQUENT_ACCESS", DeletionProtectionEnabled=True))
    client.update_time_to_live(TableName="Shop", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    client.create_table(**(table_request("Plain", "id:B", BillingMode="PROVISIONED") | {
        "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}}))
    values = [{"S": "ü\n\"\u2028"}, {"N": "1E+2"}, {"B": b"\0\xff"}, {"SS": ["a", "b"]}, {"NS": ["1", "2.5"]}, {"BS": [b"x"]},
              {"L": [{"M": {"deep": {"NULL": True}}}]}, {"BOOL": False}, {"S": "z" * 3000}]
    for start in range(0, items, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"p{n % 97}"}, "sk": {"N": str(n)}, "g": {"S": f"g{n % 7}"},
                                         "x": values[n % len(values)]}}} for n in range(start, start + 25)]
        client.batch_write_item(RequestItems={"Shop": puts})
    client.put_item(TableName="Plain", Item={"id": {"B": b"\1"}})


def items_of(client, table):
    pages = client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return sorted((json.dumps(item, default=repr, sort_keys=True) for page in pages for item in page["Items"]))


STATE = ("CreationDateTime", "TableArn", "TableId", "LatestStreamLabel", "LatestStreamArn", "LastUpdateToPayPerRequestDateTime", "IndexArn",
         "LastIncreaseDateTime", "LastUpdateDateTime")


def without_state(value):
    """A description without what differs between two equal tables."""
    if isinstance(value, dict):
        return {name: without_state(inner) for name, inner in value.items() if name not in STATE}
    return [without_state(inner) for inner in value] if isinstance(value, list) else value


def definition(client, table):
    described = client.describe_table(TableName=table)["Table"]
    return (without_state(described), client.describe_time_to_live(TableName=table)["TimeToLiveDescription"],
            client.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"])


def assert_equal(one, other, tables=("Plain", "Shop")):
    assert set(tables) <= set(other.list_tables()["TableNames"])
    for table in tables:
        assert items_of(one, table) == items_of(other, table)
        eventually(lambda: assert_same(definition(one, table), definition(other, table)))


def assert_same(one, other):
    assert one == other


def lines(path):
    if path.suffix == ".zst":
        text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    else:
        text = (gzip.open(path) if path.suffix == ".gz" else open(path, "rb")).read()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.jsonl.zst"])
def test_a_database_is_dumped_to_a_file_and_loaded_from_it(two, tmp_path, name):
    one, other = two
    fill(one.client())
    file = tmp_path / name
    assert f"{ITEMS + 1} items of 2 tables" in partita("dump", file, "--endpoint", one.endpoint)
    assert not list(tmp_path.glob("*.partial")) and not list(tmp_path.glob("*.progress"))
    read = lines(file)
    assert list(read[0]) == ["Dump"] and read[-1] == {"End": {"Tables": 2, "Items": ITEMS + 1}}
    assert [line["Table"]["TableName"] for line in read if "Table" in line] == ["Plain", "Shop"]
    assert sum("Item" in line for line in read) == ITEMS + 1
    assert f"{ITEMS + 1} items of 2 tables" in partita("load", file, "--endpoint", other.endpoint)
    assert_equal(one.client(), other.client())
    assert "exists already" in partita("load", file, "--endpoint", other.endpoint, code=1)
    partita("load", file, "--endpoint", other.endpoint, "--merge")
    assert_equal(one.client(), other.client())
    assert "exists already" in partita("dump", file, "--endpoint", one.endpoint, code=1)


def test_one_table_of_several(two, tmp_path):
    one, other = two
    fill(one.client(), 100)
    file = tmp_path / "some.jsonl"
    partita("dump", file, "--table", "Plain", "--endpoint", one.endpoint)
    assert [line["Table"]["TableName"] for line in lines(file) if "Table" in line] == ["Plain"]
    whole = tmp_path / "all.jsonl"
    partita("dump", whole, "--endpoint", one.endpoint)
    partita("load", whole, "--table", "Plain", "--endpoint", other.endpoint)
    assert other.client().list_tables()["TableNames"] == ["Plain"]
    assert_equal(one.client(), other.client(), ["Plain"])
    assert "ResourceNotFoundException" in partita("dump", tmp_path / "none", "--table", "Nope", "--endpoint", one.endpoint, code=1)


def test_items_without_a_table_are_loaded_into_the_named_table(two, tmp_path):
    one, _ = two
    client = one.client()
    client.create_table(**table_request("Into", "pk:S"))
    file = tmp_path / "data.json.gz"
    file.write_bytes(gzip.compress(b"".join(b'{"Item":{"pk":{"S":"%d"}}}\n' % n for n in range(60))))
    assert "name one with --table" in partita("load", file, "--endpoint", one.endpoint, code=1)
    partita("load", file, "--table", "Into", "--endpoint", one.endpoint)
    assert client.describe_table(TableName="Into")["Table"]["ItemCount"] == 60


def test_a_truncated_dump_is_detected(two, tmp_path):
    one, other = two
    fill(one.client(), 100)
    file = tmp_path / "all.jsonl"
    partita("dump", file, "--endpoint", one.endpoint)
    # Texts contain other line ends than those of the file.
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:50]))
    assert "cut short" in partita("load", file, "--endpoint", other.endpoint, code=1)


def test_from_one_database_into_another(two, tmp_path):
    one, other = two
    fill(one.client())
    partita("load", one.endpoint, "--endpoint", other.endpoint, "--progress", tmp_path / "checkpoint")
    assert not (tmp_path / "checkpoint").exists()
    assert_equal(one.client(), other.client())


def content(file):
    """The content of a file; empty if it does not exist, or is just being removed."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def killed_until_done(checkpoint, *arguments):
    """Runs a command until it succeeds, killing it soon after it writes its checkpoint; returns the number of kills."""
    kills = 0
    while True:
        before, killed = content(checkpoint), False
        run = subprocess.Popen([server_binary(), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None:
            if kills < 4 and content(checkpoint) not in (b"", before):
                run.send_signal(signal.SIGKILL)
                kills, killed = kills + 1, True
                break
            time.sleep(0.005)
        out, err = run.communicate()
        # The checkpoint is removed last: without one, everything was done before the kill.
        if run.returncode == 0 or (killed and not checkpoint.exists()):
            return kills
        assert run.returncode == -signal.SIGKILL, out + err


@pytest.mark.parametrize("source", ["a database", "a file"])
def test_a_load_killed_at_any_time_resumes(two, tmp_path, source):
    """Kills at random times, also between creating a table and recording it in the checkpoint."""
    one, other = two
    fill(one.client(), 50)
    file, checkpoint = tmp_path / "all.jsonl", tmp_path / "checkpoint"
    partita("dump", file, "--endpoint", one.endpoint)
    client, kills, rng = other.client(), 0, random.Random(11)
    command = [server_binary(), "load", one.endpoint if source == "a database" else str(file), "--endpoint", other.endpoint, "--progress", str(checkpoint)]
    deadline = time.monotonic() + 20
    for _ in range(8):
        while True:
            run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                out, err = run.communicate(timeout=rng.uniform(0.001, 0.04) if time.monotonic() < deadline else 60)
            except subprocess.TimeoutExpired:
                run.kill()
                out, err = run.communicate()
                kills += 1
            # The checkpoint is removed last: with tables and without one, everything was done before the kill.
            if run.returncode == 0 or (not checkpoint.exists() and client.list_tables()["TableNames"]):
                break
            assert run.returncode == -signal.SIGKILL, out + err
        assert_equal(one.client(), client)
        client.update_table(TableName="Shop", DeletionProtectionEnabled=False)
        for table in ("Plain", "Shop"):
            client.delete_table(TableName=table)
    assert kills > 0


def test_a_table_with_another_key_is_not_mistaken_for_its_own(two, tmp_path):
    one, other = two
    fill(one.client(), 25)
    file, checkpoint = tmp_path / "all.jsonl", tmp_path / "checkpoint"
    partita("dump", file, "--endpoint", one.endpoint)
    other.client().create_table(**table_request("Plain", "another:S"))
    # As if it had been killed before it created the table.
    checkpoint.write_text(json.dumps({"target": other.endpoint, "wanted": [], "file_bytes": file.stat().st_size, "line": 0, "begun": "Plain"}))
    assert "has another key" in partita("load", file, "--endpoint", other.endpoint, "--progress", checkpoint, code=1)


def test_a_dump_killed_at_its_end_is_complete(two, tmp_path):
    one, _ = two
    fill(one.client(), 25)
    file, checkpoint = tmp_path / "all.jsonl", tmp_path / "all.jsonl.progress"
    partita("dump", file, "--endpoint", one.endpoint)
    state = {"source": one.endpoint, "wanted": [], "tables": ["Plain", "Shop"], "finished": 2, "cursors": [], "items": 26, "items_of_table": 25,
             "bytes": file.stat().st_size, "ended": True}
    # Killed before the checkpoint was removed.
    checkpoint.write_text(json.dumps(state))
    assert "26 items of 2 tables" in partita("dump", file, "--endpoint", one.endpoint)
    assert not checkpoint.exists() and lines(file)[-1] == {"End": {"Tables": 2, "Items": 26}}
    # Killed before the file was renamed.
    text = file.read_bytes()
    file.rename(tmp_path / "all.jsonl.partial")
    checkpoint.write_text(json.dumps(state))
    partita("dump", file, "--endpoint", one.endpoint)
    assert not checkpoint.exists() and file.read_bytes() == text


@pytest.mark.parametrize("name", ["long.jsonl", "long.jsonl.gz"])
def test_a_line_longer_than_any_item_is_refused(two, tmp_path, name):
    one, _ = two
    one.client().create_table(**table_request("Into", "pk:S"))
    file = tmp_path / name
    good = b'{"Item":{"pk":{"S":"a"}}}\n'
    with (gzip.open(file, "wb", compresslevel=1) if name.endswith(".gz") else open(file, "wb")) as out:
        out.write(good * 2)
        for _ in range(200):
            out.write(b" " * (1 << 20))
    run = subprocess.Popen([server_binary(), "load", file, "--table", "Into", "--endpoint", one.endpoint], stderr=subprocess.PIPE, text=True)
    errors = run.stderr.read()
    # Memory in KB, which includes this process's own up to the exec: the line has 200 MB.
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 1 and f"{name}: line 3 is longer than 16 MB" in errors
    assert used.ru_maxrss < max(150_000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 20_000)


def test_dumps_are_readable_only_by_their_owner(two, tmp_path):
    one, _ = two
    fill(one.client(), 2000)
    file = tmp_path / "all.jsonl"
    mask = os.umask(0o022)
    try:
        run = subprocess.Popen([server_binary(), "dump", file, "--endpoint", one.endpoint], stdout=subprocess.DEVNULL)
        modes = {}
        while run.poll() is None:
            for path in tmp_path.glob("all.jsonl*"):
                try:
                    modes[path.name] = path.stat().st_mode & 0o777
                except FileNotFoundError:
                    pass
    finally:
        os.umask(mask)
    assert run.returncode == 0 and file.stat().st_mode & 0o777 == 0o600
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.jsonl.zst"])
def test_killed_dumps_and_loads_resume(two, tmp_path, name):
    one, other = two
    fill(one.client(), 20_000)
    file = tmp_path / name
    assert killed_until_done(tmp_path / f"{name}.progress", "dump", file, "--endpoint", one.endpoint) >= 2
    read = lines(file)
    assert read[-1] == {"End": {"Tables": 2, "Items": 20_001}} and sum("Item" in line for line in read) == 20_001
    assert len({json.dumps(line["Item"], sort_keys=True) for line in read if "Item" in line}) == 20_001
    assert killed_until_done(tmp_path / f"{name}.load-progress", "load", file, "--endpoint", other.endpoint) >= 2
    assert_equal(one.client(), other.client())


def test_a_killed_copy_resumes(two, tmp_path):
    one, other = two
    fill(one.client(), 20_000)
    checkpoint = tmp_path / "checkpoint"
    assert killed_until_done(checkpoint, "load", one.endpoint, "--endpoint", other.endpoint, "--progress", checkpoint) >= 2
    assert_equal(one.client(), other.client())


def test_the_checkpoint_of_another_load_is_refused(two, tmp_path):
    one, other = two
    fill(one.client(), 100)
    checkpoint = tmp_path / "checkpoint"
    checkpoint.write_text(json.dumps({"source": "http://elsewhere", "target": other.endpoint, "wanted": [], "tables": [], "finished": 0, "cursors": [], "items": 0}))
    assert "belongs to another load" in partita("load", one.endpoint, "--endpoint", other.endpoint, "--progress", checkpoint, code=1)


def test_encrypted_connections_and_verified_signatures(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
                    "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"], check=True, capture_output=True)
    server = started_server("--tls-cert", certificate, "--tls-key", key, "--access-key", "AK", environment={"PARTITA_SECRET_KEY": "SK"})
    try:
        endpoint = re.search(r"https://127\.0\.0\.1:\d+", server.stdout.readline()).group()
        keys = {"SSL_CERT_FILE": str(certificate), "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"}
        file = tmp_path / "in.jsonl"
        file.write_text(json.dumps({"Table": table_request("Encrypted", "pk:S")}) + '\n{"Item":{"pk":{"S":"a"}}}\n')
        partita("load", file, "--endpoint", endpoint, **keys)
        partita("dump", tmp_path / "out.jsonl", "--endpoint", endpoint, **keys)
        assert {"Item": {"pk": {"S": "a"}}} in lines(tmp_path / "out.jsonl")
        refusal = partita("dump", tmp_path / "not.jsonl", "--endpoint", endpoint, code=1, **keys | {"AWS_SECRET_ACCESS_KEY": "wrong"})
        assert "InvalidSignatureException" in refusal
    finally:
        server.terminate()
        server.wait(timeout=20)
