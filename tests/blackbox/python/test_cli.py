"""The AWS command line: the lifecycle of a table, from create-table to delete-table."""

import json
import os
import subprocess
import sys
import uuid

import pytest


@pytest.fixture(scope="module")
def aws(endpoint):
    """Runs `aws dynamodb …` and returns its parsed output."""
    environment = os.environ | {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
    }

    def run(*arguments, fails=None):
        command = [sys.executable, "-m", "awscli", "--endpoint-url", endpoint, "--output", "json", "dynamodb"]
        for argument in arguments:
            command.append(argument if isinstance(argument, str) else json.dumps(argument))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        if fails:
            assert done.returncode != 0 and fails in done.stderr, done.stderr
            return None
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


def test_the_lifecycle_of_a_table(aws):
    name = f"cli-{uuid.uuid4().hex[:8]}"
    on = ("--table-name", name)
    created = aws(
        "create-table", *on, "--billing-mode", "PAY_PER_REQUEST",
        "--attribute-definitions", "AttributeName=PK,AttributeType=S", "AttributeName=SK,AttributeType=S",
        "--key-schema", "AttributeName=PK,KeyType=HASH", "AttributeName=SK,KeyType=RANGE",
    )
    assert created["TableDescription"]["TableName"] == name
    aws("wait", "table-exists", *on)

    aws("put-item", *on, "--item", {"PK": {"S": "USER#1"}, "SK": {"S": "USER#1"}, "name": {"S": "Ann"}})
    aws("put-item", *on, "--item", {"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#1"}, "total": {"N": "10.50"}})
    aws("put-item", *on, "--item", {"PK": {"S": "USER#1"}, "SK": {"S": "USER#1"}}, "--condition-expression", "attribute_not_exists(PK)", fails="ConditionalCheckFailedException")

    order = {"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#1"}}
    assert aws("get-item", *on, "--key", order, "--consistent-read")["Item"]["total"] == {"N": "10.5"}
    assert not aws("get-item", *on, "--key", {"PK": {"S": "none"}, "SK": {"S": "none"}})

    found = aws("query", *on, "--key-condition-expression", "PK = :pk AND begins_with(SK, :sk)", "--expression-attribute-values", {":pk": {"S": "USER#1"}, ":sk": {"S": "ORDER#"}})
    assert found["Count"] == 1 and found["Items"][0]["SK"] == {"S": "ORDER#1"}

    aws("update-item", *on, "--key", order, "--update-expression", "SET total = total + :x", "--expression-attribute-values", {":x": {"N": "0.5"}}, "--return-values", "UPDATED_NEW", fails="reserved keyword: total")
    updated = aws(
        "update-item", *on, "--key", order, "--update-expression", "SET #t = #t + :x", "--expression-attribute-names", {"#t": "total"},
        "--expression-attribute-values", {":x": {"N": "0.5"}}, "--return-values", "UPDATED_NEW",
    )
    assert updated["Attributes"] == {"total": {"N": "11"}}

    aws("transact-write-items", "--transact-items", [
        {"Put": {"TableName": name, "Item": {"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#2"}}}},
        {"Delete": {"TableName": name, "Key": order}},
    ])
    aws("transact-write-items", "--transact-items", [{"ConditionCheck": {"TableName": name, "Key": order, "ConditionExpression": "attribute_exists(PK)"}}], fails="TransactionCanceledException")

    scanned = aws("scan", *on, "--page-size", "1")
    assert sorted(item["SK"]["S"] for item in scanned["Items"]) == ["ORDER#2", "USER#1"]
    assert name in aws("list-tables")["TableNames"]

    assert aws("delete-table", *on)["TableDescription"]["TableName"] == name
    aws("wait", "table-not-exists", *on)
    aws("describe-table", *on, fails="ResourceNotFoundException")
