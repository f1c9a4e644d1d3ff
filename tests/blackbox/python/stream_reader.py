"""A reader of streams: parents before children, page by page; and a table rebuilt from the records."""


def shards(streams, arn, limit=2):
    """All shards of a stream, page by page, in the order in which they must be read."""
    request = {"StreamArn": arn, "Limit": limit}
    found = []
    while True:
        page = streams.describe_stream(**request)["StreamDescription"]
        found += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            break
        request["ExclusiveStartShardId"] = page["LastEvaluatedShardId"]
    read = []
    known = {shard["ShardId"] for shard in found}
    while len(read) < len(found):
        done = {shard["ShardId"] for shard in read}
        ready = [
            shard
            for shard in found
            if shard["ShardId"] not in done
            and (shard.get("ParentShardId") not in known or shard.get("ParentShardId") in done)
        ]
        assert ready, "the lineage of the shards has a cycle"
        read += ready
    return read


def records_of(streams, arn, shard, limit=1000, **position):
    """The records of one shard, up to its end or to the first empty page."""
    position = position or {"ShardIteratorType": "TRIM_HORIZON"}
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], **position)["ShardIterator"]
    while iterator:
        page = streams.get_records(ShardIterator=iterator, Limit=limit)
        yield from page["Records"]
        iterator = page.get("NextShardIterator") if page["Records"] else None


def records(streams, arn, limit=1000):
    """All records of a stream; those of one item are in order."""
    return [record for shard in shards(streams, arn) for record in records_of(streams, arn, shard, limit)]


def key_of(keys):
    return tuple(sorted((name, *value.items()) for name, value in keys.items()))


def replay(read, table=None):
    """The table that results from records with new and old images. Each must be consistent with those before it."""
    table = dict(table or {})
    numbers = {}
    for record in read:
        body = record["dynamodb"]
        key, number = key_of(body["Keys"]), int(body["SequenceNumber"])
        assert number > numbers.get(key, 0), f"a record of {key} is repeated or out of order"
        numbers[key] = number
        assert body.get("OldImage") == table.get(key), f"before {number}, {key} was different"
        assert body.get("NewImage") != body.get("OldImage"), f"{number} changes nothing"
        events = {(False, True): "INSERT", (True, True): "MODIFY", (True, False): "REMOVE"}
        assert record["eventName"] == events[("OldImage" in body, "NewImage" in body)]
        if "NewImage" in body:
            table[key] = body["NewImage"]
        else:
            del table[key]
    ids = [record["eventID"] for record in read]
    assert len(set(ids)) == len(ids), "two records have one id"
    return table
