"""Access: the hosts that a server accepts when it verifies no signatures, and the sources of secrets."""

import http.client
import json
import subprocess
from urllib.parse import urlsplit

import pytest

from conftest import announced_endpoint, server_binary, started_server
from dynamo import headers

ALLOWED = ["localhost", "127.0.0.1:8000", "[::1]:8000", "192.168.7.7", "partita", "partita:8000", "host.docker.internal:8000", "x.localhost"]
REFUSED = ["evil.example", "evil.example:8000", "localhost.evil.example", "localhost:8000@evil.example", "evil@localhost", "127.0.0.1.evil.example", "", None]


@pytest.fixture(scope="module")
def servers():
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    running = {
        "local": started_server(),
        "open": started_server("--open-access"),
        "named": started_server("--open-access", "--allow-host", "db.example"),
        "any": started_server("--allow-host", "*"),
        "verified": started_server("--access-key", "me", environment={"PARTITA_SECRET_KEY": "hush"}),
    }
    try:
        yield {name: announced_endpoint(server) for name, server in running.items()}
    finally:
        for server in running.values():
            server.terminate()
        for server in running.values():
            server.wait(timeout=20)


def send(endpoint, host, path="/", method="POST", **more):
    """Returns the status and the body of the response to a request with this Host, or without one."""
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    fields = headers("ListTables") | {"Content-Length": "2"} | more
    for name, value in fields.items():
        connection.putheader(name, value)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders(b"{}")
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


@pytest.mark.parametrize("server", ["local", "open"])
def test_only_hosts_that_no_web_page_can_have_are_served(servers, server):
    for host in ALLOWED:
        assert send(servers[server], host)[0] == 200, host
    for host in REFUSED:
        status, content = send(servers[server], host)
        error = json.loads(content)
        assert status == 403 and error["__type"].endswith("#AccessDeniedException") and "--allow-host" in error.get("message", error.get("Message")), host


def test_names_are_allowed_by_the_user(servers):
    assert send(servers["named"], "DB.example:8000")[0] == 200
    assert send(servers["named"], "evil.example")[0] == 403
    assert send(servers["any"], "evil.example")[0] == 200
    assert send(servers["any"], "localhost:8000@evil.example")[0] == 403


def test_a_request_line_must_not_name_another_host(servers):
    assert send(servers["local"], "localhost", path="http://evil.example/")[0] == 403


def test_models_are_not_served_to_foreign_hosts(servers):
    assert send(servers["local"], "evil.example", path="/_partita/model", method="GET")[0] == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "file://", "http://203.0.113.9"])
def test_foreign_pages_are_refused_with_open_access_too(servers, origin):
    assert send(servers["open"], "localhost", Origin=origin)[0] == 403
    assert send(servers["any"], "localhost", Origin=origin)[0] == 200


def test_verified_signatures_replace_the_host_check(servers):
    status, content = send(servers["verified"], "db.example")
    assert status == 400 and json.loads(content)["__type"].endswith("#UnrecognizedClientException")


def test_health_is_served_for_any_host(servers):
    for path, prefix in [("/", b"healthy: "), ("/_partita/ready", b'{"ready":true')]:
        connection = http.client.HTTPConnection(urlsplit(servers["local"]).netloc, timeout=20)
        connection.request("GET", path, headers={"Host": "balancer.example"})
        response = connection.getresponse()
        assert response.status == 200 and response.read().startswith(prefix)
        connection.close()


class TestSecrets:
    def start(self, *arguments, **environment):
        server = started_server(*arguments, stderr=subprocess.PIPE, environment=environment)
        try:
            return server.wait(timeout=20), server.stderr.read()
        except subprocess.TimeoutExpired:
            server.kill()
            raise

    @pytest.mark.parametrize("environment", [{"PARTITA_SECRET_KEY": ""}, {"PARTITA_ACCESS_KEY": "", "PARTITA_SECRET_KEY": "hush"},
                                             {"PARTITA_ACCESS_KEY": "me", "PARTITA_SECRET_KEY": ""}, {"PARTITA_ACCESS_KEY": ""}])
    def test_empty_ones_are_refused(self, environment):
        code, stderr = self.start(**environment)
        assert code == 1 and "key" in stderr

    @pytest.mark.parametrize("environment", [{"PARTITA_ACCESS_KEY": "me"}, {"PARTITA_SECRET_KEY": "hush"}])
    def test_one_without_the_other_is_refused(self, environment):
        code, stderr = self.start(**environment)
        assert code == 1 and "there is" in stderr

    @pytest.mark.parametrize("arguments", [("--secret-key", "hush"), ("--secret-key=hush",)])
    def test_they_are_refused_on_the_command_line(self, arguments):
        code, stderr = self.start("--access-key", "me", *arguments)
        assert code == 2 and "--secret-key-file" in stderr and "hush" not in stderr

    def test_a_file_holds_one(self, tmp_path):
        file = tmp_path / "secret"
        file.write_text("hush\n")
        file.chmod(0o640)
        server = started_server("--access-key", "me", "--secret-key-file", file, stderr=subprocess.PIPE)
        try:
            endpoint = announced_endpoint(server)
            assert send(endpoint, "localhost")[0] == 400
        finally:
            server.terminate()
            server.wait(timeout=20)
        assert "chmod 600" in server.stderr.read()

    def test_an_empty_file_holds_none(self, tmp_path):
        (tmp_path / "secret").write_text("\n")
        assert self.start("--access-key", "me", "--secret-key-file", tmp_path / "secret")[0] == 1
