"""Streams: the records of every kind of write, shards and iterators, and tables rebuilt from them."""

import json
import random
import signal
import threading
import time
import urllib.error
import urllib.request

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from dynamo import Table, attributes, create_table, eventually, headers, invalid, refused
from stream_reader import key_of, records, records_of, replay, shards
from test_process import Running, folder  # noqa: F401: a fixture

BOTH = "NEW_AND_OLD_IMAGES"


def streams_client(endpoint):
    return boto3.client(
        "dynamodbstreams",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
    )


@pytest.fixture(scope="module")
def streams(endpoint):
    return streams_client(endpoint)


def enabled(view=BOTH):
    return {"StreamEnabled": True, "StreamViewType": view}


def described(client, table):
    return client.describe_table(TableName=table.name)["Table"]


@pytest.fixture
def streamed(client, make_table):
    """A table with a stream, and the stream's ARN."""

    def make(keys="pk:S", view=BOTH, **more):
        table = make_table(keys, StreamSpecification=enabled(view), **more)
        return table, described(client, table)["LatestStreamArn"]

    return make


def stored(table):
    items = [item for page in table.pages(table.scan) for item in page["Items"]]
    names = [key["AttributeName"] for key in described(table.client, table)["KeySchema"]]
    return {key_of(attributes({n: item[n] for n in names})): attributes(item) for item in items}


class TestRecords:
    def test_every_write_is_recorded_once(self, client, streams, streamed):
        table, arn = streamed()
        began = int(time.time())
        table.put({"pk": "a", "n": 1})
        table.put({"pk": "a", "n": 1})
        table.update({"pk": "a"}, "SET n = :n", values={":n": 2})
        table.update({"pk": "a"}, "SET n = :n", values={":n": 2})
        table.update({"pk": "b"})
        table.delete({"pk": "missing"})
        table.delete({"pk": "a"})
        found = records(streams, arn)
        of_a = [r for r in found if r["dynamodb"]["Keys"] == {"pk": {"S": "a"}}]
        assert [r["eventName"] for r in of_a] == ["INSERT", "MODIFY", "REMOVE"]
        modified = of_a[1]
        body = modified.pop("dynamodb")
        assert len(modified.pop("eventID")) == 32
        assert modified == {"eventName": "MODIFY", "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1"}
        assert began <= body.pop("ApproximateCreationDateTime").timestamp() <= time.time()
        number = body.pop("SequenceNumber")
        assert number.isdecimal() and 21 <= len(number) <= 40
        assert body == {
            "Keys": {"pk": {"S": "a"}},
            "OldImage": {"pk": {"S": "a"}, "n": {"N": "1"}},
            "NewImage": {"pk": {"S": "a"}, "n": {"N": "2"}},
            "SizeBytes": 3 + 6 + 6,
            "StreamViewType": BOTH,
        }
        assert [r["eventName"] for r in found if r not in of_a] == ["INSERT"]

    @pytest.mark.parametrize(
        "view, old, new",
        [("KEYS_ONLY", False, False), ("NEW_IMAGE", False, True), ("OLD_IMAGE", True, False), (BOTH, True, True)],
    )
    def test_views(self, streams, streamed, view, old, new):
        table, arn = streamed("pk:S sk:N", view)
        table.put({"pk": "a", "sk": 1, "x": "1"})
        table.update({"pk": "a", "sk": 1}, "SET x = :x", values={":x": "2"})
        table.delete({"pk": "a", "sk": 1})
        keys = {"pk": {"S": "a"}, "sk": {"N": "1"}}
        images = [r["dynamodb"] for r in records(streams, arn)]
        assert [image["Keys"] for image in images] == [keys] * 3
        assert [image.get("OldImage", {}).get("x") for image in images] == ([None, {"S": "1"}, {"S": "2"}] if old else [None] * 3)
        assert [image.get("NewImage", {}).get("x") for image in images] == ([{"S": "1"}, {"S": "2"}, None] if new else [None] * 3)

    def test_batches_transactions_and_statements(self, client, streams, streamed):
        table, arn = streamed()
        table.fill([{"pk": f"batch-{n}"} for n in range(20)])
        client.transact_write_items(TransactItems=[
            {"Put": {"TableName": table.name, "Item": attributes({"pk": "t"})}},
            {"Delete": {"TableName": table.name, "Key": attributes({"pk": "batch-0"})}},
            {"Delete": {"TableName": table.name, "Key": attributes({"pk": "never"})}},
        ])
        with refused("TransactionCanceledException"):
            client.transact_write_items(TransactItems=[
                {"Put": {"TableName": table.name, "Item": attributes({"pk": "cancelled"})}},
                {"ConditionCheck": {"TableName": table.name, "Key": attributes({"pk": "t"}),
                                    "ConditionExpression": "attribute_not_exists(pk)"}},
            ])
        client.execute_statement(Statement=f"INSERT INTO \"{table.name}\" VALUE {{'pk': 's', 'n': 1}}")
        client.execute_statement(Statement=f"UPDATE \"{table.name}\" SET n = 2 WHERE pk = 's'")
        client.execute_statement(Statement=f"DELETE FROM \"{table.name}\" WHERE pk = 's'")
        found = records(streams, arn)
        assert len(found) == 20 + 2 + 3
        assert replay(found) == stored(table)

    @pytest.mark.slow
    def test_expiry_is_attributed_to_the_service(self, client, streams, streamed):
        table, arn = streamed()
        client.update_time_to_live(TableName=table.name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
        table.put({"pk": "a", "expires": int(time.time()) - 60})
        table.put({"pk": "b"})
        table.delete({"pk": "b"})

        def gone():
            removed = [r for r in records(streams, arn) if r["eventName"] == "REMOVE"]
            assert len(removed) == 2
            return {r["dynamodb"]["Keys"]["pk"]["S"]: r.get("userIdentity") for r in removed}

        assert eventually(gone, 15) == {"a": {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}, "b": None}


class TestStreams:
    def test_a_disabled_stream_stays_readable_and_reenabling_creates_a_second(self, client, streams, streamed):
        table, arn = streamed()
        table.put({"pk": "a"})
        with invalid("already has an enabled stream"):
            client.update_table(TableName=table.name, StreamSpecification=enabled("KEYS_ONLY"))
        client.update_table(TableName=table.name, StreamSpecification={"StreamEnabled": False})
        with invalid("Table has no stream to disable"):
            client.update_table(TableName=table.name, StreamSpecification={"StreamEnabled": False})
        table.put({"pk": "unrecorded"})
        description = described(client, table)
        assert "StreamSpecification" not in description and description["LatestStreamArn"] == arn
        assert arn.endswith(description["LatestStreamLabel"])
        stream = streams.describe_stream(StreamArn=arn)["StreamDescription"]
        assert stream["StreamStatus"] == "DISABLED"
        assert all("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in stream["Shards"])
        client.update_table(TableName=table.name, StreamSpecification=enabled("KEYS_ONLY"))
        second = described(client, table)["LatestStreamArn"]
        assert second != arn
        table.delete({"pk": "a"})
        listed = streams.list_streams(TableName=table.name)["Streams"]
        assert sorted(stream["StreamArn"] for stream in listed) == sorted([arn, second])
        assert [r["eventName"] for r in records(streams, arn)] == ["INSERT"]
        assert [r["eventName"] for r in records(streams, second)] == ["REMOVE"]

    def test_deleted_tables_leave_their_streams(self, client, streams, streamed):
        table, arn = streamed()
        table.put({"pk": "a"})
        client.delete_table(TableName=table.name)
        assert len(records(streams, arn)) == 1
        assert streams.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"

    def test_lists_are_paged(self, streams, streamed):
        arns = {streamed()[1] for _ in range(3)}
        seen, request = [], {"Limit": 1}
        while True:
            page = streams.list_streams(**request)
            seen += [stream["StreamArn"] for stream in page["Streams"]]
            if "LastEvaluatedStreamArn" not in page:
                break
            request["ExclusiveStartStreamArn"] = page["LastEvaluatedStreamArn"]
        assert arns <= set(seen) and len(set(seen)) == len(seen)
        assert streams.list_streams(TableName="no-such-table")["Streams"] == []

    def test_description(self, client, streams, streamed):
        table, arn = streamed("pk:S sk:N", "NEW_IMAGE")
        stream = streams.describe_stream(StreamArn=arn)["StreamDescription"]
        assert abs(stream.pop("CreationRequestDateTime").timestamp() - time.time()) < 60
        found = stream.pop("Shards")
        assert stream == {
            "StreamArn": arn,
            "StreamLabel": arn.split("/stream/")[1],
            "StreamStatus": "ENABLED",
            "StreamViewType": "NEW_IMAGE",
            "TableName": table.name,
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        }
        assert len(found) > 1
        assert all(28 <= len(shard["ShardId"]) <= 65 for shard in found)
        first = found[0]["ShardId"]
        children = streams.describe_stream(StreamArn=arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": first})
        assert children["StreamDescription"]["Shards"] == []


class TestIterators:
    def test_positions(self, streams, streamed):
        table, arn = streamed()
        for n in range(5):
            table.put({"pk": "a", "n": n})
        shard = next(shard for shard in shards(streams, arn) if list(records_of(streams, arn, shard)))

        def seen(**position):
            return [r["dynamodb"]["NewImage"]["n"]["N"] for r in records_of(streams, arn, shard, limit=2, **position)]

        number = list(records_of(streams, arn, shard))[2]["dynamodb"]["SequenceNumber"]
        assert seen() == ["0", "1", "2", "3", "4"]
        assert seen(ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber=number) == ["2", "3", "4"]
        assert seen(ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber=number) == ["3", "4"]
        assert seen(ShardIteratorType="LATEST") == []
        latest = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="LATEST")
        table.put({"pk": "a", "n": 5})
        page = streams.get_records(ShardIterator=latest["ShardIterator"])
        assert [r["dynamodb"]["NewImage"]["n"]["N"] for r in page["Records"]] == ["5"]
        again = streams.get_records(ShardIterator=page["NextShardIterator"])
        assert again["Records"] == [] and again["NextShardIterator"]

    def test_refused_requests(self, streams, streamed):
        _, arn = streamed()
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        with invalid("Invalid ShardIterator"):
            streams.get_records(ShardIterator="made up")
        with invalid("limit"):
            streams.get_records(ShardIterator="AAAA", Limit=1001)
        with refused("ResourceNotFoundException", "Shard does not exist"):
            streams.get_shard_iterator(StreamArn=arn, ShardId="shardId-00000000000000000000-00000000", ShardIteratorType="LATEST")
        with invalid("SequenceNumber"):
            streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="AT_SEQUENCE_NUMBER")
        with invalid("ShardIteratorType"):
            streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="NEWEST")
        with refused("ResourceNotFoundException", "not found"):
            streams.describe_stream(StreamArn=arn.replace("table/", "table/other-"))
        with invalid("Invalid StreamArn"):
            streams.describe_stream(StreamArn="x" * 40)

    @pytest.mark.parametrize("prefix, operation", [("DynamoDB_20120810", "ListStreams"), ("DynamoDBStreams_20120810", "ListTables")])
    def test_the_other_services_prefix_is_unknown(self, endpoint, prefix, operation):
        request = urllib.request.Request(endpoint, data=b"{}", headers=headers(operation) | {"X-Amz-Target": f"{prefix}.{operation}"})
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request)
        assert "UnknownOperationException" in json.load(error.value)["__type"]


def write_at_random(table, seconds, seed):
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        key = {"pk": f"p{rng.randrange(12)}", "sk": rng.randrange(4)}
        choice = rng.random()
        if choice < 0.4:
            table.put(key | {"n": rng.randrange(3), "by": seed})
        elif choice < 0.6:
            table.update(key, "ADD n :one", values={":one": 1})
        elif choice < 0.8:
            table.delete(key)
        else:
            items = {(f"p{rng.randrange(12)}", rng.randrange(4)) for _ in range(6)}
            table.fill([{"pk": pk, "sk": sk, "n": rng.randrange(3)} for pk, sk in items])


def written_together(table, seconds, writers=4):
    threads = [threading.Thread(target=write_at_random, args=(table, seconds, n)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class TestRebuilding:
    def test_a_table_is_rebuilt_from_its_stream(self, streams, streamed):
        table, arn = streamed("pk:S sk:N")
        written_together(table, 2)
        found = records(streams, arn, limit=50)
        assert len(found) > 100
        assert replay(found) == stored(table)

    @pytest.mark.slow
    def test_a_table_is_rebuilt_across_shard_generations(self, folder):  # noqa: F811
        """With a retention of 36 seconds, shards are closed after six."""
        with Running(folder, "--stream-retention", "36s") as running:
            client, streams = running.client(), streams_client(running.endpoint)
            create_table(client, "Streamed", "pk:S sk:N", StreamSpecification=enabled())
            table = Table(client, "Streamed")
            arn = described(client, table)["LatestStreamArn"]
            written_together(table, 8, writers=2)
            generations = shards(streams, arn)
            assert any("ParentShardId" in shard for shard in generations)
            closed = [shard for shard in generations if "EndingSequenceNumber" in shard["SequenceNumberRange"]]
            starts = {shard["ShardId"]: shard["SequenceNumberRange"]["StartingSequenceNumber"] for shard in generations}
            assert closed
            for parent in closed:
                children = [shard for shard in generations if shard.get("ParentShardId") == parent["ShardId"]]
                assert children
                assert all(starts[child["ShardId"]] > parent["SequenceNumberRange"]["EndingSequenceNumber"] for child in children)
            before = replay(records(streams, arn))
            assert before == stored(table)
            # A crash loses and repeats nothing either.
            assert running.stop(signal.SIGKILL) == -signal.SIGKILL
        with Running(folder, "--stream-retention", "36s") as running:
            streams = streams_client(running.endpoint)
            assert replay(records(streams, arn)) == before
            # Older records are removed.
            eventually(lambda: check_empty(streams, arn), 60)


def check_empty(streams, arn):
    try:
        assert records(streams, arn) == []
    except ClientError as error:
        # A listed shard may be trimmed or removed by the time it is read.
        raise AssertionError("still being trimmed") from error
