"""BatchWriteItem and BatchGetItem: many items in one request, each on its own, within the limits."""

import pytest

from dynamo import attributes, index, invalid, plain, refused


def puts(*items):
    return [{"PutRequest": {"Item": attributes(item)}} for item in items]


def deletes(*keys):
    return [{"DeleteRequest": {"Key": attributes(key)}} for key in keys]


def keys(*items):
    return {"Keys": [attributes(item) for item in items]}


class TestWritten:
    def test_puts_and_deletes_together(self, client, ordered, pk):
        ordered.put({"pk": pk, "sk": "old"})
        batch = puts(*({"pk": pk, "sk": f"{n}", "n": n} for n in range(10))) + deletes({"pk": pk, "sk": "old"}, {"pk": pk, "sk": "never there"})
        assert client.batch_write_item(RequestItems={ordered.name: batch})["UnprocessedItems"] == {}
        found = ordered.query("pk = :p", values={":p": pk})["Items"]
        assert [item["n"] for item in found] == list(range(10))

    def test_several_tables(self, client, simple, ordered, pk):
        client.batch_write_item(RequestItems={simple.name: puts({"pk": pk}), ordered.name: puts({"pk": pk, "sk": "a"})})
        assert simple.get({"pk": pk}) and ordered.get({"pk": pk, "sk": "a"})

    def test_twenty_five_and_no_more(self, client, simple, pk):
        client.batch_write_item(RequestItems={simple.name: puts(*({"pk": f"{pk}-{n}"} for n in range(25)))})
        with invalid():
            client.batch_write_item(RequestItems={simple.name: puts(*({"pk": f"{pk}-{n}"} for n in range(26)))})

    def test_an_item_is_named_once(self, client, simple, pk):
        with invalid("Provided list of item keys contains duplicates"):
            client.batch_write_item(RequestItems={simple.name: puts({"pk": pk}) + deletes({"pk": pk})})
        assert simple.get({"pk": pk}) is None

    @pytest.mark.parametrize("batch, text", [
        ([], ""),
        (puts({"other": "x"}), "key"),
        (puts({"pk": 1}), "key"),
        (deletes({"pk": "a", "sk": "b"}), "The provided key element does not match the schema"),
        ([{}], ""),
        ([{**puts({"pk": "a"})[0], **deletes({"pk": "b"})[0]}], ""),
    ])
    def test_refused(self, client, simple, batch, text):
        with invalid(text):
            client.batch_write_item(RequestItems={simple.name: batch})

    @pytest.mark.parametrize("item", [{"other": "x"}, {"pk": 1}, {"pk": {"a": "b"}}])
    def test_items_without_their_key(self, client, simple, item):
        with invalid("The provided key element does not match the schema"):
            client.batch_write_item(RequestItems={simple.name: puts(item)})

    def test_one_bad_item_refuses_the_batch(self, client, simple, pk):
        with invalid("Item size has exceeded the maximum allowed size"):
            client.batch_write_item(RequestItems={simple.name: puts({"pk": pk}, {"pk": pk + "-large", "d": "x" * 410_000})})
        assert simple.get({"pk": pk}) is None

    @pytest.mark.parametrize("bad", [1, "", None])
    def test_one_bad_index_key_refuses_the_batch(self, client, make_table, pk, bad):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        with invalid():
            client.batch_write_item(RequestItems={table.name: puts({"pk": pk, "group": "g"}, {"pk": pk + "-bad", "group": bad})})
        assert table.scan()["Count"] == 0

    def test_no_requests(self, client):
        with invalid("RequestItems"):
            client.batch_write_item(RequestItems={})

    def test_an_unknown_table(self, client, simple, pk):
        with refused("ResourceNotFoundException", "Requested resource not found"):
            client.batch_write_item(RequestItems={simple.name: puts({"pk": pk}), "no-such-table": puts({"pk": pk})})


class TestRead:
    def test_existing_items_in_any_order(self, client, ordered, pk):
        ordered.fill({"pk": pk, "sk": str(n), "n": n} for n in range(5))
        parameters = keys(*({"pk": pk, "sk": name} for name in ("4", "0", "none", "2")))
        response = client.batch_get_item(RequestItems={ordered.name: parameters | {"ConsistentRead": True}})
        assert sorted(plain(item)["n"] for item in response["Responses"][ordered.name]) == [0, 2, 4]
        assert response["UnprocessedKeys"] == {}

    def test_a_table_named_by_its_arn(self, client, simple, pk):
        simple.put({"pk": pk})
        arn = client.describe_table(TableName=simple.name)["Table"]["TableArn"]
        response = client.batch_get_item(RequestItems={arn: keys({"pk": pk})})
        assert [plain(item) for item in response["Responses"][arn]] == [{"pk": pk}] and list(response["Responses"]) == [arn]

    def test_missing_items(self, client, simple, pk):
        response = client.batch_get_item(RequestItems={simple.name: keys({"pk": pk})})
        assert response["Responses"] == {simple.name: []}

    def test_several_tables_with_projections(self, client, simple, ordered, pk):
        simple.put({"pk": pk, "name": "one", "b": 2})
        ordered.put({"pk": pk, "sk": "a", "c": 3})
        response = client.batch_get_item(RequestItems={
            simple.name: keys({"pk": pk}) | {"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "name"}, "ConsistentRead": True},
            ordered.name: keys({"pk": pk, "sk": "a"}) | {"ConsistentRead": True},
        })
        assert [plain(item) for item in response["Responses"][simple.name]] == [{"name": "one"}]
        assert [plain(item) for item in response["Responses"][ordered.name]] == [{"pk": pk, "sk": "a", "c": 3}]

    def test_a_hundred_keys_and_no_more(self, client, simple, pk):
        client.batch_get_item(RequestItems={simple.name: keys(*({"pk": f"{pk}-{n}"} for n in range(100)))})
        with invalid("less than or equal to 100"):
            client.batch_get_item(RequestItems={simple.name: keys(*({"pk": f"{pk}-{n}"} for n in range(101)))})

    def test_keys_beyond_sixteen_megabytes_are_unprocessed(self, client, make_table):
        table = make_table()
        names = [f"{n:03}" for n in range(60)]
        for name in names:
            table.put({"pk": name, "d": "x" * 390_000})
        left, found, rounds = {table.name: keys(*({"pk": name} for name in names))}, [], 0
        while left:
            response = client.batch_get_item(RequestItems=left)
            found += [plain(item)["pk"] for item in response["Responses"][table.name]]
            left, rounds = response["UnprocessedKeys"], rounds + 1
        assert sorted(found) == names
        assert rounds >= 2

    @pytest.mark.parametrize("parameters, text", [
        (keys({"pk": "a"}, {"pk": "a"}), "Provided list of item keys contains duplicates"),
        (keys({"pk": 1}), "The provided key element does not match the schema"),
        (keys({"other": "a"}), "The provided key element does not match the schema"),
        ({"Keys": []}, ""),
        (keys({"pk": "a"}) | {"ProjectionExpression": "name"}, "reserved keyword"),
        (keys({"pk": "a"}) | {"ProjectionExpression": "b", "AttributesToGet": ["b"]}, "Can not use both expression and non-expression parameters in the same request"),
    ])
    def test_refused(self, client, simple, parameters, text):
        with invalid(text):
            client.batch_get_item(RequestItems={simple.name: parameters})

    def test_no_requests(self, client):
        with invalid("RequestItems"):
            client.batch_get_item(RequestItems={})

    def test_an_unknown_table(self, client):
        with refused("ResourceNotFoundException", "Requested resource not found"):
            client.batch_get_item(RequestItems={"no-such-table": keys({"pk": "a"})})
