"""A table as typed relations: SQLite loads them, with the items' values, and nothing is lost in silence."""

import csv
import json
import shutil
import sqlite3
import subprocess
import uuid
from pathlib import Path

import pytest

from conftest import server_binary

ROOT = Path(__file__).parents[3]
STRANGER = {"PK": {"S": "stranger"}, "SK": {"S": "x"}}


def partita(*arguments):
    return subprocess.run([server_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def rows(file):
    with open(file, newline="") as lines:
        header, *rows = csv.reader(lines)
        return header, [[None if value == "\\N" else value for value in row] for row in rows]


@pytest.fixture
def relations(client, endpoint, tmp_path):
    """The relations of a seeded shop with an item that no entity describes, and the shop's items."""
    name, model = f"shop-{uuid.uuid4().hex[:12]}", tmp_path / "shop.toml"
    text = (ROOT / "models/shop-orders.toml").read_text()
    table = next(line for line in text.splitlines() if line.startswith("name = "))
    model.write_text(text.replace(table, f'name = "{name}"', 1))
    seeded = partita("model", "seed", model, "--items", "300", "--endpoint", endpoint)
    assert seeded.returncode == 0, seeded.stderr
    client.put_item(TableName=name, Item=STRANGER)
    written = partita("model", "relations", model, "--endpoint", endpoint, "--out", tmp_path / "out")
    assert written.returncode == 0, written.stderr
    items = [item for page in client.get_paginator("scan").paginate(TableName=name) for item in page["Items"]]
    return tmp_path / "out", items, written.stdout


def test_every_item_is_a_row_a_marker_or_unrecognised(relations):
    folder, items, printed = relations
    counted = sum(len(rows(file)[1]) for file in folder.glob("*.csv"))
    markers = sum(item["PK"].get("S", "").startswith("UNIQUE#") for item in items)
    assert counted + markers + 1 == len(items)
    assert f"{markers} markers of unique values are left out" in printed
    assert "1 items fit no relation" in printed and "  1: they belong to no entity (stranger / x)" in printed
    assert [json.loads(line) for line in (folder / "unrecognised.jsonl").read_text().splitlines()] == [STRANGER]


def test_sqlite_loads_schema_and_rows(relations):
    folder, items, _ = relations
    database = sqlite3.connect(":memory:")
    database.executescript((folder / "schema.sql").read_text())
    for file in folder.glob("*.csv"):
        header, values = rows(file)
        database.executemany(f'INSERT INTO "{file.stem}" VALUES ({", ".join("?" * len(header))})', values)
    compare(database, items)


def test_the_program_sqlite3_loads_them_by_itself(relations, tmp_path):
    if not shutil.which("sqlite3"):
        pytest.skip("the program sqlite3 is not installed (apt-get install sqlite3)")
    folder, items, _ = relations
    loaded = subprocess.run(["sqlite3", "-bail", tmp_path / "shop.db"], stdin=open(folder / "load-sqlite.sql"), cwd=folder, capture_output=True, text=True)
    assert loaded.returncode == 0 and not loaded.stderr, loaded.stderr
    compare(sqlite3.connect(tmp_path / "shop.db"), items)


def compare(database, items):
    """Every order is there with its values, with the types of its columns."""
    orders = [item for item in items if item.get("EntityType", {}).get("S") == "Order"]
    assert orders
    found = {row[0]: row[1:] for row in database.execute('SELECT "orderId", "userId", "total", "status" FROM "Order"')}
    assert len(found) == len(orders)
    for order in orders:
        user, total, status = found[order["orderId"]["S"]]
        assert (user, status) == (order["userId"]["S"], order["status"]["S"])
        assert float(total) == pytest.approx(float(order["total"]["N"]))
    types = {name: kind for _, name, kind, *_ in database.execute("PRAGMA table_info(\"Order\")")}
    assert types["createdAt"] == "TIMESTAMPTZ" and types["total"] == "DECIMAL(38, 10)"
