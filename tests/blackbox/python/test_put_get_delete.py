"""PutItem, GetItem and DeleteItem: items are stored and returned unchanged, and invalid ones are refused."""

import base64

import pytest
from boto3.dynamodb.types import Binary

from dynamo import attributes, invalid


class TestStored:
    def test_every_type_comes_back(self, simple, pk):
        item = {
            "pk": pk,
            "string": "text",
            "empty": "",
            "number": 42,
            "binary": Binary(b"\x00\xff"),
            "nothing": None,
            "yes": True,
            "no": False,
            "list": ["a", 1, [True, None]],
            "map": {"a": {"b": {"c": 1}}, "empty": {}},
            "strings": {"a", "b"},
            "numbers": {1, 2, 3},
            "binaries": {Binary(b"a"), Binary(b"b")},
            "no elements": [],
        }
        simple.put(item)
        assert simple.get({"pk": pk}) == item

    def test_text_of_every_script(self, simple, pk):
        item = {"pk": f"{pk}-日本-🦀", "Ünïcode-näme": "ß and 😀", "quotes": "\"\\\n\t\u0001"}
        simple.put(item)
        assert simple.get({"pk": item["pk"]}) == item

    def test_an_empty_binary_is_a_value(self, client, simple, pk):
        simple.put({"pk": pk, "empty": Binary(b"")})
        assert client.get_item(TableName=simple.name, Key=attributes({"pk": pk}))["Item"]["empty"] == {"B": b""}

    def test_a_put_replaces_the_whole_item(self, simple, pk):
        simple.put({"pk": pk, "a": 1, "b": 2})
        simple.put({"pk": pk, "c": 3})
        assert simple.get({"pk": pk}) == {"pk": pk, "c": 3}

    def test_the_old_item_is_returned_on_request(self, simple, pk):
        assert "Attributes" not in simple.put({"pk": pk, "a": 1}, ReturnValues="ALL_OLD")
        old = simple.put({"pk": pk, "a": 2}, ReturnValues="ALL_OLD")
        assert old["Attributes"] == attributes({"pk": pk, "a": 1})
        assert "Attributes" not in simple.put({"pk": pk, "a": 3})

    def test_items_of_one_partition_are_distinguished_by_sort_key(self, ordered, pk):
        ordered.put({"pk": pk, "sk": "a", "n": 1})
        ordered.put({"pk": pk, "sk": "b", "n": 2})
        assert ordered.get({"pk": pk, "sk": "a"})["n"] == 1
        assert ordered.get({"pk": pk, "sk": "b"})["n"] == 2

    def test_numbers_and_binaries_are_keys(self, make_table):
        table = make_table("pk:N sk:B")
        table.put({"pk": 7, "sk": Binary(b"\x00"), "v": "zero"})
        table.put({"pk": 7, "sk": Binary(b"\x00\x00"), "v": "two zeros"})
        assert table.get({"pk": 7, "sk": Binary(b"\x00")})["v"] == "zero"
        assert table.get({"pk": 7, "sk": Binary(b"\x00\x00")})["v"] == "two zeros"

    def test_an_item_may_have_400_kilobytes_and_not_one_more(self, simple, pk):
        available = 400 * 1024 - len("pk") - len(pk) - len("d")
        simple.put({"pk": pk, "d": "x" * available})
        assert len(simple.get({"pk": pk})["d"]) == available
        with invalid("Item size has exceeded the maximum allowed size"):
            simple.put({"pk": pk, "d": "x" * (available + 1)})

    def test_keys_have_their_own_limits(self, ordered):
        ordered.put({"pk": "p" * 2048, "sk": "s" * 1024})
        with invalid("Size of hashkey has exceeded the maximum size limit of2048 bytes"):
            ordered.put({"pk": "p" * 2049, "sk": "s"})
        with invalid("Aggregated size of all range keys has exceeded the size limit of 1024 bytes"):
            ordered.put({"pk": "p", "sk": "s" * 1025})

    def test_values_nest_to_a_depth(self, simple, pk):
        def nested(levels):
            value = "core"
            for _ in range(levels):
                value = {"m": value}
            return value

        simple.put({"pk": pk, "deep": nested(31)})
        with invalid("Nesting Levels have exceeded supported limits"):
            simple.put({"pk": pk, "deep": nested(32)})


class TestRead:
    def test_a_missing_item_is_no_error(self, client, simple, pk):
        assert "Item" not in client.get_item(TableName=simple.name, Key=attributes({"pk": pk}))

    def test_a_projection_selects_paths(self, simple, pk):
        simple.put({"pk": pk, "a": {"b": [10, 20, 30], "c": "x"}, "d": 1, "status": "on"})
        chosen = simple.get({"pk": pk}, ProjectionExpression="a.b[1], #s", names={"#s": "status"})
        assert chosen == {"a": {"b": [20]}, "status": "on"}

    def test_projected_list_elements_are_compacted(self, simple, pk):
        simple.put({"pk": pk, "a": [0, 1, 2, 3]})
        assert simple.get({"pk": pk}, ProjectionExpression="a[3], a[1]") == {"a": [1, 3]}

    def test_a_projection_of_missing_attributes_is_an_empty_item(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        assert simple.get({"pk": pk}, ProjectionExpression="b, c.d, a[0]") == {}

    def test_a_dot_in_a_name_needs_a_placeholder(self, simple, pk):
        simple.put({"pk": pk, "a.b": 1, "a": {"b": 2}})
        assert simple.get({"pk": pk}, ProjectionExpression="#dotted", names={"#dotted": "a.b"}) == {"a.b": 1}
        assert simple.get({"pk": pk}, ProjectionExpression="a.b") == {"a": {"b": 2}}

    @pytest.mark.parametrize("projection, names, text", [
        ("a, a", {}, "Two document paths overlap with each other"),
        ("a, a.b", {}, "Two document paths overlap with each other"),
        ("a[0], a.b", {}, "Two document paths conflict with each other"),
        ("name", {}, "Attribute name is a reserved keyword; reserved keyword: name"),
        ("#x", {}, "An expression attribute name used in the document path is not defined; attribute name: #x"),
        ("a", {"#x": "a"}, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
        ("!!", {}, 'Syntax error; token: "!", near: "!!"'),
        ("", {}, "Invalid ProjectionExpression: The expression can not be empty;"),
        ("a..b", {}, "Syntax error"),
        ("a[-1]", {}, "Syntax error"),
    ])
    def test_bad_projections(self, simple, pk, projection, names, text):
        with invalid(text):
            simple.get({"pk": pk}, ProjectionExpression=projection, **({"names": names} if names else {}))


class TestDeleted:
    def test_the_item_is_gone_and_returned_on_request(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        assert simple.delete({"pk": pk}, ReturnValues="ALL_OLD")["Attributes"] == attributes({"pk": pk, "a": 1})
        assert simple.get({"pk": pk}) is None

    def test_deleting_nothing_succeeds(self, simple, pk):
        assert "Attributes" not in simple.delete({"pk": pk}, ReturnValues="ALL_OLD")

    def test_only_the_item_named_is_deleted(self, ordered, pk):
        ordered.put({"pk": pk, "sk": "a"})
        ordered.put({"pk": pk, "sk": "ab"})
        ordered.delete({"pk": pk, "sk": "a"})
        assert ordered.get({"pk": pk, "sk": "ab"})


class TestRefusedKeys:
    @pytest.mark.parametrize("key", [{"pk": "a"}, {"pk": "a", "sk": 1}, {"pk": "a", "other": "b"}, {}, {"pk": "a", "sk": "b", "c": "d"}])
    def test_a_key_that_does_not_match_the_schema(self, ordered, key):
        with invalid("The provided key element does not match the schema"):
            ordered.get(key)
        with invalid("The provided key element does not match the schema"):
            ordered.delete(key)

    def test_an_item_without_its_key(self, ordered):
        with invalid("One or more parameter values were invalid: Missing the key sk in the item"):
            ordered.put({"pk": "a"})
        with invalid("One or more parameter values were invalid: Missing the key pk in the item"):
            ordered.put({"sk": "a"})

    def test_an_item_with_a_key_of_another_type(self, ordered):
        with invalid("One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N"):
            ordered.put({"pk": "a", "sk": 1})

    @pytest.mark.parametrize("item, name", [({"pk": "", "sk": "a"}, "pk"), ({"pk": "a", "sk": ""}, "sk")])
    def test_an_empty_key(self, ordered, item, name):
        text = f"The AttributeValue for a key attribute cannot contain an empty string value. Key: {name}"
        with invalid(text):
            ordered.put(item)
        with invalid(text):
            ordered.get(item)


class TestRefusedValues:
    @pytest.mark.parametrize("value, text", [
        ({"SS": []}, "An string set  may not be empty"),
        ({"NS": []}, "An number set  may not be empty"),
        ({"BS": []}, "Binary sets should not be empty"),
        ({"SS": ["a", "a"]}, "contains duplicates"),
        ({"NS": ["1", "1"]}, "contains duplicates"),
        ({"NULL": False}, "Null attribute value types must have the value of true"),
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"S": "a", "N": "1"}, "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"),
        ({"N": "one"}, "The parameter cannot be converted to a numeric value"),
        ({"N": ""}, "The parameter cannot be converted to a numeric value"),
        ({"L": [{"M": {"x": {"SS": []}}}]}, "may not be empty"),
    ])
    def test_values(self, client, simple, pk, value, text):
        with invalid(text):
            client.put_item(TableName=simple.name, Item=attributes({"pk": pk}) | {"v": value})
        assert simple.get({"pk": pk}) is None

    def test_return_values_of_an_update(self, simple, pk):
        with invalid("ReturnValues can only be ALL_OLD or NONE"):
            simple.put({"pk": pk}, ReturnValues="ALL_NEW")
        with invalid("ReturnValues can only be ALL_OLD or NONE"):
            simple.delete({"pk": pk}, ReturnValues="UPDATED_OLD")

    def test_unknown_enum_values(self, simple, pk):
        for member in ("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"):
            with invalid("enum value set"):
                simple.put({"pk": pk}, **{member: "SOMETHING"})

    def test_values_without_an_expression(self, simple, pk):
        with invalid("ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"):
            simple.put({"pk": pk}, values={":a": 1})
        with invalid("ExpressionAttributeNames can only be specified when using expressions"):
            simple.get({"pk": pk}, names={"#a": "a"})

    def test_a_missing_item_or_key(self, client, simple):
        with invalid():
            client.put_item(TableName=simple.name)
        with invalid():
            client.get_item(TableName=simple.name)

    @pytest.mark.parametrize("parameters", [
        {"Item": {"pk": {"S": 1}}},
        {"Item": {"pk": {"N": 1}}},
        {"Item": {"pk": "bare"}},
        {"Item": []},
        {"Item": {"pk": {"S": "a"}, "v": {"L": {}}}},
    ])
    def test_json_of_the_wrong_type(self, client, simple, parameters, raw):
        status, response = raw("PutItem", {"TableName": simple.name} | parameters)
        assert status == 400
        assert response["__type"].endswith("SerializationException")

    def test_a_binary_must_be_base64(self, simple, pk, raw):
        item = {"pk": {"S": pk}, "v": {"B": "not base64!"}}
        status, response = raw("PutItem", {"TableName": simple.name, "Item": item})
        assert status == 400
        assert response["__type"].split("#")[1] in ("SerializationException", "ValidationException")
        item["v"]["B"] = base64.b64encode(b"bytes").decode()
        assert raw("PutItem", {"TableName": simple.name, "Item": item})[0] == 200
