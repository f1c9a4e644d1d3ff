"""Helpers for the tests of backups and point-in-time recovery: a table with indexes, and items of all types."""

from dynamo import index
from test_exports_imports import VALUES


def back_up(client, table, name="a-backup"):
    return client.create_backup(TableName=table.name, BackupName=name)["BackupDetails"]


def described(client, backup):
    return client.describe_backup(BackupArn=backup["BackupArn"])["BackupDescription"]


def listed(client, **filters):
    return [backup["BackupArn"] for backup in client.list_backups(**filters)["BackupSummaries"]]


def item(number):
    """An item whose value has one of the types, in turn."""
    return {"pk": {"S": f"p{number % 7}"}, "sk": {"N": str(number)}, "g": {"S": f"g{number % 3}"}, "l": {"S": f"l{number % 5}"},
            "x": VALUES[number % len(VALUES)]}


def write(table, numbers):
    for number in numbers:
        table.client.put_item(TableName=table.name, Item=item(number))


def indexed_table(make_table, **more):
    return make_table("pk:S sk:N", also="g:S l:S", indexes=[index("byG", "g sk"), index("keys", "g", "KEYS_ONLY")],
                      local=[index("byL", "pk l")], **more)


def throughput(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def description(table):
    return table.client.describe_table(TableName=table.name)["Table"]


def index_names(table, kind="GlobalSecondaryIndexes"):
    return sorted(each["IndexName"] for each in description(table).get(kind, []))
