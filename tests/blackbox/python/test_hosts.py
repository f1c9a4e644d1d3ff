"""Who is let in: by which names a server is asked that verifies no signatures, and where secrets come from."""

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


def ask(endpoint, host, path="/", method="POST", **more):
    """The status and the answer of a request with this Host, or without one."""
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
def test_only_names_that_no_page_can_have_are_answered(servers, server):
    for host in ALLOWED:
        assert ask(servers[server], host)[0] == 200, host
    for host in REFUSED:
        status, content = ask(servers[server], host)
        answer = json.loads(content)
        assert status == 403 and answer["__type"].endswith("#AccessDeniedException") and "--allow-host" in answer.get("message", answer.get("Message")), host


def test_names_are_allowed_by_the_user(servers):
    assert ask(servers["named"], "DB.example:8000")[0] == 200
    assert ask(servers["named"], "evil.example")[0] == 403
    assert ask(servers["any"], "evil.example")[0] == 200
    assert ask(servers["any"], "localhost:8000@evil.example")[0] == 403


def test_a_request_line_may_name_no_other_host(servers):
    assert ask(servers["local"], "localhost", path="http://evil.example/")[0] == 403


def test_models_are_not_shown_to_foreign_names(servers):
    assert ask(servers["local"], "evil.example", path="/_partita/model", method="GET")[0] == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "file://", "http://203.0.113.9"])
def test_foreign_pages_are_refused_with_open_access_too(servers, origin):
    assert ask(servers["open"], "localhost", Origin=origin)[0] == 403
    assert ask(servers["any"], "localhost", Origin=origin)[0] == 200


def test_where_signatures_are_verified_they_decide(servers):
    status, content = ask(servers["verified"], "db.example")
    assert status == 400 and json.loads(content)["__type"].endswith("#UnrecognizedClientException")


def test_anybody_may_ask_how_the_server_is(servers):
    for path, words in [("/", b"healthy: "), ("/_partita/ready", b'{"ready":true')]:
        connection = http.client.HTTPConnection(urlsplit(servers["local"]).netloc, timeout=20)
        connection.request("GET", path, headers={"Host": "balancer.example"})
        response = connection.getresponse()
        assert response.status == 200 and response.read().startswith(words)
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
        code, said = self.start(**environment)
        assert code == 1 and "key" in said

    @pytest.mark.parametrize("environment", [{"PARTITA_ACCESS_KEY": "me"}, {"PARTITA_SECRET_KEY": "hush"}])
    def test_one_without_the_other_is_refused(self, environment):
        code, said = self.start(**environment)
        assert code == 1 and "there is" in said

    @pytest.mark.parametrize("arguments", [("--secret-key", "hush"), ("--secret-key=hush",)])
    def test_the_command_line_is_no_place_for_them(self, arguments):
        code, said = self.start("--access-key", "me", *arguments)
        assert code == 2 and "--secret-key-file" in said and "hush" not in said

    def test_a_file_holds_one(self, tmp_path):
        file = tmp_path / "secret"
        file.write_text("hush\n")
        file.chmod(0o640)
        server = started_server("--access-key", "me", "--secret-key-file", file, stderr=subprocess.PIPE)
        try:
            endpoint = announced_endpoint(server)
            assert ask(endpoint, "localhost")[0] == 400
        finally:
            server.terminate()
            server.wait(timeout=20)
        assert "chmod 600" in server.stderr.read()

    def test_an_empty_file_holds_none(self, tmp_path):
        (tmp_path / "secret").write_text("\n")
        assert self.start("--access-key", "me", "--secret-key-file", tmp_path / "secret")[0] == 1
