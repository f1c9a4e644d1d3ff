"""Time to live: expired items are deleted within seconds, others stay, and the setting can change once an hour."""

import time

import pytest

from dynamo import eventually, index, invalid, refused


def set_ttl(client, table, enabled, name="expires"):
    specification = {"Enabled": enabled, "AttributeName": name}
    return client.update_time_to_live(TableName=table.name, TimeToLiveSpecification=specification)["TimeToLiveSpecification"]


def state(client, table):
    return client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]


def until_state(client, table, expected):
    def check():
        assert state(client, table)["TimeToLiveStatus"] == expected

    eventually(check, 10)


class TestSetting:
    def test_initially_disabled(self, client, make_table):
        assert state(client, make_table()) == {"TimeToLiveStatus": "DISABLED"}

    def test_enabled_and_not_disabled_within_the_hour(self, client, make_table):
        table = make_table()
        assert set_ttl(client, table, True) == {"Enabled": True, "AttributeName": "expires"}
        assert state(client, table)["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
        assert state(client, table)["AttributeName"] == "expires"
        until_state(client, table, "ENABLED")
        with invalid("Time to live has been modified multiple times within a fixed interval"):
            set_ttl(client, table, False)
        with invalid("TimeToLive is active on a different AttributeName: current AttributeName is expires"):
            set_ttl(client, table, False, "other")

    def test_twice_the_same(self, client, make_table):
        table = make_table()
        with invalid("TimeToLive is already disabled"):
            set_ttl(client, table, False)
        set_ttl(client, table, True)
        until_state(client, table, "ENABLED")
        with invalid("TimeToLive is already enabled"):
            set_ttl(client, table, True)

    def test_refused(self, client, make_table):
        with invalid():
            set_ttl(client, make_table(), True, "")
        with refused("ResourceNotFoundException"):
            client.update_time_to_live(TableName="no-such-table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "a"})
        with refused("ResourceNotFoundException"):
            client.describe_time_to_live(TableName="no-such-table")


@pytest.mark.slow
class TestExpiry:
    def test_expired_items_are_deleted_and_others_stay(self, client, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        set_ttl(client, table, True)
        until_state(client, table, "ENABLED")
        now = int(time.time())
        table.put({"pk": "past", "expires": now - 60, "group": "g"})
        table.put({"pk": "soon", "expires": now + 2, "group": "g"})
        table.put({"pk": "future", "expires": now + 3600, "group": "g"})
        table.put({"pk": "never", "group": "g"})
        table.put({"pk": "text", "expires": str(now - 60), "group": "g"})
        table.put({"pk": "long ago", "expires": now - 6 * 366 * 24 * 3600, "group": "g"})
        stay = ["future", "long ago", "never", "text"]

        def gone():
            assert sorted(item["pk"] for item in table.scan()["Items"]) == stay
            found = table.query("#g = :g", IndexName="byGroup", values={":g": "g"}, names={"#g": "group"})["Items"]
            assert sorted(item["pk"] for item in found) == stay

        eventually(gone, 15)

    def test_an_item_whose_time_is_extended_stays(self, client, make_table):
        table = make_table()
        set_ttl(client, table, True)
        until_state(client, table, "ENABLED")
        table.put({"pk": "a", "expires": int(time.time()) + 2})
        table.put({"pk": "b", "expires": int(time.time()) + 2})
        table.update({"pk": "a"}, "SET expires = :later", values={":later": int(time.time()) + 3600})

        def gone():
            assert table.get({"pk": "b"}) is None

        eventually(gone, 15)
        assert table.get({"pk": "a"})

    def test_items_written_before_the_setting_expire_too(self, client, make_table):
        table = make_table()
        table.put({"pk": "old", "expires": int(time.time()) - 60})
        set_ttl(client, table, True)

        def gone():
            assert table.get({"pk": "old"}) is None

        eventually(gone, 15)
