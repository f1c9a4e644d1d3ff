"""A server with a certificate: clients that trust it talk to it, others and plain requests do not get through."""

import re
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import SSLError

from conftest import server_binary, started_server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def encrypted(certificate):
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    server = started_server("--tls-cert", certificate / "cert.pem", "--tls-key", certificate / "key.pem")
    try:
        yield re.search(r"https://127\.0\.0\.1:\d+", server.stdout.readline()).group()
    finally:
        server.terminate()
        server.wait(timeout=20)


def client_of(endpoint, **more):
    return boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test",
                        aws_secret_access_key="test", config=Config(retries={"total_max_attempts": 1}), **more)


def test_a_client_that_trusts_the_certificate_is_served(encrypted, certificate):
    client = client_of(encrypted, verify=str(certificate / "cert.pem"))
    assert client.list_tables()["TableNames"] == []


def test_a_client_that_does_not_trust_it_hangs_up(encrypted):
    with pytest.raises(SSLError):
        client_of(encrypted).list_tables()


def test_plain_requests_get_no_answer_and_do_no_harm(encrypted, certificate):
    host, port = encrypted.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not plain.recv(100).startswith(b"HTTP")
    assert client_of(encrypted, verify=str(certificate / "cert.pem")).list_tables()["TableNames"] == []


def test_a_missing_file_is_named(certificate):
    server = started_server("--tls-cert", "nowhere.pem", "--tls-key", certificate / "key.pem", stderr=subprocess.PIPE)
    assert server.wait(timeout=20) == 1
    assert "nowhere.pem" in server.stderr.read()


def self_signed(folder, name, *more, address="127.0.0.1"):
    """A certificate as most make theirs: openssl lets it sign others, unless told otherwise."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
                    "-addext", f"subjectAltName=IP:{address}", "-days", "2", *more], check=True, capture_output=True)
    return certificate, key


@contextmanager
def serving(certificate, key):
    """Asks a server with this certificate how it is."""
    server = started_server("--tls-cert", certificate, "--tls-key", key)
    try:
        port = re.search(r"https://127\.0\.0\.1:(\d+)", server.stdout.readline()).group(1)

        def check(*more):
            return subprocess.run([server_binary(), "healthcheck", "--port", port, *more], capture_output=True, text=True, timeout=20)

        check.server = server
        yield check
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.mark.parametrize("may_sign", ["TRUE", "FALSE"])
def test_healthcheck_asks_over_tls(tmp_path, may_sign):
    certificate, key = self_signed(tmp_path, "own", "-addext", f"basicConstraints=critical,CA:{may_sign}")
    with serving(certificate, key) as check:
        assert check("--tls-ca", certificate).stdout.startswith("ready: ")
        assert check("--insecure").returncode == 0
        assert check().returncode == 1
        assert "this machine only" in check("--host", "192.0.2.1", "--insecure").stderr
        other, _ = self_signed(tmp_path, "other")
        assert check("--tls-ca", other).returncode == 1
        (tmp_path / "both.pem").write_bytes(other.read_bytes() + certificate.read_bytes())
        assert check("--tls-ca", tmp_path / "both.pem").returncode == 0


def test_a_named_certificate_must_be_of_this_server(tmp_path):
    certificate, key = self_signed(tmp_path, "own", address="127.0.0.2")
    with serving(certificate, key) as check:
        asked = check("--tls-ca", certificate)
        assert asked.returncode == 1 and "not valid for" in asked.stderr, asked.stderr


def test_a_named_certificate_must_be_of_this_time(tmp_path):
    certificate, key = self_signed(tmp_path, "own")
    # Made again with the same key, for a day that is over.
    subprocess.run(["openssl", "ca", "-selfsign", "-batch", "-config", settings(tmp_path), "-keyfile", key, "-out", tmp_path / "old.pem",
                    "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-in", request(tmp_path, key)],
                   check=True, capture_output=True)
    with serving(tmp_path / "old.pem", key) as check:
        asked = check("--tls-ca", tmp_path / "old.pem")
        assert asked.returncode == 1 and "expired" in asked.stderr, asked.stderr


def request(folder, key):
    subprocess.run(["openssl", "req", "-new", "-key", key, "-subj", "/CN=localhost", "-out", folder / "request.pem"], check=True, capture_output=True)
    return folder / "request.pem"


def settings(folder):
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01")
    (folder / "ca.conf").write_text(f"""
[ca]
default_ca = this
[this]
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
x509_extensions = more
[any]
commonName = supplied
[more]
basicConstraints = critical, CA:TRUE
subjectAltName = IP:127.0.0.1
""")
    return folder / "ca.conf"


def test_health_is_told_by_no_thread_that_serves_requests(tmp_path):
    certificate, key = self_signed(tmp_path, "own")
    with serving(certificate, key) as check:
        assert check("--tls-ca", certificate).returncode == 0
        before = wakings(check.server.pid)
        assert all(check("--tls-ca", certificate).returncode == 0 for _ in range(5))
        assert before and wakings(check.server.pid) == before


def wakings(pid):
    """How often each thread that serves requests has gone to sleep."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    workers = [task for task in tasks if (task / "comm").read_text().startswith("worker")]
    return {task.name: re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text()).group(1) for task in workers}
