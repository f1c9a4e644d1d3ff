"""A real PostgreSQL database: its rows become items, whatever their types, and items become its rows again."""

import subprocess
import uuid

import pytest

import postgresql
from conftest import server_binary

SCHEMA = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE people (
  id bigserial PRIMARY KEY, email varchar(200) NOT NULL UNIQUE,
  small smallint, number integer, big bigint, price numeric(20,4), ratio double precision, single real, cash money,
  flag boolean NOT NULL, letter char(3), body text, mood mood,
  born date, seen timestamp, changed timestamptz NOT NULL, at time, lasting interval,
  raw bytea, doc json, docb jsonb, tags text[], numbers int[], key uuid, address inet, bits bit(4), span int4range
);
CREATE TABLE notes (id uuid PRIMARY KEY, person_id bigint NOT NULL REFERENCES people(id), written timestamptz NOT NULL, content text);
"""
ROWS = r"""
INSERT INTO people VALUES (1, 'a@b.c', -3, 42, 9223372036854775807, 12.3400, 0.1, 1.5e-7, 12.5, true, 'ab', E'say "hi",\nit''s', 'happy',
  '2026-04-05', '2026-04-05 10:30:00.5', '2026-04-05 10:30:00+02', '10:30', '1 day 02:03:04', '\x00ff10', '{"a": [1, 2.50, null]}',
  '{"b": {"c": true}}', '{x,"y z",NULL}', '{1,2}', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '10.0.0.1', '1010', '[1,5)');
INSERT INTO people (id, email, flag, changed, body) VALUES (2, 'd@e.f', false, '2026-12-31 23:59:59.123456Z', '');
INSERT INTO notes VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', 1, '2026-04-05 10:30:00Z', 'x'),
  ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a13', 1, '2026-04-06 10:30:00Z', NULL);
-- How values are written must not depend on the database's settings.
ALTER DATABASE postgres SET datestyle = 'SQL, DMY';
ALTER DATABASE postgres SET bytea_output = 'escape';
"""


def partita(*arguments):
    return subprocess.run([server_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with postgresql.server(tmp_path_factory.mktemp("postgresql")) as address:
        postgresql.run(address, "-c", SCHEMA, "-c", ROWS)
        yield address


@pytest.fixture
def model(tmp_path):
    name = f"people-{uuid.uuid4().hex[:12]}"
    (tmp_path / "schema.sql").write_text(SCHEMA)
    drafted = partita("model", "import", "--from", "sql", tmp_path / "schema.sql", "--table", name)
    assert drafted.returncode == 0, drafted.stderr
    (tmp_path / "people.toml").write_text(drafted.stdout)
    return name, tmp_path / "people.toml"


def test_rows_of_all_types_are_copied_and_compared(database, model, client, endpoint):
    name, file = model
    copied = partita("model", "copy", file, "--from", database, "--endpoint", endpoint, "--apply")
    assert copied.returncode == 0, copied.stdout + copied.stderr
    assert "people: 4 items equal" in copied.stdout and "0 differ, 0 are missing" in copied.stdout
    assert partita("model", "audit", file, "--endpoint", endpoint).returncode == 0
    person = client.get_item(TableName=name, Key={"PK": {"S": "PERSON#1"}, "SK": {"S": "PERSON#1"}})["Item"]
    for attribute, value in {
        "big": {"N": "9223372036854775807"},
        "price": {"N": "12.34"},
        "single": {"N": "0.00000015"},
        "cash": {"N": "12.5"},
        "flag": {"BOOL": True},
        "body": {"S": 'say "hi",\nit\'s'},
        "born": {"S": "2026-04-05"},
        "seen": {"S": "2026-04-05T10:30:00.500000Z"},
        "changed": {"S": "2026-04-05T08:30:00.000000Z"},
        "raw": {"B": b"\x00\xff\x10"},
        "doc": {"M": {"a": {"L": [{"N": "1"}, {"N": "2.5"}, {"NULL": True}]}}},
        "tags": {"L": [{"S": "x"}, {"S": "y z"}, {"NULL": True}]},
        "numbers": {"L": [{"N": "1"}, {"N": "2"}]},
        "key": {"S": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
    }.items():
        assert person[attribute] == value, attribute
    other = client.get_item(TableName=name, Key={"PK": {"S": "PERSON#2"}, "SK": {"S": "PERSON#2"}})["Item"]
    assert other["body"] == {"S": ""} and "born" not in other


@pytest.mark.parametrize(
    "column, value, why",
    [
        ("price", "'NaN'", "`NaN` is not a number"),
        ("ratio", "'-infinity'", "`-Infinity` is not a number"),
        ("born", "'infinity'", "infinity"),
        ("seen", "'infinity'", "`infinity` is not a time"),
        ("changed", "'0044-03-15 BC'", "is not a time"),
    ],
)
def test_values_that_no_item_can_hold_are_refused(database, model, endpoint, column, value, why):
    _, file = model
    postgresql.run(database, "-c", f"INSERT INTO people (id, email, flag, changed) VALUES (3, 'g@h.i', true, now()); UPDATE people SET {column} = {value} WHERE id = 3")
    try:
        copied = partita("model", "copy", file, "--from", database, "--endpoint", endpoint)
    finally:
        postgresql.run(database, "-c", "DELETE FROM people WHERE id = 3")
    assert copied.returncode == 1
    assert f"people, row 3: `{column}`: " in copied.stdout and why in copied.stdout, copied.stdout


def test_bytes_that_are_no_text_are_refused(database, model):
    _, file = model
    address = database.removesuffix("postgres") + "bytes"
    postgresql.run(database, "-c", "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    postgresql.run(address, "-c", SCHEMA, "-c", r"INSERT INTO people (id, email, flag, changed, body) VALUES (1, 'a', true, now(), 'fine'), (2, 'b', true, now(), E'\x61\xff')")
    copied = partita("model", "copy", file, "--from", address)
    assert copied.returncode == 2, copied.stdout
    assert "people: psql: ERROR:  invalid byte sequence" in copied.stderr


def test_relations_are_loaded_again(database, model, endpoint, tmp_path):
    _, file = model
    assert partita("model", "copy", file, "--from", database, "--endpoint", endpoint, "--apply").returncode == 0
    written = partita("model", "relations", file, "--endpoint", endpoint, "--out", tmp_path / "out")
    assert written.returncode == 0 and "0 items fit no relation" in written.stdout, written.stdout + written.stderr
    postgresql.run(database, "-c", "DROP SCHEMA IF EXISTS back CASCADE; CREATE SCHEMA back")
    back = f"{database}?options=-csearch_path%3Dback"
    postgresql.run(back, "-f", "load-postgresql.sql", cwd=tmp_path / "out")
    columns = "email, small, number, big, price, ratio, flag, body, mood::text, born, changed, doc::jsonb, docb::jsonb, key"
    both = f"SELECT person_id, {columns} FROM back.\"Person\" EXCEPT SELECT id, {columns} FROM public.people"
    assert postgresql.run(database, "-t", "-A", "-c", both).strip() == ""
    assert postgresql.run(database, "-t", "-A", "-c", 'SELECT count(*) FROM back."Person"').strip() == "2"
    notes = 'SELECT note_id, person_id, written, content FROM back."Note" EXCEPT SELECT id, person_id, written, content FROM public.notes'
    assert postgresql.run(database, "-t", "-A", "-c", notes).strip() == ""
