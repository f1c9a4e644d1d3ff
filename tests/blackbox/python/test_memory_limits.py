"""Clients that use more than their share: bodies that never end, lengths that are only declared, responses that are not read,
idle connections. The server stays within its limits and serves the other clients."""

import gzip
import json
import re
import resource
import socket
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from conftest import announced_endpoint, server_binary, started_server
from dynamo import create_table, headers

MEGABYTE = 1024 * 1024
LIMIT = 128
#: The megabytes of the process in addition to the limit: the program, its threads, and a request that is being executed.
OVERHEAD = 140


@contextmanager
def running(*arguments, **more):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    server = started_server(*arguments, **more)
    try:
        yield Server(server)
    finally:
        server.terminate()
        server.wait(timeout=20)


class Server:
    def __init__(self, process):
        self.process = process
        self.endpoint = announced_endpoint(process)
        self.address = (urlsplit(self.endpoint).hostname, urlsplit(self.endpoint).port)

    def client(self):
        return boto3.client("dynamodb", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test",
                            config=Config(retries={"total_max_attempts": 1}, connect_timeout=20, read_timeout=20))

    def connect(self, stack, receive_bytes=None):
        stream = socket.socket()
        if receive_bytes:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        stream.settimeout(10)
        stream.connect(self.address)
        return stack.enter_context(stream)

    def megabytes(self):
        """The current private memory."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"RssAnon:\s+(\d+) kB", status.read()).group(1)) // 1024

    def ready(self):
        with socket.create_connection(self.address, timeout=10) as stream:
            stream.sendall(b"GET /_partita/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            response = b"".join(iter(lambda: stream.recv(65536), b""))
        return int(response[9:12]), json.loads(response.split(b"\r\n\r\n")[1])


def head(operation, length, **more):
    fields = headers(operation) | {"Host": "localhost", "Content-Length": str(length)} | more
    return ("POST / HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n").encode()


def status_of(stream):
    """The status of the response, or None if the connection ended without one."""
    try:
        response = stream.recv(12)
    except OSError:
        return None
    return int(response[9:12]) if len(response) == 12 else None


def put_some(client, first, count=20):
    for n in range(first, first + count):
        client.put_item(TableName="Small", Item={"pk": {"S": str(n)}, "d": {"S": "x" * 1000}})


@pytest.fixture(autouse=True)
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_bodies_that_never_end():
    with running("--memory-limit", f"{LIMIT}MB") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Small", "pk:S")
        streams = []
        for _ in range(30):
            streams.append(server.connect(stack))
            try:
                streams[-1].sendall(head("PutItem", 16 * MEGABYTE) + b" " * (15 * MEGABYTE))
            except OSError:
                pass  # refused before the end
        assert server.megabytes() < LIMIT + OVERHEAD
        put_some(client, 0)
        status, readiness = server.ready()
        assert status == 503 and [it["reason"] for it in readiness["reasons"]] == ["memory"], readiness
        last = streams[-1]
        assert status_of(last) == 503
        stack.close()
        end = time.monotonic() + 10
        while server.megabytes() > 80 and time.monotonic() < end:
            time.sleep(0.2)
        assert server.megabytes() <= 80
        put_some(client, 100)
        end = time.monotonic() + 15
        while server.ready()[0] != 200 and time.monotonic() < end:
            time.sleep(0.2)
        assert server.ready()[0] == 200


def test_truncated_bodies_take_no_more_memory_than_before():
    with running("--memory-limit", f"{LIMIT}MB") as server:
        with ExitStack() as stack:
            for _ in range(5):
                server.connect(stack).sendall(head("PutItem", 16 * MEGABYTE) + b" " * (15 * MEGABYTE))
            end = time.monotonic() + 10
            while server.megabytes() < 70 and time.monotonic() < end:
                time.sleep(0.05)
            held = server.megabytes()
        samples = []
        end = time.monotonic() + 2
        while time.monotonic() < end:
            samples.append(server.megabytes())
            time.sleep(0.005)
        assert max(samples) < held + 20 and samples[-1] < 60, (held, max(samples), samples[-1])


def test_compressed_bodies_that_grow():
    bomb = gzip.compress(b" " * (16 * MEGABYTE - 10))
    with running("--memory-limit", f"{LIMIT}MB") as server, ExitStack() as stack:
        for _ in range(60):
            stream = server.connect(stack)
            stream.sendall(head("ListTables", len(bomb)).replace(b"Host:", b"Content-Encoding: gzip\r\nHost:") + bomb)
        assert server.megabytes() < LIMIT + OVERHEAD
        assert server.client().list_tables()["TableNames"] == []


def test_lengths_that_are_only_declared():
    with running("--memory-limit", f"{LIMIT}MB", "--max-connections", "3000") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Small", "pk:S")
        for _ in range(1500):
            server.connect(stack).sendall(head("PutItem", 16 * MEGABYTE) + b"{")
        put_some(client, 0)
        assert server.megabytes() < 20 + 1500 * 80 // 1024


def test_unread_responses():
    with running("--memory-limit", f"{LIMIT}MB", "--client-patience", "60s") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Small", "pk:S")
        create_table(client, "Large", "pk:S")
        for n in range(40):
            client.put_item(TableName="Large", Item={"pk": {"S": str(n)}, "d": {"S": "x" * 390_000}})
        body = json.dumps({"RequestItems": {"Large": {"Keys": [{"pk": {"S": str(n)}} for n in range(40)]}}}).encode()
        before = server.megabytes()
        streams = []
        for _ in range(30):
            streams.append(server.connect(stack, receive_bytes=4096))
            streams[-1].sendall(head("BatchGetItem", len(body)) + body)
        time.sleep(1)
        assert server.megabytes() < before + LIMIT + OVERHEAD
        put_some(client, 0)
        assert {status_of(stream) for stream in streams} == {200, 503}
        stack.close()
        time.sleep(1)
        assert len(client.batch_get_item(RequestItems={"Large": {"Keys": [{"pk": {"S": "1"}}]}})["Responses"]["Large"]) == 1


@pytest.mark.parametrize("operation, body", [
    ("GetItem", '{"TableName":"Small","Key":{"pk":{"S":"1"}},"AttributesToGet":[' + ",".join(f'"a{n}"' for n in range(1_500_000)) + "]}"),
    ("PutItem", '{"TableName":"Small","Item":{"pk":{"S":"1"}},"Expected":{' + ",".join(f'"a{n}":{{"Exists":false}}' for n in range(500_000)) + "}}"),
    ("BatchWriteItem", '{"RequestItems":{' + ",".join(f'"T{n}":[{{}}]' for n in range(1_000_000)) + "}}"),
], ids=["AttributesToGet", "Expected", "RequestItems"])
def test_requests_that_decode_to_more_memory_than_their_size(operation, body):
    with running("--memory-limit", f"{LIMIT}MB") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Small", "pk:S")
        body = body.encode()
        streams = [server.connect(stack) for _ in range(3)]
        for stream in streams:
            stream.sendall(head(operation, len(body)) + body)
        assert {status_of(stream) for stream in streams} == {503}
        assert server.megabytes() < LIMIT + OVERHEAD
        put_some(client, 0)


def test_unread_failed_transactions():
    """Each returns forty items of the largest size in its cancellation reasons."""
    with running("--memory-limit", f"{LIMIT}MB", "--client-patience", "60s") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Small", "pk:S")
        create_table(client, "Large", "pk:S")
        for n in range(40):
            client.put_item(TableName="Large", Item={"pk": {"S": str(n)}, "d": {"S": "x" * 390_000}})
        checks = [{"ConditionCheck": {"TableName": "Large", "Key": {"pk": {"S": str(n)}}, "ConditionExpression": "attribute_not_exists(pk)",
                                      "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}} for n in range(40)]
        body = json.dumps({"TransactItems": checks}).encode()
        before = server.megabytes()
        streams = []
        for _ in range(30):
            streams.append(server.connect(stack, receive_bytes=4096))
            streams[-1].sendall(head("TransactWriteItems", len(body)) + body)
        time.sleep(1)
        # Unlimited, they would take a gigabyte. The items are in memory before their size is counted.
        assert server.megabytes() < before + LIMIT + 2 * OVERHEAD
        put_some(client, 0)
        assert {status_of(stream) for stream in streams} == {400, 503}


def test_a_body_that_trickles():
    with running("--client-patience", "2s") as server, ExitStack() as stack:
        stream = server.connect(stack)
        start_time = time.monotonic()
        stream.sendall(head("PutItem", 1000))
        stream.settimeout(0.2)
        status = None
        while status is None and time.monotonic() - start_time < 15:
            try:
                stream.sendall(b" ")
                response = stream.recv(12)
                status = int(response[9:12])
            except TimeoutError:
                pass
        assert status == 408 and 1.5 < time.monotonic() - start_time < 8


def test_a_head_that_trickles():
    with running("--client-patience", "2s") as server, ExitStack() as stack:
        stream = server.connect(stack)
        start_time = time.monotonic()
        stream.sendall(b"POST / HTTP/1.1\r\nX-Slow: ")
        stream.settimeout(0.2)
        while time.monotonic() - start_time < 15:
            try:
                stream.sendall(b"x")
                if stream.recv(12) == b"":
                    break
            except TimeoutError:
                pass
            except OSError:
                break
        assert 1.5 < time.monotonic() - start_time < 8


def test_a_response_that_is_not_read_in_time():
    with running("--client-patience", "2s") as server, ExitStack() as stack:
        client = server.client()
        create_table(client, "Large", "pk:S")
        for n in range(40):
            client.put_item(TableName="Large", Item={"pk": {"S": str(n)}, "d": {"S": "x" * 390_000}})
        body = json.dumps({"RequestItems": {"Large": {"Keys": [{"pk": {"S": str(n)}} for n in range(40)]}}}).encode()
        slow, steady = (server.connect(stack, receive_bytes=4096) for _ in range(2))
        for stream in (slow, steady):
            stream.sendall(head("BatchGetItem", len(body)) + body)
        received = 0
        while part := steady.recv(MEGABYTE):
            received += len(part)
            if received > 14 * MEGABYTE:
                break
        time.sleep(4)
        received = 0
        with pytest.raises(OSError):
            while part := slow.recv(MEGABYTE):
                received += len(part)
            raise ConnectionResetError
        assert received < 14 * MEGABYTE


def test_a_request_line_and_headers_without_end():
    with running() as server, ExitStack() as stack:
        for begin in (b"POST /" + b"x" * 100_000, b"POST / HTTP/1.1\r\nHost: localhost\r\nx: " + b"y" * 100_000):
            stream = server.connect(stack)
            try:
                stream.sendall(begin)
            except OSError:
                pass
            assert status_of(stream) == 400


def test_too_many_headers_end_the_connection():
    with running() as server, ExitStack() as stack:
        for count, status in (100, 200), (101, 431), (1000, 431):
            stream = server.connect(stack)
            fields = head("ListTables", 2).split(b"\r\n\r\n")[0]
            more = b"".join(b"\r\nx%d: y" % n for n in range(count - fields.count(b"\r\n")))
            try:
                # After a refused head, the rest is not a request.
                stream.sendall(fields + more + b"\r\n\r\n{}" + head("ListTables", 2) + b"{}")
            except OSError:
                pass
            responses = b"".join(iter(lambda: received(stream), b""))
            assert [int(response[:3]) for response in responses.split(b"HTTP/1.1 ")[1:]] == [status] * (2 if status == 200 else 1), count


def received(stream):
    stream.settimeout(2)
    try:
        return stream.recv(65536)
    except OSError:
        return b""


def test_an_expectation_with_too_large_a_body_is_refused_immediately():
    with running() as server, ExitStack() as stack:
        for length, status in (2, 100), (16 * MEGABYTE + 1, 413):
            stream = server.connect(stack)
            stream.sendall(head("ListTables", length, Expect="100-continue"))
            assert status_of(stream) == status


class TestConnections:
    def few_files(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    @pytest.fixture
    def limited(self, tmp_path):
        """A server with a data folder and only 64 file descriptors."""
        command = ["--data", tmp_path / "data"]
        with running_on_folder(*command, before=self.few_files) as server:
            yield server

    def test_established_clients_continue_alongside_idle_ones(self, limited):
        client = limited.client()
        create_table(client, "Small", "pk:S")
        failures, done, over = [], [], threading.Event()

        def write(number):
            mine = limited.client()
            n = 0
            while not over.is_set() or n < 100:
                try:
                    mine.put_item(TableName="Small", Item={"pk": {"S": f"{number}-{n}"}})
                    done.append(n)
                except Exception as error:
                    failures.append(error)
                n += 1

        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        time.sleep(0.3)
        with ExitStack() as stack:
            for _ in range(2000):
                try:
                    limited.connect(stack)
                except OSError:
                    pass
            over.set()
            for writer in writers:
                writer.join(60)
            assert not failures and len(done) >= 300, failures[:3]
            assert client.list_tables()["TableNames"] == ["Small"]
            assert limited.ready()[0] in (200, 503)

    def test_pending_requests_are_not_ended_for_new_connections(self, limited):
        with ExitStack() as stack:
            pending = [limited.connect(stack) for _ in range(60)]
            for stream in pending:
                try:
                    stream.sendall(head("ListTables", 2) + b"{")
                except OSError:
                    pass
            time.sleep(0.3)
            new_connection = limited.connect(stack)
            new_connection.sendall(head("ListTables", 2) + b"{}")
            assert status_of(new_connection) == 503
            for stream in pending:
                try:
                    stream.sendall(b"}")
                except OSError:
                    pass
            statuses = [status_of(stream) for stream in pending]
            assert statuses.count(200) >= 4 and set(statuses) <= {200, 503, None}, statuses


@contextmanager
def running_on_folder(*arguments, before):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    command = [server_binary(), "serve", "--port", "0", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=before)
    try:
        yield Server(server)
    finally:
        server.terminate()
        server.wait(timeout=20)
