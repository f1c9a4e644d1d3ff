"""Transactions: atomicity, cancellation reasons, idempotency by token, and isolation under concurrency."""

import random
import threading
import uuid

import pytest

from dynamo import attributes, eventually, index, invalid, plain, refused


class Actions:
    """The parts of a transaction on one table, with plain items."""

    def __init__(self, table):
        self.table = table

    def put(self, item, **more):
        return {"Put": self.on({"Item": attributes(item)}, more)}

    def update(self, key, update, **more):
        return {"Update": self.on({"Key": attributes(key), "UpdateExpression": update}, more)}

    def delete(self, key, **more):
        return {"Delete": self.on({"Key": attributes(key)}, more)}

    def check(self, key, condition, **more):
        return {"ConditionCheck": self.on({"Key": attributes(key), "ConditionExpression": condition}, more)}

    def get(self, key, **more):
        return {"Get": self.on({"Key": attributes(key)}, more)}

    def on(self, action, more):
        if "values" in more:
            more["ExpressionAttributeValues"] = attributes(more.pop("values"))
        return {"TableName": self.table.name} | action | more


@pytest.fixture
def act(simple):
    return Actions(simple)


def write(client, *actions, **more):
    return client.transact_write_items(TransactItems=list(actions), **more)


def cancelled(client, *actions, **more):
    """The cancellation reasons of a transaction that must fail."""
    with pytest.raises(client.exceptions.TransactionCanceledException) as failure:
        write(client, *actions, **more)
    response = failure.value.response
    reasons = response["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in reasons)
    assert response["Error"]["Message"] == f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    return reasons


class TestWritten:
    def test_all_kinds_together(self, client, simple, act, pk):
        names = [f"{pk}-{kind}" for kind in ("put", "update", "delete", "check")]
        for name in names[1:]:
            simple.put({"pk": name, "n": 1})
        write(
            client,
            act.put({"pk": names[0], "n": 7}),
            act.update({"pk": names[1]}, "ADD n :one", values={":one": 1}),
            act.delete({"pk": names[2]}),
            act.check({"pk": names[3]}, "n = :one", values={":one": 1}),
        )
        assert [simple.get({"pk": name}) for name in names] == [
            {"pk": names[0], "n": 7}, {"pk": names[1], "n": 2}, None, {"pk": names[3], "n": 1},
        ]

    def test_several_tables(self, client, simple, ordered, pk):
        write(client, Actions(simple).put({"pk": pk}), Actions(ordered).put({"pk": pk, "sk": "a"}))
        assert simple.get({"pk": pk}) and ordered.get({"pk": pk, "sk": "a"})

    def test_a_hundred_actions_and_no_more(self, client, simple, act, pk):
        actions = [act.put({"pk": f"{pk}-{n}", "n": n}) for n in range(101)]
        write(client, *actions[:100])
        assert simple.get({"pk": f"{pk}-99"})["n"] == 99
        with invalid("less than or equal to 100"):
            write(client, *actions)

    def test_four_megabytes_and_no_more(self, client, act, pk):
        write(client, *(act.put({"pk": f"{pk}-{n}", "d": "x" * 380_000}) for n in range(10)))
        with invalid():
            write(client, *(act.put({"pk": f"{pk}-{n}", "d": "x" * 380_000}) for n in range(12)))

    def test_indexes_follow(self, client, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        act = Actions(table)
        write(client, act.put({"pk": "a", "group": "x"}), act.put({"pk": "b", "group": "x"}))

        def check():
            response = table.query("#g = :g", IndexName="byGroup", values={":g": "x"}, names={"#g": "group"})
            assert response["Count"] == 2

        eventually(check)


class TestCancelled:
    def test_nothing_is_written(self, client, simple, act, pk):
        simple.put({"pk": f"{pk}-b", "n": 1})
        reasons = cancelled(
            client,
            act.put({"pk": f"{pk}-a"}),
            act.update({"pk": f"{pk}-b"}, "SET n = :two", ConditionExpression="n = :two", values={":two": 2}),
            act.delete({"pk": f"{pk}-c"}),
        )
        assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed", "None"]
        assert reasons[1]["Message"] == "The conditional request failed"
        assert "Item" not in reasons[1]
        assert simple.get({"pk": f"{pk}-a"}) is None
        assert simple.get({"pk": f"{pk}-b"}) == {"pk": f"{pk}-b", "n": 1}

    def test_every_failure_has_its_reason(self, client, act, pk):
        never = {"ConditionExpression": "attribute_exists(pk)"}
        reasons = cancelled(
            client,
            act.put({"pk": f"{pk}-a"}, **never),
            act.check({"pk": f"{pk}-b"}, "attribute_not_exists(pk)"),
            act.delete({"pk": f"{pk}-c"}, **never),
            act.check({"pk": f"{pk}-d"}, "attribute_exists(pk)"),
        )
        assert [reason["Code"] for reason in reasons] == ["ConditionalCheckFailed", "None", "ConditionalCheckFailed", "ConditionalCheckFailed"]

    def test_the_reason_can_carry_the_item(self, client, simple, act, pk):
        simple.put({"pk": pk, "n": 1})
        [reason] = cancelled(client, act.put({"pk": pk}, ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"))
        assert plain(reason["Item"]) == {"pk": pk, "n": 1}

    def test_an_invalid_update(self, client, simple, act, pk):
        simple.put({"pk": pk, "s": "text"})
        reasons = cancelled(client, act.update({"pk": pk}, "SET n = absent + :one", values={":one": 1}), act.put({"pk": f"{pk}-other"}))
        assert [reason["Code"] for reason in reasons] == ["ValidationError", "None"]
        assert reasons[0]["Message"] == "The provided expression refers to an attribute that does not exist in the item"
        assert simple.get({"pk": f"{pk}-other"}) is None

    def test_only_the_first_bad_key_is_reported(self, client, act, pk):
        never = act.check({"pk": f"{pk}-c"}, "attribute_exists(pk)")
        reasons = cancelled(client, act.put({"pk": f"{pk}-a"}), act.put({"pk": 1}), act.put({"pk": 2}), never)
        assert [reason["Code"] for reason in reasons] == ["None", "ValidationError", "None", "None"]

    def test_an_empty_key_is_reported_immediately(self, client, act, pk):
        for action in (act.put({"pk": ""}), act.update({"pk": ""}, "SET n = :one", values={":one": 1}), act.delete({"pk": ""}),
                       act.check({"pk": ""}, "attribute_exists(pk)")):
            with refused("ValidationException", "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"):
                write(client, act.put({"pk": pk}), action)

    def test_a_key_of_another_schema(self, client, act, pk):
        with pytest.raises((client.exceptions.TransactionCanceledException, client.exceptions.ClientError)) as failure:
            write(client, act.put({"pk": pk}), act.delete({"pk": f"{pk}-b", "sk": "x"}))
        assert failure.value.response["Error"]["Code"] in ("TransactionCanceledException", "ValidationException")


class TestRefused:
    def test_one_item_twice(self, client, simple, act, pk):
        with invalid("Transaction request cannot include multiple operations on one item"):
            write(client, act.put({"pk": pk}), act.check({"pk": pk}, "attribute_not_exists(pk)"))
        assert simple.get({"pk": pk}) is None

    def test_nothing_to_do(self, client):
        with invalid("Member must have length greater than or equal to 1"):
            write(client)

    def test_an_unknown_table(self, client, act, pk):
        elsewhere = {"Put": {"TableName": "no-such-table", "Item": attributes({"pk": pk})}}
        with refused("ResourceNotFoundException", "Requested resource not found"):
            write(client, act.put({"pk": pk}), elsewhere)

    def test_an_action_that_is_none_or_two(self, client, act, pk):
        with invalid():
            write(client, {})
        with invalid():
            write(client, act.put({"pk": pk}) | act.delete({"pk": f"{pk}-b"}))

    def test_a_check_without_condition(self, client, simple, pk):
        with invalid():
            write(client, {"ConditionCheck": {"TableName": simple.name, "Key": attributes({"pk": pk})}})

    def test_expressions_are_checked_first(self, client, simple, act, pk):
        with invalid("Syntax error"):
            write(client, act.put({"pk": pk}), act.update({"pk": f"{pk}-b"}, "SET SET"))
        assert simple.get({"pk": pk}) is None


class TestTokens:
    def test_the_same_request_is_done_once(self, client, simple, act, pk):
        token = str(uuid.uuid4())
        for _ in range(3):
            write(client, act.update({"pk": pk}, "ADD n :one", values={":one": 1}), ClientRequestToken=token)
        assert simple.get({"pk": pk})["n"] == 1

    def test_another_token_is_another_request(self, client, simple, act, pk):
        for _ in range(2):
            write(client, act.update({"pk": pk}, "ADD n :one", values={":one": 1}), ClientRequestToken=str(uuid.uuid4()))
        assert simple.get({"pk": pk})["n"] == 2

    def test_another_request_under_the_same_token(self, client, act, pk):
        token = str(uuid.uuid4())
        write(client, act.put({"pk": pk, "n": 1}), ClientRequestToken=token)
        with refused("IdempotentParameterMismatchException"):
            write(client, act.put({"pk": pk, "n": 2}), ClientRequestToken=token)

    def test_a_cancelled_request_may_be_tried_again(self, client, simple, act, pk):
        token = str(uuid.uuid4())
        action = act.put({"pk": pk, "n": 1}, ConditionExpression="attribute_not_exists(pk)")
        simple.put({"pk": pk})
        cancelled(client, action, ClientRequestToken=token)
        simple.delete({"pk": pk})
        write(client, action, ClientRequestToken=token)
        assert simple.get({"pk": pk})["n"] == 1

    def test_a_token_has_at_most_36_characters(self, client, act, pk):
        with invalid("Member must have length less than or equal to 36"):
            write(client, act.put({"pk": pk}), ClientRequestToken="x" * 37)


class TestRead:
    def test_in_request_order_with_gaps(self, client, simple, act, pk):
        for n in range(3):
            simple.put({"pk": f"{pk}-{n}", "n": n, "extra": 1})
        gets = [act.get({"pk": f"{pk}-2"}), act.get({"pk": f"{pk}-none"}), act.get({"pk": f"{pk}-0"}, ProjectionExpression="n")]
        response = client.transact_get_items(TransactItems=gets)["Responses"]
        assert [plain(part["Item"]) if "Item" in part else None for part in response] == [{"pk": f"{pk}-2", "n": 2, "extra": 1}, None, {"n": 0}]

    def test_one_item_twice(self, client, act, pk):
        with invalid("Transaction request cannot include multiple operations on one item"):
            client.transact_get_items(TransactItems=[act.get({"pk": pk}), act.get({"pk": pk})])

    def test_limits(self, client, act, pk):
        with invalid("Member must have length greater than or equal to 1"):
            client.transact_get_items(TransactItems=[])
        client.transact_get_items(TransactItems=[act.get({"pk": f"{pk}-{n}"}) for n in range(100)])
        with invalid("less than or equal to 100"):
            client.transact_get_items(TransactItems=[act.get({"pk": f"{pk}-{n}"}) for n in range(101)])

    def test_an_unknown_table(self, client):
        with refused("ResourceNotFoundException"):
            client.transact_get_items(TransactItems=[{"Get": {"TableName": "no-such-table", "Key": attributes({"pk": "a"})}}])


def in_threads(count, work):
    """Runs work(0), work(1)… at the same time, and raises the first failure."""
    failures = []

    def run(n):
        try:
            work(n)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class TestConcurrency:
    ACCOUNTS, START = 5, 100

    def transfer(self, client, act, name, draw):
        """Moves an amount between two accounts; returns whether it was moved."""
        source, target = draw.sample(range(self.ACCOUNTS), 2)
        amount = {":x": draw.randint(1, 60)}
        while True:
            try:
                write(
                    client,
                    act.update({"pk": name(source)}, "SET balance = balance - :x", ConditionExpression="balance >= :x", values=amount),
                    act.update({"pk": name(target)}, "SET balance = balance + :x", values=amount),
                )
                return True
            except client.exceptions.TransactionCanceledException as failure:
                codes = {reason["Code"] for reason in failure.response["CancellationReasons"]}
                if "ConditionalCheckFailed" in codes:
                    return False
                assert codes <= {"None", "TransactionConflict"}

    def test_transfers_keep_the_total(self, client, simple, act, pk):
        name = lambda n: f"{pk}-{n}"
        for n in range(self.ACCOUNTS):
            simple.put({"pk": name(n), "balance": self.START})
        moved, totals, finished = [], [], []

        def transfer_often(n):
            draw = random.Random(n)
            try:
                moved.append(sum(self.transfer(client, act, name, draw) for _ in range(40)))
            finally:
                finished.append(n)

        def watch():
            gets = [act.get({"pk": name(n)}) for n in range(self.ACCOUNTS)]
            while len(finished) < 8:
                try:
                    response = client.transact_get_items(TransactItems=gets)["Responses"]
                    totals.append(sum(plain(part["Item"])["balance"] for part in response))
                except client.exceptions.TransactionCanceledException:
                    pass  # it conflicted with a transfer

        in_threads(9, lambda n: transfer_often(n) if n < 8 else watch())
        balances = [simple.get({"pk": name(n)})["balance"] for n in range(self.ACCOUNTS)]
        assert sum(balances) == self.ACCOUNTS * self.START
        assert min(balances) >= 0
        assert sum(moved) > 0
        assert set(totals) <= {self.ACCOUNTS * self.START}

    def test_no_count_is_lost(self, simple, pk):
        def work(_):
            for _ in range(50):
                simple.update({"pk": pk}, "ADD n :one", values={":one": 1})

        in_threads(8, work)
        assert simple.get({"pk": pk})["n"] == 400

    def test_one_of_many_creates_the_item(self, client, simple, pk):
        winners = []

        def work(n):
            try:
                simple.put({"pk": pk, "by": n}, ConditionExpression="attribute_not_exists(pk)")
                winners.append(n)
            except client.exceptions.ConditionalCheckFailedException:
                pass

        in_threads(16, work)
        assert len(winners) == 1 and simple.get({"pk": pk})["by"] == winners[0]

    def test_optimistic_locking_loses_no_change(self, client, simple, pk):
        simple.put({"pk": pk, "version": 0, "log": []})

        def work(n):
            for step in range(10):
                while True:
                    seen = simple.get({"pk": pk})
                    try:
                        simple.put(
                            seen | {"version": seen["version"] + 1, "log": seen["log"] + [f"{n}.{step}"]},
                            ConditionExpression="version = :seen",
                            values={":seen": seen["version"]},
                        )
                        break
                    except client.exceptions.ConditionalCheckFailedException:
                        continue

        in_threads(4, work)
        item = simple.get({"pk": pk})
        assert item["version"] == 40
        assert sorted(item["log"]) == sorted(f"{n}.{step}" for n in range(4) for step in range(10))
