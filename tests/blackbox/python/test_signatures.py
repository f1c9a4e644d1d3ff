"""A server that verifies signatures: which requests are accepted and how the others are refused. And browsers: the pages
that are served without verified signatures."""

import hashlib
import http.client
import json
from urllib.parse import parse_qs, urlencode, urlsplit

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from botocore.config import Config

from conftest import announced_endpoint, server_binary, started_server
from dynamo import headers, refused

KEY, SECRET = "AKIDPARTITA", "secret/with+signs="


@pytest.fixture(scope="module")
def guarded():
    """The endpoint of a server that only accepts requests signed with the secret."""
    if not server_binary().exists():
        pytest.skip("there is no binary to start")
    server = started_server("--access-key", KEY, environment={"PARTITA_SECRET_KEY": SECRET})
    try:
        yield announced_endpoint(server)
    finally:
        server.terminate()
        server.wait(timeout=20)


def client_of(endpoint, key=KEY, secret=SECRET, token=None, region="us-east-1"):
    return boto3.client(
        "dynamodb", endpoint_url=endpoint, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret, aws_session_token=token,
        config=Config(retries={"total_max_attempts": 1}),
    )


def signed(endpoint, body=b"{}", operation="ListTables", signer=botocore.auth.SigV4Auth, service="dynamodb", **more):
    """A request as botocore signs it, to be tampered with."""
    credentials = botocore.credentials.Credentials(KEY, SECRET)
    fields = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
    request = botocore.awsrequest.AWSRequest("POST", endpoint + "/", headers=fields, data=body)
    signer(credentials, service, "us-east-1", **more).add_auth(request)
    return request.prepare()


def send(request, body=None, fields=(), query=None):
    """The name of the exception and its message, or None and the response."""
    address = urlsplit(request.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    path = f"/?{address.query if query is None else query}" if address.query or query else "/"
    unsent = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
    connection.request("POST", path, request.body or b"{}" if body is None else body, unsent | dict(fields))
    content = json.loads(connection.getresponse().read())
    connection.close()
    kind = content.get("__type")
    return (kind.split("#")[-1], content.get("message", "")) if kind else (None, content)


class TestKeys:
    def test_the_right_secret(self, guarded):
        assert client_of(guarded).list_tables()["TableNames"] == []

    @pytest.mark.parametrize("region", ["eu-west-1", "local"])
    def test_any_region(self, guarded, region):
        assert client_of(guarded, region=region).list_tables()["TableNames"] == []

    def test_a_session_token_makes_no_difference(self, guarded):
        assert client_of(guarded, token="a token").list_tables()["TableNames"] == []

    def test_a_wrong_secret(self, guarded):
        with refused("InvalidSignatureException", "does not match the signature you provided"):
            client_of(guarded, secret="wrong").list_tables()

    def test_an_unknown_key(self, guarded):
        with refused("UnrecognizedClientException", "The security token included in the request is invalid."):
            client_of(guarded, key="SOMEBODY").list_tables()

    def test_no_key(self, guarded):
        request = signed(guarded)
        del request.headers["Authorization"]
        assert send(request) == ("MissingAuthenticationTokenException", "Request is missing Authentication Token")

    def test_bad_json_is_reported_without_authentication(self, guarded):
        assert send(signed(guarded), body=b"{")[0] == "SerializationException"


class TestTamperedSignatures:
    def test_another_body(self, guarded):
        assert send(signed(guarded), body=b'{"Limit": 1}')[0] == "InvalidSignatureException"

    def test_another_operation(self, guarded):
        assert send(signed(guarded), fields={"X-Amz-Target": "DynamoDB_20120810.DescribeLimits"})[0] == "InvalidSignatureException"

    def test_another_time(self, guarded):
        kind, message = send(signed(guarded), fields={"X-Amz-Date": "20200101T000000Z"})
        assert kind == "InvalidSignatureException" and message.startswith("Signature expired: 20200101T000000Z is now earlier than ")

    def test_another_service(self, guarded):
        kind, message = send(signed(guarded, service="s3"))
        assert (kind, message) == ("InvalidSignatureException", "Credential should be scoped to correct service: 'dynamodb'.")

    def test_headers_added_in_transit(self, guarded):
        assert send(signed(guarded), fields={"X-Forwarded-For": "10.0.0.1", "Via": "1.1 proxy"})[0] is None

    @pytest.mark.parametrize("part", ["Credential", "Signature", "SignedHeaders"])
    def test_a_part_missing(self, guarded, part):
        request = signed(guarded)
        authorization = request.headers["Authorization"].replace(f"{part}=", f"No{part}=")
        kind, message = send(request, fields={"Authorization": authorization})
        assert kind == "IncompleteSignatureException" and message.startswith(f"Authorization header requires '{part}' parameter. ")
        assert SECRET not in message and authorization.split("Signature=")[1] not in message

    @pytest.mark.parametrize("name, shown", [("host", "Host"), ("x-amz-target", "X-Amz-Target")])
    def test_a_header_not_signed(self, guarded, name, shown):
        request = signed(guarded)
        authorization = request.headers["Authorization"].replace(f"{name};", "").replace(f";{name}", "")
        assert send(request, fields={"Authorization": authorization}) == ("InvalidSignatureException", f"'{shown}' must be a 'SignedHeader' in the AWS Authorization.")

    def test_another_algorithm(self, guarded):
        authorization = signed(guarded).headers["Authorization"].replace("AWS4-HMAC-SHA256", "AWS4-HMAC-MD5")
        assert send(signed(guarded), fields={"Authorization": authorization})[0] == "IncompleteSignatureException"


class Presigner(botocore.auth.SigV4QueryAuth):
    """Leaves the body in place, where botocore would move it into the query."""

    def payload(self, request):
        return hashlib.sha256(b"{}").hexdigest()


class TestPresigned:
    def presigned(self, guarded, expires=60):
        return signed(guarded, body=b"", signer=Presigner, expires=expires)

    def changed(self, request, **more):
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        return urlencode(query | {name.replace("_", "-"): value for name, value in more.items()})

    def test_it_is_accepted(self, guarded):
        assert send(self.presigned(guarded)) == (None, {"TableNames": []})

    def test_its_parameters_may_be_encoded_differently(self, guarded):
        request = self.presigned(guarded)
        assert send(request, query=urlsplit(request.url).query.replace("%2F", "/"))[0] is None

    def test_another_body(self, guarded):
        assert send(self.presigned(guarded), body=b'{"Limit": 1}')[0] == "InvalidSignatureException"

    def test_an_extended_expiry(self, guarded):
        request = self.presigned(guarded)
        assert send(request, query=self.changed(request, X_Amz_Expires="3600"))[0] == "InvalidSignatureException"

    def test_too_long_an_expiry(self, guarded):
        kind, message = send(self.presigned(guarded, expires=604_801))
        assert kind == "InvalidSignatureException" and "less than a week" in message

    def test_an_expired_request(self, guarded):
        request = self.presigned(guarded)
        kind, message = send(request, query=self.changed(request, X_Amz_Date="20200101T000000Z"))
        assert kind == "InvalidSignatureException" and message.startswith("Signature expired: ") and message.endswith("- 1 min.)")

    def test_parts_missing(self, guarded):
        kind, message = send(self.presigned(guarded), query="X-Amz-Algorithm=AWS4-HMAC-SHA256")
        assert kind == "IncompleteSignatureException" and message.count("AWS query-string parameters must include") == 4

    def test_both_kinds_together(self, guarded):
        both = send(self.presigned(guarded), fields={"Authorization": signed(guarded).headers["Authorization"]})
        assert both == ("InvalidSignatureException", "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")


class TestPages:
    """Requests that a browser sends for a page, and the CORS headers of the responses."""

    def send(self, endpoint, method, **fields):
        address = urlsplit(endpoint)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        sent = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, "/", b"{}" if method == "POST" else None, sent)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response, content

    def test_a_local_page_is_served(self, endpoint):
        page = {"Origin": "http://localhost:3000"}
        response, content = self.send(endpoint, "OPTIONS", **page, Access_Control_Request_Method="POST", Access_Control_Request_Headers="x-amz-target, authorization")
        assert (response.status, content) == (200, b"")
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Access-Control-Allow-Methods"] == "POST"
        assert response.headers["Access-Control-Allow-Headers"] == "x-amz-target, authorization"
        assert response.headers["Access-Control-Max-Age"] == "172800"
        response, _ = self.send(endpoint, "POST", **page, **headers("ListTables"))
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (200, "*")

    @pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
    def test_a_foreign_page_is_refused(self, endpoint, origin):
        response, _ = self.send(endpoint, "OPTIONS", Origin=origin, Access_Control_Request_Method="POST")
        assert response.status == 403 and "Access-Control-Allow-Origin" not in response.headers
        response, content = self.send(endpoint, "POST", Origin=origin, **headers("ListTables"))
        assert response.status == 403 and json.loads(content)["__type"].endswith("#AccessDeniedException")
        assert "Access-Control-Allow-Origin" not in response.headers

    def test_any_page_is_served_where_signatures_are_verified(self, guarded):
        response, _ = self.send(guarded, "OPTIONS", Origin="https://app.example", Access_Control_Request_Method="POST")
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (200, "*")
        response, _ = self.send(guarded, "POST", Origin="https://app.example", **headers("ListTables"))
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (400, "*")
