// Prints the models of Dynamoose that a module exports as JSON for `partita model import --from dynamoose`.
//
//     node dynamoose_schema.mjs ./models.mjs > schema.json
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const file = resolve(process.argv[2]);
const internal = createRequire(file)("dynamoose/dist/Internal");
const { internalProperties } = (internal.default ?? internal).General;
const models = Object.values(await import(pathToFileURL(file))).filter((value) => value?.Model?.getInternalProperties);
const types = { String: "string", Number: "decimal", Boolean: "bool", Date: "decimal", Array: "list", Object: "map", Set: "set", Buffer: "binary" };

function attribute(definition) {
  const type = typeof definition === "function" ? definition : definition.type;
  const choices = definition.enum?.length > 1 ? definition.enum.join("|") : undefined;
  const name = type?.name ?? type?.value?.name ?? type;
  return { type: choices ?? types[name] ?? "string", optional: !(definition.required || definition.hashKey || definition.rangeKey), only: definition.enum?.length === 1 ? definition.enum[0] : undefined };
}

function table(model) {
  const own = model.Model.getInternalProperties(internalProperties);
  const { schemaObject } = own.schemas[0].getInternalProperties(internalProperties);
  const fields = Object.entries(schemaObject);
  const keys = [own.getHashKey(), own.getRangeKey()].filter(Boolean);
  const indexes = fields.flatMap(([name, { index }]) => [index ?? []].flat().filter((own) => own.name || own === true).map((index) => ({
    name: index.name ?? `${name}GlobalIndex`,
    local: index.type === "local",
    keys: index.type === "local" ? [keys[0], name] : [name, index.rangeKey].filter(Boolean),
    project: index.project === false ? "KEYS_ONLY" : Array.isArray(index.project) ? index.project : "ALL",
  })));
  const attributes = Object.fromEntries(fields.map(([name, definition]) => [name, attribute(definition)]));
  const shared = own._table?.getInternalProperties(internalProperties);
  const expires = shared?.options.expires;
  const ttl = typeof expires === "object" ? expires.attribute ?? "ttl" : expires ? "ttl" : undefined;
  if (ttl) attributes[ttl] ??= { type: "int", optional: true };
  return { name: shared?.name ?? own.tableName ?? own.name, keys, ttl, indexes, entities: [{ name: own.name, attributes, key: keys.map((key) => `{${key}}`) }] };
}

// Dynamoose may be creating tables by now: the schema is all that is wanted.
process.stdout.write(`${JSON.stringify({ tables: models.map(table) }, null, 2)}\n`, () => process.exit(0));
