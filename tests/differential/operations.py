"""Random requests, one operation after the other, from one seed."""

import random as randomness

from expressions import Expression, Maker
from statements import StatementMaker
from tables import TABLES

RETURN_VALUES = {
    "PutItem": ["NONE", "ALL_OLD", "ALL_OLD", "ALL_NEW"],
    "DeleteItem": ["NONE", "ALL_OLD", "ALL_OLD", "UPDATED_NEW"],
    "UpdateItem": ["NONE", "ALL_OLD", "ALL_NEW", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"],
}
WEIGHTS = {
    "put_item": 14,
    "update_item": 20,
    "delete_item": 5,
    "get_item": 6,
    "query": 16,
    "scan": 10,
    "batch_get_item": 2,
    "batch_write_item": 3,
    "transact_write_items": 4,
    "transact_get_items": 3,
    "execute_statement": 12,
    "batch_execute_statement": 2,
    "execute_transaction": 2,
    "legacy": 3,
}


class Requests:
    """An endless stream of (operation, request)."""

    def __init__(self, seed):
        self.random = randomness.Random(seed)
        self.maker = Maker(self.random)
        self.statements = StatementMaker(self.maker)

    def next(self):
        form = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
        return getattr(self, form)(self.maker.pick(TABLES))

    def with_condition(self, request, operation=None):
        maker = self.maker
        expression = Expression(maker)
        if maker.chance(0.5):
            request["ConditionExpression"] = expression.condition()
        if operation and maker.chance(0.6):
            request["ReturnValues"] = maker.pick(RETURN_VALUES[operation])
        if maker.chance(0.3):
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return request, expression

    def put_item(self, table):
        request = {"TableName": table.name, "Item": self.maker.item(table)}
        request, expression = self.with_condition(request, "PutItem")
        return "PutItem", {**request, **expression.members()}

    def delete_item(self, table):
        request = {"TableName": table.name, "Key": self.maker.key(table)}
        request, expression = self.with_condition(request, "DeleteItem")
        return "DeleteItem", {**request, **expression.members()}

    def update_item(self, table):
        request = {"TableName": table.name, "Key": self.maker.key(table)}
        request, expression = self.with_condition(request, "UpdateItem")
        if self.maker.chance(0.98):
            request["UpdateExpression"] = expression.update(table)
        return "UpdateItem", {**request, **expression.members()}

    def get_item(self, table):
        request = {"TableName": table.name, "Key": self.maker.key(table)}
        expression = Expression(self.maker)
        if self.maker.chance(0.6):
            request["ProjectionExpression"] = expression.projection()
        return "GetItem", {**request, **expression.members()}

    def read(self, table, expression):
        """What queries and scans have in common; the index is the second."""
        maker = self.maker
        request = {"TableName": table.name}
        index = maker.pick(table.indexes) if table.indexes and maker.chance(0.6) else None
        if index:
            request["IndexName"] = index.name
        if maker.chance(0.005):
            request["IndexName"] = "nowhere"
        if maker.chance(0.4):
            request["FilterExpression"] = expression.condition()
        if maker.chance(0.25):
            request["ProjectionExpression"] = expression.projection()
        if maker.chance(0.2):
            request["Select"] = maker.pick(["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"])
        if maker.chance(0.1):
            request["ConsistentRead"] = True
        if maker.chance(0.1):
            request["ExclusiveStartKey"] = self.start_key(table, index)
        return request, index

    def start_key(self, table, index):
        maker = self.maker
        names = dict.fromkeys(table.key + ([index.hash, index.range] if index else []))
        names.pop(None, None)
        key = {name: maker.key_value(table.types[name]) for name in names}
        if maker.chance(0.1):
            key[maker.pick(list(key))] = maker.pick([{"S": ""}, {"B": ""}, {"S": "a"}, {"N": "1"}])
        if maker.chance(0.05):
            key.popitem()
        if maker.chance(0.05):
            key["y"] = {"S": "a"}
        return key

    def query(self, table):
        maker = self.maker
        expression = Expression(maker)
        request, index = self.read(table, expression)
        partition, sort = (index.hash, index.range) if index else (table.hash, table.range)
        request["KeyConditionExpression"] = expression.key_condition(table, partition, sort)
        if maker.chance(0.3):
            request["ScanIndexForward"] = maker.pick([True, False])
        # Entries of an index with equal keys have no order that is promised.
        if maker.chance(0.2) and not index:
            request["Limit"] = maker.random.randint(1, 3)
        return "Query", {**request, **expression.members()}

    def scan(self, table):
        expression = Expression(self.maker)
        request, _ = self.read(table, expression)
        return "Scan", {**request, **expression.members()}

    def batch_get_item(self, table):
        maker = self.maker
        wanted = {"Keys": [maker.key(table) for _ in range(maker.random.randint(1, 4))]}
        expression = Expression(maker)
        if maker.chance(0.4):
            wanted["ProjectionExpression"] = expression.projection()
        if expression.names:
            wanted["ExpressionAttributeNames"] = expression.names
        return "BatchGetItem", {"RequestItems": {table.name: wanted}}

    def batch_write_item(self, table):
        maker = self.maker
        write = lambda: maker.pick(
            [
                {"PutRequest": {"Item": maker.item(table)}},
                {"DeleteRequest": {"Key": maker.key(table)}},
            ]
        )
        return "BatchWriteItem", {"RequestItems": {table.name: [write() for _ in range(maker.random.randint(1, 3))]}}

    def transact_write_items(self, table):
        maker = self.maker
        return "TransactWriteItems", {
            "TransactItems": [self.action(maker.pick(TABLES) if maker.chance(0.5) else table) for _ in range(maker.random.randint(1, 3))]
        }

    def action(self, table):
        maker = self.maker
        form = maker.pick(["Put", "Update", "Delete", "ConditionCheck"])
        request = {"TableName": table.name}
        if form == "Put":
            request["Item"] = maker.item(table)
        else:
            request["Key"] = maker.key(table)
        request, expression = self.with_condition(request)
        if form == "Update":
            request["UpdateExpression"] = expression.update(table)
        if form == "ConditionCheck" and "ConditionExpression" not in request:
            request["ConditionExpression"] = expression.condition()
        return {form: {**request, **expression.members()}}

    def transact_get_items(self, table):
        maker = self.maker
        gets = []
        for _ in range(maker.random.randint(1, 3)):
            expression = Expression(maker)
            get = {"TableName": table.name, "Key": maker.key(table)}
            if maker.chance(0.5):
                get["ProjectionExpression"] = expression.projection()
            if expression.names:
                get["ExpressionAttributeNames"] = expression.names
            gets.append({"Get": get})
        return "TransactGetItems", {"TransactItems": gets}

    def execute_statement(self, table):
        return "ExecuteStatement", self.statements.statement(table)

    def batch_execute_statement(self, table):
        maker = self.maker
        reads = maker.chance(0.5)
        statements = [self.statements.statement(table, reads, not reads, True) for _ in range(maker.random.randint(1, 3))]
        return "BatchExecuteStatement", {"Statements": statements}

    def execute_transaction(self, table):
        maker = self.maker
        reads = maker.chance(0.4)
        statements = [self.statements.statement(table, reads, not reads, True) for _ in range(maker.random.randint(1, 3))]
        return "ExecuteTransaction", {"TransactStatements": statements}

    def legacy(self, table):
        """The parameters that came before expressions."""
        maker = self.maker
        compare = lambda: maker.pick(
            [
                {"ComparisonOperator": maker.pick(["EQ", "NE", "LT", "GE", "CONTAINS", "BEGINS_WITH"]), "AttributeValueList": [maker.value(0)]},
                {"ComparisonOperator": maker.pick(["NULL", "NOT_NULL"])},
                {"ComparisonOperator": "BETWEEN", "AttributeValueList": [maker.value_of("N"), maker.value_of("N")]},
                {"ComparisonOperator": "IN", "AttributeValueList": [maker.value_of("S"), maker.value_of("S")]},
            ]
        )
        conditions = lambda: {maker.pick(["x", "y", "n"]): compare() for _ in range(maker.pick([1, 2]))}
        form = maker.pick(["put", "update", "scan", "get"])
        if form == "put":
            return "PutItem", {"TableName": table.name, "Item": maker.item(table), "Expected": conditions()}
        if form == "scan":
            return "Scan", {"TableName": table.name, "ScanFilter": conditions()}
        if form == "get":
            return "GetItem", {"TableName": table.name, "Key": maker.key(table), "AttributesToGet": ["x", "m"]}
        change = lambda: maker.pick(
            [
                {"Action": "PUT", "Value": maker.value(1)},
                {"Action": "ADD", "Value": maker.value_of(maker.pick(["N", "SS", "L", "S"]))},
                {"Action": "DELETE"},
                {"Action": "DELETE", "Value": maker.value_of(maker.pick(["SS", "NS", "S"]))},
            ]
        )
        changes = {maker.pick(["x", "y", "n", "s"]): change() for _ in range(maker.pick([1, 2]))}
        return "UpdateItem", {"TableName": table.name, "Key": maker.key(table), "AttributeUpdates": changes, "ReturnValues": "ALL_NEW"}
