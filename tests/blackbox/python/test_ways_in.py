"""From a relational database: a schema and its queries become a model, and rows become items that are compared on both sides."""

import csv
import os
import shutil
import sqlite3
import subprocess
import uuid

import pytest

from conftest import server_binary

SCHEMA = """
CREATE TABLE users (id integer PRIMARY KEY, email text NOT NULL UNIQUE, name text NOT NULL, settings json);
CREATE TABLE orders (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES users(id), placed timestamp NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'paid')), total numeric NOT NULL, note text);
"""
QUERIES = """SELECT * FROM users WHERE id = 1
SELECT * FROM users WHERE email = 'a'
SELECT * FROM orders WHERE user_id = 1 ORDER BY placed DESC LIMIT 10
SELECT * FROM orders WHERE id = 3
"""
USERS = [(1, "ann@example.com", 'Ann, "A"', '{"theme": ["dark", 2.50]}'), (2, "bob@example.com", "", None)]
ORDERS = [
    (10, 1, "2026-04-05 10:30:00", "paid", 12.5, "two\nlines"),
    (11, 1, "2026-04-05T12:30:00.25+02:00", "pending", 7, None),
    (12, 2, "2026-04-06", "paid", 1e3, ""),
]


def partita(*arguments):
    return subprocess.run([server_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.fixture
def shop(tmp_path):
    """A folder with the model of a shop, under a name of its own, and its rows."""
    (tmp_path / "schema.sql").write_text(SCHEMA)
    (tmp_path / "queries.sql").write_text(QUERIES)
    name = f"shop-{uuid.uuid4().hex[:12]}"
    drafted = partita("model", "import", "--from", "sql", tmp_path / "schema.sql", "--queries", tmp_path / "queries.sql", "--over", "1s", "--table", name)
    assert drafted.returncode == 0, drafted.stderr
    (tmp_path / "shop.toml").write_text(drafted.stdout)
    (tmp_path / "rows").mkdir()
    write_rows(tmp_path / "rows" / "users.csv", ["id", "email", "name", "settings"], USERS)
    write_rows(tmp_path / "rows" / "orders.csv", ["id", "user_id", "placed", "state", "total", "note"], ORDERS)
    return name, tmp_path


def write_rows(path, columns, rows):
    with open(path, "w", newline="") as file:
        file.write(",".join(columns) + "\n")
        writer = csv.writer(file, quoting=csv.QUOTE_NOTNULL) if hasattr(csv, "QUOTE_NOTNULL") else None
        for row in rows:
            if writer:
                writer.writerow(row)
            else:
                quoted = ("" if value is None else '"' + str(value).replace('"', '""') + '"' for value in row)
                file.write(",".join(quoted) + "\n")


def copied(shop, endpoint, *arguments):
    _, folder = shop
    return partita("model", "copy", folder / "shop.toml", *arguments, "--endpoint", endpoint)


def test_the_drafted_model_is_checked_without_findings(shop):
    _, folder = shop
    checked = partita("model", "check", folder / "shop.toml", "--deny-warnings")
    assert checked.returncode == 0, checked.stdout
    assert "4 of 4 patterns served" in checked.stdout


def test_rows_become_items_and_both_sides_are_equal(shop, endpoint, client):
    name, folder = shop
    result = copied(shop, endpoint, "--rows", folder / "rows", "--apply")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 differ, 0 are missing, 0 others" in result.stdout
    item = client.get_item(TableName=name, Key={"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#2026-04-05T10:30:00.250000Z#0000000000000000011"}})["Item"]
    assert item["total"] == {"N": "7"} and item["state"] == {"S": "pending"} and "note" not in item
    user = client.get_item(TableName=name, Key={"PK": {"S": "USER#1"}, "SK": {"S": "USER#1"}})["Item"]
    assert user["settings"] == {"M": {"theme": {"L": [{"S": "dark"}, {"N": "2.5"}]}}}
    audited = partita("model", "audit", folder / "shop.toml", "--endpoint", endpoint)
    assert audited.returncode == 0, audited.stdout
    client.delete_table(TableName=name)


def test_differences_are_named(shop, endpoint, client):
    name, folder = shop
    assert copied(shop, endpoint, "--rows", folder / "rows", "--apply").returncode == 0
    client.update_item(
        TableName=name,
        Key={"PK": {"S": "USER#1"}, "SK": {"S": "USER#1"}},
        UpdateExpression="SET #n = :n",
        ExpressionAttributeNames={"#n": "name"},
        ExpressionAttributeValues={":n": {"S": "Anna"}},
    )
    write_rows(folder / "rows" / "orders.csv", ["id", "user_id", "placed", "state", "total", "note"], [*ORDERS, (13, 2, "2026-04-07", "paid", 1, None)])
    result = copied(shop, endpoint, "--rows", folder / "rows")
    assert result.returncode == 1
    assert "users, line 2: the item USER#1 / USER#1 differs" in result.stdout
    assert "0000000000000000013 is missing" in result.stdout
    client.delete_table(TableName=name)


def test_rows_that_do_not_fit_are_refused_before_anything_is_written(shop, endpoint, client):
    name, folder = shop
    write_rows(folder / "rows" / "orders.csv", ["id", "user_id", "placed", "state", "total", "note"], [(10, 1, "soon", "paid", 1, None)])
    result = copied(shop, endpoint, "--rows", folder / "rows", "--apply")
    assert result.returncode == 1
    assert "orders, line 2: `placed`: `soon` is not a time" in result.stdout
    assert name not in client.list_tables()["TableNames"]


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="the program sqlite3 is not installed")
def test_sqlite_is_read_directly(shop, endpoint, client):
    name, folder = shop
    database = sqlite3.connect(folder / "shop.db")
    database.executescript(SCHEMA)
    database.executemany("INSERT INTO users VALUES (?, ?, ?, ?)", USERS)
    database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", ORDERS)
    database.commit()
    result = copied(shop, endpoint, "--from", f"sqlite:{folder / 'shop.db'}", "--apply")
    assert result.returncode == 0, result.stdout + result.stderr
    assert copied(shop, endpoint, "--rows", folder / "rows").returncode == 0, "both ways give the same items"
    client.delete_table(TableName=name)


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="the program sqlite3 is not installed")
def test_generated_columns_of_sqlite_are_copied(tmp_path, endpoint, client):
    schema = "CREATE TABLE people (id integer PRIMARY KEY, name text NOT NULL, {} text GENERATED ALWAYS AS (upper(name)) {});"
    for number, (column, kind) in enumerate([("stored", "STORED NOT NULL"), ("virtual", "VIRTUAL")]):
        name = f"people-{uuid.uuid4().hex[:12]}"
        (tmp_path / "schema.sql").write_text(schema.format(column + "_name", kind))
        drafted = partita("model", "import", "--from", "sql", tmp_path / "schema.sql", "--table", name)
        assert drafted.returncode == 0, drafted.stderr
        (tmp_path / "people.toml").write_text(drafted.stdout)
        database = sqlite3.connect(tmp_path / f"people{number}.db")
        database.executescript(schema.format(column + "_name", kind) + "INSERT INTO people (id, name) VALUES (1, 'Ann');")
        database.close()
        result = partita("model", "copy", tmp_path / "people.toml", "--from", f"sqlite:{tmp_path / f'people{number}.db'}", "--endpoint", endpoint, "--apply")
        assert result.returncode == 0, result.stdout + result.stderr
        assert client.scan(TableName=name)["Items"][0][f"{column}_name"] == {"S": "ANN"}
        client.delete_table(TableName=name)


NOTES = "CREATE TABLE notes (id integer PRIMARY KEY, s text, r real, b blob);"


def copied_notes(tmp_path, endpoint, *rows, encoding="UTF-8"):
    """The name of a new table, and what copying these rows to it prints. A value is an expression of SQLite."""
    name = f"notes-{uuid.uuid4().hex[:12]}"
    (tmp_path / "notes.sql").write_text(NOTES)
    drafted = partita("model", "import", "--from", "sql", tmp_path / "notes.sql", "--table", name)
    assert drafted.returncode == 0, drafted.stderr
    (tmp_path / "notes.toml").write_text(drafted.stdout)
    file = tmp_path / f"{name}.db"
    database = sqlite3.connect(file)
    database.executescript(f"PRAGMA encoding = '{encoding}'; {NOTES}")
    for number, row in enumerate(rows, 1):
        columns = ", ".join(["id", *row])
        database.execute(f"INSERT INTO notes ({columns}) VALUES ({', '.join([str(number), *row.values()])})")
    database.commit()
    database.close()
    return name, partita("model", "copy", tmp_path / "notes.toml", "--from", f"sqlite:{file}", "--endpoint", endpoint, "--apply")


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="the program sqlite3 is not installed")
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_values_of_sqlite_are_copied_with_all_their_bytes(tmp_path, endpoint, client, encoding):
    texts = ["secret\0tail", "\0", "", "\x1b[1m\r\n", "é😀", '"a",b']
    expressions = ["'secret' || char(0) || 'tail'", "char(0)", "''", "char(27) || '[1m' || char(13, 10)", "'é😀'", "'\"a\",b'"]
    reals = [0.1, 1 / 3, -2.5e-7, 123456789.123456789, 5e20, 7.0]
    rows = [{"s": text, "r": repr(real)} for text, real in zip(expressions, reals)]
    name, result = copied_notes(tmp_path, endpoint, *rows, {"s": "NULL", "b": "x'00ff10'"}, encoding=encoding)
    assert result.returncode == 0, result.stdout + result.stderr
    items = sorted(client.scan(TableName=name)["Items"], key=lambda item: int(item["note_id"]["N"]))
    assert [item["s"]["S"] for item in items[:-1]] == texts
    assert [float(item["r"]["N"]) for item in items[:-1]] == reals
    assert "s" not in items[-1] and items[-1]["b"] == {"B": b"\x00\xff\x10"}
    client.delete_table(TableName=name)


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="the program sqlite3 is not installed")
@pytest.mark.parametrize(
    "column, value, why",
    [
        ("s", "x'6100ff'", "bytes, which are no text"),
        ("s", "CAST(x'6100ff' AS TEXT)", "6100FF is not Unicode"),
        ("r", "9e999", "`inf` is not a number"),
        ("r", "'seven'", "`seven` is not a number"),
        ("r", "x'37'", "bytes, which are no text and no number"),
        ("b", "7", "a number in a column of bytes"),
    ],
)
def test_values_of_sqlite_that_no_item_can_hold_are_refused(tmp_path, endpoint, client, column, value, why):
    name, result = copied_notes(tmp_path, endpoint, {"s": "'fine'"}, {column: value})
    assert result.returncode == 1, result.stdout
    assert f"notes, row 2: `{column}`: " in result.stdout and why in result.stdout
    assert name not in client.list_tables()["TableNames"]


@pytest.mark.skipif("PARTITA_TEST_POSTGRES" not in os.environ, reason="PARTITA_TEST_POSTGRES does not name a database")
def test_postgresql_is_read_directly(shop, endpoint, client):
    name, folder = shop
    address = os.environ["PARTITA_TEST_POSTGRES"]
    load = f"{SCHEMA}\n\\copy users FROM '{folder / 'rows/users.csv'}' WITH (FORMAT csv, HEADER)\n\\copy orders FROM '{folder / 'rows/orders.csv'}' WITH (FORMAT csv, HEADER)\n"
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", address], input=load, text=True, check=True)
    result = copied(shop, endpoint, "--from", address, "--apply")
    assert result.returncode == 0, result.stdout + result.stderr
    client.delete_table(TableName=name)
