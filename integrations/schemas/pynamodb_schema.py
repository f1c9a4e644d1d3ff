"""Prints the models of PynamoDB in a module as JSON for `partita model import --from pynamodb`.

    python pynamodb_schema.py shop.models > schema.json
"""

import importlib
import json
import os
import sys

from pynamodb.attributes import DiscriminatorAttribute, TTLAttribute, VersionAttribute
from pynamodb.models import Model

TYPES = {"N": "decimal", "S": "string", "B": "binary", "BOOL": "bool", "L": "list", "M": "map", "SS": "set", "NS": "set", "BS": "set"}
NAMED = {"TTLAttribute": "int", "VersionAttribute": "int"}


def index(own):
    schema = own._get_schema()
    keys = sorted(schema["key_schema"], key=lambda key: key["KeyType"])
    projection = schema["projection"]
    project = projection.get("NonKeyAttributes") or projection["ProjectionType"]
    local = any(parent.__name__ == "LocalSecondaryIndex" for parent in type(own).__mro__)
    return {"name": schema["index_name"], "keys": [key["AttributeName"] for key in keys], "local": local, "project": project}


def discriminator(model):
    return next((own for own in model.get_attributes().values() if isinstance(own, DiscriminatorAttribute)), None)


def table(model):
    told_apart = discriminator(model)
    own = [attribute for attribute in model.get_attributes().values() if attribute is not told_apart]
    attributes = {attribute.attr_name: {"type": NAMED.get(type(attribute).__name__, TYPES[attribute.attr_type]), "optional": attribute.null} for attribute in own}
    ttl = next((attribute.attr_name for attribute in own if isinstance(attribute, TTLAttribute)), None)
    lock = next((attribute.attr_name for attribute in own if isinstance(attribute, VersionAttribute)), None)
    keys = [attribute.attr_name for attribute in sorted(own, key=lambda attribute: attribute.is_range_key) if attribute.is_hash_key or attribute.is_range_key]
    entity = {"name": model.__name__, "attributes": attributes, "key": ["{%s}" % key for key in keys], "lock": lock}
    if told_apart:
        entity["type"] = told_apart.get_discriminator(model)
    return {
        "name": model.Meta.table_name,
        "keys": keys,
        "ttl": ttl,
        "type_attribute": told_apart.attr_name if told_apart else None,
        "indexes": [index(own) for own in model._indexes.values()],
        "entities": [entity],
    }


def is_written(model):
    """Of a hierarchy with a discriminator, only the classes that have a value of their own are written."""
    told_apart = discriminator(model)
    return told_apart is None or told_apart.get_discriminator(model) is not None


sys.path.insert(0, os.getcwd())
module = importlib.import_module(sys.argv[1])
models = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Model) and hasattr(value, "Meta") and value is not Model]
print(json.dumps({"tables": [table(model) for model in models if is_written(model)]}, indent=2))
