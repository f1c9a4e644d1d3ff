"""UpdateItem: SET, REMOVE, ADD and DELETE, the returned attributes, and which expressions are refused."""

import pytest

from dynamo import invalid, refused


def start(table, pk, **item):
    table.put({"pk": pk} | item)
    return {"pk": pk}


def after(table, key, update, **more):
    """The item's other attributes after an update."""
    table.update(key, update, **more)
    item = table.get(key)
    return {name: value for name, value in item.items() if name not in key}


class TestSet:
    def test_an_update_creates_the_item(self, simple, pk):
        assert after(simple, {"pk": pk}, "SET a = :a", values={":a": 1}) == {"a": 1}

    def test_an_update_without_expression_creates_the_bare_item(self, simple, pk):
        simple.update({"pk": pk})
        assert simple.get({"pk": pk}) == {"pk": pk}

    def test_other_attributes_stay(self, simple, pk):
        key = start(simple, pk, a=1, b=2)
        assert after(simple, key, "SET a = :x", values={":x": 9}) == {"a": 9, "b": 2}

    def test_sums_and_differences(self, simple, pk):
        key = start(simple, pk, a=10, b=3)
        update = "SET sum1 = a + :x, diff = a - b, rest = :x - a"
        assert after(simple, key, update, values={":x": 5}) == {"a": 10, "b": 3, "sum1": 15, "diff": 7, "rest": -5}

    def test_values_are_those_before_the_update(self, simple, pk):
        key = start(simple, pk, a=1, b=2)
        assert after(simple, key, "SET a = b, b = a") == {"a": 2, "b": 1}

    def test_if_not_exists_keeps_an_existing_value(self, simple, pk):
        key = start(simple, pk, a=1)
        update = "SET a = if_not_exists(a, :zero) + :one, b = if_not_exists(b, :zero) + :one"
        assert after(simple, key, update, values={":zero": 0, ":one": 1}) == {"a": 2, "b": 1}

    def test_if_not_exists_may_look_at_another_attribute(self, simple, pk):
        key = start(simple, pk, a=1)
        assert after(simple, key, "SET b = if_not_exists(a, :x)", values={":x": 5}) == {"a": 1, "b": 1}

    def test_list_append_at_either_end(self, simple, pk):
        key = start(simple, pk, a=[2])
        assert after(simple, key, "SET a = list_append(a, :x)", values={":x": [3]}) == {"a": [2, 3]}
        assert after(simple, key, "SET a = list_append(:x, a)", values={":x": [1]}) == {"a": [1, 2, 3]}

    def test_list_append_to_a_list_that_may_be_missing(self, simple, pk):
        update = "SET a = list_append(if_not_exists(a, :none), :x)"
        assert after(simple, {"pk": pk}, update, values={":none": [], ":x": ["first"]}) == {"a": ["first"]}

    def test_a_list_element(self, simple, pk):
        key = start(simple, pk, a=[1, 2, 3])
        assert after(simple, key, "SET a[1] = :x", values={":x": "two"}) == {"a": [1, "two", 3]}

    def test_an_element_beyond_the_end_is_appended(self, simple, pk):
        key = start(simple, pk, a=[1])
        assert after(simple, key, "SET a[9] = :x, a[5] = :y", values={":x": "later", ":y": "sooner"}) == {"a": [1, "sooner", "later"]}

    def test_a_nested_path(self, simple, pk):
        key = start(simple, pk, a={"b": {"c": 1}, "list": [{"x": 1}]})
        update = "SET a.b.c = :n, a.b.d = :n, a.#l[0].y = :n"
        changed = after(simple, key, update, values={":n": 2}, names={"#l": "list"})
        assert changed == {"a": {"b": {"c": 2, "d": 2}, "list": [{"x": 1, "y": 2}]}}

    def test_a_whole_map_is_replaced(self, simple, pk):
        key = start(simple, pk, a={"b": 1})
        assert after(simple, key, "SET a = :m", values={":m": {"c": 2}}) == {"a": {"c": 2}}

    @pytest.mark.parametrize("update", ["SET absent.b = :x", "SET a.b = :x", "SET a[0] = :x", "SET m[0] = :x", "SET m.b.c = :x"])
    def test_a_path_without_parent(self, simple, pk, update):
        key = start(simple, pk, a=1, m={})
        with invalid("The document path provided in the update expression is invalid for update"):
            simple.update(key, update, values={":x": 1})

    @pytest.mark.parametrize("update", ["SET a = absent", "SET a = absent + :x", "SET a = list_append(absent, :l)"])
    def test_a_missing_operand(self, simple, pk, update):
        key = start(simple, pk, a=1)
        values = {":l": []} if ":l" in update else {":x": 1} if ":x" in update else None
        with invalid("The provided expression refers to an attribute that does not exist in the item"):
            simple.update(key, update, **({"values": values} if values else {}))

    @pytest.mark.parametrize("update", ["SET b = a + :x", "SET b = :x - a", "SET b = list_append(n, :l)"])
    def test_an_operand_of_the_wrong_type(self, simple, pk, update):
        key = start(simple, pk, a="text", n=1)
        with invalid("An operand in the update expression has an incorrect data type"):
            simple.update(key, update, values={":l": []} if ":l" in update else {":x": 1})

    def test_a_literal_operand_of_the_wrong_type(self, simple, pk):
        with invalid("Incorrect operand type for operator or function; operator or function: +, operand type: S"):
            simple.update({"pk": pk}, "SET a = a + :s", values={":s": "text"})


class TestRemove:
    def test_attributes(self, simple, pk):
        key = start(simple, pk, a=1, b=2, c={"d": 3, "e": 4})
        assert after(simple, key, "REMOVE a, c.d, absent") == {"b": 2, "c": {"e": 4}}

    def test_list_elements_shift_down(self, simple, pk):
        key = start(simple, pk, a=[0, 1, 2, 3, 4])
        assert after(simple, key, "REMOVE a[1], a[3], a[99]") == {"a": [0, 2, 4]}

    @pytest.mark.parametrize("update, values", [("REMOVE a", {}), ("REMOVE a.b, c[0]", {}), ("DELETE a :s", {":s": {"x"}})])
    def test_removing_from_a_missing_item_does_not_create_it(self, simple, pk, update, values):
        more = {"values": values} if values else {}
        assert simple.update({"pk": pk}, update, returns="ALL_NEW", **more) is None
        assert simple.get({"pk": pk}) is None

    def test_removing_below_a_missing_parent(self, simple, pk):
        with invalid("The document path provided in the update expression is invalid for update"):
            simple.update(start(simple, pk, a=1), "REMOVE absent.b")


class TestAdd:
    def test_numbers_start_at_zero(self, simple, pk):
        key = {"pk": pk}
        assert after(simple, key, "ADD a :x", values={":x": 5}) == {"a": 5}
        assert after(simple, key, "ADD a :x", values={":x": -7}) == {"a": -2}

    def test_sets_unite(self, simple, pk):
        key = start(simple, pk, a={"x"}, n={1})
        changed = after(simple, key, "ADD a :s, n :n, fresh :s", values={":s": {"x", "y"}, ":n": {1, 2}})
        assert changed == {"a": {"x", "y"}, "n": {1, 2}, "fresh": {"x", "y"}}

    def test_a_nested_number(self, simple, pk):
        key = start(simple, pk, a={"b": 1})
        assert after(simple, key, "ADD a.b :x, a.c :x", values={":x": 2}) == {"a": {"b": 3, "c": 2}}

    @pytest.mark.parametrize("value, more", [("text", 1), ({"x"}, {1}), (1, {1}), ([1], 1)])
    def test_types_that_do_not_add(self, simple, pk, value, more):
        key = start(simple, pk, a=value)
        with invalid("An operand in the update expression has an incorrect data type"):
            simple.update(key, "ADD a :x", values={":x": more})

    @pytest.mark.parametrize("value, name", [("s", "STRING"), ([1], "LIST"), ({"m": 1}, "MAP"), (True, "BOOLEAN")])
    def test_a_literal_that_does_not_add(self, simple, pk, value, name):
        with invalid(f"Incorrect operand type for operator or function; operator: ADD, operand type: {name}"):
            simple.update({"pk": pk}, "ADD a :x", values={":x": value})


class TestDelete:
    def test_elements_of_a_set(self, simple, pk):
        key = start(simple, pk, a={"x", "y", "z"})
        assert after(simple, key, "DELETE a :s", values={":s": {"x", "unknown"}}) == {"a": {"y", "z"}}

    def test_the_last_element_takes_the_attribute_with_it(self, simple, pk):
        key = start(simple, pk, a={1, 2}, b=1)
        assert after(simple, key, "DELETE a :s", values={":s": {1, 2}}) == {"b": 1}

    def test_nothing_to_delete_from(self, simple, pk):
        assert after(simple, start(simple, pk, b=1), "DELETE a :s", values={":s": {"x"}}) == {"b": 1}

    def test_a_set_of_another_type(self, simple, pk):
        with invalid("An operand in the update expression has an incorrect data type"):
            simple.update(start(simple, pk, a={"x"}), "DELETE a :s", values={":s": {1}})


class TestTogether:
    def test_all_four_clauses(self, simple, pk):
        key = start(simple, pk, a=1, b=2, c=3, d={"x", "y"})
        changed = after(simple, key, "SET a = :one ADD b :one REMOVE c DELETE d :x", values={":one": 1, ":x": {"x"}})
        assert changed == {"a": 1, "b": 3, "d": {"y"}}

    def test_clauses_in_any_order_and_case(self, simple, pk):
        key = start(simple, pk, a=1, c=3)
        assert after(simple, key, "remove c set a = :x", values={":x": 2}) == {"a": 2}

    def test_the_update_is_all_or_nothing(self, simple, pk):
        key = start(simple, pk, a=1, b="text")
        with invalid():
            simple.update(key, "SET a = :x, c = b + :x", values={":x": 5})
        assert simple.get(key) == {"pk": pk, "a": 1, "b": "text"}

    def test_a_condition_guards_it(self, simple, pk):
        key = start(simple, pk, a=1)
        with refused("ConditionalCheckFailedException", "The conditional request failed"):
            simple.update(key, "SET a = :x", ConditionExpression="a = :old", values={":x": 2, ":old": 7})
        assert simple.get(key)["a"] == 1


class TestReturned:
    UPDATE = "SET a = :new, n.x = :new REMOVE gone"

    @pytest.mark.parametrize("returns, expected", [
        ("NONE", None),
        ("ALL_OLD", {"a": 1, "b": 2, "n": {"x": 1, "y": 1}, "gone": 1}),
        ("UPDATED_OLD", {"a": 1, "n": {"x": 1}, "gone": 1}),
        ("ALL_NEW", {"a": 9, "b": 2, "n": {"x": 9, "y": 1}}),
        ("UPDATED_NEW", {"a": 9, "n": {"x": 9}}),
    ])
    def test_the_requested_attributes(self, simple, pk, returns, expected):
        key = start(simple, pk, a=1, b=2, n={"x": 1, "y": 1}, gone=1)
        if expected and returns.startswith("ALL"):
            expected = key | expected
        assert simple.update(key, self.UPDATE, values={":new": 9}, returns=returns) == expected

    def test_a_new_item_has_no_old_attributes(self, simple, pk):
        assert simple.update({"pk": pk}, "SET a = :x", values={":x": 1}, returns="ALL_OLD") is None

    def test_removing_returns_nothing_new(self, simple, pk):
        assert not simple.update(start(simple, pk, a=1), "REMOVE a", returns="UPDATED_NEW")


class TestRefused:
    @pytest.mark.parametrize("update, text", [
        ("", "Invalid UpdateExpression: The expression can not be empty;"),
        ("INVALID SYNTAX HERE", 'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"'),
        ("SET a", "Invalid UpdateExpression: Syntax error"),
        ("SET a = ", "Invalid UpdateExpression: Syntax error"),
        ("SET a = :x SET b = :x", 'The "SET" section can only be used once in an update expression;'),
        ("SET a = :x, a = :x", "Two document paths overlap with each other"),
        ("SET a = :x, a.b = :x", "Two document paths overlap with each other"),
        ("SET a = :x REMOVE a", "Two document paths overlap with each other"),
        ("SET a[0] = :x, a.b = :x", "Two document paths conflict with each other"),
        ("SET a = :absent", "An expression attribute value used in expression is not defined; attribute value: :absent"),
        ("SET #absent = :x", "An expression attribute name used in the document path is not defined; attribute name: #absent"),
        ("SET status = :x", "Attribute name is a reserved keyword; reserved keyword: status"),
        ("SET a = unknown(:x)", "Invalid function name; function: unknown"),
        ("SET a = size(b)", "function: size"),
        ("SET a = if_not_exists(b)", "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1"),
        ("SET a = if_not_exists(:x, :x)", "Operator or function requires a document path; operator or function: if_not_exists"),
        ("ADD a :x :x", "Syntax error"),
        ("ADD a b", "Syntax error"),
        ("REMOVE :x", "Syntax error"),
    ])
    def test_expressions(self, simple, pk, update, text):
        values = {"values": {":x": 1}} if ":x" in update or ":absent" in update else {}
        with invalid(text):
            simple.update({"pk": pk}, update, **values)
        assert simple.get({"pk": pk}) is None

    def test_key_attributes_cannot_be_updated(self, ordered, pk):
        for name in ("pk", "sk"):
            with invalid(f"One or more parameter values were invalid: Cannot update attribute {name}. This attribute is part of the key"):
                ordered.update({"pk": pk, "sk": "a"}, f"SET {name} = :x", values={":x": "other"})
            with invalid(f"Cannot update attribute {name}. This attribute is part of the key"):
                ordered.update({"pk": pk, "sk": "a"}, f"REMOVE {name}")

    def test_unused_placeholders(self, simple, pk):
        with invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}"):
            simple.update({"pk": pk}, "SET a = :x", values={":x": 1}, names={"#unused": "a"})
        with invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}"):
            simple.update({"pk": pk}, "SET a = :x", values={":x": 1, ":unused": 1})

    def test_placeholders_are_spelled_right(self, simple, pk):
        with invalid('ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'):
            simple.update({"pk": pk}, "SET a = :x", values={":x": 1}, names={"a": "a"})
        with invalid('ExpressionAttributeValues contains invalid key: Syntax error; key: "x"'):
            simple.update({"pk": pk}, "SET a = :x", values={"x": 1})

    def test_an_item_that_would_grow_too_large(self, simple, pk):
        key = start(simple, pk, a="x" * 300_000)
        with invalid("Item size to update has exceeded the maximum allowed size"):
            simple.update(key, "SET b = :x", values={":x": "x" * 200_000})
        assert set(simple.get(key)) == {"pk", "a"}

    def test_a_number_that_would_grow_too_large(self, client, simple, pk):
        start(simple, pk)
        key = {"pk": {"S": pk}}
        big = {":x": {"N": "9E+125"}}
        client.update_item(TableName=simple.name, Key=key, UpdateExpression="SET a = :x", ExpressionAttributeValues=big)
        with invalid("Number overflow. Attempting to store a number with magnitude larger than supported range"):
            client.update_item(TableName=simple.name, Key=key, UpdateExpression="SET a = a + :x", ExpressionAttributeValues=big)
