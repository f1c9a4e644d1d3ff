"""Kills the server with SIGKILL under load, repeatedly, and checks that nothing is lost.

usage: kill_loop.py BINARY [KILLS]

Eight writers put items (with a global index), count, transfer between two accounts in a transaction and write
batches; each records what was acknowledged. After each kill the server starts on the same folder, and every
acknowledged write must be present, transactions atomic, the index equal to the table, the counters exact, and the table
rebuilt from its stream equal to the table: no record lost or repeated. Backups created in between are restored,
with another kill, and must equal the table at that time.
"""
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "blackbox" / "python"))
from stream_reader import key_of, records, replay  # noqa: E402

WRITERS = 8
ACCOUNTS = 10
TABLE = "Crash"
RESTORED = "Restored"


class Server:
    """One run of the server on a folder."""

    def __init__(self, binary, folder):
        self.process = subprocess.Popen(
            [binary, "serve", "--port", "0", "--data", folder], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            sys.exit(f"the server did not start: {line!r}")
        self.endpoint = "http://" + line.split("http://")[1].split()[0]

    def client(self, service="dynamodb"):
        config = Config(retries={"max_attempts": 0}, connect_timeout=5, read_timeout=10)
        return boto3.client(service, endpoint_url=self.endpoint, region_name="us-east-1",
                            aws_access_key_id="local", aws_secret_access_key="local", config=config)

    def kill(self):
        self.process.kill()
        self.process.wait()


def create_table(client):
    client.create_table(
        TableName=TABLE, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK")],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        GlobalSecondaryIndexes=[{"IndexName": "GSI1", "Projection": {"ProjectionType": "ALL"},
                                 "KeySchema": [{"AttributeName": "GSI1PK", "KeyType": "HASH"},
                                               {"AttributeName": "SK", "KeyType": "RANGE"}]}])
    for account in range(ACCOUNTS):
        client.put_item(TableName=TABLE, Item=account_item(account, 1000))


def account_item(account, balance):
    return {"PK": {"S": f"ACCOUNT#{account}"}, "SK": {"S": "BALANCE"}, "amount": {"N": str(balance)}}


def add(client, account, change):
    return {"Update": {"TableName": TABLE, "Key": {"PK": {"S": f"ACCOUNT#{account}"}, "SK": {"S": "BALANCE"}},
                       "UpdateExpression": "ADD amount :c", "ExpressionAttributeValues": {":c": {"N": str(change)}}}}


class Writer(threading.Thread):
    """Writes until the server is killed; records what was acknowledged and what was only sent."""

    def __init__(self, server, number, start):
        super().__init__()
        self.client = server.client()
        self.number = number
        self.next = start
        self.acknowledged = []
        self.sent = []
        self.counted = [0, 0]  # acknowledged, sent

    def item(self, n, size):
        return {"PK": {"S": f"WRITER#{self.number}"}, "SK": {"S": f"{n:09}"}, "GSI1PK": {"S": f"GROUP#{n % 7}"},
                "text": {"S": "x" * size}}

    def run(self):
        try:
            while True:
                self.step()
        except (BotoCoreError, ClientError, OSError):
            pass

    def step(self):
        choice = random.random()
        n = self.next
        if choice < 0.5:
            self.next += 1
            self.sent.append(n)
            self.client.put_item(TableName=TABLE, Item=self.item(n, random.choice([10, 900, 9000])))
            self.acknowledged.append(n)
        elif choice < 0.7:
            batch = list(range(n, n + 5))
            self.next += 5
            self.sent.extend(batch)
            self.client.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": self.item(b, 50)}} for b in batch]})
            self.acknowledged.extend(batch)
        elif choice < 0.85:
            self.counted[1] += 1
            self.client.update_item(TableName=TABLE, Key={"PK": {"S": f"COUNTER#{self.number}"}, "SK": {"S": "C"}},
                                    UpdateExpression="ADD amount :one", ExpressionAttributeValues={":one": {"N": "1"}})
            self.counted[0] += 1
        else:
            a, b = random.sample(range(ACCOUNTS), 2)
            change = random.randint(1, 20)
            self.client.transact_write_items(TransactItems=[add(self.client, a, -change), add(self.client, b, change)])


def read_all(client, table=TABLE, **request):
    pages = client.get_paginator("scan").paginate(TableName=table, **request)
    return [item for page in pages for item in page["Items"]]


def back_up(client, number):
    """Creates a backup while there are no writes; returns its ARN and its items."""
    details = client.create_backup(TableName=TABLE, BackupName=f"after-{number}")["BackupDetails"]
    return details["BackupArn"], read_all(client, ConsistentRead=True)


def check_backup(binary, folder, server, arn, expected):
    """Restores a backup, with a kill in between, and deletes it; returns the restarted server and the problems."""
    server.client().restore_table_from_backup(TargetTableName=RESTORED, BackupArn=arn)
    time.sleep(random.uniform(0, 0.1))
    server.kill()
    server = Server(binary, folder)
    client = server.client()
    client.get_waiter("table_exists").wait(TableName=RESTORED, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    restored = read_all(client, RESTORED, ConsistentRead=True)
    client.delete_table(TableName=RESTORED)
    client.delete_backup(BackupArn=arn)
    order = lambda items: sorted(map(repr, items))
    same = order(restored) == order(expected)
    return server, [] if same else [f"a backup of {len(expected)} items became a table of {len(restored)}"]


def check_stream(server, items):
    """Compares the table with the one rebuilt from its stream; returns the problems."""
    arn = server.client().describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
    try:
        rebuilt = replay(records(server.client("dynamodbstreams"), arn))
    except AssertionError as problem:
        return [f"the stream: {problem}"]
    stored = {key_of({name: item[name] for name in ("PK", "SK")}): item for item in items}
    if rebuilt != stored:
        return [f"the stream results in {len(rebuilt)} items that should equal {len(stored)}"]
    return []


def check(server, acknowledged, counted):
    """Checks all invariants; returns the problems."""
    client = server.client()
    items = {(item["PK"]["S"], item["SK"]["S"]): item for item in read_all(client, ConsistentRead=True)}
    problems = check_stream(server, items.values())
    for number, numbers in acknowledged.items():
        lost = [n for n in numbers if (f"WRITER#{number}", f"{n:09}") not in items]
        if lost:
            problems.append(f"writer {number}: {len(lost)} acknowledged items are lost, first {lost[0]}")
    for number, (least, most) in counted.items():
        item = items.get((f"COUNTER#{number}", "C"))
        value = int(item["amount"]["N"]) if item else 0
        if not least <= value <= most:
            problems.append(f"counter {number} is {value}, acknowledged {least}, sent {most}")
    total = sum(int(item["amount"]["N"]) for (pk, _), item in items.items() if pk.startswith("ACCOUNT#"))
    if total != ACCOUNTS * 1000:
        problems.append(f"the accounts sum up to {total}")
    indexed = {(item["PK"]["S"], item["SK"]["S"]): item for item in read_all(client, IndexName="GSI1")}
    expected = {key: item for key, item in items.items() if "GSI1PK" in item}
    if indexed != expected:
        problems.append(f"the index has {len(indexed)} entries that should equal {len(expected)} items")
    table = client.describe_table(TableName=TABLE)["Table"]
    counts = (table["ItemCount"], table["GlobalSecondaryIndexes"][0]["ItemCount"])
    if counts != (len(items), len(expected)):
        problems.append(f"the counters say {counts}, not {(len(items), len(expected))}")
    return problems


def main():
    binary, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    acknowledged = {number: [] for number in range(WRITERS)}
    counted = {number: (0, 0) for number in range(WRITERS)}
    failures = 0
    written = 0
    backups = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, folder)
        create_table(server.client())
        for kill in range(kills):
            writers = [Writer(server, number, kill * 100_000) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(random.uniform(0.02, 0.6))
            server.kill()
            for writer in writers:
                writer.join()
                acknowledged[writer.number].extend(writer.acknowledged)
                written += len(writer.acknowledged)
                least, most = counted[writer.number]
                counted[writer.number] = (least + writer.counted[0], most + writer.counted[1])
            server = Server(binary, folder)
            if kill % 4 == 0:
                backups.append(back_up(server.client(), kill))
            # A full comparison takes too long for every kill: every tenth, and the last.
            if kill % 10 == 9 or kill == kills - 1:
                problems = check(server, acknowledged, counted)
                while backups:
                    server, of_backup = check_backup(binary, folder, server, *backups.pop())
                    problems += of_backup
                for problem in problems:
                    failures += 1
                    print(f"after kill {kill + 1}: {problem}", flush=True)
                print(f"kill {kill + 1}: {written} acknowledged items checked, and the backups", flush=True)
        server.kill()
    print(f"{kills - min(failures, kills)} passed, {failures} failed")
    sys.exit(1 if failures or not written else 0)


if __name__ == "__main__":
    main()
