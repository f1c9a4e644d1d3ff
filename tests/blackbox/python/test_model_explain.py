"""The requests that `partita model explain --as …` prints can be pasted: they succeed on a table that `partita model seed` has filled, and keep the model's rules."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import boto3
import pytest

from conftest import REPOSITORY, announced_endpoint, server_binary, started_server

MODELS = [REPOSITORY / path for path in ("crates/design/tests/good/workshop.toml", "models/shop-overloaded-index.toml", "models/document-versions.toml")]
SDK = REPOSITORY / "tests/blackbox/javascript/node_modules/@aws-sdk/client-dynamodb"


@pytest.fixture(scope="module")
def endpoint():
    """A server of its own: the table has the model's name."""
    server = started_server()
    try:
        yield announced_endpoint(server)
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(timeout=20)


def partita(*arguments):
    done = subprocess.run([server_binary(), "model", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def names(model, section):
    return list(tomllib.loads(model.read_text()).get(section, {}))


def cases(section):
    return [pytest.param(model, name, id=f"{model.stem}-{name}") for model in MODELS for name in names(model, section)]


@pytest.fixture(scope="module")
def seeded(endpoint):
    """Fills the table of a model, once unless `again`."""
    done = set()

    def fill(model, again=False):
        table = tomllib.loads(model.read_text())["table"]["name"]
        if again and model in done:
            client = boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
            client.delete_table(TableName=table)
            client.get_waiter("table_not_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
        if again or model not in done:
            partita("seed", model, "--endpoint", endpoint)
            done.add(model)

    return fill


@pytest.fixture
def run(endpoint, tmp_path):
    environment = os.environ | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
    }

    def run(*command, **more):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def printed_answers(script):
    """The script, which prints the number of items in each answer instead of the answers."""
    calls = re.sub(r"^print\((client\..*)\)$", r"answers.append(\1)", script, flags=re.M)
    calls = calls.replace("\n\n", "\n\nanswers = []\n", 1)
    count = "len(a.get('Items', [])) or len(sum(a.get('Responses', {}).values(), [])) or ('Item' in a)"
    return f"{calls}\nprint([int({count}) for a in answers])\n"


@pytest.mark.parametrize("model,name", cases("pattern"))
def test_patterns_find_items_in_python(model, name, seeded, run):
    seeded(model)
    script = partita("explain", model, name, "--as", "python")
    found = json.loads(run(sys.executable, "-c", printed_answers(script)))
    if "BETWEEN" not in script:  # a range is an example and may be empty
        assert found and all(found), script


@pytest.mark.parametrize("model,name", cases("write"))
def test_writes_succeed_in_python_and_leave_no_violation(model, name, seeded, run, endpoint):
    seeded(model, again=True)
    partita("attach", model, "--enforce", "--endpoint", endpoint)
    try:
        run(sys.executable, "-c", partita("explain", model, name, "--as", "python"))
    finally:
        partita("detach", tomllib.loads(model.read_text())["table"]["name"], "--endpoint", endpoint)
    assert "0 violations" in partita("audit", model, "--endpoint", endpoint)


@pytest.mark.parametrize("name", names(MODELS[0], "pattern")[:2] + names(MODELS[0], "write")[:2])
def test_requests_of_the_command_line(name, seeded, run):
    seeded(MODELS[0], again=True)
    script = partita("explain", MODELS[0], name, "--as", "cli")
    assert script.count("\naws dynamodb ") >= 1
    run("bash", "-ec", f'aws() {{ {sys.executable} -m awscli "$@"; }}\n{script}')


@pytest.mark.skipif(not (shutil.which("node") and SDK.exists()), reason="the SDK for JavaScript is not installed")
def test_requests_in_javascript(seeded, run):
    for name in names(MODELS[0], "pattern")[:2] + names(MODELS[0], "write")[:2]:
        seeded(MODELS[0], again=True)
        script = partita("explain", MODELS[0], name, "--as", "javascript")
        run("node", "--input-type=module", "--eval", script, cwd=REPOSITORY / "tests/blackbox/javascript")


def test_json_names_operations_and_inputs():
    for entry in json.loads(partita("explain", MODELS[0], "--as", "json")):
        assert entry["requests"], entry["name"]
        assert all({"operation", "input"} == set(request) for request in entry["requests"])
