"""The server process: starting, stopping, the lock of the folder, and what survives a restart."""

import os
import re
import signal
import socket
import subprocess
import time

import boto3
import pytest
from botocore.config import Config

from conftest import server_binary
from dynamo import table_request, until_active

TABLE = "Main"
TRANSFER = [{"Update": {"TableName": TABLE, "Key": {"pk": {"S": "a"}}, "UpdateExpression": "ADD n :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}}}}]


@pytest.fixture
def folder(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    return tmp_path / "data"


class Running:
    """A server on a folder."""

    def __init__(self, folder, *more, environment=None, log=None):
        command = [server_binary(), "serve", "--port", "0", "--data", folder, *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        self.greeting = self.process.stdout.readline()
        self.endpoint = re.search(r"http://127\.0\.0\.1:\d+", self.greeting).group()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            assert self.stop(signal.SIGTERM) == 0

    def stop(self, how):
        self.process.send_signal(how)
        return self.process.wait(timeout=20)

    def client(self, service="dynamodb", **config):
        return boto3.client(service, endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id="test",
                            aws_secret_access_key="test", config=Config(retries={"total_max_attempts": 1}, **config))


def refused_start(folder):
    run = subprocess.run([server_binary(), "serve", "--port", "0", "--data", folder], capture_output=True, text=True, timeout=20)
    assert run.returncode == 1
    return run.stderr


def make_table(client):
    client.create_table(TableName=TABLE, BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])


def test_a_second_start_names_the_process_that_holds_the_folder(folder):
    with Running(folder) as running:
        assert f"process {running.process.pid}" in refused_start(folder)
        assert running.client().list_tables()["TableNames"] == []


def test_a_newer_format_is_refused_and_nothing_changes(folder):
    Running(folder).stop(signal.SIGTERM)
    (folder / "FORMAT").write_text("partita embedded store, format 99\n")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "LOCK"}
    assert "99" in refused_start(folder)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_items_and_tokens_survive_a_restart(folder, how):
    with Running(folder) as first:
        client = first.client()
        make_table(client)
        client.transact_write_items(TransactItems=TRANSFER, ClientRequestToken="once")
        first.stop(how)
    with Running(folder) as second:
        client = second.client()
        client.transact_write_items(TransactItems=TRANSFER, ClientRequestToken="once")
        assert client.get_item(TableName=TABLE, Key={"pk": {"S": "a"}})["Item"]["n"] == {"N": "1"}


def test_an_index_is_filled_after_a_restart(folder):
    with Running(folder) as first:
        client = first.client()
        make_table(client)
        for batch in range(40):
            puts = [{"PutRequest": {"Item": {"pk": {"S": f"{batch}-{n}"}, "g": {"S": "all"}}}} for n in range(25)]
            client.batch_write_item(RequestItems={TABLE: puts})
        index = {"IndexName": "byG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}
        client.update_table(TableName=TABLE, GlobalSecondaryIndexUpdates=[{"Create": index}],
                            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")])
        first.stop(signal.SIGKILL)
    with Running(folder) as second:
        client = second.client()
        client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
        pages = client.get_paginator("query").paginate(
            TableName=TABLE, IndexName="byG", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"S": "all"}})
        assert sum(page["Count"] for page in pages) == 1000


def test_healthcheck_reports_by_its_exit_code(folder):
    with Running(folder) as running:
        port = running.endpoint.rsplit(":")[-1]
        check = [server_binary(), "healthcheck", "--port", port]
        assert subprocess.run(check, capture_output=True, text=True).stdout.startswith("ready: ")
        running.stop(signal.SIGTERM)
        assert subprocess.run(check, capture_output=True).returncode == 1


def test_listening_on_all_addresses_requires_keys_or_open_access(folder):
    run = subprocess.run([server_binary(), "serve", "--host", "0.0.0.0", "--port", "0", "--in-memory"], capture_output=True, text=True, timeout=20)
    assert run.returncode == 1 and "--open-access" in run.stderr


@pytest.fixture
def hung_import(folder, monkeypatch):
    """A server with an import that hangs: its bucket is at an endpoint that never responds."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, Running(folder, "--s3-endpoint", f"http://127.0.0.1:{silent.getsockname()[1]}", "--s3-patience", "10m") as running:
        client = running.client()
        client.import_table(S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "data"}, InputFormat="DYNAMODB_JSON", InputCompressionType="NONE",
                            TableCreationParameters=table_request("Imported", "pk:S"))
        time.sleep(1.5)
        yield running
        running.process.kill()
        running.process.wait()


def test_a_hung_import_delays_no_other_work(hung_import):
    client = hung_import.client()
    make_table(client)
    client.put_item(TableName=TABLE, Item={"pk": {"S": "a"}, "g": {"S": "b"}})
    index = {"IndexName": "byG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    client.update_table(TableName=TABLE, GlobalSecondaryIndexUpdates=[{"Create": index}],
                        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")])
    until_active(client, TABLE, seconds=10)
    start_time = time.monotonic()
    for _ in range(20):
        hung_import.client().list_tables()
    assert time.monotonic() - start_time < 10


def test_sigterm_ends_the_server_even_with_a_hung_import(hung_import):
    client = hung_import.client()
    make_table(client)
    client.put_item(TableName=TABLE, Item={"pk": {"S": "stored"}})
    start_time = time.monotonic()
    # 3 if a job had to be abandoned.
    assert hung_import.stop(signal.SIGTERM) in (0, 3)
    assert time.monotonic() - start_time < 11
