// Prints the entities of ElectroDB that a module exports as JSON for `partita model import --from electrodb`.
//
//     node electrodb_schema.mjs ./entities.mjs > schema.json
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { templates } from "./templates.mjs";

const exported = Object.values(await import(pathToFileURL(resolve(process.argv[2]))));
const entities = exported.flatMap((value) => (value?.entities ? Object.values(value.entities) : [value])).filter((value) => value?.model?.original);
const types = { string: "string", number: "decimal", boolean: "bool", list: "list", map: "map", set: "set" };

// The type is null if ElectroDB itself does not know it: `any`.
const attribute = ({ type, required }) => ({ ...(Array.isArray(type) ? { choices: type } : { type: types[type] ?? null }), optional: !required });

// ElectroDB itself writes the keys of sample values.
function keysOf(entity, access, { index, pk, sk }, values) {
  const fields = [pk.field, sk?.field].filter(Boolean);
  if (!index) return Object.entries(entity.get(values).params().Key);
  const own = entity.query[access](values).params().ExpressionAttributeValues;
  return fields.map((field, at) => [field, own[[":pk", ":sk1"][at]]]);
}

function key(entity, access, definition, attributes) {
  const { pk, sk } = definition;
  const names = [...(pk.composite ?? pk.facets), ...(sk?.composite ?? sk?.facets ?? [])];
  const used = Object.fromEntries(names.map((name) => [name, { type: attributes[name].type, choices: Array.isArray(attributes[name].type) ? attributes[name].type : undefined }]));
  const stored = Object.fromEntries(names.map((name) => [name, attributes[name].field ?? name]));
  const found = templates((values) => Object.fromEntries(keysOf(entity, access, definition, values)), used, stored);
  return [pk.field, sk?.field].filter(Boolean).map((field) => found[field] ?? null);
}

const tables = {};
for (const entity of entities) {
  const { model } = entity;
  const { attributes, indexes, model: names } = model.original;
  const table = (tables[model.table] ??= { name: model.table, type_attribute: "__edb_e__", indexes: [], entities: [] });
  const fields = Object.entries(attributes).map(([name, own]) => [own.field ?? name, attribute(own)]);
  const declared = { name: names.entity, attributes: Object.fromEntries(fields), index: {}, conditional: [], partial: [] };
  for (const [access, definition] of Object.entries(indexes)) {
    const keys = [definition.pk.field, definition.sk?.field].filter(Boolean);
    const own = key(entity, access, definition, attributes);
    if (!definition.index) [table.keys, declared.key] = [keys, own];
    else declared.index[definition.index] = own;
    if (definition.condition) declared.conditional.push(definition.index);
    // ElectroDB writes as much of a sort key as there are attributes for.
    const isOptional = (name) => !attributes[name].required && attributes[name].default === undefined;
    if (definition.index && (definition.sk?.composite ?? definition.sk?.facets ?? []).some(isOptional)) declared.partial.push(definition.index);
    if (definition.index && !table.indexes.some((other) => other.name === definition.index)) table.indexes.push({ name: definition.index, keys });
  }
  table.entities.push(declared);
}
console.log(JSON.stringify({ tables: Object.values(tables) }, null, 2));
