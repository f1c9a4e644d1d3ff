"""A stream of random requests from a seed."""

import random

from expressions import Expression, Generator
from statements import StatementGenerator
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
        self.random = random.Random(seed)
        self.generator = Generator(self.random)
        self.statements = StatementGenerator(self.generator)

    def next(self):
        form = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
        return getattr(self, form)(self.generator.pick(TABLES))

    def with_condition(self, request, operation=None):
        generator = self.generator
        expression = Expression(generator)
        if generator.chance(0.5):
            request["ConditionExpression"] = expression.condition()
        if operation and generator.chance(0.6):
            request["ReturnValues"] = generator.pick(RETURN_VALUES[operation])
        if generator.chance(0.3):
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return request, expression

    def put_item(self, table):
        request = {"TableName": table.name, "Item": self.generator.item(table)}
        request, expression = self.with_condition(request, "PutItem")
        return "PutItem", {**request, **expression.members()}

    def delete_item(self, table):
        request = {"TableName": table.name, "Key": self.generator.key(table)}
        request, expression = self.with_condition(request, "DeleteItem")
        return "DeleteItem", {**request, **expression.members()}

    def update_item(self, table):
        request = {"TableName": table.name, "Key": self.generator.key(table)}
        request, expression = self.with_condition(request, "UpdateItem")
        if self.generator.chance(0.98):
            request["UpdateExpression"] = expression.update(table)
        return "UpdateItem", {**request, **expression.members()}

    def get_item(self, table):
        request = {"TableName": table.name, "Key": self.generator.key(table)}
        expression = Expression(self.generator)
        if self.generator.chance(0.6):
            request["ProjectionExpression"] = expression.projection()
        return "GetItem", {**request, **expression.members()}

    def read(self, table, expression):
        """The common part of queries and scans, and the index."""
        generator = self.generator
        request = {"TableName": table.name}
        index = generator.pick(table.indexes) if table.indexes and generator.chance(0.6) else None
        if index:
            request["IndexName"] = index.name
        if generator.chance(0.005):
            request["IndexName"] = "nowhere"
        if generator.chance(0.4):
            request["FilterExpression"] = expression.condition()
        if generator.chance(0.25):
            request["ProjectionExpression"] = expression.projection()
        if generator.chance(0.2):
            request["Select"] = generator.pick(["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"])
        if generator.chance(0.1):
            request["ConsistentRead"] = True
        if generator.chance(0.1):
            request["ExclusiveStartKey"] = self.start_key(table, index)
        return request, index

    def start_key(self, table, index):
        generator = self.generator
        names = dict.fromkeys(table.key + ([index.hash, index.range] if index else []))
        names.pop(None, None)
        key = {name: generator.key_value(table.types[name]) for name in names}
        if generator.chance(0.1):
            key[generator.pick(list(key))] = generator.pick([{"S": ""}, {"B": ""}, {"S": "a"}, {"N": "1"}])
        if generator.chance(0.05):
            key.popitem()
        if generator.chance(0.05):
            key["y"] = {"S": "a"}
        return key

    def query(self, table):
        generator = self.generator
        expression = Expression(generator)
        request, index = self.read(table, expression)
        partition, sort = (index.hash, index.range) if index else (table.hash, table.range)
        request["KeyConditionExpression"] = expression.key_condition(table, partition, sort)
        if generator.chance(0.3):
            request["ScanIndexForward"] = generator.pick([True, False])
        # The order of index entries with equal keys is unspecified.
        if generator.chance(0.2) and not index:
            request["Limit"] = generator.random.randint(1, 3)
        return "Query", {**request, **expression.members()}

    def scan(self, table):
        expression = Expression(self.generator)
        request, _ = self.read(table, expression)
        return "Scan", {**request, **expression.members()}

    def batch_get_item(self, table):
        generator = self.generator
        keys_and_attributes = {"Keys": [generator.key(table) for _ in range(generator.random.randint(1, 4))]}
        expression = Expression(generator)
        if generator.chance(0.4):
            keys_and_attributes["ProjectionExpression"] = expression.projection()
        if expression.names:
            keys_and_attributes["ExpressionAttributeNames"] = expression.names
        return "BatchGetItem", {"RequestItems": {table.name: keys_and_attributes}}

    def batch_write_item(self, table):
        generator = self.generator
        write = lambda: generator.pick(
            [
                {"PutRequest": {"Item": generator.item(table)}},
                {"DeleteRequest": {"Key": generator.key(table)}},
            ]
        )
        return "BatchWriteItem", {"RequestItems": {table.name: [write() for _ in range(generator.random.randint(1, 3))]}}

    def transact_write_items(self, table):
        generator = self.generator
        return "TransactWriteItems", {
            "TransactItems": [self.action(generator.pick(TABLES) if generator.chance(0.5) else table) for _ in range(generator.random.randint(1, 3))]
        }

    def action(self, table):
        generator = self.generator
        form = generator.pick(["Put", "Update", "Delete", "ConditionCheck"])
        request = {"TableName": table.name}
        if form == "Put":
            request["Item"] = generator.item(table)
        else:
            request["Key"] = generator.key(table)
        request, expression = self.with_condition(request)
        if form == "Update":
            request["UpdateExpression"] = expression.update(table)
        if form == "ConditionCheck" and "ConditionExpression" not in request:
            request["ConditionExpression"] = expression.condition()
        return {form: {**request, **expression.members()}}

    def transact_get_items(self, table):
        generator = self.generator
        gets = []
        for _ in range(generator.random.randint(1, 3)):
            expression = Expression(generator)
            get = {"TableName": table.name, "Key": generator.key(table)}
            if generator.chance(0.5):
                get["ProjectionExpression"] = expression.projection()
            if expression.names:
                get["ExpressionAttributeNames"] = expression.names
            gets.append({"Get": get})
        return "TransactGetItems", {"TransactItems": gets}

    def execute_statement(self, table):
        return "ExecuteStatement", self.statements.statement(table)

    def batch_execute_statement(self, table):
        generator = self.generator
        reads = generator.chance(0.5)
        statements = [self.statements.statement(table, reads, not reads, True) for _ in range(generator.random.randint(1, 3))]
        return "BatchExecuteStatement", {"Statements": statements}

    def execute_transaction(self, table):
        generator = self.generator
        reads = generator.chance(0.4)
        statements = [self.statements.statement(table, reads, not reads, True) for _ in range(generator.random.randint(1, 3))]
        return "ExecuteTransaction", {"TransactStatements": statements}

    def legacy(self, table):
        """The legacy parameters, which preceded expressions."""
        generator = self.generator
        compare = lambda: generator.pick(
            [
                {"ComparisonOperator": generator.pick(["EQ", "NE", "LT", "GE", "CONTAINS", "BEGINS_WITH"]), "AttributeValueList": [generator.value(0)]},
                {"ComparisonOperator": generator.pick(["NULL", "NOT_NULL"])},
                {"ComparisonOperator": "BETWEEN", "AttributeValueList": [generator.value_of("N"), generator.value_of("N")]},
                {"ComparisonOperator": "IN", "AttributeValueList": [generator.value_of("S"), generator.value_of("S")]},
            ]
        )
        conditions = lambda: {generator.pick(["x", "y", "n"]): compare() for _ in range(generator.pick([1, 2]))}
        form = generator.pick(["put", "update", "scan", "get"])
        if form == "put":
            return "PutItem", {"TableName": table.name, "Item": generator.item(table), "Expected": conditions()}
        if form == "scan":
            return "Scan", {"TableName": table.name, "ScanFilter": conditions()}
        if form == "get":
            return "GetItem", {"TableName": table.name, "Key": generator.key(table), "AttributesToGet": ["x", "m"]}
        change = lambda: generator.pick(
            [
                {"Action": "PUT", "Value": generator.value(1)},
                {"Action": "ADD", "Value": generator.value_of(generator.pick(["N", "SS", "L", "S"]))},
                {"Action": "DELETE"},
                {"Action": "DELETE", "Value": generator.value_of(generator.pick(["SS", "NS", "S"]))},
            ]
        )
        changes = {generator.pick(["x", "y", "n", "s"]): change() for _ in range(generator.pick([1, 2]))}
        return "UpdateItem", {"TableName": table.name, "Key": generator.key(table), "AttributeUpdates": changes, "ReturnValues": "ALL_NEW"}
