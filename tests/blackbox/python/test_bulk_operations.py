"""Bulk operations: objects in folders that serve as buckets are put into an existing table. Records that are not put are
reported in the output bucket; operations are cancelled, paced, and resume after the server is killed."""

import gzip
import json
import signal
import subprocess
import time

import pytest

from conftest import server_binary
from dynamo import create_table, eventually, index, refused, table_request
from stream_reader import records, replay
from test_process import Running

OPEN = ("IN_PROGRESS", "CANCELLING")


@pytest.fixture
def workspace(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    for bucket in ("input", "output"):
        (tmp_path / "s3" / bucket).mkdir(parents=True)
    return tmp_path


def started(workspace):
    return Running(workspace / "data", "--s3-root", workspace / "s3")


@pytest.fixture
def running(workspace):
    with started(workspace) as running:
        yield running


@pytest.fixture
def client(running):
    return running.client()


def put_object(workspace, key, content):
    path = workspace / "s3" / "input" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def item(pk, **more):
    return {"Item": {"pk": {"S": pk}} | more}


def start(client, table="Table", prefix="", kind="DYNAMODB_JSON", compression=None, outputs=("ERROR", "CONDITION_CHECK_FAILURE"), **more):
    source = {"S3Bucket": "input", "S3KeyPrefix": prefix, "InputFormat": kind}
    if compression:
        source["InputCompressionType"] = compression
    target = {"S3Bucket": "output", "S3KeyPrefix": "reports/", "OutputType": list(outputs)}
    request = {"TableName": table, "InputS3Configuration": source, "OutputS3Configuration": target} | more
    return client.start_bulk_put_items(**request)["BulkOperationDescription"]


def described(client, arn):
    return client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]


def ended(client, arn, seconds=60):
    def check():
        description = described(client, arn)
        assert description["BulkOperationStatus"] not in OPEN, description
        return description

    return eventually(check, seconds)


def run(client, *arguments, **more):
    return ended(client, start(client, *arguments, **more)["BulkOperationArn"])


def state(description):
    return description["BulkOperationStatus"], description["ProcessedItemCount"], description["FailedItemCount"]


def output_folder(workspace, description):
    return workspace / "s3" / "output" / "reports" / "AWSDynamoDB" / description["BulkOperationArn"].split("/")[-1]


def reports(workspace, description, kind):
    files = sorted((output_folder(workspace, description) / "data" / kind).glob("*.json.gz"))
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def count(client, table="Table"):
    return client.describe_table(TableName=table)["Table"]["ItemCount"]


def compressed(content, compression):
    if compression == "GZIP":
        return gzip.compress(content)
    if compression == "ZSTD":
        return subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True).stdout
    return content


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZSTD"])
@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_items_of_every_format_and_compression(client, workspace, kind, compression):
    create_table(client, "Table", "pk:S")
    for part in range(3):
        numbers = range(part * 400, part * 400 + 400)
        if kind == "ION":
            text = "".join(f'$ion_1_0 {{Item:{{pk:"p{n}",n:{n}.,s:$dynamodb_SS::["a","b"]}}}}\n' for n in numbers)
        else:
            text = lines(*(item(f"p{n}", n={"N": str(n)}, s={"SS": ["a", "b"]}) for n in numbers))
        put_object(workspace, f"in/{part}", compressed(text.encode(), compression))
    put_object(workspace, "other/x", "never read")
    total = sum(path.stat().st_size for path in (workspace / "s3" / "input" / "in").iterdir())
    begun = start(client, prefix="in/", kind=kind, compression=compression)
    assert begun["BulkOperationStatus"] == "IN_PROGRESS" and begun["PerformanceTier"] == "STANDARD"
    done = ended(client, begun["BulkOperationArn"])
    assert state(done) == ("COMPLETED", 1200, 0)
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"] == total
    assert done["EndTime"] >= done["StartTime"] and "FailureCode" not in done
    assert done["InputS3Configuration"] == {"S3Bucket": "input", "S3KeyPrefix": "in/", "InputFormat": kind, "InputCompressionType": compression}
    assert done["TableDetails"] == [{"TableName": "Table", "TableId": client.describe_table(TableName="Table")["Table"]["TableId"]}]
    assert count(client) == 1200
    assert client.get_item(TableName="Table", Key={"pk": {"S": "p777"}})["Item"] == {"pk": {"S": "p777"}, "n": {"N": "777"}, "s": {"SS": ["a", "b"]}}


def test_indexes_streams_expiry_and_usage_follow(running, workspace):
    client, streams = running.client(), running.client("dynamodbstreams")
    client.create_table(**table_request("Table", "pk:S sk:N", also="g:S l:N", indexes=[index("byG", "g", "KEYS_ONLY")], local=[index("byL", "pk l")],
                                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}))
    client.update_time_to_live(TableName="Table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "gone"})
    past = {"N": str(int(time.time()) - 60)}
    put_object(workspace, "a", lines(*({"Item": {"pk": {"S": "p"}, "sk": {"N": str(n)}, "g": {"S": "g"}, "l": {"N": "1"}} | ({"gone": past} if n < 10 else {})}
                                   for n in range(100))))
    done = run(client, table=client.describe_table(TableName="Table")["Table"]["TableArn"])
    assert state(done) == ("COMPLETED", 100, 0)
    usage, = done["BulkOperationUsage"]
    assert usage["TableName"].endswith(":table/Table") and usage["Table"]["BulkPutBytes"] > 1000
    globals_, locals_ = usage["GlobalSecondaryIndexes"]["byG"]["BulkPutBytes"], usage["LocalSecondaryIndexes"]["byL"]["BulkPutBytes"]
    assert 0 < globals_ < usage["Table"]["BulkPutBytes"] == locals_
    assert usage["BulkPutBytes"] == usage["Table"]["BulkPutBytes"] + globals_ + locals_
    eventually(lambda: exactly(client.query(TableName="Table", IndexName="byG", KeyConditionExpression="g = :g",
                                            ExpressionAttributeValues={":g": {"S": "g"}})["Count"], 90), 20)
    assert client.query(TableName="Table", IndexName="byL", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}})["Count"] == 90
    stream_records = records(streams, client.describe_table(TableName="Table")["Table"]["LatestStreamArn"])
    assert [record["eventName"] for record in stream_records].count("INSERT") == 100 and len(stream_records) == 110
    assert sorted(item["sk"]["N"] for item in replay(stream_records).values()) == sorted(item["sk"]["N"] for item in client.scan(TableName="Table")["Items"])


def exactly(found, expected):
    assert found == expected


def test_invalid_records_are_reported(client, workspace):
    client.create_table(**table_request("Table", "pk:S", also="g:S", indexes=[index("byG", "g")]))
    put_object(workspace, "a", lines(item("good"), item("", x={"S": "empty"}), {"Item": {"x": {"S": "no key"}}}, {"Item": {"pk": {"N": "1"}}},
                                 item("bad index", g={"N": "1"}), item("large", x={"S": "x" * 410_000})) + 'no json\n{"Item":{"pk":{"S":"late"}}}\n\n')
    done = run(client)
    assert state(done) == ("COMPLETED_WITH_ERRORS", 8, 6)
    reported = sorted(reports(workspace, done, "ERROR"), key=lambda line: line["RecordNumber"])
    assert [line["RecordNumber"] for line in reported] == [2, 3, 4, 5, 6, 7]
    assert {line["S3Key"] for line in reported} == {"a"}
    assert reported[0]["Item"] == item("", x={"S": "empty"})["Item"] and "empty string" in reported[0]["ErrorMessage"]
    assert "Missing the key pk" in reported[1]["ErrorMessage"] and "Type mismatch for key pk" in reported[2]["ErrorMessage"]
    assert "IndexName: byG" in reported[3]["ErrorMessage"] and "Item size has exceeded" in reported[4]["ErrorMessage"]
    assert (reported[5]["ErrorCode"], reported[5]["Record"]) == ("MalformedRecord", "no json")
    assert count(client) == 2
    folder = output_folder(workspace, done)
    assert sorted(path.name for path in folder.iterdir()) == ["data", "manifest-files.json", "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5"]
    summary = json.loads((folder / "manifest-summary.json").read_text())
    assert (summary["bulkOperationStatus"], summary["processedItemCount"], summary["failedItemCount"]) == ("COMPLETED_WITH_ERRORS", 8, 6)
    file = json.loads((folder / "manifest-files.json").read_text())
    assert file["itemCount"] == 6 and (workspace / "s3" / "output" / file["dataFileS3Key"]).exists()


def test_only_the_requested_reports_are_written(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines({"Item": {}}))
    done = run(client, outputs=["CONDITION_CHECK_FAILURE"])
    assert state(done) == ("COMPLETED_WITH_ERRORS", 1, 1)
    assert not (output_folder(workspace, done) / "data").exists()


@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_conditions_are_evaluated_in_record_order(client, workspace, kind):
    create_table(client, "Table", "pk:S")
    client.put_item(TableName="Table", Item={"pk": {"S": "old"}, "v": {"N": "5"}})
    if kind == "ION":
        content = """{Item:{pk:"old",v:9.},ConditionExpression:"attribute_not_exists(pk)"}
{Item:{pk:"old",v:6.},ConditionExpression:"#v < :v",ExpressionAttributeNames:{'#v':"v"},ExpressionAttributeValues:{':v':6}}
{Item:{pk:"new",v:1.},ConditionExpression:"attribute_not_exists(pk)"}
{Item:{pk:"new",v:2.},ConditionExpression:"attribute_not_exists(pk)"}
{Item:{pk:"new",v:3.}}
{Item:{pk:"bad"},ConditionExpression:"v = :v"}
"""
    else:
        unless_there = {"ConditionExpression": "attribute_not_exists(pk)"}
        content = lines(item("old", v={"N": "9"}) | unless_there,
                        item("old", v={"N": "6"}) | {"ConditionExpression": "#v < :v", "ExpressionAttributeNames": {"#v": "v"},
                                                     "ExpressionAttributeValues": {":v": {"N": "6"}}},
                        item("new", v={"N": "1"}) | unless_there, item("new", v={"N": "2"}) | unless_there, item("new", v={"N": "3"}),
                        item("bad") | {"ConditionExpression": "v = :v"})
    put_object(workspace, "a", content)
    done = run(client, kind=kind)
    assert state(done) == ("COMPLETED_WITH_ERRORS", 6, 1)
    reported = reports(workspace, done, "CONDITION_CHECK_FAILURE")
    assert [line["RecordNumber"] for line in reported] == [1, 4]
    assert (reported[0]["Item"]["v"], reported[0]["ExistingItem"]["v"], reported[0]["ErrorCode"]) == ({"N": "9"}, {"N": "5"}, "ConditionalCheckFailedException")
    assert (reported[1]["Item"]["v"], reported[1]["ExistingItem"]["v"]) == ({"N": "2"}, {"N": "1"})
    error, = reports(workspace, done, "ERROR")
    assert error["RecordNumber"] == 6 and ":v" in error["ErrorMessage"]
    items = {i["pk"]["S"]: i["v"]["N"] for i in client.scan(TableName="Table")["Items"]}
    assert items == {"old": "6", "new": "3"}


def test_failed_conditions_are_not_errors(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines(item("x") | {"ConditionExpression": "attribute_exists(pk)"}))
    done = run(client)
    assert state(done) == ("COMPLETED", 1, 0) and count(client) == 0
    reported, = reports(workspace, done, "CONDITION_CHECK_FAILURE")
    assert reported["Item"] == {"pk": {"S": "x"}} and "ExistingItem" not in reported


def test_a_damaged_object_does_not_stop_the_others(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "1.gz", gzip.compress(b'{"Item":' * 5000)[:60])
    put_object(workspace, "2.gz", gzip.compress(lines(item("a"), item("b")).encode()))
    done = run(client, compression="GZIP")
    assert state(done) == ("COMPLETED_WITH_ERRORS", 3, 1) and count(client) == 2
    reported, = reports(workspace, done, "ERROR")
    assert (reported["S3Key"], reported["ErrorCode"]) == ("1.gz", "MalformedObject") and "RecordNumber" not in reported


def test_many_errors_become_several_objects(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines(*({"Item": {"x": {"S": "y" * 2000}}} for _ in range(2000))))
    done = run(client)
    assert state(done) == ("COMPLETED_WITH_ERRORS", 2000, 2000)
    assert sorted(line["RecordNumber"] for line in reports(workspace, done, "ERROR")) == list(range(1, 2001))
    assert len((output_folder(workspace, done) / "manifest-files.json").read_text().splitlines()) > 2


def test_large_items_that_fail_conditions_are_all_reported(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "items/a", lines(*(item(f"p{n}", fill={"S": "z" * 390_000}) for n in range(150))))
    put_object(workspace, "again/a", lines(*(item(f"p{n}") | {"ConditionExpression": "attribute_not_exists(pk)"} for n in range(150))))
    assert state(run(client, prefix="items/")) == ("COMPLETED", 150, 0)
    done = run(client, prefix="again/")
    assert state(done) == ("COMPLETED", 150, 0)
    reported = reports(workspace, done, "CONDITION_CHECK_FAILURE")
    assert [line["RecordNumber"] for line in reported] == list(range(1, 151))
    assert all(len(line["ExistingItem"]["fill"]["S"]) == 390_000 for line in reported)


def test_missing_buckets_fail_in_the_background(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines(item("a")))
    assert run(client, prefix="nothing/")["FailureCode"] == "S3NoSuchKey"
    source = {"S3Bucket": "no-bucket", "InputFormat": "ION"}
    done = run(client, InputS3Configuration=source)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    done = run(client, OutputS3Configuration={"S3Bucket": "no-bucket", "OutputType": ["ERROR"]})
    assert (done["BulkOperationStatus"], done["FailureCode"], done["ProcessedItemCount"]) == ("FAILED", "S3NoSuchBucket", 0)
    assert count(client) == 0


def big(workspace, records=30_000, size=1000):
    put_object(workspace, "big", lines(*(item(f"p{n}", fill={"S": "z" * size}) for n in range(records))))


def test_an_operation_is_cancelled(client, workspace):
    create_table(client, "Table", "pk:S")
    big(workspace)
    arn = start(client)["BulkOperationArn"]
    response = client.cancel_bulk_operation(BulkOperationArn=arn)
    assert (response["BulkOperationArn"], response["BulkOperationStatus"]) == (arn, "CANCELLING")
    done = ended(client, arn)
    assert done["BulkOperationStatus"] == "CANCELLED" and done["FailureCode"] and done["FailureMessage"]
    assert count(client) == done["ProcessedItemCount"] < 30_000
    assert json.loads((output_folder(workspace, done) / "manifest-summary.json").read_text())["bulkOperationStatus"] == "CANCELLED"
    with refused("ValidationException", "CANCELLED"):
        client.cancel_bulk_operation(BulkOperationArn=arn)
    with refused("ResourceNotFoundException"):
        client.cancel_bulk_operation(BulkOperationArn=arn + "0")


def test_pacing_one_operation_does_not_slow_others(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "slow", lines(*(item(f"s{n}") for n in range(5000))))
    put_object(workspace, "fast", lines(*(item(f"f{n}") for n in range(2000))))
    start_time = time.monotonic()
    slow = start(client, prefix="slow", MaxWriteRequestUnits=1024)
    assert slow["MaxWriteRequestUnits"] == 1024
    assert state(run(client, prefix="fast")) == ("COMPLETED", 2000, 0)
    assert described(client, slow["BulkOperationArn"])["BulkOperationStatus"] == "IN_PROGRESS"
    done = ended(client, slow["BulkOperationArn"])
    assert state(done) == ("COMPLETED", 5000, 0) and time.monotonic() - start_time >= 3


def test_a_paced_operation_is_cancelled_immediately_even_after_a_restart(workspace):
    with started(workspace) as running:
        client = running.client()
        create_table(client, "Table", "pk:S")
        big(workspace, 100_000, 10)
        arn = start(client, MaxWriteRequestUnits=1024)["BulkOperationArn"]
        eventually(lambda: exactly(described(client, arn)["ProcessedItemCount"] > 0, True))
        running.stop(signal.SIGKILL)
    with started(workspace) as running:
        client = running.client()
        client.cancel_bulk_operation(BulkOperationArn=arn)
        running.stop(signal.SIGKILL)
    with started(workspace) as running:
        client = running.client()
        done = ended(client, arn, 5)
        assert done["BulkOperationStatus"] == "CANCELLED" and done["ProcessedItemCount"] == count(client)


def test_deleting_the_table_ends_the_operation(client, workspace):
    create_table(client, "Table", "pk:S")
    big(workspace, 50_000)
    arn = start(client, MaxWriteRequestUnits=1024)["BulkOperationArn"]
    client.delete_table(TableName="Table")
    create_table(client, "Table", "pk:S")
    done = ended(client, arn)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "TableNotFound")
    assert count(client) == 0


def test_kills_during_an_operation_lose_and_repeat_nothing(workspace):
    running = started(workspace)
    client = running.client()
    create_table(client, "Table", "pk:S")
    all_records = [item(f"p{n}", fill={"S": "z" * 500}) | {"ConditionExpression": "attribute_not_exists(pk)"} for n in range(40_000)]
    all_records += [item(f"p{n}") | {"ConditionExpression": "attribute_not_exists(pk)"} for n in range(0, 40_000, 400)] + [{"Item": {}}] * 50
    put_object(workspace, "a.gz", gzip.compress(lines(*all_records).encode(), 1))
    arn = start(client, compression="GZIP")["BulkOperationArn"]
    for kill in range(5):
        time.sleep(0.15)
        assert kill > 0 or described(client, arn)["BulkOperationStatus"] == "IN_PROGRESS"
        running.stop(signal.SIGKILL)
        running = started(workspace)
        client = running.client()
    done = ended(client, arn, 120)
    assert state(done) == ("COMPLETED_WITH_ERRORS", 40_150, 50)
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"]
    assert count(client) == 40_000
    reported = reports(workspace, done, "CONDITION_CHECK_FAILURE")
    assert sorted(line["RecordNumber"] for line in reported) == list(range(40_001, 40_101))
    assert len(reports(workspace, done, "ERROR")) == 50
    assert running.stop(signal.SIGTERM) == 0


def test_client_tokens(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines(item("a")))
    first = start(client, ClientToken="one")
    assert first["ClientToken"] == "one"
    assert start(client, ClientToken="one")["BulkOperationArn"] == first["BulkOperationArn"]
    ended(client, first["BulkOperationArn"])
    again = start(client, ClientToken="one")
    assert (again["BulkOperationArn"], again["BulkOperationStatus"]) == (first["BulkOperationArn"], "COMPLETED")
    with refused("IdempotentParameterMismatchException"):
        start(client, prefix="other", ClientToken="one")
    assert start(client, ClientToken="two")["BulkOperationArn"] != first["BulkOperationArn"]


def test_lists_have_pages(client, workspace):
    create_table(client, "Table", "pk:S")
    put_object(workspace, "a", lines(item("a")))
    arns = [start(client)["BulkOperationArn"] for _ in range(12)][::-1]
    page = client.list_bulk_operations()
    assert [entry["BulkOperationArn"] for entry in page["BulkOperationsSummaryList"]] == arns[:10]
    assert len(page["NextToken"]) % 16 == 0
    rest = client.list_bulk_operations(NextToken=page["NextToken"])
    assert [entry["BulkOperationArn"] for entry in rest["BulkOperationsSummaryList"]] == arns[10:] and "NextToken" not in rest
    assert len(client.list_bulk_operations(MaxResults=25)["BulkOperationsSummaryList"]) == 12
    for arn in arns:
        ended(client, arn)
    entry = client.list_bulk_operations(MaxResults=1)["BulkOperationsSummaryList"][0]
    assert set(entry) == {"BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime"}


def test_concurrent_operations_are_limited(client, workspace):
    create_table(client, "Table", "pk:S")
    big(workspace, 5000, 10)
    arns = [start(client, MaxWriteRequestUnits=1024)["BulkOperationArn"] for _ in range(50)]
    with refused("LimitExceededException"):
        start(client)
    for arn in arns:
        try:
            client.cancel_bulk_operation(BulkOperationArn=arn)
        except client.exceptions.ClientError:
            pass  # already completed
    for arn in arns:
        ended(client, arn)
    assert run(client)["BulkOperationStatus"] == "COMPLETED"


def test_tables_that_are_not_ready(client, workspace):
    with refused("ResourceNotFoundException", "Table: Table not found"):
        start(client)
    put_object(workspace, "big", lines(*(item(f"p{n}", g={"S": "g"}, fill={"S": "z" * 500}) for n in range(30_000))))
    client.import_table(S3BucketSource={"S3Bucket": "input"}, InputFormat="DYNAMODB_JSON", TableCreationParameters=table_request("Table", "pk:S"))
    with refused("ResourceInUseException", "being created"):
        start(client)
    eventually(lambda: exactly(client.describe_table(TableName="Table")["Table"]["TableStatus"], "ACTIVE"), 60)
    client.update_table(TableName="Table", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
                        GlobalSecondaryIndexUpdates=[{"Create": index("byG", "g")}])
    with refused("ResourceInUseException", "being created"):
        start(client)


INVALID = [
    ({"TableName": "a"}, "length greater than or equal to 3"),
    ({"TableName": "bad name"}, "regular expression pattern"),
    ({"ClientToken": "a$b"}, "'clientToken' failed to satisfy constraint"),
    ({"InputS3Configuration": {"S3Bucket": "../x", "InputFormat": "ION"}}, "'inputS3Configuration.s3Bucket' failed to satisfy constraint"),
    ({"InputS3Configuration": {"S3Bucket": "input", "InputFormat": "CSV"}}, "enum value set: [DYNAMODB_JSON, ION]"),
    ({"InputS3Configuration": {"S3Bucket": "input"}}, "Value null at 'inputS3Configuration.inputFormat'"),
    ({"InputS3Configuration": {"S3Bucket": "input", "InputFormat": "ION", "S3BucketOwner": "1"}}, "pattern: [0-9]{12}"),
    ({"InputS3Configuration": {"S3Bucket": "input", "InputFormat": "ION", "S3KeyPrefix": "x" * 1025}}, "less than or equal to 1024"),
    ({"OutputS3Configuration": {"S3Bucket": "output"}}, "Value null at 'outputS3Configuration.outputType'"),
    ({"OutputS3Configuration": {"S3Bucket": "output", "OutputType": ["ALL"]}}, "enum value set: [ERROR, CONDITION_CHECK_FAILURE]"),
    ({"OutputS3Configuration": {"S3Bucket": "output", "OutputType": []}}, "OutputType"),
    ({"OutputS3Configuration": {"OutputType": ["ERROR"]}}, "S3Bucket"),
    ({"OutputS3Configuration": {"S3Bucket": "output", "OutputType": ["ERROR"], "S3SseAlgorithm": "AES256", "S3SseKmsKeyId": "k"}}, "S3SseKmsKeyId"),
    ({"MaxWriteRequestUnits": 1023}, "greater than or equal to 1024"),
    ({"PerformanceTier": "FAST"}, "enum value set: [STANDARD, ACCELERATED]"),
]


def test_refused_requests(workspace):
    with started(workspace) as running:
        client = running.client(parameter_validation=False)
        create_table(client, "Bulk", "pk:S")
        for wrong, text in INVALID:
            with refused("ValidationException", text):
                start(client, table="Bulk", **wrong) if "TableName" not in wrong else start(client, table=wrong["TableName"])
        with refused("ValidationException", "3 validation errors detected"):
            client.start_bulk_put_items()
        for operation in (client.describe_bulk_operation, client.cancel_bulk_operation):
            with refused("ValidationException", "Value null at 'bulkOperationArn'"):
                operation()
            with refused("ResourceNotFoundException"):
                operation(BulkOperationArn="arn:aws:dynamodb:us-east-1:123456789012:table/Bulk/bulk-operation/01234567890123-a1b2c3d4")
        for wrong in ({"MaxResults": 0}, {"MaxResults": 26}, {"NextToken": "x"}, {"NextToken": "0" * 15}):
            with refused("ValidationException"):
                client.list_bulk_operations(**wrong)
