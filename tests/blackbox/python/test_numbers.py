"""Numbers: 38 exact digits, one spelling for each value, and an order that is the order of the values."""

import random
from decimal import Context, Decimal

import pytest

from dynamo import invalid

WIDE = Context(prec=60, Emin=-999, Emax=999)


@pytest.fixture(scope="module")
def table(make_table):
    return make_table("pk:S sk:N")


def stored(client, table, text):
    """The text that a number has when it is read back."""
    item = {"pk": {"S": "value"}, "sk": {"N": "0"}, "v": {"N": text}}
    client.put_item(TableName=table.name, Item=item)
    key = {"pk": item["pk"], "sk": item["sk"]}
    return client.get_item(TableName=table.name, Key=key, ConsistentRead=True)["Item"]["v"]["N"]


def updated(client, table, start, expression, **values):
    stored(client, table, start)
    response = client.update_item(
        TableName=table.name,
        Key={"pk": {"S": "value"}, "sk": {"N": "0"}},
        UpdateExpression=expression,
        ExpressionAttributeValues={f":{name}": {"N": value} for name, value in values.items()},
        ReturnValues="UPDATED_NEW",
    )
    return response["Attributes"]["v"]["N"]


class TestSpelling:
    @pytest.mark.parametrize("written, read", [
        ("0", "0"), ("-0", "0"), ("0.000", "0"), ("007", "7"), ("1.0", "1"), ("3.1400", "3.14"), ("1E2", "100"), ("1e+2", "100"),
        ("1.5E2", "150"), ("-12.50", "-12.5"), ("0.001", "0.001"), ("5E-3", "0.005"), (".5", "0.5"), ("100", "100"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678"),
        ("-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"),
    ])
    def test_one_spelling_for_each_value(self, client, table, written, read):
        assert stored(client, table, written) == read

    @pytest.mark.parametrize("text", [
        "1E125", "-1E125", "9.9999999999999999999999999999999999999E+125", "-9.9999999999999999999999999999999999999E+125",
        "1E-130", "-1E-130", "1.2345678901234567890123456789012345678E-100", "123456789E-20", "1E38", "1E-38",
    ])
    def test_the_whole_range_is_exact(self, client, table, text):
        assert WIDE.create_decimal(stored(client, table, text)) == WIDE.create_decimal(text)

    def test_zeros_are_not_significant(self, client, table):
        text = "0" * 50 + "1" + "0" * 60 + ".000"
        assert WIDE.create_decimal(stored(client, table, text)) == WIDE.create_decimal("1E60")


class TestRefused:
    @pytest.mark.parametrize("text", ["1E126", "-1E126", "1E999", "99999999999999999999999999999999999999E90"])
    def test_too_large(self, client, table, text):
        with invalid("Number overflow. Attempting to store a number with magnitude larger than supported range"):
            stored(client, table, text)

    @pytest.mark.parametrize("text", ["1E-131", "-1E-131", "1E-999"])
    def test_too_small(self, client, table, text):
        with invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range"):
            stored(client, table, text)

    @pytest.mark.parametrize("text", ["123456789012345678901234567890123456789", "1.00000000000000000000000000000000000001"])
    def test_too_precise(self, client, table, text):
        with invalid("Attempting to store more than 38 significant digits in a Number"):
            stored(client, table, text)

    @pytest.mark.parametrize("text", ["", "one", "1,5", "1e", "--1", "1 2", "NaN", "Infinity", "0x10", "1.2.3", "e5", "."])
    def test_not_a_number(self, client, table, text):
        with invalid("The parameter cannot be converted to a numeric value"):
            stored(client, table, text)

    def test_a_set_with_one_value_in_two_spellings(self, client, table):
        with invalid("contains duplicates"):
            item = {"pk": {"S": "value"}, "sk": {"N": "1"}, "v": {"NS": ["1", "1.0"]}}
            client.put_item(TableName=table.name, Item=item)


class TestArithmetic:
    @pytest.mark.parametrize("start, expression, x, result", [
        ("0.1", "SET v = v + :x", "0.2", "0.3"),
        ("1", "SET v = v - :x", "0.9", "0.1"),
        ("99999999999999999999999999999999999998", "SET v = v + :x", "1", "99999999999999999999999999999999999999"),
        ("-5", "ADD v :x", "5", "0"),
        ("1E100", "SET v = v - :x", "1E100", "0"),
        ("12345678901234567890", "ADD v :x", "0.000000000000000001", "12345678901234567890.000000000000000001"),
    ])
    def test_it_is_decimal_and_exact(self, client, table, start, expression, x, result):
        assert updated(client, table, start, expression, x=x) == result

    def test_a_hundred_cents_are_one(self, client, table):
        stored(client, table, "0")
        for _ in range(100):
            last = client.update_item(
                TableName=table.name,
                Key={"pk": {"S": "value"}, "sk": {"N": "0"}},
                UpdateExpression="ADD v :x",
                ExpressionAttributeValues={":x": {"N": "0.01"}},
                ReturnValues="UPDATED_NEW",
            )
        assert last["Attributes"]["v"]["N"] == "1"


class TestOrder:
    def test_sort_keys_follow_the_values(self, client, make_table):
        table = make_table("pk:S sk:N")
        draw = random.Random(7)
        texts = ["0", "1E-130", "-1E-130", "1E125", "-1E125", "9.9999999999999999999999999999999999999E125", "-9.9999999999999999999999999999999999999E125"]
        texts += ["1", "2", "9", "10", "11", "99", "100", "0.1", "0.09", "0.11", "-1", "-2", "-9", "-10", "-11", "-0.1", "-0.09", "-0.11"]
        for _ in range(300):
            digits = draw.randint(1, 38)
            texts.append(f"{draw.choice(['', '-'])}{draw.randint(1, 10**digits - 1)}E{draw.randint(-90, 80)}")
        values = sorted({WIDE.create_decimal(text) for text in texts})
        for text in texts:
            client.put_item(TableName=table.name, Item={"pk": {"S": "p"}, "sk": {"N": text}})
        read = []
        for page in client.get_paginator("query").paginate(
            TableName=table.name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}}
        ):
            read += [WIDE.create_decimal(item["sk"]["N"]) for item in page["Items"]]
        assert read == values

    def test_two_spellings_are_one_key(self, table):
        table.put({"pk": "spelling", "sk": Decimal("100"), "v": 1})
        table.put({"pk": "spelling", "sk": Decimal("1E2"), "v": 2})
        assert table.query("pk = :p", values={":p": "spelling"})["Items"] == [{"pk": "spelling", "sk": 100, "v": 2}]

    def test_ranges_are_numeric(self, table):
        table.fill({"pk": "range", "sk": Decimal(text)} for text in ("-100", "-2.5", "-2", "0", "3", "20", "1E10"))
        response = table.query("pk = :p AND sk BETWEEN :a AND :b", values={":p": "range", ":a": Decimal("-2.5"), ":b": 20})
        assert [str(item["sk"]) for item in response["Items"]] == ["-2.5", "-2", "0", "3", "20"]

    def test_a_partition_key_in_two_spellings(self, make_table):
        table = make_table("pk:N")
        table.put({"pk": Decimal("1.50"), "v": 1})
        assert table.get({"pk": Decimal("15E-1")}) == {"pk": Decimal("1.5"), "v": 1}
