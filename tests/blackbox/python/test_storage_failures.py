"""Attacks on the data folder and failures of it: planted log records, lost segments, a full disk, file permissions."""

import os
import signal
import struct
import subprocess
import time
import zlib

import pytest
from botocore.exceptions import ClientError

from test_process import TABLE, Running, folder, make_table, refused_start  # noqa: F401 (folder is a fixture)

BLOCK = 4096


def forged_record(run, sequence):
    """A record in the first format of the log that drops the spaces of tables."""
    body = b"".join(b"\x02" + struct.pack("<I", space) for space in range(7, 40))
    covered = struct.pack("<I", len(body)) + struct.pack("<QQB", run, sequence, 0) + body
    return covered[:4] + struct.pack("<I", zlib.crc32(covered)) + covered[4:]


def offset_in_block(data, client):
    """The offset in a block of the log at which the bytes of a long value start."""
    marker = os.urandom(16)
    client.put_item(TableName=TABLE, Item={"pk": {"S": "planted"}, "b": {"B": marker + bytes(390_000)}})
    for segment in (data / "log").glob("segment.*"):
        found = segment.read_bytes().find(marker)
        if found >= 0:
            return found % BLOCK
    raise AssertionError("the value is not in the log")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_planted_records_are_never_replayed(folder, how):
    with Running(folder) as first:
        client = first.client()
        make_table(client)
        for number in range(50):
            client.put_item(TableName=TABLE, Item={"pk": {"S": f"victim {number}"}})
        offset = offset_in_block(folder, client)
        for value in range(24):
            planted = bytes(BLOCK - offset)
            for block in range(94):
                planted += forged_record(2, value * 94 + block).ljust(BLOCK, b"\0")
            client.put_item(TableName=TABLE, Item={"pk": {"S": "planted"}, "b": {"B": planted}})
        first.stop(how)
    with Running(folder) as second:
        second.client().put_item(TableName=TABLE, Item={"pk": {"S": "victim 0"}})
        second.stop(how)
    with Running(folder) as third:
        pages = third.client().get_paginator("scan").paginate(TableName=TABLE, ProjectionExpression="pk")
        assert sum(page["Count"] for page in pages) == 51


def test_a_lost_segment_is_reported_after_a_kill_and_harmless_after_a_clean_shutdown(folder):
    with Running(folder) as running:
        client = running.client()
        make_table(client)
        client.put_item(TableName=TABLE, Item={"pk": {"S": "a"}})
        running.stop(signal.SIGKILL)
    segment, = (folder / "log").glob("segment.*")
    segment.rename(folder / "away")
    assert segment.name in refused_start(folder)
    (folder / "away").rename(segment)
    with Running(folder) as again:
        assert "Item" in again.client().get_item(TableName=TABLE, Key={"pk": {"S": "a"}})
    for file in (folder / "log").iterdir():
        file.unlink()
    with Running(folder) as again:
        assert "Item" in again.client().get_item(TableName=TABLE, Key={"pk": {"S": "a"}})


def test_only_the_owner_may_read_the_folder(folder):
    with Running(folder) as running:
        make_table(running.client())
        modes = {str(path): path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}
        assert len(modes) >= 8
        wrong = {path: oct(mode) for path, mode in modes.items() if mode not in (0o600, 0o700)}
        assert not wrong


@pytest.fixture
def small_disk(folder):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def put(client, number):
    client.put_item(TableName=TABLE, Item={"pk": {"S": f"{number}"}, "b": {"B": os.urandom(40_000)}})


def eventually(what, seconds=10):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return what()
        except ClientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_a_full_disk_is_reported_and_items_can_still_be_read_and_deleted(small_disk):
    data = small_disk / "data"
    with Running(data) as running:
        client = running.client()
        make_table(client)
        last = 0
        with pytest.raises(ClientError, match="the disk is full"):
            while last < 10_000:
                put(client, last)
                last += 1
        running.stop(signal.SIGKILL)
    with open(small_disk / "ballast", "wb", buffering=0) as ballast:
        try:
            while ballast.write(bytes(4096)):
                pass
        except OSError:
            pass
    with Running(data) as again:
        client = again.client()
        for number in range(last):
            assert "Item" in client.get_item(TableName=TABLE, Key={"pk": {"S": f"{number}"}})
        for number in range(last // 2):
            eventually(lambda: client.delete_item(TableName=TABLE, Key={"pk": {"S": f"{number}"}}))
        os.unlink(small_disk / "ballast")
        eventually(lambda: put(client, last))
    with Running(data) as again:
        pages = again.client().get_paginator("scan").paginate(TableName=TABLE, ProjectionExpression="pk")
        assert sum(page["Count"] for page in pages) == last - last // 2 + 1
