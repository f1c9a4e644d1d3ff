"""Scan: every item of a table or index once, in pages, in parallel, and filtered."""

import pytest

from dynamo import attributes, column, eventually, index, invalid

COUNT = 200


@pytest.fixture(scope="module")
def numbers(make_table):
    table = make_table("pk:S sk:N", also="group:S", indexes=[index("byGroup", "group sk", "KEYS_ONLY")])
    table.fill(
        {"pk": f"p{n % 40}", "sk": n, "even": n % 2 == 0} | ({"group": f"g{n % 3}"} if n < 50 else {}) for n in range(COUNT)
    )
    return table


def found(pages):
    return [n for page in pages for n in column(page, "sk")]


class TestWhole:
    def test_every_item_once(self, numbers):
        response = numbers.scan()
        assert sorted(column(response, "sk")) == list(range(COUNT))
        assert response["Count"] == response["ScannedCount"] == COUNT
        assert "LastEvaluatedKey" not in response

    def test_items_of_a_partition_come_together_and_in_order(self, numbers):
        items = numbers.scan()["Items"]
        partitions = list(dict.fromkeys(item["pk"] for item in items))
        assert len(partitions) == 40
        assert [(item["pk"], item["sk"]) for item in items] == [
            (pk, n) for pk in partitions for n in range(COUNT) if f"p{n % 40}" == pk
        ]

    def test_an_empty_table(self, make_table):
        response = make_table().scan()
        assert (response["Items"], response["Count"], response["ScannedCount"]) == ([], 0, 0)

    @pytest.mark.parametrize("limit", [1, 7, 50, COUNT])
    def test_all_pages_together_are_complete(self, numbers, limit):
        pages = list(numbers.pages(numbers.scan, Limit=limit))
        assert sorted(found(pages)) == list(range(COUNT))
        assert all(page["Count"] <= limit for page in pages)

    def test_a_page_names_its_last_item(self, numbers):
        page = numbers.scan(Limit=5)
        assert page["LastEvaluatedKey"] == attributes({name: page["Items"][-1][name] for name in ("pk", "sk")})

    def test_a_page_holds_at_most_a_megabyte(self, make_table):
        table = make_table()
        table.fill({"pk": f"{n:03}", "d": "x" * 100_000} for n in range(25))
        pages = list(table.pages(table.scan))
        assert sorted(name for page in pages for name in column(page, "pk")) == [f"{n:03}" for n in range(25)]
        assert [page["Count"] for page in pages] == [11, 11, 3]

    def test_a_strongly_consistent_scan_sees_the_last_write(self, make_table):
        table = make_table()
        for n in range(5):
            table.put({"pk": str(n)})
            assert table.scan(ConsistentRead=True)["Count"] == n + 1


class TestSegments:
    @pytest.mark.parametrize("total", [1, 2, 5, 16, 300])
    def test_all_segments_together_are_complete(self, numbers, total):
        all_found = []
        for segment in range(total):
            all_found += found(numbers.pages(numbers.scan, Segment=segment, TotalSegments=total, Limit=30))
        assert sorted(all_found) == list(range(COUNT))

    def test_a_partition_is_in_one_segment(self, numbers):
        segments = [set(column(numbers.scan(Segment=n, TotalSegments=4), "pk")) for n in range(4)]
        assert sum(len(segment) for segment in segments) == 40

    def test_segments_share_the_work(self, numbers):
        counts = [numbers.scan(Segment=n, TotalSegments=4)["Count"] for n in range(4)]
        assert max(counts) < COUNT

    @pytest.mark.parametrize("members, text", [
        ({"Segment": 0}, "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"),
        ({"TotalSegments": 2}, "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"),
        ({"Segment": 5, "TotalSegments": 5}, "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5"),
        ({"Segment": -1, "TotalSegments": 5}, ""),
        ({"Segment": 0, "TotalSegments": 0}, ""),
        ({"Segment": 0, "TotalSegments": 1000001}, ""),
    ])
    def test_refused(self, numbers, members, text):
        with invalid(text):
            numbers.scan(**members)


class TestFiltered:
    def test_a_filter_comes_after_the_read(self, numbers):
        response = numbers.scan(FilterExpression="even = :t", values={":t": True})
        assert (response["Count"], response["ScannedCount"]) == (COUNT // 2, COUNT)

    def test_keys_may_be_filtered(self, numbers):
        response = numbers.scan(FilterExpression="sk < :n AND pk <> :p", values={":n": 10, ":p": "p3"})
        assert sorted(column(response, "sk")) == [0, 1, 2, 4, 5, 6, 7, 8, 9]

    def test_a_limit_counts_what_is_read(self, numbers):
        response = numbers.scan(FilterExpression="sk = :n", values={":n": -1}, Limit=10)
        assert (response["Count"], response["ScannedCount"]) == (0, 10)
        assert "LastEvaluatedKey" in response

    def test_a_count_has_no_items(self, numbers):
        response = numbers.scan(Select="COUNT")
        assert "Items" not in response and response["Count"] == COUNT

    def test_a_projection(self, numbers):
        assert all(set(item) == {"sk"} for item in numbers.scan(ProjectionExpression="sk")["Items"])


class TestIndex:
    def test_only_what_is_in_the_index(self, numbers):
        def check():
            response = numbers.scan(IndexName="byGroup")
            assert sorted(column(response, "sk")) == list(range(50))
            assert all(set(item) == {"pk", "sk", "group"} for item in response["Items"])

        eventually(check)

    def test_pages(self, numbers):
        eventually(lambda: self.complete(numbers))
        page = numbers.scan(IndexName="byGroup", Limit=3)
        assert set(page["LastEvaluatedKey"]) == {"pk", "sk", "group"}

    @staticmethod
    def complete(numbers):
        assert sorted(found(numbers.pages(numbers.scan, IndexName="byGroup", Limit=7))) == list(range(50))

    def test_segments(self, numbers):
        def check():
            parts = [found(numbers.pages(numbers.scan, IndexName="byGroup", Segment=n, TotalSegments=3)) for n in range(3)]
            assert sorted(sum(parts, [])) == list(range(50))

        eventually(check)

    def test_consistent_reads_are_refused(self, numbers):
        with invalid("Consistent reads are not supported on global secondary indexes"):
            numbers.scan(IndexName="byGroup", ConsistentRead=True)


class TestRefused:
    @pytest.mark.parametrize("members, text", [
        ({"Limit": 0}, "Member must have value greater than or equal to 1"),
        ({"IndexName": "nowhere"}, "The table does not have the specified index: nowhere"),
        ({"ExclusiveStartKey": attributes({"pk": "p"})}, "The provided starting key is invalid"),
        ({"ExclusiveStartKey": attributes({"pk": "p", "sk": "text"})}, "key"),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
        ({"FilterExpression": "name = name"}, "Attribute name is a reserved keyword; reserved keyword: name"),
        ({"Select": "ALL_PROJECTED_ATTRIBUTES"}, "ALL_PROJECTED_ATTRIBUTES"),
        ({"Select": "SPECIFIC_ATTRIBUTES"}, "SPECIFIC_ATTRIBUTES"),
    ])
    def test_members(self, numbers, members, text):
        with invalid(text):
            numbers.scan(**members)
