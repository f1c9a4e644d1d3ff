"""Exports and imports: files in folders that serve as buckets, in AWS's layout. Exports are read here by an independent
program, and imported again into an equal table; the server is killed in between."""

import base64
import gzip
import hashlib
import json
import os
import re
import signal
import subprocess
import time
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from conftest import server_binary
from dynamo import eventually, index, refused, table_request
from test_dump_load import items_of
from moments import between
from test_process import Running

VALUES = [{"S": "ü\n\"'\\"}, {"N": "-1.5"}, {"N": "600"}, {"B": b"\0\xff"}, {"SS": ["a", "b"]}, {"NS": ["1", "2.5"]}, {"BS": [b"x", b"y"]},
          {"L": [{"M": {"deep ": {"NULL": True}}}, {"L": []}]}, {"BOOL": False}, {"S": ""}]


@pytest.fixture
def workspace(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    (tmp_path / "s3" / "my-bucket").mkdir(parents=True)
    return tmp_path


def started(workspace):
    return Running(workspace / "data", "--s3-root", workspace / "s3")


@pytest.fixture
def client(workspace):
    with started(workspace) as running:
        yield running.client()


def parameters(name):
    """A table's definition, as in CreateTable and ImportTable."""
    return table_request(name, "pk:S sk:N", also="g:S", indexes=[index("byG", "g sk")])


def turn_recovery_on(client, name):
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})


def fill(client, name="Source", items=300, size=0):
    """Creates a table that can be exported, and returns its ARN."""
    client.create_table(**parameters(name))
    turn_recovery_on(client, name)
    for start in range(0, items, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"p{n % 7}"}, "sk": {"N": str(n)}, "g": {"S": f"g{n % 3}"}, "x": VALUES[n % len(VALUES)],
                                         "fill": {"S": "z" * size}}}} for n in range(start, min(start + 25, items))]
        client.batch_write_item(RequestItems={name: puts})
    return client.describe_table(TableName=name)["Table"]["TableArn"]


def export(client, arn, **more):
    return client.export_table_to_point_in_time(TableArn=arn, S3Bucket="my-bucket", **more)["ExportDescription"]


def exported(client, arn, seconds=60):
    return finished(lambda: client.describe_export(ExportArn=arn)["ExportDescription"], "ExportStatus", seconds)


def imported(client, arn, seconds=60):
    return finished(lambda: client.describe_import(ImportArn=arn)["ImportTableDescription"], "ImportStatus", seconds)


def finished(describe, status, seconds):
    def check():
        description = describe()
        assert description[status] != "IN_PROGRESS"
        return description

    return eventually(check, seconds)


def start_import(client, name, prefix, kind="DYNAMODB_JSON", **more):
    return client.import_table(S3BucketSource={"S3Bucket": "my-bucket", "S3KeyPrefix": prefix}, InputFormat=kind,
                               TableCreationParameters=parameters(name), **more)["ImportTableDescription"]


def data_prefix(description):
    return description["ExportManifest"].replace("manifest-summary.json", "data/")


def test_an_export_has_the_layout_of_aws(client, workspace):
    arn = fill(client)
    job = export(client, arn, S3Prefix="some/where")
    assert job["ExportStatus"] == "IN_PROGRESS" and job["ExportType"] == "FULL_EXPORT"
    assert job["ExportArn"].startswith(f"{arn}/export/0") and job["S3SseAlgorithm"] == "AES256"
    done = exported(client, job["ExportArn"])
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 300)
    export_id = job["ExportArn"].split("/")[-1]
    folder = workspace / "s3" / "my-bucket" / "some" / "where" / "AWSDynamoDB" / export_id
    assert done["ExportManifest"] == f"some/where/AWSDynamoDB/{export_id}/manifest-summary.json"
    assert sorted(path.name for path in folder.iterdir()) == [
        "_started", "data", "manifest-files.json", "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5"]
    for manifest in ("manifest-files", "manifest-summary"):
        digest = hashlib.md5((folder / f"{manifest}.json").read_bytes()).digest()
        assert base64.b64decode((folder / f"{manifest}.md5").read_text()) == digest
    summary = json.loads((folder / "manifest-summary.json").read_text())
    assert (summary["exportArn"], summary["itemCount"], summary["outputFormat"]) == (job["ExportArn"], 300, "DYNAMODB_JSON")
    assert summary["manifestFilesS3Key"] == done["ExportManifest"].replace("summary", "files")
    items = []
    for line in (folder / "manifest-files.json").read_text().splitlines():
        file = json.loads(line)
        content = (workspace / "s3" / "my-bucket" / file["dataFileS3Key"]).read_bytes()
        assert base64.b64decode(file["md5Checksum"]) == hashlib.md5(content).digest()
        lines = gzip.decompress(content).splitlines()
        assert file["itemCount"] == len(lines)
        items += [json.loads(text)["Item"] for text in lines]
    assert sorted(int(item["sk"]["N"]) for item in items) == list(range(300))
    assert any(item["x"] == {"B": base64.b64encode(b"\0\xff").decode()} for item in items)


@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_an_export_is_imported_into_an_equal_table(client, kind):
    arn = fill(client)
    done = exported(client, export(client, arn, ExportFormat=kind)["ExportArn"])
    job = start_import(client, "Target", data_prefix(done), kind, InputCompressionType="GZIP")
    assert job["ImportStatus"] == "IN_PROGRESS" and job["TableCreationParameters"]["TableName"] == "Target"
    result = imported(client, job["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ProcessedItemCount"], result["ErrorCount"]) == ("COMPLETED", 300, 300, 0)
    assert result["ProcessedSizeBytes"] > 0 and result["EndTime"] >= result["StartTime"]
    assert items_of(client, "Target") == items_of(client, "Source")
    response = client.query(TableName="Target", IndexName="byG", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"S": "g1"}})
    assert response["Count"] == 100


def test_amazons_own_library_reads_the_ion(client, workspace):
    ion = pytest.importorskip("amazon.ion.simpleion")
    client.create_table(**table_request("Odd", "pk:S"))
    turn_recovery_on(client, "Odd")
    client.put_item(TableName="Odd", Item={"pk": {"S": "k'\"\\\n\u0001ü"}, "n": {"N": "-0.0000001"}, "i": {"N": "103"}, "b": {"B": b"\0\xff"}, "null": {"S": ""},
                                           "ns": {"NS": ["1", "2.5"]}, "we'ird": {"L": [{"M": {"a b": {"BOOL": True}}}]}, "$10": {"NULL": True}})
    arn = client.describe_table(TableName="Odd")["Table"]["TableArn"]
    assert exported(client, export(client, arn, ExportFormat="ION")["ExportArn"])["ItemCount"] == 1
    item = ion.loads(gzip.decompress(next((workspace / "s3").rglob("*.ion.gz")).read_bytes()))["Item"]
    assert (item["pk"], item["null"], item["b"]) == ("k'\"\\\n\u0001ü", "", b"\0\xff")
    assert (item["i"], item["n"], item["we'ird"][0]["a b"]) == (Decimal(103), Decimal("-0.0000001"), True)
    assert isinstance(item["i"], Decimal) and sorted(item["ns"]) == [Decimal(1), Decimal("2.5")]
    assert item["ns"].ion_annotations[0].text == "$dynamodb_NS" and not item["$10"]


def test_an_empty_table_is_exported_and_imported(client):
    arn = fill(client, items=0)
    done = exported(client, export(client, arn)["ExportArn"])
    assert done["ItemCount"] == 0
    result = imported(client, start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"]) == ("COMPLETED", 0)
    assert client.describe_table(TableName="Target")["Table"]["TableStatus"] == "ACTIVE"


def test_client_tokens_and_lists(client):
    arn = fill(client, items=10)
    first = export(client, arn, ClientToken="one")
    assert export(client, arn, ClientToken="one")["ExportArn"] == first["ExportArn"]
    with refused("ExportConflictException"):
        export(client, arn, ClientToken="one", S3Prefix="other")
    other = export(client, arn, ClientToken="two")["ExportArn"]
    assert [e["ExportArn"] for e in client.list_exports(TableArn=arn)["ExportSummaries"]] == [other, first["ExportArn"]]
    assert client.list_exports(TableArn=arn + "x")["ExportSummaries"] == []
    page = client.list_exports(MaxResults=1)
    assert len(page["ExportSummaries"]) == 1
    rest = client.list_exports(NextToken=page["NextToken"])
    assert [e["ExportArn"] for e in rest["ExportSummaries"]] == [first["ExportArn"]] and "NextToken" not in rest
    done = exported(client, other)
    job = start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP", ClientToken="i")
    assert start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP", ClientToken="i")["ImportArn"] == job["ImportArn"]
    with refused("ImportConflictException"):
        start_import(client, "Target", "elsewhere", ClientToken="i")
    with refused("ResourceInUseException", "Table already exists: Target"):
        start_import(client, "Target", data_prefix(done), ClientToken="another")
    summaries = client.list_imports()["ImportSummaryList"]
    assert [summary["ImportArn"] for summary in summaries] == [job["ImportArn"]]


def test_what_cannot_be_exported(client):
    arn = fill(client, items=1)
    missing = arn.replace("Source", "Nope")
    with refused("TableNotFoundException", f"Table not found: {missing}"):
        export(client, missing)
    for part in ("/index/byDate", "/backup/01234567890123-01234567"):
        with refused("ValidationException"):
            export(client, arn + part)
    for outside in (-3600, 3600):
        with refused("InvalidExportTimeException"):
            export(client, arn, ExportTime=time.time() + outside)
    now = int(time.time())
    window = {"ExportFromTime": now, "ExportToTime": now}
    with refused("InvalidExportTimeException", "less than 15 minutes"):
        export(client, arn, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=window)
    client.create_table(**parameters("Plain"))
    with refused("PointInTimeRecoveryUnavailableException", "Point in time recovery is not enabled for table 'Plain'"):
        export(client, arn.replace("Source", "Plain"))
    with refused("ExportNotFoundException"):
        client.describe_export(ExportArn=arn + "/export/01234567890123-a1b2c3d4")
    with refused("ImportNotFoundException"):
        client.describe_import(ImportArn=arn + "/import/01234567890123-a1b2c3d4")
    assert exported(client, export(client, arn, ExportTime=time.time())["ExportArn"])["ExportStatus"] == "COMPLETED"


def lines_of(workspace, description):
    """The lines that an export has written, decoded without the server."""
    bucket = workspace / "s3" / "my-bucket"
    manifest = bucket / description["ExportManifest"].replace("summary", "files")
    files = [json.loads(line)["dataFileS3Key"] for line in manifest.read_text().splitlines()]
    return [json.loads(line) for file in files for line in gzip.decompress((bucket / file).read_bytes()).splitlines()]


def test_an_export_as_of_a_past_time(client, workspace):
    arn = fill(client, items=50)
    then = between()
    for number in range(0, 50, 2):
        client.delete_item(TableName="Source", Key={"pk": {"S": f"p{number % 7}"}, "sk": {"N": str(number)}})
    fill_more = {"pk": {"S": "late"}, "sk": {"N": "1"}}
    client.put_item(TableName="Source", Item=fill_more)
    done = exported(client, export(client, arn, ExportTime=then)["ExportArn"])
    numbers = sorted(int(line["Item"]["sk"]["N"]) for line in lines_of(workspace, done))
    assert numbers == list(range(50)) and done["ExportTime"].timestamp() == then
    assert exported(client, export(client, arn)["ExportArn"])["ItemCount"] == 26


def test_an_export_is_filtered(client, workspace):
    arn = fill(client, items=70)
    values = {":p": {"S": "p3"}, ":from": {"N": "10"}, ":g": {"S": "g1"}}
    chosen = {"KeyConditionExpression": "pk = :p AND sk >= :from", "FilterExpression": "g = :g", "ProjectionExpression": "sk, g",
              "ExpressionAttributeValues": values}
    done = exported(client, export(client, arn, FilterSpecification=chosen)["ExportArn"])
    assert done["FilterSpecification"] == chosen
    expected = [{"sk": {"N": str(n)}, "g": {"S": "g1"}} for n in range(10, 70) if n % 7 == 3 and n % 3 == 1]
    assert [line["Item"] for line in lines_of(workspace, done)] == expected
    with refused("ValidationException"):
        export(client, arn, FilterSpecification={"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "x"}}})
    text = "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"
    with refused("ValidationException", text):
        export(client, arn, FilterSpecification={**chosen, "FilterExpression": "sk = :g"})


def test_an_incremental_export_contains_the_changes(workspace):
    """Uses windows shorter than AWS's; a table is brought up to date by an incremental export."""
    with Running(workspace / "data", "--s3-root", workspace / "s3", "--shortest-export", "1s") as running:
        client = running.client()
        arn = fill(client, items=40)
        start, before = between(), client.scan(TableName="Source")["Items"]
        for number in range(0, 40, 4):
            key = {"pk": {"S": f"p{number % 7}"}, "sk": {"N": str(number)}}
            client.delete_item(TableName="Source", Key=key)
            client.put_item(TableName="Source", Item={"pk": {"S": "new"}, "sk": {"N": str(number)}})
            key = {"pk": {"S": f"p{(number + 1) % 7}"}, "sk": {"N": str(number + 1)}}
            client.update_item(TableName="Source", Key=key, UpdateExpression="SET x = :x", ExpressionAttributeValues={":x": VALUES[number % 10]})
        end, after = between(), items_of(client, "Source")
        client.delete_item(TableName="Source", Key={"pk": {"S": "new"}, "sk": {"N": "0"}})
        window = {"ExportFromTime": start, "ExportToTime": end, "ExportViewType": "NEW_AND_OLD_IMAGES"}
        job = export(client, arn, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=window)
        done = exported(client, job["ExportArn"])
        assert done["ExportType"] == "INCREMENTAL_EXPORT" and done["IncrementalExportSpecification"]["ExportFromTime"].timestamp() == start
        assert client.list_exports()["ExportSummaries"][0]["ExportType"] == "INCREMENTAL_EXPORT"
        summary = json.loads((workspace / "s3" / "my-bucket" / done["ExportManifest"]).read_text())
        assert (summary["version"], summary["outputView"], summary["exportType"]) == ("2023-08-01", "NEW_AND_OLD_IMAGES", "INCREMENTAL_EXPORT")
        lines = lines_of(workspace, done)
        assert len(lines) == done["ItemCount"] == 30
        for line in lines:
            written = int(line["Metadata"]["WriteTimestampMicros"]["N"]) / 1e6
            assert start <= written < end
        client.create_table(**parameters("Copy"))
        apply(client, "Copy", before, [])
        deletes = [line["Keys"] for line in lines if "NewImage" not in line]
        apply(client, "Copy", [plain(line["NewImage"]) for line in lines if "NewImage" in line], deletes)
        assert items_of(client, "Copy") == after


def plain(image):
    """An item of a file as SDKs accept it, with binary values as bytes."""
    kinds = {"B": base64.b64decode, "BS": lambda values: [base64.b64decode(value) for value in values],
             "L": lambda values: [value(each) for each in values], "M": plain}

    def value(typed):
        (kind, content), = typed.items()
        return {kind: kinds.get(kind, lambda same: same)(content)}

    return {name: value(typed) for name, typed in image.items()}


def apply(client, name, puts, deletes):
    writes = [{"PutRequest": {"Item": item}} for item in puts] + [{"DeleteRequest": {"Key": key}} for key in deletes]
    for start in range(0, len(writes), 25):
        client.batch_write_item(RequestItems={name: writes[start:start + 25]})


def test_a_large_export_is_consistent(client, workspace):
    """While it runs, transactions move amounts between items: their sum is always the same."""
    arn = fill(client, items=4000, size=9000)
    accounts = [{"pk": {"S": f"p{n % 7}"}, "sk": {"N": str(n)}} for n in range(0, 4000, 40)]
    for account in accounts:
        client.update_item(TableName="Source", Key=account, UpdateExpression="SET amount = :v", ExpressionAttributeValues={":v": {"N": "100"}})
    job = export(client, arn)
    moved, during = 0, 0
    while client.describe_export(ExportArn=job["ExportArn"])["ExportDescription"]["ExportStatus"] == "IN_PROGRESS":
        ends = [accounts[moved % 100], accounts[(moved * 7 + 13) % 100]]
        if ends[0] != ends[1]:
            changes = [{"Update": {"TableName": "Source", "Key": end, "UpdateExpression": "ADD amount :v",
                                   "ExpressionAttributeValues": {":v": {"N": amount}}}} for end, amount in zip(ends, ("-7", "7"))]
            client.transact_write_items(TransactItems=changes)
            during += 1
        moved += 1
    done = exported(client, job["ExportArn"], 120)
    lines = lines_of(workspace, done)
    assert during > 0 and len(lines) == 4000 and len({line["Item"]["sk"]["N"] for line in lines}) == 4000
    assert sum(int(line["Item"].get("amount", {"N": "0"})["N"]) for line in lines) == 100 * 100


def test_buckets_that_do_not_exist_fail_in_the_background(client):
    arn = fill(client, items=1)
    job = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="no-bucket")["ExportDescription"]
    done = exported(client, job["ExportArn"])
    assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    result = imported(client, client.import_table(S3BucketSource={"S3Bucket": "no-bucket"}, InputFormat="ION",
                                                  TableCreationParameters=parameters("Target"))["ImportTableDescription"]["ImportArn"])
    assert (result["ImportStatus"], result["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    # Its table is not created, and the name is free.
    assert "Target" not in client.list_tables()["TableNames"]
    nothing = imported(client, start_import(client, "Target", "nothing/")["ImportArn"])
    assert (nothing["ImportStatus"], nothing["ProcessedItemCount"], nothing["ProcessedSizeBytes"]) == ("COMPLETED", 0, 0)
    assert client.scan(TableName="Target")["Items"] == []
    outside = export(client, arn, S3Prefix="../../outside")
    assert exported(client, outside["ExportArn"])["ExportStatus"] == "FAILED"


def test_without_a_root_there_is_no_bucket(workspace):
    with Running(workspace / "plain") as running:
        client = running.client()
        job = export(client, fill(client, items=1))
        assert exported(client, job["ExportArn"])["FailureCode"] == "S3NoSuchBucket"


def test_records_without_line_breaks_are_imported(client, workspace):
    lines = [json.dumps({"Item": {"pk": {"S": f"p{n}"}, "sk": {"N": "1"}, "braces": {"S": '}{"'}}}) for n in range(600)]
    (workspace / "s3" / "my-bucket" / "joined.json").write_text("\n".join(["".join(lines[:300]), *lines[300:400], "".join(lines[400:])]))
    result = imported(client, start_import(client, "Joined", "joined")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("COMPLETED", 600, 0)
    assert client.scan(TableName="Joined", Select="COUNT")["Count"] == 600


def test_csv_with_types_of_keys_and_errors_counted(client, workspace):
    bucket = workspace / "s3" / "my-bucket"
    (bucket / "in").mkdir()
    (bucket / "in" / "a.csv").write_text('pk;sk;note\na;1;"x;\n""y"""\na;2;\nb;no number;z\n;3;empty key\n')
    options = {"Csv": {"Delimiter": ";"}}
    result = imported(client, start_import(client, "Csv", "in/", "CSV", InputFormatOptions=options)["ImportArn"])
    assert (result["ImportStatus"], result["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert (result["ProcessedItemCount"], result["ImportedItemCount"], result["ErrorCount"]) == (4, 2, 2)
    assert result["InputFormatOptions"] == options
    items = client.scan(TableName="Csv")["Items"]
    assert sorted(items, key=lambda item: item["sk"]["N"]) == [
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "note": {"S": 'x;\n"y"'}}, {"pk": {"S": "a"}, "sk": {"N": "2"}, "note": {"S": ""}}]
    (bucket / "named").mkdir()
    (bucket / "named" / "b.csv").write_text("c,9,hello\n")
    subprocess.run(["zstd", "-q", bucket / "named" / "b.csv", "-o", bucket / "zst.csv"], check=True)
    job = start_import(client, "Named", "zst", "CSV", InputCompressionType="ZSTD", InputFormatOptions={"Csv": {"HeaderList": ["pk", "sk", "note"]}})
    assert imported(client, job["ImportArn"])["ImportStatus"] == "COMPLETED"
    assert client.scan(TableName="Named")["Items"] == [{"pk": {"S": "c"}, "sk": {"N": "9"}, "note": {"S": "hello"}}]


def import_csv(client, workspace, name, text, compression="NONE"):
    """The result of importing one CSV object, and the notes of the items by their sort keys."""
    key = f"{name}.csv"
    raw = text if isinstance(text, bytes) else text.encode()
    (workspace / "s3" / "my-bucket" / key).write_bytes(gzip.compress(raw) if compression == "GZIP" else raw)
    result = imported(client, start_import(client, name, key, "CSV", InputCompressionType=compression)["ImportArn"], 60)
    items = client.scan(TableName=name)["Items"]
    return result, {int(item["sk"]["N"]): item["note"]["S"] for item in items}


@pytest.mark.parametrize("name,text,notes,errors", [
    ("Inches", 'pk,sk,note\na,1,5" pipe\na,2,6" pipe\n', {1: '5" pipe', 2: '6" pipe'}, 0),
    ("Marked", '\ufeff"pk","sk","note"\r\na,1,x\r\n\r\n\r\na,2,"y ""z"""\r\n', {1: "x", 2: 'y "z"'}, 0),
    ("Lines", 'pk,sk,note\na,1,"one\n""two"""\na,2, b \n', {1: 'one\n"two"', 2: " b "}, 0),
    ("Behind", 'pk,sk,note\na,1,"x"y\na,2,z\n', {2: "z"}, 1),
    ("Swallowed", 'pk,sk,note\na,1,"x\na,2,y\na,3,"z"\na,4,good\n', {4: "good"}, 1),
    ("Unclosed", 'pk,sk,note\na,1,good\na,2,"x\na,3,y\n', {1: "good"}, 1),
    ("Twice", "pk,sk,note,note\na,1,x,y\n", {}, 1),
    ("NotUtf8", b"pk,sk,note\na,1,\xff\na,2,good\n", {2: "good"}, 1),
])
def test_csv_fields_are_preserved_or_counted_as_errors(client, workspace, name, text, notes, errors):
    result, found = import_csv(client, workspace, name, text)
    assert (found, result["ErrorCount"], result["ImportedItemCount"]) == (notes, errors, len(notes))
    assert result["ImportStatus"] == ("FAILED" if errors else "COMPLETED")


@pytest.mark.parametrize("compression", ["NONE", "GZIP"])
def test_a_stray_quote_in_a_large_csv_is_one_error(client, workspace, compression):
    rows = "".join(f'a,{n},{"x" * 1000}\n' for n in range(3, 11_000))
    start_time = time.monotonic()
    result, found = import_csv(client, workspace, "Large", 'pk,sk,note\na,1,good\na,2,"stray\n' + rows, compression)
    assert (result["ErrorCount"], found) == (1, {1: "good"})
    assert time.monotonic() - start_time < 30


def test_record_errors_are_counted_and_some_are_logged(workspace):
    """Every record is invalid, and each error would be as long as its record."""
    lines = [json.dumps({"Item": {"pk": {"S": "a"}, "sk": {"N": str(n)}, "set": {"SS": ["same"] * 200}}}) for n in range(2000)] + ["no json"] * 3
    (workspace / "s3" / "my-bucket" / "wrong.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    environment = os.environ | {"PARTITA_LOG": "warn"}
    with open(workspace / "log", "wb") as log, Running(workspace / "data", "--s3-root", workspace / "s3", environment=environment, log=log) as running:
        client = running.client()
        job = start_import(client, "Wrong", "wrong", InputCompressionType="GZIP")
        result = imported(client, job["ImportArn"])
        assert (result["ErrorCount"], result["ProcessedItemCount"]) == (2003, 2003)
        (workspace / "s3" / "my-bucket" / "tail.json").write_text('{"Item":\n')
        imported(client, start_import(client, "Tail", "tail")["ImportArn"])
    log_text = (workspace / "log").read_text()
    assert len(log_text) < 50_000 and log_text.count("a record is not put") == 21
    first = next(line for line in log_text.splitlines() if "a record is not put" in line)
    assert job["ImportArn"] in first and "wrong.json.gz" in first and "record=1" in re.sub(r"\x1b\[[0-9;]*m", "", first)
    assert "errors=2003" in re.sub(r"\x1b\[[0-9;]*m", "", log_text)
    assert "the record is not a JSON object" in log_text


def test_pipes_devices_and_links_out_of_the_bucket_are_not_objects(client, workspace):
    bucket = workspace / "s3" / "my-bucket"
    (workspace / "secret").write_text('{"Item":{"pk":{"S":"secret"},"sk":{"N":"1"}}}\n')
    (bucket / "in").mkdir()
    os.mkfifo(bucket / "in" / "pipe")
    (bucket / "device").symlink_to("/dev/zero")
    (bucket / "link").symlink_to(workspace / "secret")
    for number, prefix in enumerate(["in/", "device", "link"]):
        result = imported(client, start_import(client, f"Refused{number}", prefix)["ImportArn"])
        assert (result["ImportStatus"], result["FailureCode"], result["ImportedItemCount"]) == ("FAILED", "S3AccessFailed", 0)
    (bucket / "good.json").write_text('{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n')
    assert imported(client, start_import(client, "Good", "good")["ImportArn"])["ImportStatus"] == "COMPLETED"


def written_bytes(running):
    """The bytes that the server has written to files."""
    with open(f"/proc/{running.process.pid}/io") as counts:
        return int(next(line for line in counts if line.startswith("wchar")).split()[1])


def test_many_small_objects_are_not_amplified(workspace):
    for n in range(1000):
        (workspace / "s3" / "my-bucket" / f"small-{n:04}").write_text(json.dumps({"Item": {"pk": {"S": "a"}, "sk": {"N": str(n)}}}) + "\n")
    with started(workspace) as running:
        client = running.client()
        before = written_bytes(running)
        result = imported(client, start_import(client, "Small", "small-")["ImportArn"], 120)
        assert (result["ImportStatus"], result["ImportedItemCount"]) == ("COMPLETED", 1000)
        # 8 MB of these are the first segment of the log.
        assert written_bytes(running) - before < 20_000_000


def test_damaged_objects_are_errors(client, workspace):
    bucket = workspace / "s3" / "my-bucket"
    good = gzip.compress(b'{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n{"Item":{"pk":{"S":"a"}}}\nno json\n')
    (bucket / "x1.gz").write_bytes(good)
    (bucket / "x2.gz").write_bytes(gzip.compress(b'{"Item":' * 5000)[:60])
    result = imported(client, start_import(client, "Damaged", "x", InputCompressionType="GZIP")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("FAILED", 1, 3)


def test_an_export_and_an_import_resume_after_kills(workspace):
    running = started(workspace)
    client = running.client()
    arn = fill(client, items=6000, size=9000)
    job = export(client, arn)
    running, client = killed(workspace, running, lambda c: c.describe_export(ExportArn=job["ExportArn"])["ExportDescription"]["ExportStatus"])
    done = exported(client, job["ExportArn"], 120)
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 6000)
    importing = start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"]
    running, client = killed(workspace, running, lambda c: c.describe_import(ImportArn=importing)["ImportTableDescription"]["ImportStatus"])
    result = imported(client, importing, 120)
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("COMPLETED", 6000, 0)
    assert items_of(client, "Target") == items_of(client, "Source")
    assert running.stop(signal.SIGTERM) == 0


def killed(workspace, running, status, kills=4):
    """Kills the server several times while something is in progress; it must be in progress when first killed."""
    client = running.client()
    for kill in range(kills):
        time.sleep(0.15)
        state = status(client)
        assert kill > 0 or state == "IN_PROGRESS"
        running.stop(signal.SIGKILL)
        running = started(workspace)
        client = running.client()
    return running, client


def test_a_table_has_status_creating_while_it_is_imported(workspace):
    with started(workspace) as running:
        client = running.client()
        lines = b"".join(b'{"Item":{"pk":{"S":"p"},"sk":{"N":"%d"},"fill":{"S":"%s"}}}\n' % (n, b"z" * 2000) for n in range(30_000))
        (workspace / "s3" / "my-bucket" / "big").write_bytes(lines)
        job = start_import(client, "Slow", "big")
        assert client.describe_table(TableName="Slow")["Table"]["TableStatus"] == "CREATING"
        with refused("ResourceNotFoundException"):
            client.get_item(TableName="Slow", Key={"pk": {"S": "p"}, "sk": {"N": "1"}})
        with refused("ResourceInUseException", "being created"):
            client.delete_table(TableName="Slow")
        with refused("ResourceInUseException", "being created"):
            client.update_table(TableName="Slow", DeletionProtectionEnabled=True)
        with refused("ResourceInUseException", "being created"):
            client.update_time_to_live(TableName="Slow", TimeToLiveSpecification={"Enabled": True, "AttributeName": "x"})
        assert imported(client, job["ImportArn"], 120)["ImportedItemCount"] == 30_000
        assert client.get_item(TableName="Slow", Key={"pk": {"S": "p"}, "sk": {"N": "1"}})["Item"]["sk"] == {"N": "1"}
        with pytest.raises(ClientError):
            start_import(client, "Slow", "big")
