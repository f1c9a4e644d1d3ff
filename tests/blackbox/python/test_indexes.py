"""Secondary indexes: their content, projections and queries, and how they are created and deleted."""

import time

import pytest

from dynamo import attributes, column, eventually, index, invalid, plain, refused, until_active


def read(table, name, condition, expected, **more):
    """Queries an index until it holds what is expected, in order of `pk`, or as given by `by`."""
    by = more.pop("by", "pk")

    def check():
        response = table.query(condition, IndexName=name, **dict(more))
        assert column(response, by) == expected
        return response

    return eventually(check)


@pytest.fixture(scope="module")
def albums(make_table):
    table = make_table(
        "pk:S sk:S",
        also="genre:S year:N rating:N",
        indexes=[
            index("byGenre", "genre year"),
            index("genreKeys", "genre", "KEYS_ONLY"),
            index("genreTitle", "genre year", ["title"]),
        ],
        local=[index("byRating", "pk rating", "KEYS_ONLY"), index("byYear", "pk year", ["title"])],
    )
    table.fill([
        {"pk": "miles", "sk": "1", "genre": "jazz", "year": 1959, "rating": 10, "title": "Kind of Blue", "sold": 5},
        {"pk": "miles", "sk": "2", "genre": "fusion", "year": 1970, "rating": 9, "title": "Bitches Brew", "sold": 1},
        {"pk": "miles", "sk": "3", "year": 1949, "title": "Unfiled"},
        {"pk": "coltrane", "sk": "1", "genre": "jazz", "year": 1965, "rating": 10, "title": "A Love Supreme", "sold": 2},
        {"pk": "mingus", "sk": "1", "genre": "jazz", "year": 1959, "rating": 9, "title": "Ah Um", "sold": 3},
        {"pk": "nobody", "sk": "1", "genre": "jazz", "title": "No Year"},
    ])
    return table


class TestGlobal:
    def test_items_by_another_key_in_another_order(self, albums):
        response = read(albums, "byGenre", "genre = :g AND #y > :y", ["coltrane"], values={":g": "jazz", ":y": 1960}, names={"#y": "year"})
        assert response["Items"][0]["sold"] == 2

    def test_items_without_the_whole_index_key_are_absent(self, albums):
        def check():
            response = albums.query("genre = :g", IndexName="byGenre", values={":g": "jazz"})
            assert sorted(column(response, "pk")) == ["coltrane", "miles", "mingus"]
            assert column(response, "year") == [1959, 1959, 1965]

        eventually(check)

    def test_an_index_without_sort_key_has_all_with_the_attribute(self, albums):
        def check():
            response = albums.query("genre = :g", IndexName="genreKeys", values={":g": "jazz"})
            assert sorted(column(response, "pk")) == ["coltrane", "miles", "mingus", "nobody"]

        eventually(check)

    def test_projections(self, albums):
        def names(index_name):
            response = albums.query("genre = :g", IndexName=index_name, values={":g": "fusion"})
            assert response["Count"] == 1
            return set(response["Items"][0])

        assert eventually(lambda: names("genreKeys")) == {"pk", "sk", "genre"}
        assert eventually(lambda: names("genreTitle")) == {"pk", "sk", "genre", "year", "title"}
        assert eventually(lambda: names("byGenre")) == {"pk", "sk", "genre", "year", "rating", "title", "sold"}

    def test_pages_continue_among_equal_keys(self, albums):
        eventually(lambda: self.all_jazz(albums))
        page = albums.query("genre = :g", IndexName="byGenre", values={":g": "jazz"}, Limit=1)
        assert set(page["LastEvaluatedKey"]) == {"pk", "sk", "genre", "year"}

    @staticmethod
    def all_jazz(albums):
        for forward in (True, False):
            pages = albums.pages(albums.query, "genre = :g", IndexName="byGenre", values={":g": "jazz"}, Limit=1, ScanIndexForward=forward)
            found = [item["pk"] for page in pages for item in page["Items"]]
            assert sorted(found) == ["coltrane", "miles", "mingus"]

    def test_updates_move_the_entry(self, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        group = lambda name, expected: read(table, "byGroup", "#g = :g", expected, values={":g": name}, names={"#g": "group"})
        table.put({"pk": "a", "group": "x"})
        group("x", ["a"])
        table.update({"pk": "a"}, "SET #g = :y", values={":y": "y"}, names={"#g": "group"})
        group("x", []), group("y", ["a"])
        table.put({"pk": "a"})
        group("y", [])
        table.put({"pk": "a", "group": "z"})
        group("z", ["a"])
        table.delete({"pk": "a"})
        group("z", [])

    def test_a_projected_attribute_follows_its_item(self, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group", ["title"])])
        table.put({"pk": "a", "group": "x", "title": "old", "spare": 1})
        table.update({"pk": "a"}, "SET title = :t REMOVE spare", values={":t": "new"})
        read(table, "byGroup", "#g = :g", ["new"], by="title", values={":g": "x"}, names={"#g": "group"})

    def test_one_index_for_several_kinds_of_item(self, make_table):
        table = make_table("PK:S SK:S", also="GSI1PK:S GSI1SK:S", indexes=[index("GSI1", "GSI1PK GSI1SK")])
        table.fill([
            {"PK": "CUSTOMER#1", "SK": "ORDER#1", "GSI1PK": "ORDER#1", "GSI1SK": "CUSTOMER#1"},
            {"PK": "ORDER#1", "SK": "PRODUCT#1", "GSI1PK": "PRODUCT#1", "GSI1SK": "ORDER#1"},
            {"PK": "PRODUCT#1", "SK": "METADATA", "GSI1PK": "CATEGORY#x", "GSI1SK": "PRODUCT#1"},
        ])
        for key, owner in (("ORDER#1", "CUSTOMER#1"), ("PRODUCT#1", "ORDER#1"), ("CATEGORY#x", "PRODUCT#1")):
            read(table, "GSI1", "GSI1PK = :k", [owner], by="PK", values={":k": key})

    def test_the_inverse_of_the_table(self, make_table):
        table = make_table("pk:S sk:S", indexes=[index("inverse", "sk pk")])
        table.fill({"pk": a, "sk": b} for a, b in (("1", "x"), ("2", "x"), ("1", "y")))
        read(table, "inverse", "sk = :s", ["1", "2"], values={":s": "x"})


class TestSeveralKeyAttributes:
    @pytest.fixture(scope="class")
    @classmethod
    def matches(cls, make_table):
        table = make_table(
            "id:S",
            also="tournament:S region:S round:S bracket:S score:N",
            indexes=[index("byPlace", "tournament+region round+bracket+score")],
        )
        rows = [
            ("1", "spring", "west", "final", "upper", 10), ("2", "spring", "west", "final", "upper", 9),
            ("3", "spring", "west", "final", "lower", 50), ("4", "spring", "west", "semi", "upper", -1),
            ("5", "spring", "east", "final", "upper", 7), ("6", "autumn", "west", "final", "upper", 8),
        ]
        names = ("id", "tournament", "region", "round", "bracket", "score")
        table.fill(dict(zip(names, row)) for row in rows)
        table.put({"id": "7", "tournament": "spring", "region": "west", "round": "final"})
        return table

    PLACE = "tournament = :t AND #r = :w"
    VALUES = {":t": "spring", ":w": "west"}
    NAMES = {"#r": "region"}

    def test_the_index_is_described(self, client, matches):
        [described] = client.describe_table(TableName=matches.name)["Table"]["GlobalSecondaryIndexes"]
        kinds = [(part["AttributeName"], part["KeyType"]) for part in described["KeySchema"]]
        assert kinds == [("tournament", "HASH"), ("region", "HASH"), ("round", "RANGE"), ("bracket", "RANGE"), ("score", "RANGE")]

    def test_all_partition_attributes_and_the_order_of_the_sort_attributes(self, matches):
        read(matches, "byPlace", self.PLACE, ["3", "2", "1", "4"], by="id", values=self.VALUES, names=self.NAMES)

    @pytest.mark.parametrize("condition, values, names, expected", [
        ("#o = :o", {":o": "final"}, {"#o": "round"}, ["3", "2", "1"]),
        ("#o = :o AND bracket = :b", {":o": "final", ":b": "upper"}, {"#o": "round"}, ["2", "1"]),
        ("#o = :o AND bracket = :b AND score > :s", {":o": "final", ":b": "upper", ":s": 9}, {"#o": "round"}, ["1"]),
        ("#o = :o AND begins_with(bracket, :b)", {":o": "final", ":b": "lo"}, {"#o": "round"}, ["3"]),
        ("#o = :o AND bracket = :b AND score BETWEEN :x AND :y", {":o": "final", ":b": "upper", ":x": 9, ":y": 10}, {"#o": "round"}, ["2", "1"]),
        ("#o > :o", {":o": "final"}, {"#o": "round"}, ["4"]),
    ])
    def test_sort_attributes_from_the_left(self, matches, condition, values, names, expected):
        read(matches, "byPlace", f"{self.PLACE} AND {condition}", expected, by="id", values=self.VALUES | values, names=self.NAMES | names)

    @pytest.mark.parametrize("condition, values, names", [
        ("tournament = :t", {":t": "spring"}, {}),
        ("tournament = :t AND #r > :w", {":t": "spring", ":w": "a"}, {"#r": "region"}),
        ("tournament = :t AND #r = :w AND bracket = :b", {":t": "spring", ":w": "west", ":b": "upper"}, {"#r": "region"}),
        ("tournament = :t AND #r = :w AND #o > :o AND bracket = :b", {":t": "spring", ":w": "west", ":o": "a", ":b": "upper"}, {"#r": "region", "#o": "round"}),
    ])
    def test_conditions_with_a_gap_are_refused(self, matches, condition, values, names):
        more = {"names": names} if names else {}
        with invalid("requires an equality condition"):
            matches.query(condition, IndexName="byPlace", values=values, **more)

    def test_legacy_conditions_on_several_attributes(self, matches):
        values = {"tournament": "spring", "region": "west", "round": "final", "bracket": "upper"}
        conditions = {name: {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": value}]} for name, value in values.items()}
        read(matches, "byPlace", None, ["2", "1"], by="id", KeyConditions=conditions)
        with invalid("Conditions can be of length 1 or 2 only"):
            matches.query(KeyConditions=conditions)

    def test_pages_carry_every_key_attribute(self, matches):
        read(matches, "byPlace", self.PLACE, ["3", "2", "1", "4"], by="id", values=self.VALUES, names=self.NAMES)
        pages = list(matches.pages(matches.query, self.PLACE, IndexName="byPlace", values=self.VALUES, names=self.NAMES, Limit=1))
        assert [name for page in pages for name in column(page, "id")] == ["3", "2", "1", "4"]
        assert set(pages[0]["LastEvaluatedKey"]) == {"id", "tournament", "region", "round", "bracket", "score"}

    def test_more_than_four_of_a_kind_are_refused(self, make_table):
        also = "a:S b:S c:S d:S e:S"
        with invalid():
            make_table("id:S", also=also, indexes=[index("wide", "a+b+c+d+e")])
        with invalid():
            make_table("id:S f:S", also=also, indexes=[index("wide", "f a+b+c+d+e")])

    def test_four_of_each_are_allowed(self, make_table):
        table = make_table("id:S", also=" ".join(f"{x}:S" for x in "abcdefgh"), indexes=[index("wide", "a+b+c+d e+f+g+h")])
        table.put({"id": "1"} | {x: x for x in "abcdefgh"})
        condition = " AND ".join(f"{x} = :{x}" for x in "abcdefgh")
        read(table, "wide", condition, ["1"], by="id", values={f":{x}": x for x in "abcdefgh"})


class TestLocal:
    def test_the_partition_in_another_order(self, albums):
        response = albums.query("pk = :p", IndexName="byYear", values={":p": "miles"}, ConsistentRead=True)
        assert column(response, "year") == [1949, 1959, 1970]
        assert set(response["Items"][0]) == {"pk", "sk", "year", "title"}

    def test_items_without_the_sort_attribute_are_absent(self, albums):
        response = albums.query("pk = :p", IndexName="byRating", values={":p": "miles"}, ConsistentRead=True)
        assert column(response, "rating") == [9, 10]
        assert all(set(item) == {"pk", "sk", "rating"} for item in response["Items"])

    def test_all_attributes_are_fetched_from_the_table(self, albums):
        response = albums.query("pk = :p AND rating = :r", IndexName="byRating", values={":p": "miles", ":r": 10}, Select="ALL_ATTRIBUTES")
        assert response["Items"] == [
            {"pk": "miles", "sk": "1", "genre": "jazz", "year": 1959, "rating": 10, "title": "Kind of Blue", "sold": 5}
        ]

    def test_an_attribute_not_projected_is_fetched_from_the_table(self, albums):
        response = albums.query("pk = :p AND rating = :r", IndexName="byRating", values={":p": "miles", ":r": 10}, ProjectionExpression="sold")
        assert response["Items"] == [{"sold": 5}]

    def test_it_agrees_with_the_table_immediately(self, make_table):
        table = make_table("pk:S sk:S", also="n:N", local=[index("byN", "pk n")])
        for n in range(20):
            table.put({"pk": "p", "sk": "only", "n": n})
            response = table.query("pk = :p", IndexName="byN", values={":p": "p"}, ConsistentRead=True)
            assert column(response, "n") == [n]

    def test_collections_are_measured_on_request(self, make_table):
        table = make_table("pk:S sk:S", also="n:N", local=[index("byN", "pk n")])
        response = table.put({"pk": "p", "sk": "a", "n": 1}, ReturnItemCollectionMetrics="SIZE")["ItemCollectionMetrics"]
        assert plain(response["ItemCollectionKey"]) == {"pk": "p"}
        low, high = response["SizeEstimateRangeGB"]
        assert 0 <= low <= high <= 1
        assert "ItemCollectionMetrics" not in table.put({"pk": "p", "sk": "a"})

    def test_a_table_without_local_indexes_has_no_collections(self, ordered, pk):
        assert "ItemCollectionMetrics" not in ordered.put({"pk": pk, "sk": "a"}, ReturnItemCollectionMetrics="SIZE")


class TestSelect:
    @pytest.mark.parametrize("select, names", [
        ("ALL_PROJECTED_ATTRIBUTES", {"pk", "sk", "genre", "year", "title"}),
        (None, {"pk", "sk", "genre", "year", "title"}),
    ])
    def test_projected_attributes(self, albums, select, names):
        more = {"Select": select} if select else {}
        response = read(albums, "genreTitle", "genre = :g", ["miles"], values={":g": "fusion"}, **more)
        assert set(response["Items"][0]) == names

    def test_specific_attributes(self, albums):
        response = albums.query("genre = :g", IndexName="genreTitle", values={":g": "fusion"}, ProjectionExpression="title", Select="SPECIFIC_ATTRIBUTES")
        assert response["Items"] == [{"title": "Bitches Brew"}]

    def test_a_count(self, albums):
        def check():
            response = albums.query("genre = :g", IndexName="byGenre", values={":g": "jazz"}, Select="COUNT")
            assert response["Count"] == 3 and "Items" not in response

        eventually(check)

    def test_all_attributes_of_an_index_that_projects_all(self, albums):
        read(albums, "byGenre", "genre = :g", [1], by="sold", values={":g": "fusion"}, Select="ALL_ATTRIBUTES")

    def test_all_attributes_of_an_index_that_does_not(self, albums):
        with invalid("Select type ALL_ATTRIBUTES is not supported for global secondary index genreTitle because its projection type is not ALL"):
            albums.query("genre = :g", IndexName="genreTitle", values={":g": "jazz"}, Select="ALL_ATTRIBUTES")

    def test_an_attribute_not_projected_by_a_global_index(self, albums):
        with invalid("Global secondary index genreTitle does not project"):
            albums.query("genre = :g", IndexName="genreTitle", values={":g": "jazz"}, ProjectionExpression="sold")

    def test_consistent_reads_of_a_global_index(self, albums):
        with invalid("Consistent reads are not supported on global secondary indexes"):
            albums.query("genre = :g", IndexName="byGenre", values={":g": "jazz"}, ConsistentRead=True)


class TestKeysOfTheWrongKind:
    @pytest.fixture(scope="class")
    @classmethod
    def table(cls, make_table):
        return make_table("pk:S sk:S", also="group:S rank:N", indexes=[index("byGroup", "group rank")], local=[index("byRank", "pk rank")])

    def test_type(self, table):
        text = "Type mismatch for Index Key group Expected: S Actual: N IndexName: byGroup"
        with invalid(text):
            table.put({"pk": "a", "sk": "a", "group": 1})
        table.put({"pk": "a", "sk": "a"})
        with invalid("type"):
            table.update({"pk": "a", "sk": "a"}, "SET #g = :x", values={":x": 1}, names={"#g": "group"})
        assert table.get({"pk": "a", "sk": "a"}) == {"pk": "a", "sk": "a"}

    def test_an_empty_string(self, table):
        with invalid("A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byGroup, IndexKey: group"):
            table.put({"pk": "a", "sk": "b", "group": "", "rank": 1})
        with invalid("One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not "
                     "supported. The AttributeValue for a key attribute cannot contain an empty string value."):
            table.update({"pk": "a", "sk": "b"}, "SET #g = :x", values={":x": ""}, names={"#g": "group"})


class TestCreationAndDeletion:
    def test_an_attribute_keeps_its_type(self, client, make_table):
        table = make_table("pk:S", also="group:N", indexes=[index("byNumber", "group")])
        with invalid("Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
                     "Existing schema: Schema:[SchemaElement: key{group:N:HASH}] New schema: Schema:[SchemaElement: key{group:S:HASH}]"):
            self.create(client, table)

    CREATE = {"Create": index("byGroup", "group", ["title"])}
    GROUP = [{"AttributeName": "group", "AttributeType": "S"}]

    def create(self, client, table, **changes):
        request = {"TableName": table.name, "AttributeDefinitions": self.GROUP, "GlobalSecondaryIndexUpdates": [self.CREATE]}
        return client.update_table(**request | changes)

    def test_a_new_index_holds_what_was_there_before(self, client, make_table):
        table = make_table()
        table.fill({"pk": f"{n:04}", "group": f"g{n % 2}", "title": str(n)} for n in range(500))
        table.fill({"pk": f"no group {n}"} for n in range(10))
        response = self.create(client, table)["TableDescription"]
        assert response["GlobalSecondaryIndexes"][0]["IndexStatus"] in ("CREATING", "ACTIVE")
        for n in range(500, 520):
            table.put({"pk": f"{n:04}", "group": "g0", "title": str(n)})
        table.delete({"pk": "0000"})
        until_active(client, table.name, 60)

        def check():
            pages = table.pages(table.query, "#g = :g", IndexName="byGroup", values={":g": "g0"}, names={"#g": "group"})
            found = sorted(item["pk"] for page in pages for item in page["Items"])
            assert found == [f"{n:04}" for n in range(2, 500, 2)] + [f"{n:04}" for n in range(500, 520)]

        eventually(check)

    def test_items_of_the_wrong_type_are_passed_over(self, client, make_table):
        table = make_table()
        table.fill([{"pk": "a", "group": "x"}, {"pk": "b", "group": 1}, {"pk": "c", "group": {"x"}}])
        self.create(client, table)
        until_active(client, table.name, 60)
        assert eventually(lambda: self.scanned(table, 1)) == ["a"]
        assert table.scan()["Count"] == 3

    @staticmethod
    def scanned(table, count):
        found = column(table.scan(IndexName="byGroup"), "pk")
        assert len(found) == count
        return found

    def test_a_deleted_index_is_gone_and_its_items_stay(self, client, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        table.put({"pk": "a", "group": "x"})
        client.update_table(TableName=table.name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "byGroup"}}])

        def gone():
            assert not client.describe_table(TableName=table.name)["Table"].get("GlobalSecondaryIndexes")

        eventually(gone, 30)
        until_active(client, table.name)
        with invalid("The table does not have the specified index: byGroup"):
            table.query("#g = :g", IndexName="byGroup", values={":g": "x"}, names={"#g": "group"})
        assert table.get({"pk": "a"}) == {"pk": "a", "group": "x"}

    def test_one_change_at_a_time(self, client, make_table):
        table = make_table()
        changes = [{"Create": index(name, "group")} for name in ("one", "two")]
        with refused("LimitExceededException", "Only 1 online index can be created or deleted simultaneously per table"):
            self.create(client, table, GlobalSecondaryIndexUpdates=changes)

    def test_an_index_that_exists(self, client, make_table):
        table = make_table("pk:S", also="group:S", indexes=[index("byGroup", "group")])
        with invalid("already exists"):
            self.create(client, table)

    def test_an_index_that_does_not_exist(self, client, make_table):
        with refused("ResourceNotFoundException"):
            client.update_table(TableName=make_table().name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "nowhere"}}])

    def test_a_key_without_definition(self, client, make_table):
        with invalid():
            self.create(client, make_table(), AttributeDefinitions=[])

    def test_a_table_can_be_written_while_an_index_is_made(self, client, make_table):
        table = make_table()
        table.fill({"pk": f"{n:05}", "group": "g"} for n in range(2000))
        self.create(client, table)
        slowest = 0.0
        for n in range(100):
            start = time.monotonic()
            table.update({"pk": f"{n:05}"}, "SET #g = :h", values={":h": "h"}, names={"#g": "group"})
            slowest = max(slowest, time.monotonic() - start)
        until_active(client, table.name, 60)
        assert slowest < 2

        def check():
            responses = [table.query("#g = :g", IndexName="byGroup", values={":g": name}, names={"#g": "group"}, Select="COUNT") for name in "gh"]
            assert [response["Count"] for response in responses] == [1900, 100]

        eventually(check)


class TestStartKeys:
    def test_a_start_key_must_have_index_and_table_keys(self, albums):
        with invalid("The provided starting key is invalid"):
            albums.query("genre = :g", IndexName="byGenre", values={":g": "jazz"}, ExclusiveStartKey=attributes({"pk": "miles", "sk": "1"}))

    @pytest.mark.parametrize("start, text", [
        ({"pk": "miles", "sk": "1", "genre": 1, "year": 1959}, "The provided key element does not match the schema"),
        ({"pk": 1, "sk": "1", "genre": "jazz", "year": 1959}, "The provided starting key is invalid: The provided key element does not match the schema"),
    ])
    def test_start_keys_of_wrong_types(self, albums, start, text):
        for read in (lambda **more: albums.query("genre = :g", values={":g": "jazz"}, **more), albums.scan):
            with invalid(text):
                read(IndexName="byGenre", ExclusiveStartKey=attributes(start))


class TestKeysAreScalars:
    TEXT = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "

    @pytest.mark.parametrize("path, shown", [("pk.a", "Key: pk"), ("sk[0]", "Key: sk"), ("genre.a.b", "IndexKey: genre")])
    def test_no_path_leads_into_one(self, albums, path, shown):
        key = {"pk": "miles", "sk": "1"}
        with invalid(self.TEXT + shown):
            albums.get(key, ProjectionExpression=path)
        with invalid(self.TEXT + shown):
            albums.scan(ProjectionExpression=path)
        with invalid(self.TEXT + shown):
            albums.scan(FilterExpression=f"attribute_exists({path})")
        with invalid(self.TEXT + shown):
            albums.update(key, f"SET label = {path}")
        with invalid(self.TEXT + shown):
            albums.update(key, "REMOVE label", ConditionExpression=f"attribute_not_exists({path})")

    def test_no_update_writes_into_one(self, albums):
        with invalid(self.TEXT + "IndexKey: genre"):
            albums.update({"pk": "miles", "sk": "1"}, "SET genre.a = :g", values={":g": "x"})

    @pytest.mark.parametrize("update", ["SET genre = :n", "ADD genre :n", "SET title = label.x, genre = :n + :n"])
    def test_the_type_an_update_gives_is_known_beforehand(self, albums, update):
        with invalid("Type mismatch for Index Key genre Expected: S Actual: N IndexName: "):
            albums.update({"pk": "never there", "sk": "1"}, update, ConditionExpression="attribute_exists(pk)", values={":n": 1})

    def test_the_type_an_update_finds_is_unknown_beforehand(self, albums):
        with invalid("The update expression attempted to update the secondary index key to unsupported type"):
            albums.update({"pk": "miles", "sk": "1"}, "SET genre = sold")
