"""Query: one partition, in order of its sort key, bounded, filtered, and page by page."""

import pytest
from boto3.dynamodb.types import Binary

from dynamo import attributes, column, invalid

NAMES = ["a", "b", "ba", "bb", "c", "d"]


@pytest.fixture(scope="module")
def letters(make_table):
    table = make_table("pk:S sk:S")
    table.fill({"pk": "p", "sk": name, "n": n, "odd": n % 2 == 1} for n, name in enumerate(NAMES))
    table.fill({"pk": other, "sk": "a"} for other in ("", "o", "p0", "q")[1:])
    return table


class TestSortKeys:
    @pytest.mark.parametrize("condition, values, expected", [
        ("sk = :a", {":a": "b"}, ["b"]),
        ("sk < :a", {":a": "ba"}, ["a", "b"]),
        ("sk <= :a", {":a": "ba"}, ["a", "b", "ba"]),
        ("sk > :a", {":a": "ba"}, ["bb", "c", "d"]),
        ("sk >= :a", {":a": "ba"}, ["ba", "bb", "c", "d"]),
        ("sk BETWEEN :a AND :b", {":a": "b", ":b": "c"}, ["b", "ba", "bb", "c"]),
        ("begins_with(sk, :a)", {":a": "b"}, ["b", "ba", "bb"]),
        ("begins_with(sk, :a)", {":a": "x"}, []),
    ])
    def test_conditions(self, letters, condition, values, expected):
        for whole in (f"pk = :p AND {condition}", f"{condition} AND pk = :p", f"(pk = :p) AND ({condition})"):
            response = letters.query(whole, values={":p": "p"} | values)
            assert column(response, "sk") == expected
            assert response["Count"] == response["ScannedCount"] == len(expected)

    def test_the_partition_alone_and_backwards(self, letters):
        assert column(letters.query("pk = :p", values={":p": "p"}), "sk") == NAMES
        assert column(letters.query("pk = :p", values={":p": "p"}, ScanIndexForward=False), "sk") == NAMES[::-1]

    def test_placeholders_for_the_keys(self, letters):
        response = letters.query("#p = :p AND #s > :s", values={":p": "p", ":s": "c"}, names={"#p": "pk", "#s": "sk"})
        assert column(response, "sk") == ["d"]

    def test_an_unknown_partition_is_empty(self, letters):
        response = letters.query("pk = :p", values={":p": "nobody"})
        assert (response["Items"], response["Count"], response["ScannedCount"]) == ([], 0, 0)
        assert "LastEvaluatedKey" not in response

    def test_a_partition_without_sort_key(self, simple, pk):
        simple.put({"pk": pk, "a": 1})
        assert simple.query("pk = :p", values={":p": pk})["Items"] == [{"pk": pk, "a": 1}]

    def test_strings_sort_by_their_utf8_bytes(self, ordered, pk):
        names = ["A", "Z", "a", "z", "é", "中", "\uffff", "😀"]
        ordered.fill({"pk": pk, "sk": name} for name in reversed(names))
        assert column(ordered.query("pk = :p", values={":p": pk}), "sk") == names

    def test_numbers_sort_as_numbers(self, make_table):
        table = make_table("pk:S sk:N")
        table.fill({"pk": "p", "sk": n} for n in (10, 9, -1, 0, 100, -20))
        assert column(table.query("pk = :p", values={":p": "p"}), "sk") == [-20, -1, 0, 9, 10, 100]
        response = table.query("pk = :p AND sk BETWEEN :a AND :b", values={":p": "p", ":a": -1, ":b": 10})
        assert column(response, "sk") == [-1, 0, 9, 10]

    def test_binaries_sort_by_unsigned_bytes(self, make_table):
        table = make_table("pk:S sk:B")
        keys = [b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
        table.fill({"pk": "p", "sk": Binary(key)} for key in reversed(keys))
        assert column(table.query("pk = :p", values={":p": "p"}), "sk") == [Binary(key) for key in keys]
        response = table.query("pk = :p AND begins_with(sk, :s)", values={":p": "p", ":s": Binary(b"\xff")})
        assert column(response, "sk") == [Binary(b"\xff"), Binary(b"\xff\x00")]


class TestPages:
    def test_a_limit_and_the_last_evaluated_key(self, letters):
        response = letters.query("pk = :p", values={":p": "p"}, Limit=2)
        assert column(response, "sk") == ["a", "b"]
        assert response["LastEvaluatedKey"] == attributes({"pk": "p", "sk": "b"})

    @pytest.mark.parametrize("forward", [True, False])
    @pytest.mark.parametrize("limit", [1, 2, 3, 4, 7])
    def test_all_pages_together_are_complete(self, letters, forward, limit):
        pages = letters.pages(letters.query, "pk = :p", values={":p": "p"}, Limit=limit, ScanIndexForward=forward)
        found = [name for page in pages for name in column(page, "sk")]
        assert found == (NAMES if forward else NAMES[::-1])

    def test_a_page_that_ends_with_the_last_item_still_has_a_key(self, letters):
        first = letters.query("pk = :p", values={":p": "p"}, Limit=len(NAMES))
        assert first["LastEvaluatedKey"] == attributes({"pk": "p", "sk": "d"})
        second = letters.query("pk = :p", values={":p": "p"}, ExclusiveStartKey=first["LastEvaluatedKey"])
        assert second["Count"] == 0 and "LastEvaluatedKey" not in second

    def test_the_start_key_need_not_exist(self, letters):
        start = attributes({"pk": "p", "sk": "bab"})
        response = letters.query("pk = :p", values={":p": "p"}, ExclusiveStartKey=start)
        assert column(response, "sk") == ["bb", "c", "d"]

    def test_a_page_holds_at_most_a_megabyte(self, ordered, pk):
        ordered.fill({"pk": pk, "sk": f"{n:03}", "d": "x" * 100_000} for n in range(25))
        pages = list(ordered.pages(ordered.query, "pk = :p", values={":p": pk}))
        assert [name for page in pages for name in column(page, "sk")] == [f"{n:03}" for n in range(25)]
        assert [page["Count"] for page in pages] == [11, 11, 3]

    @pytest.mark.parametrize("start, text", [
        ({"pk": "p"}, "The provided starting key is invalid"),
        ({"pk": "p", "sk": 1}, "key element does not match the schema"),
        ({"pk": "p", "sk": "a", "x": "y"}, "The provided starting key is invalid"),
        ({"pk": "q", "sk": "a"}, "The provided starting key is outside query boundaries based on provided conditions"),
    ])
    def test_bad_start_keys(self, letters, start, text):
        with invalid(text):
            letters.query("pk = :p", values={":p": "p"}, ExclusiveStartKey=attributes(start))

    @pytest.mark.parametrize("start, text", [
        ({"pk": "p", "sk": "a"}, "The provided starting key does not match the range key predicate"),
        ({"pk": "q", "sk": "c"}, "The query can return at most one row and cannot be restarted"),
    ])
    def test_start_keys_outside_the_sort_condition(self, letters, start, text):
        with invalid(text):
            letters.query("pk = :p AND sk > :s", values={":p": "p", ":s": "b"}, ExclusiveStartKey=attributes(start))

    def test_a_start_key_is_checked_before_the_condition(self, letters):
        with invalid("The provided starting key is invalid"):
            letters.query("sk = :s", values={":s": "b"}, ExclusiveStartKey=attributes({"pk": "p"}))

    def test_nothing_follows_a_single_item(self, simple, pk):
        simple.put({"pk": pk})
        assert "LastEvaluatedKey" not in simple.query("pk = :p", values={":p": pk}, Limit=1)
        with invalid(f"The provided exclusive start key is invalid: ExclusiveStartKey: {{pk=AttributeValue: {{S:{pk}}}}}"):
            simple.query("pk = :p", values={":p": pk}, ExclusiveStartKey=attributes({"pk": pk}))

    @pytest.mark.parametrize("limit", [0, -1])
    def test_bad_limits(self, letters, limit):
        with invalid("at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"):
            letters.query("pk = :p", values={":p": "p"}, Limit=limit)


class TestFilters:
    def test_a_filter_comes_after_the_read(self, letters):
        response = letters.query("pk = :p", FilterExpression="odd = :t", values={":p": "p", ":t": True})
        assert column(response, "n") == [1, 3, 5]
        assert (response["Count"], response["ScannedCount"]) == (3, 6)

    def test_a_limit_counts_what_is_read(self, letters):
        response = letters.query("pk = :p", FilterExpression="n = :n", values={":p": "p", ":n": 5}, Limit=3)
        assert (response["Count"], response["ScannedCount"]) == (0, 3)
        assert response["LastEvaluatedKey"] == attributes({"pk": "p", "sk": "ba"})

    def test_key_attributes_are_not_filtered(self, letters):
        with invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"):
            letters.query("pk = :p", FilterExpression="sk = :s", values={":p": "p", ":s": "a"})

    def test_a_count_has_no_items(self, letters):
        response = letters.query("pk = :p", FilterExpression="odd = :t", values={":p": "p", ":t": True}, Select="COUNT")
        assert "Items" not in response
        assert (response["Count"], response["ScannedCount"]) == (3, 6)

    def test_a_projection(self, letters):
        response = letters.query("pk = :p AND sk = :s", values={":p": "p", ":s": "b"}, ProjectionExpression="n, sk")
        assert response["Items"] == [{"n": 1, "sk": "b"}]


class TestRefused:
    @pytest.mark.parametrize("condition, values, text", [
        ("sk = :s", {":s": "a"}, "Query condition missed key schema element: pk"),
        ("n = :s", {":s": 1}, "Query condition missed key schema element: pk"),
        ("pk = :p AND n = :n", {":p": "p", ":n": 1}, "Query condition missed key schema element: sk"),
        ("pk > :p", {":p": "p"}, "Query key condition not supported"),
        ("begins_with(pk, :p)", {":p": "p"}, "Query key condition not supported"),
        ("pk = :p AND sk <> :s", {":p": "p", ":s": "a"}, "KeyConditionExpression"),
        ("pk = :p OR sk = :s", {":p": "p", ":s": "a"}, "Invalid operator used in KeyConditionExpression: OR"),
        ("pk = :p AND NOT sk = :s", {":p": "p", ":s": "a"}, "KeyConditionExpression"),
        ("pk = :p AND sk IN (:s)", {":p": "p", ":s": "a"}, "KeyConditionExpression"),
        ("pk = :p AND contains(sk, :s)", {":p": "p", ":s": "a"}, "KeyConditionExpression"),
        ("pk = :p AND attribute_exists(sk)", {":p": "p"}, "KeyConditionExpression"),
        ("pk = :p AND size(sk) = :n", {":p": "p", ":n": 1}, "KeyConditionExpression"),
        ("pk = :p AND sk = :s AND sk = :s", {":p": "p", ":s": "a"}, ""),
        ("pk = :p AND sk > :s AND sk < :t", {":p": "p", ":s": "a", ":t": "b"}, ""),
        ("pk = :p", {":p": 1}, "Condition parameter type does not match schema type"),
        ("pk = :p AND sk > :s", {":p": "p", ":s": 1}, "Condition parameter type does not match schema type"),
        ("pk = :p AND sk BETWEEN :a AND :b", {":p": "p", ":a": "b", ":b": "a"}, "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"),
        ("pk = :p AND begins_with(sk, :n)", {":p": "p", ":n": 1}, "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"),
        ("pk = sk", {":p": "p"}, ""),
        ("pk.x = :p", {":p": "p"}, ""),
        ("pk = :q", {":p": "p"}, "An expression attribute value used in expression is not defined; attribute value: :q"),
        ("pk = :p", {":p": "p", ":q": 1}, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:q}"),
        ("pk = :p AND sk = :s", {":p": "p", ":s": ""}, "The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"),
        ("", {":p": "p"}, "Invalid KeyConditionExpression: The expression can not be empty;"),
        ("pk = :p AND", {":p": "p"}, "Invalid KeyConditionExpression: Syntax error"),
    ])
    def test_conditions(self, letters, condition, values, text):
        with invalid(text):
            letters.query(condition, values=values)

    def test_no_condition(self, letters):
        with invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."):
            letters.query()

    def test_an_unknown_index(self, letters):
        with invalid("The table does not have the specified index: nowhere"):
            letters.query("pk = :p", values={":p": "p"}, IndexName="nowhere")

    @pytest.mark.parametrize("more, text", [
        ({"Select": "EVERYTHING"}, "enum value set"),
        ({"Select": "SPECIFIC_ATTRIBUTES"}, "SPECIFIC_ATTRIBUTES"),
        ({"Select": "ALL_PROJECTED_ATTRIBUTES"}, "ALL_PROJECTED_ATTRIBUTES"),
        ({"Select": "COUNT", "ProjectionExpression": "n"}, "when choosing to get"),
        ({"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "n"}, "when choosing to get ALL_ATTRIBUTES"),
        ({"FilterExpression": "#m = :p"}, "Invalid FilterExpression: An expression attribute name used in the document path is not defined; attribute name: #m"),
    ])
    def test_other_members(self, letters, more, text):
        with invalid(text):
            letters.query("pk = :p", values={":p": "p"}, **more)
