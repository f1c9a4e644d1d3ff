"""Condition expressions: the semantics of each operator and function, and which expressions are refused."""

import pytest
from boto3.dynamodb.types import Binary

from dynamo import attributes, invalid, plain, refused

ITEM = {
    "n": 5,
    "s": "hello",
    "b": Binary(b"bytes"),
    "t": True,
    "null": None,
    "ss": {"red", "green"},
    "ns": {1, 2},
    "l": ["a", 1, {"deep": "down"}],
    "m": {"inside": {"x": 10}},
    "n2": 5,
}


@pytest.fixture(scope="module")
def item(make_table):
    table = make_table()
    table.put({"pk": "item"} | ITEM)
    return table


def holds(table, condition, **values):
    """Whether a condition holds for the item, determined by a conditional update of another attribute."""
    more = {"values": {f":{name}": value for name, value in values.items()}} if values else {}
    try:
        table.update({"pk": "item"}, "REMOVE untouched", ConditionExpression=condition, **more)
        return True
    except table.client.exceptions.ConditionalCheckFailedException:
        return False


class TestComparisons:
    @pytest.mark.parametrize("condition, expected", [
        ("n = :x", True), ("n <> :x", False), ("n < :x", False), ("n <= :x", True), ("n > :x", False), ("n >= :x", True),
        (":x = n", True), ("NOT n = :x", False), ("absent = :x", False), ("absent <> :x", True), ("absent < :x", False),
    ])
    def test_with_an_equal_number(self, item, condition, expected):
        assert holds(item, condition, x=5) is expected

    @pytest.mark.parametrize("condition, expected", [("s < :x", True), ("s > :x", False), ("s <> :x", True)])
    def test_with_a_later_string(self, item, condition, expected):
        assert holds(item, condition, x="hellp") is expected

    def test_strings_compare_by_their_bytes(self, item):
        assert holds(item, "s > :x", x="Zebra")
        assert holds(item, "s < :x", x="é")

    def test_binaries_compare_by_their_bytes(self, item):
        assert holds(item, "b < :x", x=Binary(b"bytes\x00"))
        assert holds(item, "b > :x", x=Binary(b"byteR"))

    def test_different_types_are_unequal_and_have_no_order(self, item):
        assert holds(item, "n <> :x", x="5")
        assert not holds(item, "n = :x", x="5")
        assert not holds(item, "n < :x", x="6")
        assert not holds(item, "n > :x", x="4")

    def test_collections_are_equal_by_content(self, item):
        assert holds(item, "ss = :x", x={"green", "red"})
        assert holds(item, "l = :x", x=ITEM["l"])
        assert holds(item, "m = :x", x={"inside": {"x": 10}})
        assert not holds(item, "l = :x", x=[1, "a", {"deep": "down"}])

    def test_two_attributes_of_the_item(self, item):
        assert holds(item, "n = n2")
        assert not holds(item, "n < n2")

    def test_between_includes_its_ends(self, item):
        assert holds(item, "n BETWEEN :a AND :b", a=5, b=5)
        assert holds(item, "n BETWEEN :a AND :b", a=1, b=5)
        assert not holds(item, "n BETWEEN :a AND :b", a=6, b=9)
        assert not holds(item, "s BETWEEN :a AND :b", a=1, b=9)

    def test_in_a_list(self, item):
        assert holds(item, "n IN (:a, :b)", a=1, b=5)
        assert not holds(item, "n IN (:a)", a="5")
        assert not holds(item, "absent IN (:a)", a=5)

    def test_paths_into_documents(self, item):
        assert holds(item, "m.inside.x = :x", x=10)
        assert holds(item, "l[2].deep = :x", x="down")
        assert not holds(item, "l[9] = :x", x=1)


class TestFunctions:
    def test_existence(self, item):
        assert holds(item, "attribute_exists(n)") and not holds(item, "attribute_exists(absent)")
        assert holds(item, "attribute_not_exists(absent)") and not holds(item, "attribute_not_exists(n)")
        assert holds(item, "attribute_exists(m.inside.x)") and not holds(item, "attribute_exists(m.inside.y)")
        assert holds(item, "attribute_exists(l[0])") and not holds(item, "attribute_exists(l[3])")

    @pytest.mark.parametrize("name, kind", [
        ("s", "S"), ("n", "N"), ("b", "B"), ("t", "BOOL"), ("#null", "NULL"), ("ss", "SS"), ("ns", "NS"), ("l", "L"), ("m", "M"),
    ])
    def test_type(self, item, name, kind):
        names = {"ExpressionAttributeNames": {"#null": "null"}} if name == "#null" else {}
        update = {"ConditionExpression": f"attribute_type({name}, :t)", "values": {":t": kind}} | names
        item.update({"pk": "item"}, "REMOVE untouched", **update)

    def test_begins_with(self, item):
        assert holds(item, "begins_with(s, :x)", x="hell")
        assert holds(item, "begins_with(s, :x)", x="")
        assert not holds(item, "begins_with(s, :x)", x="ello")
        assert holds(item, "begins_with(b, :x)", x=Binary(b"by"))
        assert not holds(item, "begins_with(n, :x)", x="5")

    def test_contains(self, item):
        assert holds(item, "contains(s, :x)", x="ell")
        assert holds(item, "contains(ss, :x)", x="red") and not holds(item, "contains(ss, :x)", x="re")
        assert holds(item, "contains(ns, :x)", x=2) and not holds(item, "contains(ns, :x)", x="2")
        assert holds(item, "contains(l, :x)", x=1) and holds(item, "contains(l, :x)", x={"deep": "down"})
        assert not holds(item, "contains(absent, :x)", x="a")

    def test_size(self, item):
        assert holds(item, "size(s) = :x", x=5)
        assert holds(item, "size(b) = :x", x=5)
        assert holds(item, "size(ss) = :x", x=2)
        assert holds(item, "size(l) = :x", x=3)
        assert holds(item, "size(m) = :x", x=1)
        assert not holds(item, "size(n) = :x", x=1)
        assert not holds(item, "size(absent) < :x", x=100)

    def test_size_of_a_string_is_in_characters(self, simple, pk):
        simple.put({"pk": pk, "s": "éé"})
        simple.put({"pk": pk, "s": "éé"}, ConditionExpression="size(s) = :two", values={":two": 2})


class TestLogic:
    @pytest.mark.parametrize("condition, expected", [
        ("n = :yes AND s = :no", False), ("n = :yes OR s = :no", True), ("NOT s = :no", True), ("NOT absent = :no", True),
        ("s = :no AND s = :no OR n = :yes", True), ("s = :no AND (s = :no OR n = :yes)", False),
        ("NOT s = :no AND n = :yes", True), ("NOT (n = :yes AND s = :no)", True), ("n = :yes or s = :no", True),
    ])
    def test_precedence(self, item, condition, expected):
        values = {name: value for name, value in {"yes": 5, "no": "never"}.items() if f":{name}" in condition}
        assert holds(item, condition, **values) is expected

    def test_three_hundred_operators_and_no_more(self, simple, pk):
        # n comparisons joined by n - 1 connectives are 2n - 1 operators
        with refused("ConditionalCheckFailedException"):
            simple.put({"pk": pk}, ConditionExpression=" OR ".join(["a=:x"] * 150), values={":x": 1})
        with invalid("The expression contains too many operators; operator count: 301"):
            simple.put({"pk": pk}, ConditionExpression=" OR ".join(["a=:x"] * 151), values={":x": 1})

    def test_an_expression_has_at_most_4096_bytes(self, simple, pk):
        text = "attribute_not_exists(" + "a" * (4096 - 22) + ")"
        simple.put({"pk": pk}, ConditionExpression=text)
        with invalid("Expression size has exceeded the maximum allowed size"):
            simple.put({"pk": pk}, ConditionExpression=text.replace("a)", "aaa)"))


class TestGuarded:
    def test_a_put_only_if_the_item_is_absent(self, simple, pk):
        simple.put({"pk": pk, "a": 1}, ConditionExpression="attribute_not_exists(pk)")
        with refused("ConditionalCheckFailedException", "The conditional request failed"):
            simple.put({"pk": pk, "a": 2}, ConditionExpression="attribute_not_exists(pk)")
        assert simple.get({"pk": pk})["a"] == 1

    def test_a_delete_only_if_the_item_is_as_expected(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        with refused("ConditionalCheckFailedException"):
            simple.delete({"pk": pk}, ConditionExpression="a = :x", values={":x": 2})
        simple.delete({"pk": pk}, ConditionExpression="a = :x", values={":x": 1})
        assert simple.get({"pk": pk}) is None

    def test_a_delete_of_a_missing_item_under_a_condition_that_holds(self, simple, pk):
        simple.delete({"pk": pk}, ConditionExpression="attribute_not_exists(pk)")

    def test_the_failure_can_carry_the_item(self, client, simple, pk):
        simple.put({"pk": pk, "a": 1})
        for send in (
            lambda **more: simple.put({"pk": pk}, **more),
            lambda **more: simple.delete({"pk": pk}, **more),
            lambda **more: simple.update({"pk": pk}, **more),
        ):
            with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failure:
                send(ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD")
            assert plain(failure.value.response["Item"]) == {"pk": pk, "a": 1}

    def test_the_failure_carries_nothing_otherwise(self, client, simple, pk):
        simple.put({"pk": pk})
        with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failure:
            simple.put({"pk": pk}, ConditionExpression="attribute_not_exists(pk)")
        assert "Item" not in failure.value.response


class TestRefused:
    @pytest.mark.parametrize("condition, values, text", [
        ("", {}, "Invalid ConditionExpression: The expression can not be empty;"),
        ("a = ", {}, "Invalid ConditionExpression: Syntax error"),
        ("a == :x", {":x": 1}, "Invalid ConditionExpression: Syntax error"),
        ("a = 1", {}, "Invalid ConditionExpression: Syntax error"),
        ("a", {}, "Invalid ConditionExpression: Syntax error"),
        ("a = :x AND", {":x": 1}, "Invalid ConditionExpression: Syntax error"),
        ("(a = :x", {":x": 1}, "Invalid ConditionExpression: Syntax error"),
        ("((a = :x))", {":x": 1}, "Invalid ConditionExpression: The expression has redundant parentheses;"),
        ("a = :y", {":x": 1}, "An expression attribute value used in expression is not defined; attribute value: :y"),
        ("#a = :x", {":x": 1}, "An expression attribute name used in the document path is not defined; attribute name: #a"),
        ("name = :x", {":x": 1}, "Attribute name is a reserved keyword; reserved keyword: name"),
        ("Status = :x", {":x": 1}, "Attribute name is a reserved keyword; reserved keyword: Status"),
        ("unknown(a)", {}, "Invalid function name; function: unknown"),
        ("Attribute_exists(a)", {}, "Invalid function name; function: Attribute_exists"),
        ("attribute_exists(a, b)", {}, "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2"),
        ("attribute_exists(:x)", {":x": "a"}, "Operator or function requires a document path; operator or function: attribute_exists"),
        ("begins_with(a, :x)", {":x": 1}, "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"),
        ("attribute_type(a, :x)", {":x": "STRING"}, "Invalid attribute type name found; type: STRING"),
        ("a < :x", {":x": {"s"}}, "Incorrect operand type for operator or function"),
        ("a < :x", {":x": True}, "Incorrect operand type for operator or function"),
        ("a = a", {}, "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]"),
        ("a BETWEEN :x AND :y", {":x": 2, ":y": 1}, "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"),
        ("a BETWEEN :x AND :y", {":x": 2, ":y": "b"}, "The BETWEEN operator requires same data type for lower and upper bounds"),
        ("size(a)", {}, "The function is not allowed to be used this way in an expression; function: size"),
        ("attribute_exists(a) = :x", {":x": True}, "The function is not allowed to be used this way in an expression; function: attribute_exists"),
        ("if_not_exists(a, :x) = :x", {":x": 1}, "function: if_not_exists"),
        ("a = :x", {":x": 1, ":y": 2}, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"),
    ])
    def test_expressions(self, simple, pk, condition, values, text):
        with invalid(text):
            simple.put({"pk": pk}, ConditionExpression=condition, **({"values": values} if values else {}))
        assert simple.get({"pk": pk}) is None

    def test_in_has_at_most_a_hundred_operands(self, simple, pk):
        values = {f":v{n}": n for n in range(101)}
        with invalid():
            simple.put({"pk": pk}, ConditionExpression=f"a IN ({', '.join(values)})", values=values)
        values.popitem()
        with refused("ConditionalCheckFailedException"):
            simple.put({"pk": pk}, ConditionExpression=f"a IN ({', '.join(values)})", values=values)

    def test_empty_placeholders(self, client, simple, pk):
        for member in ("ExpressionAttributeValues", "ExpressionAttributeNames"):
            with invalid(f"{member} must not be empty"):
                client.put_item(
                    TableName=simple.name, Item=attributes({"pk": pk}), ConditionExpression="attribute_exists(a)", **{member: {}}
                )
