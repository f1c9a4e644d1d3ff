"""PartiQL: statements alone, in batches and in transactions; what they read, write and cost, and which are refused."""

import uuid

import pytest

from dynamo import attributes, column, index, invalid, plain, refused, to_value, with_plain_items

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"


class Statements:
    """Runs statements on one table, which they name as `{t}`."""

    def __init__(self, table):
        self.client, self.table = table.client, table

    def text(self, statement):
        return statement.replace("{t}", f'"{self.table.name}"')

    def sent(self, statement, *parameters, **more):
        request = {"Statement": self.text(statement)} | more
        if parameters:
            request["Parameters"] = [to_value(parameter) for parameter in parameters]
        return request

    def run(self, statement, *parameters, **more):
        return with_plain_items(self.client.execute_statement(**self.sent(statement, *parameters, **more)))

    def items(self, statement, *parameters, **more):
        return self.run(statement, *parameters, **more)["Items"]

    def batch(self, *statements, **more):
        sent = [s if isinstance(s, dict) else self.sent(s) for s in statements]
        return self.client.batch_execute_statement(Statements=sent, **more)

    def together(self, *statements, **more):
        sent = [s if isinstance(s, dict) else self.sent(s) for s in statements]
        return self.client.execute_transaction(TransactStatements=sent, **more)

    def cancelled(self, *statements, **more):
        with pytest.raises(self.client.exceptions.TransactionCanceledException) as failure:
            self.together(*statements, **more)
        response = failure.value.response
        codes = ", ".join(reason["Code"] for reason in response["CancellationReasons"])
        assert response["Error"]["Message"].endswith(f"specific reasons [{codes}]")
        return response["CancellationReasons"]

    def where(self, conditions):
        return self.items(f"SELECT * FROM {{t}} WHERE {conditions}")

    def refuses(self, statement, text, *parameters, **more):
        """Compares the whole message, unlike `invalid`."""
        with pytest.raises(self.client.exceptions.ClientError) as failure:
            self.run(statement, *parameters, **more)
        error = failure.value.response["Error"]
        assert (error["Code"], error["Message"]) == ("ValidationException", text)


@pytest.fixture(scope="module")
def one(make_table):
    """A table with a partition key."""
    return Statements(make_table("pk:S"))


@pytest.fixture(scope="module")
def two(make_table):
    """A table with a sort key."""
    return Statements(make_table("pk:S sk:S"))


@pytest.fixture(scope="module")
def data(make_table):
    """A table with items that no test changes."""
    two = Statements(make_table("pk:S sk:S"))
    two.table.fill({"pk": p, "sk": s, "n": int(s), "m": {"a": [s]}} for p in "abc" for s in "123")
    two.table.put({"pk": "types", "sk": "1", "s": "Kirkland", "ss": {"x", "y"}, "nul": None, "yes": True, "l": [1, "a"], "m": {"x": 1}})
    return two


@pytest.fixture(scope="module")
def indexed(make_table):
    table = make_table(
        "pk:S sk:S",
        also="g:S h:S l:S",
        indexes=[index("all", "g"), index("keys", "h", "KEYS_ONLY"), index("some", "h", ["p"])],
        local=[index("local", "pk l", "KEYS_ONLY")],
    )
    table.fill({"pk": "a", "sk": s, "g": "x", "h": "y", "l": s, "p": s, "q": s} for s in "123")
    table.put({"pk": "a", "sk": "4", "q": "4"})
    return Statements(table)


@pytest.fixture(scope="module")
def costly(make_table):
    table = make_table("pk:S sk:S", also="g:S", indexes=[index("byG", "g")])
    table.fill({"pk": p, "sk": s, "g": "x", "x": "x" * 3_000} for p in "ab" for s in "123")
    return Statements(table)


class TestInsert:
    def test_every_kind_of_literal(self, one, pk):
        assert one.run(
            "INSERT INTO {t} value {'pk': ?, 's': 'it''s', 'n': -1.5E-3, 't': true, 'f': false, 'z': null, "
            "'l': [1, 'a', [2]], 'm': {'a': {'b': 1}}, 'ss': <<'a', 'b'>>, 'ns': <<1, 2.5>>}",
            pk,
        )["Items"] == []
        stored = one.client.get_item(TableName=one.table.name, Key={"pk": {"S": pk}})["Item"]
        assert stored == {
            "pk": {"S": pk}, "s": {"S": "it's"}, "n": {"N": "-0.0015"}, "t": {"BOOL": True}, "f": {"BOOL": False},
            "z": {"NULL": True}, "l": {"L": [{"N": "1"}, {"S": "a"}, {"L": [{"N": "2"}]}]},
            "m": {"M": {"a": {"M": {"b": {"N": "1"}}}}}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2.5"]},
        }

    def test_nothing_is_replaced(self, one, pk):
        one.run("INSERT INTO {t} VALUE {'pk': ?, 'v': 1}", pk)
        with refused("DuplicateItemException", "Duplicate primary key exists in table"):
            one.run("INSERT INTO {t} VALUE {'pk': ?, 'v': 2}", pk)
        assert one.table.get({"pk": pk})["v"] == 1

    def test_binaries_by_parameter(self, one, pk):
        one.run("INSERT INTO {t} VALUE {'pk': ?, 'b': ?}", pk, b"\x00\xff")
        assert one.items("SELECT b FROM {t} WHERE pk = ? AND b = ?", pk, b"\x00\xff") == [{"b": b"\x00\xff"}]

    @pytest.mark.parametrize(
        "value, text",
        [
            ("<<1, 'a'>>", "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"),
            ("<<'a', 'a'>>", "One or more parameter values were invalid: Input collection [a, a] contains duplicates."),
            ("<<2, 2.0>>", "One or more parameter values were invalid: Input collection [2, 2.0] contains duplicates! under root"),
            ("1e126", "Number overflow. Attempting to store a number with magnitude larger than supported range under root"),
            ("{'x': [1, 1e-131]}", "Number underflow. Attempting to store a number with magnitude smaller than supported range under root.x[1]"),
            ("1" * 39, "Attempting to store more than 38 significant digits in a Number under root"),
            ("{'a':" * 32 + "1" + "}" * 32, "Nesting Levels have exceeded supported limits under root" + ".a" * 32),
        ],
    )
    def test_invalid_values(self, one, value, text):
        one.refuses(f"INSERT INTO {{t}} VALUE {{'pk': 'x', 'v': {value}}}", text)

    def test_parameters_replace_whole_values(self, one):
        statement = "INSERT INTO {t} VALUE {'pk': 'x', 'm': {'k': ?}}"
        place = one.text(statement).index("?") + 1
        one.refuses(statement, f"Unsupported data type: Parameter under key root.k at 1:{place}:1", 1)
        for count in (0, 2):
            one.refuses("INSERT INTO {t} VALUE {'pk': ?}", "Number of parameters in request and statement don't match.", *["x"] * count)

    def test_a_token_too_many_changes_nothing(self, one, pk):
        one.refuses(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}'}} foo", NOT_WELL_FORMED + "Unexpected token after expression")
        one.refuses(f"INSERT INTO {{t}} x VALUE {{'pk': '{pk}'}}", NOT_WELL_FORMED + "Unexpected token after expression")
        one.refuses(f"INSERT INTO {{t}}.\"i\" VALUE {{'pk': '{pk}'}}", "FROM clause may only contain a single table name")
        assert one.table.get({"pk": pk}) is None

    def test_items_have_the_size_that_put_item_allows(self, one, pk):
        with invalid("Item size has exceeded the maximum allowed size"):
            one.run("INSERT INTO {t} VALUE {'pk': ?, 'x': ?}", pk, "x" * 409_600)


class TestSelect:
    @pytest.mark.parametrize(
        "conditions, found",
        [
            ("pk = 'a'", "a1 a2 a3"),
            ("'2' = sk AND (pk = 'a')", "a2"),
            ("pk = 'a' AND sk BETWEEN '2' AND '3'", "a2 a3"),
            ("pk = 'a' AND begins_with(sk, '3')", "a3"),
            ("pk = 'a' AND '2' > sk", "a1"),
            ("pk IN ['a', 'c'] AND n >= 2", "a2 a3 c2 c3"),
            ("pk IN ('a', 'c') AND sk = '1'", "a1 c1"),
            ("pk = 'a' OR pk = 'b' AND sk = '1'", "a1 a2 a3 b1"),
            ("pk = 'a' AND (sk = '1' OR sk = '3')", "a1 a3"),
            ("pk = 'a' AND (sk < '2' OR sk > '2' OR sk = '2')", "a1 a2 a3"),
            ("pk = 'a' AND sk IN ['1', '9']", "a1"),
            ("pk = 'a' AND NOT sk = '1'", "a2 a3"),
            ("pk = 'a' AND sk <> '1' AND sk != '2'", "a3"),
            ("pk = 'a' AND sk = '1' AND sk > '0'", "a1"),
            ("pk = 'a' AND attribute_exists(pk)", "a1 a2 a3"),
            ("n > 2", "a3 b3 c3"),
            ("pk = 'a' OR sk = '1'", "a1 a2 a3 b1 c1 types1"),
            ("pk = 'a' AND pk = 'b'", ""),
            ("n NOT BETWEEN 2 AND 9", "a1 b1 c1"),
            ("n NOT IN [1, 2] AND pk = 'b'", "b3"),
            ("m.a[0] = '2'", "a2 b2 c2"),
        ],
    )
    def test_conditions(self, data, conditions, found):
        items = data.where(f"({conditions}) AND n IS NOT MISSING" if "types" not in found else conditions)
        assert sorted(item["pk"] + item["sk"] for item in items) == found.split()

    @pytest.mark.parametrize(
        "condition, holds",
        [
            ("contains(s, 'Kirk')", True),
            ("contains(ss, 'x')", True),
            ("CONTAINS(l, 'a')", True),
            ("attribute_type(m, 'M')", True),
            ("size(l) = 2", True),
            ("nul IS NULL", True),
            ("s IS NULL", False),
            ("absent IS NULL", False),
            ("absent IS NOT NULL", True),
            ("absent IS MISSING AND ATTRIBUTE_NOT_EXISTS(absent)", True),
            ("m.x IS NOT MISSING", True),
            ("s IS STRING AND m IS STRUCT", True),
            ("l = [1, 'a'] AND m = {'x': 1} AND ss = <<'y', 'x'>>", True),
            ("ss <> <<'x'>>", True),
            ("s < 5", False),
            ("attribute_exists(absent) = false", True),
            ("true = attribute_exists(s)", True),
            ("attribute_exists(s) <> 1", True),
            ("(size(l) = 5 OR s = 'x') = false", True),
            ("attribute_exists(s) = yes", True),
            ("attribute_exists(s) IN [true]", True),
            ("NOT attribute_exists(s) = true", False),
        ],
    )
    def test_predicates(self, data, condition, holds):
        assert len(data.where(f"pk = 'types' AND sk = '1' AND {condition}")) == int(holds)

    def test_columns_have_the_last_name_of_their_path(self, data):
        assert data.items("SELECT pk, m.a, m.a[0], \"n\" FROM {t} WHERE pk = 'a' AND sk = '2'") == [
            {"pk": "a", "a": ["2"], "a[0]": "2", "n": 2}
        ]
        assert data.items("SELECT absent FROM {t} WHERE pk = 'a' AND sk = '2'") == [{}]
        data.refuses("SELECT n, n FROM {t}", "Duplicate identifiers in select clause: n")
        data.refuses("SELECT *, n FROM {t}", "Other attributes should not be present in the projection when '*' is used.")
        data.refuses("SELECT size(n) FROM {t}", "Unexpected path component at 1:8:4")

    @pytest.mark.parametrize(
        "order, rows",
        [
            ("pk = 'a' ORDER BY sk", "a1 a2 a3"),
            ("pk = 'a' ORDER BY sk DESC", "a3 a2 a1"),
            ("pk = 'a' AND sk IN ['3', '1'] ORDER BY sk ASC", "a1 a3"),
            ("pk IN ['a', 'b'] ORDER BY pk DESC, sk ASC", "b1 b2 b3 a1 a2 a3"),
            ("pk IN ['b', 'a'] ORDER BY pk", "a3 a2 a1 b3 b2 b1"),
        ],
    )
    def test_order(self, data, order, rows):
        assert [item["pk"] + item["sk"] for item in data.where(order)] == rows.split()

    def test_orders_not_provided_by_a_key(self, data):
        data.refuses("SELECT * FROM {t} ORDER BY sk", "Must have WHERE clause in the statement when using ORDER BY clause.")
        for clause, text in [
            ("pk = 'a' ORDER BY n", "Attribute n in ORDER BY clause must be part of the primary key"),
            ("pk > 'a' ORDER BY sk", "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."),
            ("pk IN ['a', 'b'] ORDER BY sk", "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."),
        ]:
            data.refuses(f"SELECT * FROM {{t}} WHERE {clause}", text)

    @pytest.mark.parametrize("statement", ["SELECT * FROM {t} WHERE pk = 'a'", "SELECT * FROM {t} WHERE pk IN ['a', 'c', 'b'] ORDER BY pk DESC", "SELECT * FROM {t}"])
    @pytest.mark.parametrize("limit", [1, 2, 4])
    def test_pages(self, data, statement, limit):
        whole = data.items(statement)
        paged, token = [], {}
        while token is not None:
            page = data.run(statement, Limit=limit, **token)
            assert len(page["Items"]) <= limit
            assert ("LastEvaluatedKey" in page) <= ("NextToken" in page)
            paged += page["Items"]
            token = {"NextToken": page["NextToken"]} if "NextToken" in page else None
        assert paged == whole

    def test_a_token_belongs_to_its_statement(self, data):
        statement = "SELECT * FROM {t} WHERE pk = ?"
        token = data.run(statement, "a", Limit=1)["NextToken"]
        data.refuses(statement, "NextToken does not match request", "b", NextToken=token)
        data.refuses(statement, "Invalid NextToken", "a", NextToken="hello")
        data.refuses(statement, "Invalid NextToken", "a", NextToken="AAAA")
        assert len(data.items(statement, "a", NextToken=token, Limit=100)) == 2

    def test_pages_of_single_items(self, one):
        one.table.fill({"pk": f"single-{n}"} for n in range(3))
        statement = "SELECT * FROM {t} WHERE pk IN ['single-2', 'absent', 'single-0']"
        first = one.run(statement, Limit=1)
        second = one.run(statement, Limit=1, NextToken=first["NextToken"])
        assert column(first, "pk") + column(second, "pk") == ["single-2", "single-0"] and "NextToken" not in second
        assert "NextToken" not in one.run("SELECT * FROM {t} WHERE pk = 'single-1'", Limit=1)

    def test_large_results_come_in_pages(self, make_table):
        table = make_table("pk:S sk:N")
        table.fill({"pk": p, "sk": n, "x": "x" * 100_000} for p in "ab" for n in range(8))
        large = Statements(table)
        statement, token, found_keys, pages = "SELECT pk, sk FROM {t} WHERE pk IN ['a', 'b']", {}, [], 0
        while token is not None:
            page = large.run(statement, **token)
            found_keys += [(item["pk"], int(item["sk"])) for item in page["Items"]]
            token = {"NextToken": page["NextToken"]} if "NextToken" in page else None
            pages += 1
        assert found_keys == [(p, n) for p in "ab" for n in range(8)] and pages == 2

    @pytest.mark.parametrize(
        "conditions",
        [
            "pk IN ['a', 'a']",
            "pk = 'a' OR pk = 'a'",
            "pk = 'a' AND (sk > '0' OR sk < '5')",
            "pk = 'a' AND (sk = '1' OR n = 2)",
            "(pk = 'a' AND n = 1) OR (pk = 'a' AND n = 2)",
            "pk = 'a' AND n <> 1 OR pk = 'a' AND sk = '2'",
        ],
    )
    def test_no_item_is_read_twice(self, data, conditions):
        data.refuses(f"SELECT * FROM {{t}} WHERE {conditions}", OVERLAP)

    def test_a_statement_reads_fifty_ranges(self, data):
        def values(count):
            return "[" + ",".join(f"'v{n}'" for n in range(count)) + "]"

        assert data.where(f"pk IN {values(50)} AND n IN {values(100)}") == []
        assert len(data.where(f"pk IN {values(51)} OR n = 1")) == 3
        too_many = "Too many decomposed read operations for a given query."
        for conditions in [f"pk IN {values(51)}", f"pk = 'a' AND sk IN {values(51)}", f"pk IN {values(26)} AND sk IN ['1', '2']"]:
            data.refuses(f"SELECT * FROM {{t}} WHERE {conditions}", too_many)
        data.refuses(
            f"SELECT * FROM {{t}} WHERE pk = 'a' AND n IN {values(101)}",
            "The IN operator is provided with too many operands; number of operands: 101",
        )

    def test_keys_are_compared_with_their_type(self, data):
        text = "Key attribute's data type should match its data type in table's schema: Key "
        data.refuses("SELECT * FROM {t} WHERE pk = 1 OR pk = 'a'", text + "pk")
        data.refuses("SELECT * FROM {t} WHERE pk = 'a' AND sk IN ['1', 2]", text + "sk")
        assert data.where("pk > 1") == []

    @pytest.mark.parametrize(
        "condition, text",
        [
            ("n < true", "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"),
            ("attribute_exists(n) > false", "Incorrect operand type for operator or function; operator or function: >, operand type: BOOL"),
            ("attribute_type(n, 'X')", "Invalid attribute type name found; type: X, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}"),
            ("attribute_type(n, 1)", "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N"),
            ("attribute_exists('n')", "Operator or function requires a document path; operator or function: attribute_exists"),
            ("attribute_exists()", "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 0"),
            ("attribute_exists(n, m)", "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2"),
            ("n = 1 + 1", "Unsupported operator in Condition Expression. Operator: +"),
            ("m[2147483648] = 1", None),
            ("n", None),
        ],
    )
    def test_invalid_conditions(self, data, condition, text):
        with invalid(text or ""):
            data.where(f"pk = 'a' AND {condition}")

    def test_unknown_functions(self, data):
        for call, name in [("EXISTS(n)", "exists"), ("set_add(n, <<1>>) = n", "set_add"), ("nope(n)", "nope")]:
            statement = f"SELECT * FROM {{t}} WHERE pk = 'a' AND {call}"
            column = data.text(statement).index(call) + 1
            data.refuses(statement, f"Unrecognized function: {name} at 1:{column}:{len(name)}")

    def test_lists_begin_with_zero(self, data):
        data.refuses("SELECT m[-1] FROM {t}", "List index is not within the allowable range; index: [-1] at 1:11:1")
        data.refuses("SELECT m[2147483648] FROM {t}", "List index is not within the allowable range; index: [2147483648] at 1:10:10")
        assert data.items("SELECT l[-0] FROM {t} WHERE pk = 'types'") == [{"l[0]": 1}]


class TestGrammar:
    @pytest.mark.parametrize(
        "statement, detail",
        [
            ("SLECT * FROM {t}", "Expected data manipulation"),
            ("SELECTT * FROMM {t}", "Unexpected token after expression"),
            ("UPDATE Payment-x SET a = 1", "Expected data manipulation"),
            ("SELECT * FROM {t} WHERE", "Unexpected term"),
            ("SELECT * FROM {t} WHERE;", "Unexpected term"),
            ("UPDATE {t} SET a = 1 WHERE", "Unexpected term"),
            ("SELECT * FROM {t} WHERE NOT", "Unexpected term"),
            ("SELECT * FROM {t} WHERE (", "Unexpected term"),
            ("SELECT * FROM", "Unexpected term"),
            ("SELECT * FROM {t} WHERE pk = 'a' AND", "Missing right-hand side expression of infix operator"),
            ("SELECT * FROM {t} WHERE ORDER BY pk", "Unexpected keyword"),
            ("SELECT * FROM {t} WHERE IS NULL", "Unexpected operator"),
            ("SELECT * FROM {t} WHERE pk = LIKE", "Unexpected operator"),
            ("SELECT * FROM {t} WHERE x IS FOO", "Expected type name"),
            ("SELECT * FROM {t} WHERE attribute_exists(m.inner)", "Invalid path dot component"),
            ("SELECT * FROM {t} WHERE pk = 'a' foo", "Unexpected token after expression"),
            ("SELECT * FROM {t} WHERE pk = 'a')", "Unexpected token after expression"),
            ("SELECT * FROM {t} ORDER BY pk WHERE pk = 'a'", "Unexpected token after expression"),
            ("DELETE FROM {t} WHERE pk = 'a' ORDER BY pk", "Unexpected token after expression"),
            ("DELETE FROM", "Expected identifier for simple path"),
            ("DELETE FROM WHERE pk = 'a'", "Expected identifier for simple path"),
            ("FROM {t} SET c = 1 WHERE pk = 'a'", "Unexpected token after expression"),
            ("SELECT * FROM {t} WHERE n = 1e2147483648", ""),
            ("SELECT * FROM {t} WHERE n = 1 # note", ""),
            ("SELECT * FROM {t} WHERE n = 1 /* note", ""),
            ("SELECT * FROM {t} WHERE n = 'open", ""),
        ],
    )
    def test_syntax_errors(self, one, statement, detail):
        one.refuses(statement, NOT_WELL_FORMED + detail)

    @pytest.mark.parametrize(
        "statement, text",
        [
            ("SELECT * FROM {t} x WHERE pk = 'a'", "Aliasing is not supported"),
            ("SELECT * FROM {t} AS x", "Aliasing is not supported"),
            ("UPDATE {t} x SET a = 1 WHERE pk = 'a'", "Aliasing is not supported"),
            ("DELETE FROM {t} x WHERE pk = 'a'", "Aliasing is not supported"),
            ("SELECT * FROM {t}.\"a\".\"b\"", "A path may contain at most 2 components in the FROM clause"),
            ("SELECT * FROM {t}.\"\"", "Path component cannot be an empty string"),
            ("SELECT * FROM \"\"", "Path component cannot be an empty string"),
            ("SELECT * FROM {t}.\"none\"", "The table does not have the specified index"),
            ("x IS INT4", "Unsupported operation: IsType"),
            ("UPDATE {t}.\"i\" SET a = 1 WHERE pk = 'a'", "This operation is not supported on an index"),
            ("DELETE FROM {t}.\"i\" WHERE pk = 'a'", "This operation is not supported on an index"),
            ("EXISTS(SELECT * FROM {t} WHERE pk = 'a' AND b = 1)", "EXISTS can only be used in ExecuteTransaction write requests."),
        ],
    )
    def test_unsupported_statements(self, one, statement, text):
        one.refuses(statement, text)

    def test_space_and_comments(self, one, pk):
        one.table.put({"pk": pk, "note": "a--b /*c*/"})
        assert one.items("-- first\nselect/**/* from {t} -- table\nWhere pk/* key */=? and note = 'a--b /*c*/'; -- last", pk)

    def test_numbers_have_signs_and_exponents(self, one, pk):
        one.table.put({"pk": pk, "n": 7})
        for number in ["7", "+7", "- -7", ".7e1", "70E-1", "7.", "0.07e+2"]:
            assert one.items(f"SELECT * FROM {{t}} WHERE pk = ? AND n = {number}", pk), number

    def test_missing_tables(self, client):
        with refused("ResourceNotFoundException", "Requested resource not found"):
            client.execute_statement(Statement="SELECT * FROM \"not-there\" WHERE pk = 'a'")
        with invalid("Table name should be within the length [3, 255]"):
            client.execute_statement(Statement="SELECT * FROM \"a b c\" WHERE pk = 'a'")

    def test_members(self, client):
        for request, text in [
            ({}, "Value null at 'statement'"),
            ({"Statement": ""}, "length greater than or equal to 1"),
            ({"Statement": "x" * 8193}, "length less than or equal to 8192"),
            ({"Statement": "x", "Limit": 0}, "greater than or equal to 1"),
            ({"Statement": "x", "Parameters": []}, "length greater than or equal to 1"),
        ]:
            with invalid(text):
                client.execute_statement(**request)

    def test_deep_statements_end_early(self, one):
        for statement in ["(" * 8000, "SELECT * FROM {t} WHERE " + "NOT " * 1900, "UPDATE {t} SET a = " + "[" * 8000, "UPDATE {t} SET a = a" + "+a" * 4000]:
            with invalid():
                one.run(statement[:8192])


class TestUpdate:
    def test_the_documented_actions(self, two, pk):
        two.table.put({"pk": pk, "sk": "1", "n": 1, "m": {}, "l": [1, "x"], "ns": {1, 34}, "ss": {"a"}, "only": {"x"}})
        where = f"WHERE pk = '{pk}' AND sk = '1'"
        two.run(
            "UPDATE {t} SET n=n + 100 SET m.fresh=[2020, 'x'] SET l = LIST_APPEND(l, [4, <<'p', 'q'>>]), ns = SET_ADD(ns, <<345>>) "
            f"SET ss = set_add(ss, <<'b'>>) SET fresh = set_add(fresh, <<'f'>>) SET only = set_delete(only, <<'x'>>) {where}"
        )
        assert two.table.get({"pk": pk, "sk": "1"}) == {
            "pk": pk, "sk": "1", "n": 101, "m": {"fresh": [2020, "x"]}, "l": [1, "x", 4, {"p", "q"}], "ns": {1, 34, 345},
            "ss": {"a", "b"}, "fresh": {"f"},
        }
        two.run(f"UPDATE {{t}} SET n=n-1 REMOVE l[1] REMOVE m.fresh SET ns = SET_DELETE(ns, ?) SET l[9] = (n + 1) - 2 {where}", {345})
        assert two.table.get({"pk": pk, "sk": "1"}) == {
            "pk": pk, "sk": "1", "n": 100, "m": {}, "l": [1, 4, {"p", "q"}, 100], "ns": {1, 34}, "ss": {"a", "b"}, "fresh": {"f"},
        }

    def test_the_item_must_exist(self, one, pk):
        with refused("ConditionalCheckFailedException", "The conditional request failed"):
            one.run("UPDATE {t} SET a = 1 WHERE pk = ?", pk)
        assert one.table.get({"pk": pk}) is None

    def test_other_conditions_must_hold(self, one, pk):
        one.table.put({"pk": pk, "n": 5})
        for statement in ["UPDATE {t} SET n = 9 WHERE pk = ? AND n = 6", "DELETE FROM {t} WHERE pk = ? AND NOT n = 5"]:
            with pytest.raises(one.client.exceptions.ConditionalCheckFailedException) as failure:
                one.run(statement, pk, ReturnValuesOnConditionCheckFailure="ALL_OLD")
            assert plain(failure.value.response["Item"]) == {"pk": pk, "n": 5}
        one.run("UPDATE {t} SET n = 9 WHERE pk = ? AND n = 5", pk)
        one.run("DELETE FROM {t} WHERE pk = ? AND n = 9", pk)
        assert one.table.get({"pk": pk}) is None
        assert one.items("DELETE FROM {t} WHERE pk = ? AND n = 9", pk) == []

    def test_functions_of_update_expressions(self, one, pk):
        one.table.put({"pk": pk, "a": 1})
        one.run("UPDATE {t} SET n = if_not_exists(n, 5) + 1, a = IF_NOT_EXISTS(a, 9) WHERE pk = ?", pk)
        assert one.table.get({"pk": pk}) == {"pk": pk, "a": 1, "n": 6}

    def test_from_may_come_first(self, one, pk):
        one.table.put({"pk": pk})
        one.run("FROM {t} WHERE pk = ? SET a = 1", pk)
        assert one.table.get({"pk": pk})["a"] == 1
        one.refuses("FROM {t} SET c = 1", NO_KEY)

    @pytest.mark.parametrize("returning, found", [("ALL OLD", {"a": 1, "b": 2}), ("MODIFIED OLD", {"a": 1}), ("ALL NEW", {"a": 7, "b": 2}), ("MODIFIED NEW", {"a": 7})])
    def test_returning(self, one, pk, returning, found):
        one.table.put({"pk": pk, "a": 1, "b": 2})
        key = {"pk": pk} if "ALL" in returning else {}
        assert one.items(f"UPDATE {{t}} SET a = 7 WHERE pk = ? RETURNING {returning} *", pk) == [key | found]

    def test_returning_nothing(self, one, pk):
        one.table.put({"pk": pk, "a": 1, "l": ["a", "b", "c"]})
        assert one.items("UPDATE {t} SET l[2] = 'y', l[0] = 'x' WHERE pk = ? RETURNING MODIFIED NEW *", pk) == [{"l": ["x", "y"]}]
        assert one.items("UPDATE {t} SET l[9] = 'z' WHERE pk = ? RETURNING MODIFIED NEW *", pk) == []
        assert one.items("UPDATE {t} REMOVE l[1] WHERE pk = ? RETURNING MODIFIED OLD *", pk) == [{"l": ["b"]}]
        assert one.items("UPDATE {t} REMOVE a WHERE pk = ? RETURNING MODIFIED NEW *", pk) == []
        assert one.items("DELETE FROM {t} WHERE pk = ? RETURNING ALL OLD *", pk) == [{"pk": pk, "l": ["x", "y", "z"]}]
        assert one.items("DELETE FROM {t} WHERE pk = ? RETURNING ALL OLD *", pk) == []

    def test_invalid_returning_clauses(self, one):
        for words in ["MODIFIED OLD", "ALL NEW", "MODIFIED NEW"]:
            one.refuses(
                f"DELETE FROM {{t}} WHERE pk = 'x' RETURNING {words} *",
                f"Invalid returning clause: RETURNING {words} *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
            )
        with invalid("RETURNING"):
            one.run("INSERT INTO {t} VALUE {'pk': 'x'} RETURNING ALL OLD *")

    @pytest.mark.parametrize("clause", ["", "WHERE pk = 'a'", "WHERE pk = 'a' AND sk > '1'", "WHERE pk IN ['a'] AND sk = '1'", "WHERE pk = 'a' OR sk = '1'", "WHERE n = 1"])
    def test_the_whole_key_is_needed(self, two, clause):
        two.refuses(f"UPDATE {{t}} SET a = 1 {clause}", NO_KEY)
        two.refuses(f"DELETE FROM {{t}} {clause}", NO_KEY)

    def test_one_key_has_one_value(self, two):
        two.refuses(
            "DELETE FROM {t} WHERE pk = 'a' AND sk = '1' AND pk = 'b'",
            "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported",
        )

    @pytest.mark.parametrize(
        "assignment, text, at",
        [
            ("t = set_add(ss, <<'x'>>)", "The first argument to SET_ADD must equal the assignment value", "set_add"),
            ("ss = set_delete(<<'a'>>, <<'b'>>)", "The first argument to SET_DELETE must equal the assignment value", "set_delete"),
            ("ss = set_add(ss)", "SET_ADD must have exactly two arguments", "set_add"),
            ("ss = set_add(ss, 'x')", "The second argument to SET_ADD must be a value with type SET", "ss, 'x'"),
            ("a = nope(b)", "Unrecognized function: nope", "nope"),
        ],
    )
    def test_function_errors_include_their_position(self, one, assignment, text, at):
        statement = f"UPDATE {{t}}\nSET {assignment} WHERE pk = 'x'"
        column = f"SET {assignment}".index(at) + 1
        length = len(at.split(",")[0])
        one.refuses(statement, f"{text} at 2:{column}:{length}")

    def test_updates_incompatible_with_the_item(self, one, pk):
        one.table.put({"pk": pk, "ss": {"a"}, "s": "x", "n": 1})
        for assignment, text in [
            ("ss = set_add(ss, <<1>>)", "An operand in the update expression has an incorrect data type"),
            ("s = set_add(s, <<'x'>>)", "An operand in the update expression has an incorrect data type"),
            ("l = list_append(l, [1])", "The provided expression refers to an attribute that does not exist in the item"),
            ("l[0] = 1", "The document path provided in the update expression is invalid for update"),
            ("n = 'a' + 1", "Incorrect operand type for operator or function; operator or function: +, operand type: S"),
            ("n = n - null", "Incorrect operand type for operator or function; operator or function: -, operand type: NULL"),
        ]:
            one.refuses(f"UPDATE {{t}} SET {assignment} WHERE pk = '{pk}'", text)
        with invalid("part of the key"):
            one.run("UPDATE {t} SET pk = 'y' WHERE pk = ?", pk)


class TestIndexes:
    def test_an_index_returns_what_it_projects(self, indexed):
        assert sorted(column(indexed.run("SELECT sk FROM {t}.\"all\" WHERE g = 'x'"), "sk")) == ["1", "2", "3"]
        assert indexed.items("SELECT * FROM {t}.\"keys\" WHERE h = 'y' AND sk = '1'") == [{"h": "y", "pk": "a", "sk": "1"}]
        assert indexed.items("SELECT * FROM {t}.\"local\" WHERE pk = 'a' AND l = '2'") == [{"l": "2", "pk": "a", "sk": "2"}]
        assert sorted(column(indexed.run("SELECT q FROM {t}.\"local\" WHERE pk = 'a'"), "q")) == ["1", "2", "3"]
        indexed.refuses("SELECT q FROM {t}.\"keys\" WHERE h = 'y'", "One or more parameter values were invalid: Global secondary index keys does not project [q]")

    def test_a_keyed_read_filters_what_is_projected(self, indexed):
        text = "One or more parameter values were invalid: Secondary index {} does not project one or more filter attributes: [{}]"
        for source, conditions, missing in [
            ("some", "h = 'y' AND q = '1'", "q"),
            ("local", "pk = 'a' AND q = '1'", "q"),
            ("some", "h IN ['y', 'z'] AND NOT (q = '1' OR p = '2')", "q"),
            ("some", "h = 'y' AND b = '1' AND (a = '2' OR p = '3')", "a, b"),
            ("some", "h = 'y' AND (zz = '1' OR aa = '2' OR mm = '3')", "zz, aa, mm"),
        ]:
            indexed.refuses(f'SELECT pk FROM {{t}}."{source}" WHERE {conditions}', text.format(source, missing))
        assert len(indexed.items("SELECT pk FROM {t}.\"some\" WHERE h = 'y' AND p = '1'")) == 1
        assert indexed.items("SELECT pk FROM {t}.\"some\" WHERE q = '1'") == []
        assert len(indexed.items("SELECT pk FROM {t}.\"keys\" WHERE NOT q = '1'")) == 3

    def test_consistent_reads(self, indexed):
        indexed.refuses("SELECT * FROM {t}.\"all\" WHERE g = 'x'", "Strongly consistent read is not supported on Global Secondary Indexes", ConsistentRead=True)
        assert len(indexed.items("SELECT * FROM {t}.\"local\" WHERE pk = 'a'", ConsistentRead=True)) == 3

    def test_pages_of_an_index(self, indexed):
        statement = "SELECT sk FROM {t}.\"all\" WHERE g = 'x'"
        first = indexed.run(statement, Limit=2)
        rest = indexed.run(statement, NextToken=first["NextToken"])
        assert sorted(column(first, "sk") + column(rest, "sk")) == ["1", "2", "3"]


class TestCapacity:
    """A statement costs as much as the equivalent operation."""

    def units(self, response):
        capacity = response["ConsumedCapacity"]
        indexes = capacity.get("GlobalSecondaryIndexes", {})
        return capacity["CapacityUnits"], capacity["Table"]["CapacityUnits"], {n: i["CapacityUnits"] for n, i in indexes.items()}

    def statement(self, costly, text, **more):
        return self.units(costly.run(text, ReturnConsumedCapacity="INDEXES", **more))

    @pytest.mark.parametrize("consistent", [False, True])
    def test_reads(self, costly, consistent):
        table, more = costly.table, {"ReturnConsumedCapacity": "INDEXES", "ConsistentRead": consistent}
        query = table.query("pk = :p", values={":p": "a"}, **more)
        assert self.statement(costly, "SELECT * FROM {t} WHERE pk = 'a'", ConsistentRead=consistent) == self.units(query)
        key = attributes({"pk": "a", "sk": "1"})
        get = costly.client.get_item(TableName=table.name, Key=key, **more)
        assert self.statement(costly, "SELECT * FROM {t} WHERE pk = 'a' AND sk = '1'", ConsistentRead=consistent) == self.units(get)
        scan = table.scan(FilterExpression="g = :g", values={":g": "none"}, **more)
        assert self.statement(costly, "SELECT * FROM {t} WHERE g = 'none'", ConsistentRead=consistent) == self.units(scan)
        both = self.statement(costly, "SELECT * FROM {t} WHERE pk IN ['a', 'b']", ConsistentRead=consistent)
        assert both[0] == 2 * self.units(query)[0]

    def test_index_reads(self, costly):
        query = costly.table.query("g = :g", IndexName="byG", values={":g": "x"}, ReturnConsumedCapacity="INDEXES")
        assert self.statement(costly, "SELECT * FROM {t}.\"byG\" WHERE g = 'x'") == self.units(query)

    def test_writes(self, costly):
        table, capacity = costly.table, {"ReturnConsumedCapacity": "INDEXES"}
        put = table.put({"pk": "w", "sk": "1", "g": "y", "x": "x" * 1_500}, **capacity)
        value = f"{{'pk': 'w', 'sk': '2', 'g': 'y', 'x': '{'x' * 1_500}'}}"
        assert self.statement(costly, f"INSERT INTO {{t}} VALUE {value}") == self.units(put)
        update = costly.client.update_item(
            TableName=table.name, Key=attributes({"pk": "w", "sk": "1"}), UpdateExpression="SET y = :y",
            ExpressionAttributeValues=attributes({":y": 1}), **capacity,
        )
        assert self.statement(costly, "UPDATE {t} SET y = 1 WHERE pk = 'w' AND sk = '2'") == self.units(update)
        delete = table.delete({"pk": "w", "sk": "1"}, **capacity)
        assert self.statement(costly, "DELETE FROM {t} WHERE pk = 'w' AND sk = '2'") == self.units(delete)

    def test_batches(self, costly):
        def read(*consistent):
            sent = [costly.sent("SELECT * FROM {t} WHERE pk = 'a' AND sk = ?", s, ConsistentRead=c) for s, c in zip("123", consistent)]
            (capacity,) = costly.batch(*sent, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
            return capacity["CapacityUnits"]

        assert (read(False), read(True), read(True, False)) == (0.5, 1.0, 1.5)

    def test_transactions(self, costly):
        (read,) = costly.together("SELECT * FROM {t} WHERE pk = 'a' AND sk = '1'", ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
        assert (read["CapacityUnits"], read["ReadCapacityUnits"]) == (2.0, 2.0)
        token = uuid.uuid4().hex
        statement = "INSERT INTO {t} VALUE {'pk': 't', 'sk': '1'}"
        (first,) = costly.together(statement, ReturnConsumedCapacity="TOTAL", ClientRequestToken=token)["ConsumedCapacity"]
        (again,) = costly.together(statement, ReturnConsumedCapacity="TOTAL", ClientRequestToken=token)["ConsumedCapacity"]
        assert (first["WriteCapacityUnits"], again["ReadCapacityUnits"]) == (2.0, 2.0)


class TestBatches:
    def test_reads(self, two, pk):
        two.table.put({"pk": pk, "sk": "1", "m": {"x": 5}})
        response = two.batch(f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = '1'", f"SELECT m.x FROM {{t}} WHERE pk IN ['{pk}'] AND sk = '1'", f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = '2'")
        found, part, nothing = response["Responses"]
        assert found == {"TableName": two.table.name, "Item": attributes({"pk": pk, "sk": "1", "m": {"x": 5}})}
        assert part["Item"] == attributes({"x": 5}) and nothing == {"TableName": two.table.name}

    def test_writes_and_what_they_return(self, one, pk):
        one.table.put({"pk": pk, "a": 1})
        response = one.batch(
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}2'}}",
            f"UPDATE {{t}} SET a = 2 WHERE pk = '{pk}' RETURNING ALL NEW *",
            f"UPDATE {{t}} SET a = a + 1 WHERE pk = '{pk}' RETURNING MODIFIED NEW *",
            f"DELETE FROM {{t}} WHERE pk = '{pk}' RETURNING ALL OLD *",
            f"UPDATE {{t}} REMOVE a WHERE pk = '{pk}2' RETURNING MODIFIED NEW *",
        )
        name = one.table.name
        assert response["Responses"] == [
            {"TableName": name},
            {"TableName": name, "Item": attributes({"pk": pk, "a": 2})},
            {"TableName": name, "Item": attributes({"a": 3})},
            {"TableName": name, "Item": attributes({"pk": pk, "a": 3})},
            {"TableName": name},
        ]

    def test_statements_fail_independently(self, one, pk):
        one.table.put({"pk": pk, "v": 1})
        response = one.batch(
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}'}}",
            one.sent("UPDATE {t} SET a = 1 WHERE pk = ? AND v = 2", pk, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            "SLECT",
            {"Statement": "DELETE FROM \"not-there\" WHERE pk = 'x'"},
            "UPDATE {t} SET a = 1 WHERE v = 1",
            one.sent("UPDATE {t} SET a = ? WHERE pk = 'x'", None) | {"Parameters": [{"SS": []}]},
            "EXISTS(SELECT * FROM {t} WHERE pk = 'x' AND a = 1)",
            f"UPDATE {{t}} SET a = 1 WHERE pk = '{pk}'",
        )
        errors = [(r.get("Error", {}).get("Code"), r.get("TableName") == one.table.name) for r in response["Responses"]]
        assert errors == [
            ("DuplicateItem", True), ("ConditionalCheckFailed", True), ("ValidationError", False), ("ResourceNotFound", False),
            ("ValidationError", False), ("ValidationError", False), ("ValidationError", False), (None, True),
        ]
        responses = response["Responses"]
        assert responses[0]["Error"]["Message"] == "Duplicate primary key exists in table"
        assert "Item" not in responses[1] and responses[1]["Error"]["Item"] == attributes({"pk": pk, "v": 1})
        assert responses[4]["Error"]["Message"] == NO_KEY
        assert responses[5]["Error"]["Message"] == "One or more parameter values were invalid: An string set  may not be empty"
        assert one.table.get({"pk": pk})["a"] == 1

    def test_reads_name_one_item(self, two):
        text = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
        for conditions in ["v = 1", "pk = 'a'", "pk = 'a' AND sk = '1' AND v = 1", "pk = 'a' AND sk = '1' AND pk = 'b'", "pk IN ['a', 'b'] AND sk = '1'"]:
            (response,) = two.batch(f"SELECT * FROM {{t}} WHERE {conditions}")["Responses"]
            assert response == {"Error": {"Code": "ValidationError", "Message": text}}, conditions
        (response,) = two.batch("SELECT * FROM {t}.\"i\" WHERE pk = 'a' AND sk = '1'")["Responses"]
        assert response["Error"]["Message"] == text

    def test_batch_limits(self, one):
        with invalid("length greater than or equal to 1"):
            one.batch()
        with invalid("length less than or equal to 25"):
            one.batch(*["SELECT * FROM {t} WHERE pk = 'a'"] * 26)
        with invalid("read and write"):
            one.batch("SELECT * FROM {t} WHERE pk = 'a'", "DELETE FROM {t} WHERE pk = 'a'")
        assert len(one.batch(*["SELECT * FROM {t} WHERE pk = 'a'"] * 25)["Responses"]) == 25


class TestTransactions:
    def test_reads(self, two, pk):
        two.table.put({"pk": pk, "sk": "1", "m": {"x": 5}})
        response = two.together(f"SELECT m.x FROM {{t}} WHERE (sk = '1') AND pk = '{pk}' AND pk = '{pk}'", f"SELECT * FROM {{t}} WHERE pk IN ['{pk}'] AND sk IN ['2']")
        assert response["Responses"] == [{"Item": attributes({"x": 5})}, {}]

    def test_writes(self, two, pk):
        two.table.put({"pk": pk, "sk": "1", "a": 1})
        two.table.put({"pk": pk, "sk": "2"})
        response = two.together(
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '3'}}",
            f"UPDATE {{t}} SET a = a + 1 WHERE pk = '{pk}' AND sk = '1' AND a = 1",
            f"EXISTS(SELECT * FROM {{t}} WHERE (pk = '{pk}' AND sk = '2') AND nope IS MISSING)",
            f"DELETE FROM {{t}} WHERE pk = '{pk}' AND sk = '4' AND a = 1",
        )
        assert response["Responses"] == []
        items = two.items("SELECT * FROM {t} WHERE pk = ?", pk)
        assert items == [{"pk": pk, "sk": "1", "a": 2}, {"pk": pk, "sk": "2"}, {"pk": pk, "sk": "3"}]

    def test_reasons(self, two, pk):
        two.table.put({"pk": pk, "sk": "1", "a": 1})
        update = f"UPDATE {{t}} SET a = 9 WHERE pk = '{pk}' AND sk = "
        reasons = two.cancelled(
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}",
            two.sent(update + "'2'"),
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '3'}}",
        )
        assert reasons == [
            {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
            {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
            {"Code": "None"},
        ]
        failed, none = two.cancelled(
            two.sent(f"EXISTS(SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = '1' AND a = 2)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '3'}}",
        )
        assert (failed["Code"], plain(failed["Item"]), none) == ("ConditionalCheckFailed", {"pk": pk, "sk": "1", "a": 1}, {"Code": "None"})
        assert two.table.get({"pk": pk, "sk": "3"}) is None

    def test_mismatched_tables_and_keys(self, two, pk):
        missing = {"Statement": "UPDATE \"not-there\" SET a = 1 WHERE pk = 'x'"}
        assert [r["Code"] for r in two.cancelled(missing, missing)] == ["ResourceNotFound"] * 2
        select = {"Statement": "SELECT * FROM \"not-there\" WHERE pk = 'x'"}
        assert [r["Code"] for r in two.cancelled("SELECT * FROM {t} WHERE pk = 'a' AND sk = '1'", select)] == ["None", "ResourceNotFound"]
        update = f"UPDATE {{t}} SET a = 1 WHERE pk = '{pk}'"
        reasons = two.cancelled(update, update + " AND sk = 1", update + " AND sk = '1' AND pk = 'x'", update + " AND sk = '1'")
        assert [r["Code"] for r in reasons] == ["ValidationError"] * 3 + ["None"]
        assert reasons[0]["Message"] == reasons[1]["Message"] == "The provided key element does not match the schema"
        (reason,) = two.cancelled(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}'}}")
        assert reason["Message"] == "One or more parameter values were invalid: Missing the key sk in the item"
        (reason,) = two.cancelled(f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = 1")
        assert reason["Message"] == "The provided key element does not match the schema"

    @pytest.mark.parametrize(
        "statement, text",
        [
            ("SELECT * FROM {t} WHERE pk = 'a'", "Select statements within ExecuteTransaction must specify the primary key in the where clause."),
            ("SELECT * FROM {t} WHERE pk = 'a' AND sk = '1' AND a = 1", "Select statements within ExecuteTransaction must specify the primary key in the where clause."),
            ("SELECT * FROM {t} WHERE pk IN ['a', 'a'] AND sk = '1'", OVERLAP),
            ("SELECT * FROM {t}.\"i\" WHERE pk = 'a'", "Reads on indices are not supported within transactions."),
            ("EXISTS(SELECT * FROM {t} WHERE pk = 'a' AND sk = '1')", "EXISTS() must contain a single item read with additional condition"),
            ("EXISTS(SELECT * FROM {t} WHERE pk IN ['a'] AND sk = '1' AND a = 1)", "EXISTS() must contain a single item read with additional condition"),
            ("UPDATE {t} SET a = 1 WHERE pk = 'a' RETURNING ALL NEW *", "RETURNING clause is not supported in ExecuteTransaction."),
            ("UPDATE {t}.\"i\" SET a = 1 WHERE pk = 'a'", "This operation is not supported on an index"),
            ("SELECT * FROM {t} WHERE", NOT_WELL_FORMED + "Unexpected term"),
        ],
    )
    def test_errors_name_their_statement(self, two, statement, text):
        with invalid(f"Validation failed in TransactStatements[0]: {text}"):
            two.together(statement)

    def test_transaction_limits(self, two):
        with invalid("length greater than or equal to 1"):
            two.together()
        with invalid("length less than or equal to 100"):
            two.together(*["SELECT * FROM {t} WHERE pk = 'a' AND sk = '1'"] * 101)
        with invalid("ExecuteTransaction API does not support both read and write operations in the same request."):
            two.together("SELECT * FROM {t} WHERE pk = 'a' AND sk = '1'", "DELETE FROM {t} WHERE pk = 'a' AND sk = '2'")
        with invalid("Transaction request cannot include multiple operations on one item"):
            two.together(*["DELETE FROM {t} WHERE pk = 'a' AND sk = '1'"] * 2)

    def test_a_token_is_used_once(self, one, pk):
        one.table.put({"pk": pk, "n": 0})
        token = uuid.uuid4().hex
        for _ in range(3):
            one.together(f"UPDATE {{t}} SET n = n + 1 WHERE pk = '{pk}'", ClientRequestToken=token)
        assert one.table.get({"pk": pk})["n"] == 1
        with refused("IdempotentParameterMismatchException"):
            one.together(f"UPDATE {{t}} SET n = n + 2 WHERE pk = '{pk}'", ClientRequestToken=token)
