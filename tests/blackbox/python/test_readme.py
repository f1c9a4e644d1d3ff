"""The README's examples do what they say: its shell and Python blocks run as they stand, with this endpoint."""

import os
import re
import subprocess
import sys

import pytest

from conftest import REPOSITORY, server_binary
from dynamo import until_active


def blocks(language):
    text = (REPOSITORY / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def tried(endpoint, client):
    """The shell examples, run in order; they make the table that the others use."""
    environment = os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "AWS_PAGER": ""}
    # One shell for all of them, as a reader has: later blocks rely on what the first one sets.
    examples = "".join(block for block in blocks("sh") if "aws dynamodb" in block)
    script = "set -e\n" + examples.replace("http://127.0.0.1:8000", endpoint)
    run = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    yield run.stdout
    client.delete_table(TableName="Shop")
    until_active(client, "ShopAsItWas")
    client.delete_table(TableName="ShopAsItWas")


def test_the_shell_examples_find_the_order_they_put(tried):
    assert "ORDER#2026-04-05#o1" in tried and "99.99" in tried


def test_the_python_examples_run(tried, endpoint, client):
    for block in blocks("python"):
        exec(compile(block.replace("http://127.0.0.1:8000", endpoint), "README.md", "exec"), {})
    item = client.get_item(TableName="Shop", Key={"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}})["Item"]
    assert item["name"] == {"S": "Alice"}


def test_the_dump_examples_run(tried, endpoint, client, tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to run")
    (tmp_path / "partita").symlink_to(server_binary())
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = next(block for block in blocks("sh") if "partita dump" in block).replace("http://127.0.0.1:8000", endpoint)
    run = subprocess.run(["bash", "-ec", script], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    items = client.describe_table(TableName="Shop")["Table"]["ItemCount"]
    assert items > 0 and f"{items} items of 1 tables" in run.stdout


def test_the_backup_examples_make_a_backup_and_restore_the_table(tried, client):
    assert "before-the-release" in tried and '"RestoreInProgress": true' in tried
    until_active(client, "ShopAsItWas")
    assert client.scan(TableName="ShopAsItWas")["Count"] > 0


def test_the_export_examples_start_an_export_and_list_it(tried):
    assert tried.count("table/Shop/export/0") == 2 and "ExportSummaries" in tried
