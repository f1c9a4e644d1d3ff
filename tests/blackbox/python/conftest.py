"""Fixtures: the endpoint under test, a client that sends exactly what a test writes, and tables with unique names."""

import json
import os
import re
import subprocess
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

from dynamo import Table, create_table, headers, until_active

REPOSITORY = Path(__file__).resolve().parents[3]
IN_MEMORY = ["--in-memory"]


def server_binary():
    return REPOSITORY / os.environ.get("PARTITA_BINARY", "target/release/partita")


def started_server(*arguments, storage=IN_MEMORY, stderr=None, environment=None, before=None):
    """`environment` is added to the tests' own; `before` runs in the new process."""
    command = [server_binary(), "serve", *storage, "--port", "0", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=os.environ | (environment or {}), preexec_fn=before)


def announced_endpoint(server):
    for line in server.stdout:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found.group()
    raise RuntimeError(f"the server ended with {server.wait()} before it announced its endpoint")


@pytest.fixture(scope="session")
def endpoint():
    """The given endpoint, or a server for this worker: in memory, or on disk in a folder of PARTITA_TEST_DATA."""
    if given := os.environ.get("PARTITA_ENDPOINT"):
        yield given.rstrip("/")
        return
    server = started_server(storage=own_storage())
    try:
        yield announced_endpoint(server)
        assert server.poll() is None, "the server ended during the tests"
    finally:
        server.terminate()
        server.wait(timeout=20)


def own_storage():
    data = os.environ.get("PARTITA_TEST_DATA")
    return ["--data", Path(data, os.environ.get("PYTEST_XDIST_WORKER", "main"))] if data else IN_MEMORY


@pytest.fixture(scope="session")
def client(endpoint):
    """A client without retries and without validation: a test sees exactly what the server returns."""
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, parameter_validation=False, max_pool_connections=32),
    )


@pytest.fixture(scope="session")
def make_table(client):
    """Creates tables, and deletes them after the tests."""
    names = []

    def make(keys="pk:S", **more):
        name = f"test-{uuid.uuid4().hex[:12]}"
        create_table(client, name, keys, **more)
        names.append(name)
        return Table(client, name)

    yield make
    for name in names:
        try:
            client.delete_table(TableName=name)
        except client.exceptions.ClientError:
            pass  # a test has deleted it, or protects it


@pytest.fixture(scope="session")
def new_name(client):
    """Returns names for restored tables, which are deleted after the tests."""
    names = []

    def make():
        names.append(f"restored-{uuid.uuid4().hex[:12]}")
        return names[-1]

    yield make
    for name in names:
        try:
            client.delete_table(TableName=name)
        except client.exceptions.ClientError:
            pass  # it was never created


@pytest.fixture(scope="session")
def restore(client, new_name):
    """Restores a backup into a new table, and returns the table once it is active."""

    def from_backup(backup, **overrides):
        name = new_name()
        client.restore_table_from_backup(TargetTableName=name, BackupArn=backup["BackupArn"], **overrides)
        until_active(client, name)
        return Table(client, name)

    return from_backup


@pytest.fixture(scope="session")
def simple(make_table):
    """A table with a partition key only."""
    return make_table("pk:S")


@pytest.fixture(scope="session")
def ordered(make_table):
    """A table with a partition key and a string sort key."""
    return make_table("pk:S sk:S")


@pytest.fixture
def pk():
    """A partition key no other test uses."""
    return f"key-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def raw(endpoint):
    """Sends any JSON as an operation's body, bypassing the SDK; returns the status and the response."""

    def send(operation, body):
        request = urllib.request.Request(
            endpoint,
            data=json.dumps(body).encode(),
            headers=headers(operation),
        )
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    return send
