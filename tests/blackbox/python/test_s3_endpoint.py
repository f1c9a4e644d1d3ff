"""Exports to and imports from buckets at an S3 endpoint. The endpoint is moto's server, exports are read by boto3's S3 client,
and both the endpoint and the server are stopped while a job runs."""

import base64
import gzip
import hashlib
import json
import os
import signal
import subprocess
import time

import pytest
from botocore.exceptions import ClientError

from conftest import server_binary
from dynamo import eventually
from s3_endpoint import PAGE_KEYS, REGION, Moto, Proxy, SilentBucketProxy
from test_dump_load import items_of
from test_exports_imports import VALUES, data_prefix, export, exported, imported, parameters, start_import
from test_process import Running

BUCKET = "my-bucket"


@pytest.fixture(scope="module")
def moto():
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    server = Moto()
    yield server
    server.stop()


@pytest.fixture
def s3(moto):
    """An empty bucket."""
    client = moto.client()
    client.create_bucket(Bucket=BUCKET)
    yield client
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        if objects := [{"Key": found["Key"]} for found in page.get("Contents", [])]:
            client.delete_objects(Bucket=BUCKET, Delete={"Objects": objects})
    client.delete_bucket(Bucket=BUCKET)


def started(folder, url, *more, keys=("test", "test"), **variables):
    environment = without_credentials() | {"AWS_ACCESS_KEY_ID": keys[0], "AWS_SECRET_ACCESS_KEY": keys[1]} | variables
    return Running(folder, "--s3-endpoint", url, "--s3-region", REGION, *more, environment=environment)


@pytest.fixture
def client(moto, s3, tmp_path):
    with started(tmp_path / "data", moto.url) as running:
        yield running.client()


def fill(client, name="Source", items=300, size=0):
    """Creates a table that can be exported, and returns its ARN."""
    client.create_table(**parameters(name))
    try:
        client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    except ClientError as error:
        assert error.response["Error"]["Code"] == "UnknownOperationException"
    for start in range(0, items, 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"p{n % 7}"}, "sk": {"N": str(n)}, "g": {"S": f"g{n % 3}"}, "x": VALUES[n % len(VALUES)],
                                         "fill": {"S": "z" * size}}}} for n in range(start, min(start + 25, items))]
        client.batch_write_item(RequestItems={name: puts})
    return client.describe_table(TableName=name)["Table"]["TableArn"]


def has_objects(s3):
    assert s3.list_objects_v2(Bucket=BUCKET)["KeyCount"] > 0


def body(s3, key):
    return s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def from_json(value):
    """A value of DynamoDB JSON as boto3 returns it: binary data as bytes."""
    [(kind, content)] = value.items()
    if kind == "B":
        return {kind: base64.b64decode(content)}
    if kind == "BS":
        return {kind: [base64.b64decode(one) for one in content]}
    if kind == "L":
        return {kind: [from_json(one) for one in content]}
    if kind == "M":
        return {kind: {name: from_json(one) for name, one in content.items()}}
    return value


def by_key(items):
    return {(item["pk"]["S"], item["sk"]["N"]): item for item in items}


def exported_lines(s3, description):
    """The lines of all data files, checked against the manifest."""
    manifest = body(s3, description["ExportManifest"].replace("summary", "files"))
    lines = []
    for line in manifest.splitlines():
        file = json.loads(line)
        content = body(s3, file["dataFileS3Key"])
        assert base64.b64decode(file["md5Checksum"]) == hashlib.md5(content).digest()
        found = gzip.decompress(content).splitlines()
        assert len(found) == file["itemCount"]
        lines += found
    return lines, len(manifest.splitlines())


def test_an_export_of_several_files_is_read_item_by_item_and_imported(client, s3):
    arn = fill(client, items=2000, size=9000)
    done = exported(client, export(client, arn, S3Prefix="some/where")["ExportArn"])
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 2000)
    lines, files = exported_lines(s3, done)
    assert files >= 2
    read = [{name: from_json(value) for name, value in json.loads(line)["Item"].items()} for line in lines]
    stored = [item for page in client.get_paginator("scan").paginate(TableName="Source") for item in page["Items"]]
    for items in (read, stored):
        for item in items:
            for kind in ("SS", "NS", "BS"):
                if kind in item["x"]:
                    item["x"][kind].sort()
    assert by_key(read) == by_key(stored) and len(read) == 2000
    folder = done["ExportManifest"].rsplit("/", 1)[0]
    names = {found["Key"][len(folder) + 1:] for found in s3.list_objects_v2(Bucket=BUCKET, Prefix=folder)["Contents"]}
    assert names >= {"_started", "manifest-files.json", "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5"}
    result = imported(client, start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("COMPLETED", 2000, 0)
    assert items_of(client, "Target") == items_of(client, "Source")


def test_ion_is_exported_and_imported(client, s3):
    arn = fill(client)
    done = exported(client, export(client, arn, ExportFormat="ION")["ExportArn"])
    lines, _ = exported_lines(s3, done)
    assert len(lines) == 300 and all(line.startswith(b"$ion_1_0 {Item:") for line in lines)
    result = imported(client, start_import(client, "Target", data_prefix(done), "ION", InputCompressionType="GZIP")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"]) == ("COMPLETED", 300)
    assert items_of(client, "Target") == items_of(client, "Source")


def test_csv_plain_and_zstd(client, s3):
    s3.put_object(Bucket=BUCKET, Key="in/", Body=b"")  # as the console creates a folder
    s3.put_object(Bucket=BUCKET, Key="in/.a b+ü.csv", Body='pk;sk;note\na;1;"x;\n""y"""\na;2;\n'.encode())
    result = imported(client, start_import(client, "Csv", "in/", "CSV", InputFormatOptions={"Csv": {"Delimiter": ";"}})["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"]) == ("COMPLETED", 2)
    assert client.get_item(TableName="Csv", Key={"pk": {"S": "a"}, "sk": {"N": "1"}})["Item"]["note"] == {"S": 'x;\n"y"'}
    packed = subprocess.run(["zstd", "-q", "-c"], input=b"c,9,hello\n", capture_output=True, check=True).stdout
    s3.put_object(Bucket=BUCKET, Key="zst.csv", Body=packed)
    job = start_import(client, "Named", "zst", "CSV", InputCompressionType="ZSTD", InputFormatOptions={"Csv": {"HeaderList": ["pk", "sk", "note"]}})
    assert imported(client, job["ImportArn"])["ImportStatus"] == "COMPLETED"
    assert client.scan(TableName="Named")["Items"] == [{"pk": {"S": "c"}, "sk": {"N": "9"}, "note": {"S": "hello"}}]


def test_lists_of_more_than_a_page_and_objects_of_more_than_a_part(client, s3):
    for number in range(PAGE_KEYS * 2 + 5):
        s3.put_object(Bucket=BUCKET, Key=f"many/{number}", Body=b'{"Item":{"pk":{"S":"p"},"sk":{"N":"%d"}}}\n' % number)
    s3.put_object(Bucket=BUCKET, Key="many-not", Body=b"no item")
    result = imported(client, start_import(client, "Many", "many/")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("COMPLETED", PAGE_KEYS * 2 + 5, 0)
    lines = b"".join(b'{"Item":{"pk":{"S":"p"},"sk":{"N":"%d"},"fill":{"S":"%s"}}}\n' % (n, b"z" * 20_000) for n in range(500))
    s3.put_object(Bucket=BUCKET, Key="large", Body=lines)
    result = imported(client, start_import(client, "Large", "large")["ImportArn"])
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ProcessedSizeBytes"]) == ("COMPLETED", 500, len(lines))


def test_missing_buckets_and_keys(client, s3):
    arn = fill(client, items=1)
    job = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="no-bucket")["ExportDescription"]
    done = exported(client, job["ExportArn"])
    assert (done["ExportStatus"], done["FailureCode"], done["FailureMessage"]) == (
        "FAILED", "S3NoSuchBucket", "The specified bucket does not exist")
    job = client.import_table(S3BucketSource={"S3Bucket": "no-bucket"}, InputFormat="ION", TableCreationParameters=parameters("Target"))
    assert imported(client, job["ImportTableDescription"]["ImportArn"])["FailureCode"] == "S3NoSuchBucket"
    result = imported(client, start_import(client, "Other", "nothing/")["ImportArn"])
    assert (result["ImportStatus"], result["ProcessedItemCount"]) == ("COMPLETED", 0)
    done = exported(client, export(client, arn, S3Prefix="a/../b")["ExportArn"])
    assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3InvalidKey")


def test_signatures_are_right_and_wrong_keys_are_refused(moto, s3, tmp_path):
    access_key, secret_key = moto.user()
    moto.verify_signatures()
    try:
        results = []
        for number, keys in enumerate([(access_key, secret_key), (access_key, "wrong"), ("unknown", secret_key)]):
            with started(tmp_path / str(number), moto.url, keys=keys) as running:
                client = running.client()
                done = exported(client, export(client, fill(client, items=10), S3Prefix="ü(+)=&%20")["ExportArn"])
                results.append((done["ExportStatus"], done.get("FailureCode")))
                if done["ExportStatus"] == "COMPLETED":
                    job = start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")
                    assert imported(client, job["ImportArn"])["ImportedItemCount"] == 10
                else:
                    assert secret_key not in done["FailureMessage"] and done["FailureMessage"].startswith("ü(+)=&%20/AWSDynamoDB/")
        assert results == [("COMPLETED", None), ("FAILED", "S3SignatureDoesNotMatch"), ("FAILED", "S3InvalidAccessKeyId")]
    finally:
        moto.verify_signatures(False)


def test_an_endpoint_that_recovers_in_time_causes_no_failure(moto, s3, tmp_path):
    proxy = Proxy(moto.port)
    with started(tmp_path / "data", proxy.url) as running:
        client = running.client()
        arn = fill(client, items=4500, size=9000)
        job = export(client, arn)
        eventually(lambda: has_objects(s3), 10)
        proxy.cut()
        time.sleep(0.5)
        assert client.describe_export(ExportArn=job["ExportArn"])["ExportDescription"]["ExportStatus"] == "IN_PROGRESS"
        proxy.restore()
        done = exported(client, job["ExportArn"])
        assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 4500)
        lines, _ = exported_lines(s3, done)
        assert len(lines) == 4500
        importing = start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"]
        proxy.cut()
        time.sleep(0.3)
        proxy.restore()
        assert imported(client, importing)["ImportedItemCount"] == 4500
    proxy.cut()


def test_an_endpoint_that_stays_down_is_a_failure_and_blocks_nothing_else(s3, tmp_path):
    own = Moto()
    own.client().create_bucket(Bucket=BUCKET)
    with started(tmp_path / "data", own.url, "--s3-patience", "2s") as running:
        client = running.client()
        arn = fill(client, items=10)
        client.update_time_to_live(TableName="Source", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
        assert exported(client, export(client, arn)["ExportArn"])["ExportStatus"] == "COMPLETED"
        own.stop()
        job = export(client, arn)
        client.put_item(TableName="Source", Item={"pk": {"S": "short"}, "sk": {"N": "1"}, "ends": {"N": str(int(time.time()) - 5)}})

        def expired():
            assert "Item" not in client.get_item(TableName="Source", Key={"pk": {"S": "short"}, "sk": {"N": "1"}})
            return client.describe_export(ExportArn=job["ExportArn"])["ExportDescription"]["ExportStatus"]

        assert eventually(expired) == "IN_PROGRESS", "items expire while the export waits"
        done = exported(client, job["ExportArn"], 20)
        assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3ServiceUnavailable")
        assert "cannot be reached" in done["FailureMessage"] and "127.0.0.1" not in done["FailureMessage"]
        failed = imported(client, start_import(client, "Target", "x")["ImportArn"], 20)
        assert (failed["ImportStatus"], failed["FailureCode"]) == ("FAILED", "S3ServiceUnavailable")


def test_an_unresponsive_bucket_does_not_delay_others(moto, s3, tmp_path):
    endpoint = SilentBucketProxy(moto.port, silent_bucket="silent")
    with started(tmp_path / "data", endpoint.url) as running:
        client = running.client()
        arn = fill(client, items=10)
        silent = [client.export_table_to_point_in_time(TableArn=arn, S3Bucket="silent")["ExportDescription"]["ExportArn"] for _ in range(4)]
        importing = client.import_table(S3BucketSource={"S3Bucket": "silent"}, InputFormat="ION", TableCreationParameters=parameters("Waits"))

        def all_wait():
            assert len(endpoint.held) == 3, "two exports and an import"

        eventually(all_wait, 10)
        done = exported(client, export(client, arn)["ExportArn"], 10)
        assert done["ExportStatus"] == "COMPLETED"
        result = imported(client, start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"], 10)
        assert (result["ImportStatus"], result["ImportedItemCount"]) == ("COMPLETED", 10)
        assert {client.describe_export(ExportArn=one)["ExportDescription"]["ExportStatus"] for one in silent} == {"IN_PROGRESS"}
        arn = importing["ImportTableDescription"]["ImportArn"]
        assert client.describe_import(ImportArn=arn)["ImportTableDescription"]["ImportStatus"] == "IN_PROGRESS"
        all_wait()
        before = time.monotonic()
        assert running.stop(signal.SIGTERM) == 0
        assert time.monotonic() - before < 5
    endpoint.close()


def test_a_server_stops_immediately_and_resumes_waiting_exports(moto, s3, tmp_path):
    proxy = Proxy(moto.port)
    proxy.cut()
    with started(tmp_path / "data", proxy.url) as running:
        client = running.client()
        job = export(client, fill(client, items=10))
        time.sleep(1.2)
        before = time.monotonic()
        assert running.stop(signal.SIGTERM) == 0
        assert time.monotonic() - before < 5
    proxy.restore()
    with started(tmp_path / "data", proxy.url) as running:
        assert exported(running.client(), job["ExportArn"])["ExportStatus"] == "COMPLETED"
    proxy.cut()


def test_an_export_and_an_import_resume_after_kills(moto, s3, tmp_path):
    running = started(tmp_path / "data", moto.url)
    client = running.client()
    arn = fill(client, items=5000, size=9000)
    job = export(client, arn)["ExportArn"]
    running, client = killed(tmp_path, moto, running, lambda c: c.describe_export(ExportArn=job)["ExportDescription"]["ExportStatus"])
    done = exported(client, job)
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 5000)
    lines, files = exported_lines(s3, done)
    assert len({(line["pk"]["S"], line["sk"]["N"]) for line in (json.loads(text)["Item"] for text in lines)}) == 5000 and files > 4
    importing = start_import(client, "Target", data_prefix(done), InputCompressionType="GZIP")["ImportArn"]
    running, client = killed(tmp_path, moto, running, lambda c: c.describe_import(ImportArn=importing)["ImportTableDescription"]["ImportStatus"])
    result = imported(client, importing)
    assert (result["ImportStatus"], result["ImportedItemCount"], result["ErrorCount"]) == ("COMPLETED", 5000, 0)
    assert items_of(client, "Target") == items_of(client, "Source")
    assert running.stop(signal.SIGTERM) == 0


def killed(tmp_path, moto, running, status, kills=3):
    client = running.client()
    for kill in range(kills):
        # Asked before the pause, which takes longer on a busy machine than the rest of the work.
        state = status(client)
        assert kill > 0 or state == "IN_PROGRESS"
        time.sleep(0.12)
        running.stop(signal.SIGKILL)
        running = started(tmp_path / "data", moto.url)
        client = running.client()
    return running, client


def test_an_encrypted_endpoint_must_be_trusted(tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
               "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    own = Moto(certificate, key)
    own.client().create_bucket(Bucket=BUCKET)
    for trusted, status in (True, "COMPLETED"), (False, "FAILED"):
        trust = {"SSL_CERT_FILE": str(certificate)} if trusted else {}
        with started(tmp_path / status, own.url, "--s3-patience", "1s", **trust) as running:
            client = running.client()
            assert exported(client, export(client, fill(client, items=10))["ExportArn"])["ExportStatus"] == status
    own.stop()


@pytest.mark.parametrize("arguments, text", [
    (["--s3-endpoint", "minio:9000"], "such as http://127.0.0.1:9000"),
    (["--s3-endpoint", "http://127.0.0.1:9000/bucket"], "more than a host and a port"),
    (["--s3-endpoint", "s3://bucket"], "http:// or https://"),
    (["--s3-endpoint", "http://127.0.0.1:9000", "--s3-root", "."], "cannot be used with"),
    (["--s3-region", "us-east-1"], "--s3-endpoint"),
    (["--s3-endpoint", "aws", "--s3-patience", "1h"], "more than 10m"),
])
def test_invalid_options_are_reported_at_startup(tmp_path, arguments, text):
    assert text in refused_start(tmp_path, arguments, {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})


def test_credentials_come_from_the_environment_or_a_profile(moto, s3, tmp_path):
    profile = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_PROFILE": "work"}
    assert "set AWS_ACCESS_KEY_ID" in refused_start(tmp_path, ["--s3-endpoint", moto.url], profile)
    (tmp_path / "credentials").write_text("[work]\naws_access_key_id = test\naws_secret_access_key = test\n")
    environment = without_credentials() | profile
    with Running(tmp_path / "data", "--s3-endpoint", moto.url, environment=environment) as running:
        client = running.client()
        assert exported(client, export(client, fill(client, items=1))["ExportArn"])["ExportStatus"] == "COMPLETED"


def without_credentials():
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def refused_start(tmp_path, arguments, environment):
    run = subprocess.run([server_binary(), "serve", "--port", "0", "--data", tmp_path / "data", *arguments], capture_output=True, text=True,
                         timeout=20, env=without_credentials() | environment)
    assert run.returncode != 0
    return run.stderr
