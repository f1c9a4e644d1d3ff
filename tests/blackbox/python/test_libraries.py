"""Models of PynamoDB become a model that is checked, and the items that PynamoDB writes are those of the model."""

import json
import pathlib
import subprocess
import sys
import uuid

from conftest import REPOSITORY, server_binary

MODELS = '''
from pynamodb.attributes import DiscriminatorAttribute, NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute, VersionAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model


class ByCoach(GlobalSecondaryIndex):
    class Meta:
        index_name = "byCoach"
        projection = AllProjection()

    coach = UnicodeAttribute(hash_key=True)


class Base(Model):
    class Meta:
        table_name = "%s"
        host = "%s"
        region = "us-east-1"
        aws_access_key_id = "test"
        aws_secret_access_key = "test"

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    kind = DiscriminatorAttribute(attr_name="type")


class Member(Base, discriminator="MEMBER"):
    name = UnicodeAttribute()
    joined = UTCDateTimeAttribute(null=True)
    version = VersionAttribute()


class Session(Base, discriminator="SESSION"):
    coach = UnicodeAttribute(null=True)
    seats = NumberAttribute()
    until = TTLAttribute(null=True)
    by_coach = ByCoach()
'''
WRITES = """
import datetime
from shop.models import Member, Session
Member("MEMBER#Ann", "MEMBER", name="Ann", joined=datetime.datetime(2026, 4, 5, tzinfo=datetime.timezone.utc)).save()
Session("MEMBER#Ann", "SESSION#9", seats=12, coach="Eve", until=datetime.timedelta(hours=1)).save()
Session("MEMBER#Ann", "SESSION#10", seats=3).save()
"""
ANSWERS = {
    "entity.Member.key.0": "MEMBER#{memberId}",
    "entity.Member.key.1": "MEMBER",
    "entity.Session.key.0": "MEMBER#{memberId}",
    "entity.Session.key.1": "SESSION#{sessionId}",
}


def partita(*words):
    done = subprocess.run([server_binary(), "model", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(folder: pathlib.Path, *words):
    return subprocess.run([sys.executable, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=60, check=True).stdout


def test_pynamodb(endpoint, client, tmp_path):
    table = f"gym-{uuid.uuid4().hex[:12]}"
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "models.py").write_text(MODELS % (table, endpoint))
    schema = python(tmp_path, REPOSITORY / "integrations/schemas/pynamodb_schema.py", "shop.models")
    (tmp_path / "schema.json").write_text(schema)
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS))
    model = tmp_path / "model.toml"
    model.write_text(partita("import", "--from", "pynamodb", tmp_path / "schema.json", "--answers", tmp_path / "answers.json"))
    text = model.read_text()
    for expected in ['type_attribute = "type"', 'ttl = "until"', 'type = "MEMBER"', 'lock = "version"', "index.byCoach", "sessionsByMemberId"]:
        assert expected in text, text
    assert "[entity.Base]" not in text
    assert "3 of 3 patterns served" in partita("check", model)
    partita("import", "--from", "pynamodb", tmp_path / "schema.json", "--out", tmp_path / "models")
    assert [path.name for path in (tmp_path / "models").iterdir()] == [f"{table}.toml"]
    client.create_table(**json.loads(partita("export", "--to", "create-table", model)))
    (tmp_path / "writes.py").write_text(WRITES)
    python(tmp_path, "writes.py")
    partita("audit", model, "--endpoint", endpoint)
    client.delete_table(TableName=table)
