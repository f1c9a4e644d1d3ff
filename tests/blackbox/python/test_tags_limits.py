"""Tags of a table, the account's limits, and the endpoints."""

import uuid

import pytest

from dynamo import invalid, refused, table_request, until_active


@pytest.fixture
def arn(client, make_table):
    return client.describe_table(TableName=make_table().name)["Table"]["TableArn"]


def tags(client, arn):
    pages = client.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn)
    return {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}


def as_tags(plain):
    return [{"Key": key, "Value": value} for key, value in plain.items()]


class TestTags:
    def test_initially_none(self, client, arn):
        assert tags(client, arn) == {}

    def test_added_changed_and_removed(self, client, arn):
        client.tag_resource(ResourceArn=arn, Tags=as_tags({"team": "red", "stage": "test"}))
        assert tags(client, arn) == {"team": "red", "stage": "test"}
        client.tag_resource(ResourceArn=arn, Tags=as_tags({"team": "blue", "empty": ""}))
        assert tags(client, arn) == {"team": "blue", "stage": "test", "empty": ""}
        client.untag_resource(ResourceArn=arn, TagKeys=["stage", "never there"])
        assert tags(client, arn) == {"team": "blue", "empty": ""}

    def test_given_at_creation(self, client):
        name = f"tagged-{uuid.uuid4().hex[:8]}"
        created = client.create_table(**table_request(name, "pk:S", Tags=as_tags({"a": "b"})))["TableDescription"]
        until_active(client, name)
        assert tags(client, created["TableArn"]) == {"a": "b"}
        client.delete_table(TableName=name)

    def test_fifty_and_no_more(self, client, arn):
        client.tag_resource(ResourceArn=arn, Tags=as_tags({f"key{n}": "v" for n in range(50)}))
        assert len(client.list_tags_of_resource(ResourceArn=arn)["Tags"]) == 50
        with pytest.raises(client.exceptions.ClientError) as failure:
            client.tag_resource(ResourceArn=arn, Tags=as_tags({"one more": "v"}))
        assert failure.value.response["Error"]["Code"] in ("ValidationException", "LimitExceededException")
        assert len(tags(client, arn)) == 50

    @pytest.mark.parametrize("key, value", [("", "v"), ("k" * 129, "v"), ("k", "v" * 257), ("aws:reserved", "v")])
    def test_refused(self, client, arn, key, value):
        with invalid():
            client.tag_resource(ResourceArn=arn, Tags=as_tags({key: value}))
        assert tags(client, arn) == {}

    def test_no_arn(self, client):
        with invalid():
            client.tag_resource(ResourceArn="not an arn", Tags=as_tags({"a": "b"}))

    def test_an_unknown_table(self, client, arn):
        with refused("ResourceNotFoundException"):
            client.tag_resource(ResourceArn=arn + "-nowhere", Tags=as_tags({"a": "b"}))
        with refused("ResourceNotFoundException", "Requested resource not found"):
            client.untag_resource(ResourceArn=arn + "-nowhere", TagKeys=["a"])


class TestAccount:
    def test_limits(self, client):
        limits = client.describe_limits()
        names = [f"{scope}Max{kind}CapacityUnits" for scope in ("Account", "Table") for kind in ("Read", "Write")]
        assert all(isinstance(limits[name], int) and limits[name] >= 10_000 for name in names)
        assert limits["TableMaxReadCapacityUnits"] <= limits["AccountMaxReadCapacityUnits"]

    def test_endpoints(self, client):
        [endpoint] = client.describe_endpoints()["Endpoints"]
        assert endpoint["Address"] and endpoint["CachePeriodInMinutes"] > 0
