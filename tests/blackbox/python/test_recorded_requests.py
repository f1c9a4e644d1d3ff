"""The requests that a server records become a model with the rates of the traffic."""

import re
import stat
import subprocess
import time

import boto3

from conftest import announced_endpoint, server_binary, started_server


def partita(*arguments):
    return subprocess.run([server_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_traffic_becomes_patterns_with_rates(tmp_path):
    log = tmp_path / "requests.jsonl"
    server = started_server("--log-requests", log)
    try:
        client = boto3.client("dynamodb", endpoint_url=announced_endpoint(server), region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
        client.create_table(
            TableName="Shop",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        )
        started = time.time()
        for number in range(60):
            user = {"S": f"USER#u{number}"}
            profile = {"PK": user, "SK": {"S": "PROFILE"}}
            client.put_item(TableName="Shop", Item=profile | {"type": {"S": "User"}, "userId": {"S": f"u{number}"}}, ConditionExpression="attribute_not_exists(PK)")
            order = {"PK": user, "SK": {"S": f"ORDER#o{number}"}, "type": {"S": "Order"}, "userId": {"S": f"u{number}"}, "orderId": {"S": f"o{number}"}}
            client.put_item(TableName="Shop", Item=order)
            for _ in range(2):
                client.query(
                    TableName="Shop",
                    KeyConditionExpression="PK = :pk AND begins_with(SK, :sk)",
                    ExpressionAttributeValues={":pk": user, ":sk": {"S": "ORDER#"}},
                )
            client.get_item(TableName="Shop", Key=profile)
            time.sleep(0.02)
        taken = time.time() - started
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert len(log.read_text().splitlines()) == 301

    drafted = partita("model", "import", "--from", "requests", log)
    assert drafted.returncode == 0, drafted.stderr
    rate = lambda name: float(re.search(rf"^{name} = .*rps = ([\d.]+)", drafted.stdout, re.MULTILINE)[1])
    assert abs(rate("ordersByUserId") - 120 / taken) < 12 / taken, drafted.stdout
    assert abs(rate("userByUserId") - 60 / taken) < 6 / taken, drafted.stdout
    assert abs(rate("createUser") - 60 / taken) < 6 / taken, drafted.stdout
    (tmp_path / "shop.toml").write_text(drafted.stdout)
    checked = partita("model", "check", tmp_path / "shop.toml")
    assert checked.returncode == 0, checked.stdout
