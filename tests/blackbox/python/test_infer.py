"""`partita model infer` on a table that another application made: pipes, a numeric sort key, times in seconds, no type attribute."""

import json
import subprocess

import pytest

from conftest import server_binary


def model(*arguments):
    done = subprocess.run([server_binary(), "model", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return done


@pytest.fixture
def readings(client, new_name):
    name = new_name()
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "owner", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
            {"AttributeName": "gsi1pk", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "alarms",
                "KeySchema": [{"AttributeName": "gsi1pk", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["level"]},
            }
        ],
    )
    client.get_waiter("table_exists").wait(TableName=name)
    client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "gone"})
    for device in range(6):
        tenant = "acme" if device < 3 else "globex"
        for minute in range(10):
            alarm = minute % 5 == 0
            item = {
                "owner": {"S": f"{tenant}|dev-{device}"},
                "at": {"N": str(1_760_000_000 + minute * 60)},
                "tenant": {"S": tenant},
                "device": {"S": f"dev-{device}"},
                "level": {"S": "HIGH" if alarm else "LOW"},
                "gone": {"N": str(1_790_000_000)},
            }
            if alarm:
                item["gsi1pk"] = {"S": f"alarm|{tenant}"}
            client.put_item(TableName=name, Item=item)
    return name


def test_a_table_in_another_style_is_understood(readings, endpoint, tmp_path):
    text = model("infer", "--endpoint", endpoint, "--table", readings).stdout
    for part in [
        'key = ["{tenant}|{device}", "{at}"]',
        'project = ["level"]',
        'index.alarms = { key = ["alarm|{tenant}", "{at}"], when = "level == \'HIGH\'", count = 12 }',
        'ttl = "gone"',
        "# 60 of 60 items",
    ]:
        assert part in text, text
    file = tmp_path / "model.toml"
    file.write_text(text)
    assert "of 2 patterns served" in model("check", file).stdout
    audit = model("audit", file, "--endpoint", endpoint, "--format", "json")
    assert json.loads(audit.stdout) == {"items": 60, "broken": []}


@pytest.mark.parametrize("form", ["plain", "batch"])
def test_files_of_plain_json_and_of_batches_are_read(tmp_path, form):
    plain = [{"PK": f"USER#{number}x", "SK": "PROFILE", "visits": number, "tags": ["a"]} for number in range(3)]
    typed = [{"PK": {"S": item["PK"]}, "SK": {"S": "PROFILE"}, "visits": {"N": str(item["visits"])}, "tags": {"L": [{"S": "a"}]}} for item in plain]
    batch = {"Users": [{"PutRequest": {"Item": item}} for item in typed]}
    (tmp_path / "items.json").write_text(json.dumps(plain if form == "plain" else batch))
    text = model("infer", tmp_path / "items.json", "--table", "Users").stdout
    assert 'key = ["USER#{userId}", "PROFILE"]' in text and 'visits = "int"' in text and 'tags = "list"' in text, text
