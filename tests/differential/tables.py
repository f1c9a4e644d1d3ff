"""The tables of both databases, and the values of their keys."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Index:
    name: str
    hash: str
    range: str | None
    projection: str
    included: tuple = ()
    is_global: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    hash: str
    range: str | None
    types: dict
    indexes: tuple = field(default=())

    @property
    def key(self):
        return [name for name in (self.hash, self.range) if name]

    def create(self):
        """The CreateTable request."""
        request = {
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in self.types.items()
            ],
            "KeySchema": key_schema(self.hash, self.range),
        }
        for member, is_global in (("LocalSecondaryIndexes", False), ("GlobalSecondaryIndexes", True)):
            indexes = [describe(index) for index in self.indexes if index.is_global == is_global]
            if indexes:
                request[member] = indexes
        return request


def key_schema(partition, sort):
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    if sort:
        schema.append({"AttributeName": sort, "KeyType": "RANGE"})
    return schema


def describe(index):
    projection = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {
        "IndexName": index.name,
        "KeySchema": key_schema(index.hash, index.range),
        "Projection": projection,
    }


TABLES = [
    Table("Plain", "pk", None, {"pk": "S"}),
    Table(
        "Texts",
        "pk",
        "sk",
        {"pk": "S", "sk": "S", "g": "S", "h": "S", "k": "S"},
        (
            Index("lsiKeys", "pk", "k", "KEYS_ONLY"),
            Index("lsiSome", "pk", "h", "INCLUDE", ("x",)),
            Index("gsiKeys", "g", None, "KEYS_ONLY", is_global=True),
            Index("gsiSome", "g", "h", "INCLUDE", ("x", "m"), is_global=True),
            Index("gsiAll", "h", "sk", "ALL", is_global=True),
        ),
    ),
    Table(
        "Numbers",
        "pk",
        "sk",
        {"pk": "S", "sk": "N", "g": "N", "k": "N"},
        (
            Index("lsiAll", "pk", "k", "ALL"),
            Index("gsiAll", "g", "k", "ALL", is_global=True),
        ),
    ),
    Table(
        "Bytes",
        "pk",
        "sk",
        {"pk": "B", "sk": "B", "g": "B"},
        (Index("gsiKeys", "g", None, "KEYS_ONLY", is_global=True),),
    ),
]

# All valid key values of requests, so that a table can be emptied without reading it.
KEY_VALUES = {
    "S": [{"S": "a"}, {"S": "b"}, {"S": "ab"}, {"S": "é"}],
    "N": [{"N": "0"}, {"N": "1"}, {"N": "-2.5"}, {"N": "10"}],
    "B": [{"B": "YQ=="}, {"B": "YWI="}, {"B": "/w=="}],
}


def all_keys(table):
    keys = [{}]
    for name in table.key:
        keys = [{**key, name: value} for key in keys for value in KEY_VALUES[table.types[name]]]
    return keys
