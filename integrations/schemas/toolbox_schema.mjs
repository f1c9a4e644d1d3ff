// Prints the entities of DynamoDB-Toolbox (version 2) that a module exports as JSON for `partita model import --from toolbox`.
//
//     node toolbox_schema.mjs ./entities.mjs > schema.json
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { templates } from "./templates.mjs";

const exported = Object.values(await import(pathToFileURL(resolve(process.argv[2]))));
const entities = exported.filter((value) => value?.entityName && value?.table?.partitionKey);
const types = { string: "string", number: "decimal", boolean: "bool", list: "list", map: "map", record: "map", set: "set", binary: "binary" };

const savedAs = ([name, own]) => own.props?.savedAs ?? name;

function attribute({ type, props = {} }) {
  const optional = props.required === "never";
  return type === "string" && props.enum ? { choices: props.enum, optional } : { type: types[type] ?? null, optional };
}

// The key templates; `null` where the function that computes the key does more than to write values into text.
function key(entity, keys, fields) {
  if (!entity.computeKey) return keys.map((name) => `{${name}}`);
  const attributes = Object.fromEntries(fields.map(([name, { type, props }]) => [name, { type, choices: props?.enum }]));
  const names = Object.fromEntries(fields.map((field) => [field[0], savedAs(field)]));
  const computed = templates((values) => entity.computeKey(values), attributes, names);
  return keys.map((name) => computed[name] ?? null);
}

const tables = new Map();
for (const entity of entities) {
  const { tableName, partitionKey, sortKey, indexes, entityAttributeSavedAs } = entity.table;
  const keys = [partitionKey.name, sortKey?.name].filter(Boolean);
  if (!tables.has(entity.table)) {
    const own = Object.entries(indexes ?? {}).map(([name, index]) => ({
      name,
      local: index.type === "local",
      keys: [index.partitionKey?.name ?? partitionKey.name, index.sortKey?.name].filter(Boolean),
    }));
    tables.set(entity.table, { name: typeof tableName === "string" ? tableName : "Table", keys, type_attribute: entityAttributeSavedAs, indexes: own, entities: [] });
  }
  const fields = Object.entries(entity.schema.attributes).filter((field) => savedAs(field) !== entityAttributeSavedAs);
  const attributes = Object.fromEntries(fields.map((field) => [savedAs(field), attribute(field[1])]));
  tables.get(entity.table).entities.push({ name: entity.entityName, attributes, key: key(entity, keys, fields) });
}
console.log(JSON.stringify({ tables: [...tables.values()] }, null, 2));
