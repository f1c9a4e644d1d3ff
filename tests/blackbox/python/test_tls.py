"""A server with a certificate: clients that trust it are served, others and plain requests are not."""

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


def test_a_client_that_does_not_trust_the_certificate_disconnects(encrypted):
    with pytest.raises(SSLError):
        client_of(encrypted).list_tables()


def test_plain_requests_get_no_response_and_do_no_harm(encrypted, certificate):
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
    """A certificate as most are created: openssl makes it a CA by default."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
                    "-addext", f"subjectAltName=IP:{address}", "-days", "2", *more], check=True, capture_output=True)
    return certificate, key


@contextmanager
def serving(certificate, key):
    """Starts a server with this certificate, and yields a function that runs its health check."""
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
def test_healthcheck_over_tls(tmp_path, may_sign):
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


def test_a_trusted_certificate_must_be_valid_for_this_server(tmp_path):
    certificate, key = self_signed(tmp_path, "own", address="127.0.0.2")
    with serving(certificate, key) as check:
        result = check("--tls-ca", certificate)
        assert result.returncode == 1 and "not valid for" in result.stderr, result.stderr


def test_a_trusted_certificate_must_not_be_expired(tmp_path):
    certificate, key = self_signed(tmp_path, "own")
    # Issued again with the same key, for a day in the past.
    subprocess.run(["openssl", "ca", "-selfsign", "-batch", "-config", settings(tmp_path), "-keyfile", key, "-out", tmp_path / "old.pem",
                    "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-in", request(tmp_path, key)],
                   check=True, capture_output=True)
    with serving(tmp_path / "old.pem", key) as check:
        result = check("--tls-ca", tmp_path / "old.pem")
        assert result.returncode == 1 and "expired" in result.stderr, result.stderr


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


def test_health_is_not_served_by_worker_threads(tmp_path):
    certificate, key = self_signed(tmp_path, "own")
    with serving(certificate, key) as check:
        assert check("--tls-ca", certificate).returncode == 0
        before = sleeps(check.server.pid)
        assert all(check("--tls-ca", certificate).returncode == 0 for _ in range(5))
        assert before and sleeps(check.server.pid) == before


def sleeps(pid):
    """How often each worker thread has gone to sleep."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    workers = [task for task in tasks if (task / "comm").read_text().startswith("worker")]
    return {task.name: re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text()).group(1) for task in workers}
