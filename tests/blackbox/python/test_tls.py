"""A server with a certificate: clients that trust it talk to it, others and plain requests do not get through."""

import re
import socket
import subprocess

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


def test_healthcheck_asks_over_tls(tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
                    "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"], check=True, capture_output=True)
    server = started_server("--tls-cert", certificate, "--tls-key", key)
    try:
        port = re.search(r"https://127\.0\.0\.1:(\d+)", server.stdout.readline()).group(1)

        def check(*more):
            return subprocess.run([server_binary(), "healthcheck", "--port", port, *more], capture_output=True, text=True, timeout=20)

        assert check("--tls-ca", certificate).stdout.startswith("ready: ")
        assert check("--insecure").returncode == 0
        assert check().returncode == 1
        assert "this machine only" in check("--host", "192.0.2.1", "--insecure").stderr
    finally:
        server.terminate()
        server.wait(timeout=20)
