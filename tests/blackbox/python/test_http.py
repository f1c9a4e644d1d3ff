"""The HTTP protocol: headers, checksums, compression, connections, and malformed bodies."""

import gzip
import http.client
import json
import socket
import uuid
import zlib
from urllib.parse import urlsplit

import pytest

from dynamo import attributes, headers

MEGABYTE = 1024 * 1024


@pytest.fixture
def connect(endpoint):
    """Opens connections, and closes them after the test."""
    address = urlsplit(endpoint)
    opened = []

    def connection():
        opened.append(http.client.HTTPConnection(address.hostname, address.port, timeout=30))
        return opened[-1]

    yield connection
    for each in opened:
        each.close()


def post(connection, operation, body, **more):
    """The response and its body; `more` are further headers, with underscores for hyphens."""
    fields = headers(operation) | {name.replace("_", "-"): value for name, value in more.items()}
    connection.request("POST", "/", body if isinstance(body, bytes) else json.dumps(body).encode(), fields)
    response = connection.getresponse()
    return response, response.read()


def kind(content):
    return json.loads(content)["__type"].split("#")[-1]


class TestResponses:
    @pytest.mark.parametrize("operation, body, status", [("ListTables", {}, 200), ("DescribeTable", {"TableName": "no-such-table"}, 400)])
    def test_headers(self, connect, operation, body, status):
        response, content = post(connect(), operation, body)
        assert response.status == status
        assert response.headers["Content-Type"] == "application/x-amz-json-1.0"
        assert int(response.headers["Content-Length"]) == len(content)
        assert int(response.headers["x-amz-crc32"]) == zlib.crc32(content)
        assert len(response.headers["x-amzn-RequestId"]) >= 32
        assert response.headers["Server"]

    def test_request_ids_differ(self, connect):
        connection = connect()
        assert len({post(connection, "ListTables", {})[0].headers["x-amzn-RequestId"] for _ in range(5)}) == 5

    def test_an_exception_names_its_type(self, connect):
        _, content = post(connect(), "DescribeTable", {"TableName": "no-such-table"})
        assert json.loads(content)["__type"] == "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
        assert json.loads(content)["message"]

    def test_health(self, connect):
        connection = connect()
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.status == 200
        assert response.read() == b"healthy: dynamodb.us-east-1.amazonaws.com "


class TestConnections:
    def test_one_connection_serves_many_requests(self, connect):
        connection = connect()
        post(connection, "ListTables", {})
        first = connection.sock
        for n in range(20):
            response, _ = post(connection, "ListTables" if n % 2 else "NoSuchOperation", {})
            assert response.status == (200 if n % 2 else 400)
        assert connection.sock is first

    def test_pipelined_requests_are_answered_in_order(self, endpoint):
        address = urlsplit(endpoint)
        lines = lambda body: "\r\n".join(
            ["POST / HTTP/1.1", f"Host: {address.netloc}", f"Content-Length: {len(body)}"]
            + [f"{name}: {value}" for name, value in headers("DescribeTable").items()]
        )
        names = ["first-missing-table", "second-missing-table"]
        bodies = [json.dumps({"TableName": name}) for name in names]
        with socket.create_connection((address.hostname, address.port), timeout=10) as stream:
            stream.sendall("".join(f"{lines(body)}\r\n\r\n{body}" for body in bodies).encode())
            received = b""
            while not all(name.encode() in received for name in names):
                part = stream.recv(65536)
                assert part, received
                received += part
        assert received.index(names[0].encode()) < received.index(names[1].encode())

    def test_a_body_in_chunks(self, connect):
        connection = connect()
        connection.request("POST", "/", iter([b'{"Lim', b'it": 1}']), headers("ListTables"), encode_chunked=True)
        response = connection.getresponse()
        assert response.status == 200
        assert len(json.loads(response.read())["TableNames"]) <= 1

    def test_header_names_have_no_case(self, connect):
        connection = connect()
        connection.request("POST", "/", b"{}", {name.lower(): value for name, value in headers("ListTables").items()})
        response = connection.getresponse()
        assert response.status == 200 and response.read()

    def test_an_abandoned_request_does_not_affect_others(self, endpoint, connect):
        address = urlsplit(endpoint)
        for text in ("POST / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", "\x00\x01\x02", ""):
            with socket.create_connection((address.hostname, address.port), timeout=10) as stream:
                stream.sendall(text.encode())
        assert post(connect(), "ListTables", {})[0].status == 200


class TestCompression:
    @pytest.fixture(scope="class")
    @classmethod
    def large(cls, make_table):
        table = make_table()
        table.put({"pk": "large", "d": "compressible " * 10_000})
        return table

    def body(self, table):
        return {"TableName": table.name, "Key": attributes({"pk": "large"})}

    def test_a_compressed_response(self, connect, large):
        response, content = post(connect(), "GetItem", self.body(large), Accept_Encoding="gzip")
        assert response.headers["Content-Encoding"] == "gzip"
        assert int(response.headers["x-amz-crc32"]) == zlib.crc32(content)
        assert len(content) < 20_000
        assert json.loads(gzip.decompress(content))["Item"]["pk"] == {"S": "large"}

    @pytest.mark.parametrize("accept", ["deflate", "deflate, gzip", "gzip;q=0.5, deflate", "*, gzip;q=0"])
    def test_a_response_in_zlib_format(self, connect, large, accept):
        response, content = post(connect(), "GetItem", self.body(large), Accept_Encoding=accept)
        assert response.headers["Content-Encoding"] == "deflate"
        assert json.loads(zlib.decompress(content))["Item"]["pk"] == {"S": "large"}

    @pytest.mark.parametrize("accept", ["identity", "gzip;q=0"])
    def test_an_uncompressed_response(self, connect, large, accept):
        response, content = post(connect(), "GetItem", self.body(large), Accept_Encoding=accept)
        assert response.headers["Content-Encoding"] in (None, "identity")
        assert json.loads(content)["Item"]["pk"] == {"S": "large"}

    def test_a_compressed_request(self, connect):
        response, content = post(connect(), "ListTables", gzip.compress(b'{"Limit": 1}'), Content_Encoding="gzip")
        assert response.status == 200, content
        assert len(json.loads(content)["TableNames"]) <= 1

    def test_a_request_in_zlib_format(self, connect):
        response, content = post(connect(), "ListTables", zlib.compress(b'{"Limit": 1}'), Content_Encoding="deflate")
        assert response.status == 200, content

    @pytest.mark.parametrize("coding, body", [("br", b"{}"), ("deflate", b"{}"), ("deflate", zlib.compress(b"{}")[:-1]), ("deflate", b"")])
    def test_a_request_in_an_unknown_format(self, connect, coding, body):
        response, _ = post(connect(), "ListTables", body, Content_Encoding=coding)
        assert 400 <= response.status < 500

    @pytest.mark.parametrize("body", [b"not compressed", gzip.compress(b"{}", mtime=0)[:-6], b"", gzip.compress(b"not json", mtime=0)])
    def test_a_request_wrongly_compressed(self, connect, body):
        response, _ = post(connect(), "ListTables", body, Content_Encoding="gzip")
        assert 400 <= response.status < 500

    def test_a_small_request_that_grows_beyond_the_limit(self, connect):
        bomb = gzip.compress(b" " * (64 * MEGABYTE))
        response, _ = post(connect(), "ListTables", bomb, Content_Encoding="gzip")
        assert 400 <= response.status < 500


class TestPages:
    WISH = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target"}

    def test_a_local_page_is_allowed(self, connect):
        connection = connect()
        connection.request("OPTIONS", "/", headers=self.WISH | {"Origin": "http://localhost:3000"})
        response = connection.getresponse()
        assert response.status == 200 and not response.read()
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Access-Control-Allow-Methods"] == "POST"
        assert response.headers["Access-Control-Allow-Headers"] == "x-amz-target"
        response, _ = post(connection, "ListTables", {}, Origin="http://localhost:3000")
        assert response.status == 200
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Access-Control-Allow-Methods"] is None

    def test_no_cors_headers_without_an_origin(self, connect):
        assert post(connect(), "ListTables", {})[0].headers["Access-Control-Allow-Origin"] is None


class TestLongHeads:
    def test_headers(self, connect):
        assert post(connect(), "ListTables", {}, Filler="x" * 8_000)[0].status == 200
        assert post(connect(), "ListTables", {}, Filler="x" * 9_000, More="x" * 9_000)[0].status == 400

    def test_a_path(self, connect):
        connection = connect()
        connection.request("POST", "/" + "x" * 17_000, b"{}", headers("ListTables"))
        assert connection.getresponse().status == 400


class TestUnsupportedRequests:
    @pytest.mark.parametrize("target", ["DynamoDB_20120810.NoSuchOperation", "DynamoDB_20120810.", "DynamoDB_20120810", "ListTables", "", "Other_20120810.ListTables"])
    def test_an_unknown_operation(self, connect, target):
        response, content = post(connect(), "", {}, X_Amz_Target=target)
        assert response.status == 400
        assert kind(content) == "UnknownOperationException"

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
    def test_another_method(self, connect, method):
        connection = connect()
        connection.request(method, "/", headers=headers("ListTables"))
        response = connection.getresponse()
        response.read()
        assert 200 <= response.status < 500

    def test_another_content_type(self, connect):
        response, _ = post(connect(), "ListTables", {}, Content_Type="text/plain")
        assert response.status == 404


MALFORMED = [
    b"", b" ", b"{", b"}", b"[", b"]", b"[]", b"{}}", b"{]", b"[}", b"null", b"true", b"false", b"0", b"-", b"1.", b".1", b"1e", b"-1e+",
    b'"', b'"text"', b'"\\', b'"\\u12"', b'"\\ud800"', b"'single'", b"{'a': 1}", b"{a: 1}", b'{"a"}', b'{"a":}', b'{"a": 1,}', b'{,}',
    b'{"a" 1}', b'{"a": 1 "b": 2}', b'{"a": tru}', b'{"a": nul}', b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 01}', b'{"a": +1}', b'{"a": 0x1}',
    b'{"a": "\x00"}', b'{"a": "\n"}', b'{"a": "\t"}', b'{"a": "\xff"}', b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b"\x00", b"\x00" * 100,
    b"<xml/>", b"TableName=a", b"--boundary", b"{/* comment */}", b"{} {}", b"{}garbage", b"{}\x00", b'{"a": [}', b'{"a": {]}', b'{"a": [1, 2}',
    b'{"a": "unterminated}', b'{"a": "\\x"}', b'{"a": "\\u00g0"}', b'{"": ""}', b"{" * 1000, b"[" * 1000, b'{"a":' * 1000, b'["a",' * 1000,
    b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000, b"9" * 100_000, b'"' + b"a" * 100_000, b"1e999999999", b"-0", b"1E400",
    b'{"TableName": 1}', b'{"TableName": null}', b'{"TableName": []}', b'{"TableName": {}}', b'{"TableName": true}', b'{"TableName": ""}',
    b'{"TableName": "a", "TableName": "b"}', b'{"TableName": "\\u0000"}', b'{"TableName": "../../etc"}', b'{"Item": 1}', b'{"Item": []}', b'{"Key": "a"}',
    b'{"TableName": "abc", "Item": {"a": 1}}', b'{"TableName": "abc", "Item": {"a": {"S": 1}}}', b'{"TableName": "abc", "Item": {"a": {"N": 1}}}',
    b'{"TableName": "abc", "Item": {"a": {"B": "%"}}}', b'{"TableName": "abc", "Item": {"a": {"Z": 1}}}', b'{"TableName": "abc", "Item": {"a": {}}}',
    b'{"TableName": "abc", "Item": {"a": {"SS": "a"}}}', b'{"TableName": "abc", "Item": {"a": {"SS": [1]}}}', b'{"TableName": "abc", "Item": {"a": {"L": [1]}}}',
    b'{"TableName": "abc", "Item": {"a": {"M": {"b": 1}}}}', b'{"TableName": "abc", "Item": {"a": {"BOOL": 2}}}', b'{"TableName": "abc", "Item": {"a": {"NULL": 1}}}',
    b'{"TableName": "abc", "Item": null, "Key": null}', b'{"TableName": "abc", "Limit": "ten"}', b'{"TableName": "abc", "Limit": 1e99}', b'{"TableName": "abc", "Limit": 1.5}',
    b'{"TableName": "abc", "Limit": 99999999999999999999}', b'{"TableName": "abc", "ConsistentRead": "yes"}', b'{"TableName": "abc", "ExpressionAttributeNames": [1]}',
    b'{"TableName": "abc", "Key": {"a": {"S": "b"}}, "UpdateExpression": "\\ud83d"}', b'{"RequestItems": {"abc": 1}}', b'{"RequestItems": {"abc": [1]}}',
    b'{"TransactItems": 1}', b'{"TransactItems": [1]}', b'{"TransactItems": [{"Put": 1}]}', b'{"TransactItems": [{"Put": {"TableName": 1}}]}',
]
OPERATIONS = ["PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchWriteItem", "BatchGetItem", "TransactWriteItems", "TransactGetItems", "CreateTable", "UpdateTable", "DescribeTable"]


class TestMalformed:
    def test_there_are_a_hundred(self):
        assert len(set(MALFORMED)) >= 100

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_every_body_gets_a_client_error(self, connect, operation):
        for body in MALFORMED:
            connection = connect()
            response, content = post(connection, operation, body)
            assert 400 <= response.status < 500, (body[:80], response.status)
            assert json.loads(content)["__type"], body[:80]
            connection.close()

    @pytest.mark.parametrize("body", [b"", b"{", b"not json", b"{]", b'{"TableName": "a"', b"[" * 100_000])
    def test_invalid_json_is_a_serialization_exception(self, connect, body):
        response, content = post(connect(), "PutItem", body)
        assert response.status == 400
        assert kind(content) == "SerializationException"

    def test_deep_values_are_refused_gently(self, connect, simple):
        for levels in (33, 500, 50_000):
            value = b'{"L":[' * levels + b'{"S":"x"}' + b"]}" * levels
            body = b'{"TableName":"%s","Item":{"pk":{"S":"deep"},"v":%s}}' % (simple.name.encode(), value)
            response, content = post(connect(), "PutItem", body)
            assert response.status == 400
            assert kind(content) in ("ValidationException", "SerializationException")
        assert simple.get({"pk": "deep"}) is None

    @pytest.mark.parametrize("expression", ["(" * 2000 + "a = :x" + ")" * 2000, "NOT " * 1000 + "a = :x", "a" + ".a" * 2000 + " = :x", "a" + "[0]" * 1300 + " = :x"])
    def test_deep_expressions_are_refused_gently(self, connect, simple, expression):
        body = {"TableName": simple.name, "Item": attributes({"pk": uuid.uuid4().hex}), "ConditionExpression": expression, "ExpressionAttributeValues": {":x": {"S": "x"}}}
        response, content = post(connect(), "PutItem", body)
        assert response.status == 400
        assert kind(content) in ("ValidationException", "ConditionalCheckFailedException")

    def test_unknown_members_are_ignored(self, connect):
        assert post(connect(), "ListTables", {"Limit": 1, "NoSuchMember": {"a": [1]}})[0].status == 200


class TestLargeBodies:
    def test_sixteen_megabytes_are_read(self, connect):
        body = b'{"TableName": "no-such-table"' + b" " * (16 * MEGABYTE - 40) + b"}"
        response, content = post(connect(), "DescribeTable", body)
        assert response.status == 400
        assert kind(content) == "ResourceNotFoundException"

    def test_more_are_refused(self, connect):
        response, _ = post(connect(), "ListTables", b"{" + b" " * (16 * MEGABYTE) + b"}")
        assert response.status == 413

    def test_more_in_chunks_are_refused(self, connect):
        connection = connect()
        chunks = (b" " * MEGABYTE for _ in range(17))
        connection.request("POST", "/", chunks, headers("ListTables"), encode_chunked=True)
        assert connection.getresponse().status == 413

    def test_the_next_request_is_served(self, connect):
        post(connect(), "ListTables", b" " * (17 * MEGABYTE))
        assert post(connect(), "ListTables", {})[0].status == 200
