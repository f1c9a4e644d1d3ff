"""The legacy parameters that predate expressions: Expected, AttributeUpdates, KeyConditions, the filters, and AttributesToGet."""

import pytest

from dynamo import attributes, column, index, invalid, refused, to_value


def compare(operator, *values):
    condition = {"ComparisonOperator": operator}
    return condition | {"AttributeValueList": [to_value(value) for value in values]} if values else condition


class TestExpected:
    def test_an_attribute_that_must_not_exist(self, simple, pk):
        absent = {"pk": {"Exists": False}}
        simple.put({"pk": pk}, Expected=absent)
        with refused("ConditionalCheckFailedException", "The conditional request failed"):
            simple.put({"pk": pk}, Expected=absent)

    def test_an_attribute_with_a_value(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        with refused("ConditionalCheckFailedException"):
            simple.delete({"pk": pk}, Expected={"a": {"Value": to_value(2)}})
        simple.delete({"pk": pk}, Expected={"a": {"Value": to_value(1), "Exists": True}})
        assert simple.get({"pk": pk}) is None

    @pytest.mark.parametrize("condition, holds", [
        (compare("EQ", 5), True), (compare("EQ", 6), False), (compare("NE", 6), True), (compare("NE", 5), False),
        (compare("LT", 6), True), (compare("LE", 5), True), (compare("GT", 5), False), (compare("GE", 5), True),
        (compare("BETWEEN", 1, 5), True), (compare("BETWEEN", 6, 9), False), (compare("IN", 1, 5), True), (compare("IN", 1, 2), False),
        (compare("NOT_NULL"), True), (compare("NULL"), False),
    ])
    def test_comparisons_of_a_number(self, client, simple, pk, condition, holds):
        simple.put({"pk": pk, "n": 5})
        if holds:
            simple.put({"pk": pk, "n": 5}, Expected={"n": condition})
        else:
            with refused("ConditionalCheckFailedException"):
                simple.put({"pk": pk, "n": 5}, Expected={"n": condition})

    @pytest.mark.parametrize("name, condition, holds", [
        ("s", compare("BEGINS_WITH", "he"), True), ("s", compare("BEGINS_WITH", "lo"), False),
        ("s", compare("CONTAINS", "ll"), True), ("s", compare("NOT_CONTAINS", "ll"), False),
        ("set", compare("CONTAINS", "a"), True), ("set", compare("NOT_CONTAINS", "z"), True),
        ("list", compare("CONTAINS", "x"), True), ("absent", compare("NULL"), True), ("absent", compare("NE", 1), True),
        ("set", compare("EQ", {"b", "a"}), True),
    ])
    def test_comparisons_of_other_types(self, simple, pk, name, condition, holds):
        item = {"pk": pk, "s": "hello", "set": {"a", "b"}, "list": ["x"]}
        simple.put(item)
        if holds:
            simple.put(item, Expected={name: condition})
        else:
            with refused("ConditionalCheckFailedException"):
                simple.put(item, Expected={name: condition})

    def test_all_or_any(self, simple, pk):
        simple.put({"pk": pk, "a": 1, "b": 2})
        mixed = {"a": compare("EQ", 1), "b": compare("EQ", 9)}
        with refused("ConditionalCheckFailedException"):
            simple.put({"pk": pk, "a": 1, "b": 2}, Expected=mixed)
        with refused("ConditionalCheckFailedException"):
            simple.put({"pk": pk, "a": 1, "b": 2}, Expected=mixed, ConditionalOperator="AND")
        simple.put({"pk": pk, "a": 1, "b": 2}, Expected=mixed, ConditionalOperator="OR")

    @pytest.mark.parametrize("expected, text", [
        ({"a": {}}, "Value must be provided when Exists is null for Attribute: a"),
        ({"a": {"Exists": True}}, "Value must be provided when Exists is true for Attribute: a"),
        ({"a": {"Exists": False, "Value": {"S": "x"}}}, "Value cannot be used when Exists is false for Attribute: a"),
        ({"a": compare("EQ")}, "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"),
        ({"a": compare("BETWEEN", 1)}, "Invalid number of argument(s) for the BETWEEN ComparisonOperator"),
        ({"a": compare("NULL", 1)}, "Invalid number of argument(s) for the NULL ComparisonOperator"),
        ({"a": compare("LIKE", 1)}, "enum value set"),
        ({"a": compare("BEGINS_WITH", 1)}, "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"),
    ])
    def test_refused(self, simple, pk, expected, text):
        with invalid(text):
            simple.put({"pk": pk}, Expected=expected)

    def test_with_expressions(self, simple, pk):
        with invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"):
            simple.put({"pk": pk}, Expected={"a": {"Exists": False}}, ConditionExpression="attribute_not_exists(a)")


class TestAttributeUpdates:
    def change(self, table, pk, **updates):
        table.update({"pk": pk}, AttributeUpdates=updates)
        item = table.get({"pk": pk})
        del item["pk"]
        return item

    @staticmethod
    def action(name, *value):
        return {"Action": name} | ({"Value": to_value(value[0])} if value else {})

    def test_put(self, simple, pk):
        assert self.change(simple, pk, a=self.action("PUT", 1)) == {"a": 1}
        assert self.change(simple, pk, a=self.action("PUT", {"m": 1}), b={"Value": to_value("put is the default")}) == {
            "a": {"m": 1}, "b": "put is the default",
        }

    def test_delete(self, simple, pk):
        simple.put({"pk": pk, "a": 1, "set": {"x", "y"}, "gone": {"x"}})
        changed = self.change(simple, pk, a=self.action("DELETE"), set=self.action("DELETE", {"x"}), gone=self.action("DELETE", {"x"}))
        assert changed == {"set": {"y"}}

    def test_add(self, simple, pk):
        simple.put({"pk": pk, "n": 1, "set": {1}, "list": [1]})
        changed = self.change(
            simple, pk, n=self.action("ADD", 4), fresh=self.action("ADD", 7), set=self.action("ADD", {2}), list=self.action("ADD", [2])
        )
        assert changed == {"n": 5, "fresh": 7, "set": {1, 2}, "list": [1, 2]}

    def test_returned(self, simple, pk):
        simple.put({"pk": pk, "a": 1, "b": 1})
        updates = {"a": self.action("PUT", 2)}
        assert simple.update({"pk": pk}, AttributeUpdates=updates, returns="UPDATED_OLD") == {"a": 1}
        assert simple.update({"pk": pk}, AttributeUpdates=updates, returns="ALL_NEW") == {"pk": pk, "a": 2, "b": 1}

    def test_guarded_by_expected(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        with refused("ConditionalCheckFailedException"):
            simple.update({"pk": pk}, AttributeUpdates={"a": self.action("PUT", 2)}, Expected={"a": {"Value": to_value(9)}})
        assert simple.get({"pk": pk})["a"] == 1

    def test_deleting_from_a_missing_item_creates_none(self, simple, pk):
        simple.update({"pk": pk}, AttributeUpdates={"a": self.action("DELETE")})
        assert simple.get({"pk": pk}) in (None, {"pk": pk})

    @pytest.mark.parametrize("update, text", [
        ({"a": {"Action": "PUT"}}, "Only DELETE action is allowed when no attribute value is specified"),
        ({"a": {"Action": "ADD", "Value": {"S": "x"}}}, "ADD action is not supported for the type"),
        ({"a": {"Action": "DELETE", "Value": {"N": "1"}}}, "DELETE action with value is not supported for the type N"),
        ({"pk": {"Value": {"S": "other"}}}, "Cannot update attribute pk. This attribute is part of the key"),
        ({"a": {"Action": "MULTIPLY", "Value": {"N": "1"}}}, "enum value set"),
    ])
    def test_refused(self, simple, pk, update, text):
        with invalid(text):
            simple.update({"pk": pk}, AttributeUpdates=update)

    def test_with_expressions(self, simple, pk):
        with invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"):
            simple.update({"pk": pk}, "SET a = :x", values={":x": 1}, AttributeUpdates={"a": {"Value": {"N": "1"}}})


@pytest.fixture(scope="module")
def letters(make_table):
    table = make_table("pk:S sk:S", also="n:N", indexes=[index("byN", "pk n")])
    table.fill({"pk": "p", "sk": name, "n": n, "tag": f"tag-{n}"} for n, name in enumerate(["a", "b", "ba", "c"]))
    return table


class TestKeyConditions:
    @pytest.mark.parametrize("condition, expected", [
        (None, ["a", "b", "ba", "c"]), (compare("EQ", "b"), ["b"]), (compare("LT", "b"), ["a"]), (compare("LE", "b"), ["a", "b"]),
        (compare("GT", "b"), ["ba", "c"]), (compare("GE", "b"), ["b", "ba", "c"]), (compare("BETWEEN", "b", "c"), ["b", "ba", "c"]),
        (compare("BEGINS_WITH", "b"), ["b", "ba"]),
    ])
    def test_conditions(self, letters, condition, expected):
        conditions = {"pk": compare("EQ", "p")} | ({"sk": condition} if condition else {})
        assert column(letters.query(KeyConditions=conditions), "sk") == expected
        assert column(letters.query(KeyConditions=conditions, ScanIndexForward=False), "sk") == expected[::-1]

    @pytest.mark.parametrize("conditions, text", [
        ({"sk": compare("EQ", "a")}, "Query condition missed key schema element: pk"),
        ({"pk": compare("GT", "p")}, "Query key condition not supported"),
        ({"pk": compare("EQ", "p"), "sk": compare("CONTAINS", "a")}, "Attempted conditional constraint is not an indexable operation"),
        ({"pk": compare("EQ", "p"), "sk": compare("NE", "a")}, "Attempted conditional constraint is not an indexable operation"),
        ({"pk": compare("EQ", "p"), "sk": compare("BETWEEN", "b", "a")}, "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"),
        ({"pk": compare("EQ", 1)}, "Condition parameter type does not match schema type"),
        ({"pk": compare("EQ", "p"), "tag": compare("EQ", "a")}, "Query condition missed key schema element: sk"),
    ])
    def test_refused(self, letters, conditions, text):
        with invalid(text):
            letters.query(KeyConditions=conditions)

    def test_the_table_is_checked_before_the_operator(self, client):
        with refused("ResourceNotFoundException"):
            client.query(TableName="no-such-table", KeyConditions={"pk": compare("NOT_NULL")})

    def test_with_expressions(self, letters):
        with invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {KeyConditions} Expression parameters: {KeyConditionExpression}"):
            letters.query("pk = :p", values={":p": "p"}, KeyConditions={"pk": compare("EQ", "p")})


class TestFilters:
    KEY = {"pk": compare("EQ", "p")}

    def test_query_filter(self, letters):
        response = letters.query(KeyConditions=self.KEY, QueryFilter={"n": compare("GE", 2)})
        assert column(response, "n") == [2, 3]
        assert response["ScannedCount"] == 4

    def test_all_or_any(self, letters):
        conditions = {"n": compare("EQ", 0), "tag": compare("CONTAINS", "3")}
        assert letters.query(KeyConditions=self.KEY, QueryFilter=conditions)["Count"] == 0
        response = letters.query(KeyConditions=self.KEY, QueryFilter=conditions, ConditionalOperator="OR")
        assert column(response, "n") == [0, 3]

    def test_scan_filter(self, letters):
        assert sorted(column(letters.scan(ScanFilter={"sk": compare("BEGINS_WITH", "b")}), "sk")) == ["b", "ba"]
        response = letters.scan(ScanFilter={"n": compare("IN", 0, 3), "tag": compare("NE", "tag-0")})
        assert column(response, "sk") == ["c"]

    def test_keys_are_not_filtered_in_a_query(self, letters):
        with invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"):
            letters.query(KeyConditions=self.KEY, QueryFilter={"sk": compare("EQ", "a")})

    def test_with_expressions(self, letters):
        with invalid("Non-expression parameters: {ScanFilter} Expression parameters: {FilterExpression}"):
            letters.scan(ScanFilter={"n": compare("EQ", 1)}, FilterExpression="n = :n", values={":n": 1})


class TestAttributesToGet:
    def test_everywhere(self, client, simple, pk):
        simple.put({"pk": pk, "a": 1, "b": 2, "c": {"d": 3}})
        assert simple.get({"pk": pk}, AttributesToGet=["a", "c", "absent"]) == {"a": 1, "c": {"d": 3}}
        response = client.batch_get_item(RequestItems={simple.name: {"Keys": [attributes({"pk": pk})], "AttributesToGet": ["b"], "ConsistentRead": True}})
        assert response["Responses"][simple.name] == [attributes({"b": 2})]
        assert simple.query(KeyConditions={"pk": compare("EQ", pk)}, AttributesToGet=["pk"])["Items"] == [{"pk": pk}]

    def test_names_are_whole_names(self, simple, pk):
        simple.put({"pk": pk, "c": {"d": 3}, "c.d": 4})
        assert simple.get({"pk": pk}, AttributesToGet=["c.d"]) == {"c.d": 4}

    def test_refused(self, simple, pk):
        with invalid("One or more parameter values were invalid: Duplicate value in attribute name: a"):
            simple.get({"pk": pk}, AttributesToGet=["a", "a"])
        with invalid("Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"):
            simple.get({"pk": pk}, AttributesToGet=["a"], ProjectionExpression="a")
        with invalid("Empty attribute name"):
            simple.get({"pk": pk}, AttributesToGet=["a", ""])
        with invalid("Attribute name is too large, must be less than 65536 bytes"):
            simple.update({"pk": pk}, AttributeUpdates={"a" * 65_536: {"Value": {"S": "x"}}})
        with invalid():
            simple.get({"pk": pk}, AttributesToGet=[])
