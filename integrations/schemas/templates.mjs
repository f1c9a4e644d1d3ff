// Key templates, learned from what a function makes of sample values: where each value stands in a key, padded or in lower case.

const LETTERS = "BCDFGHJKLMNPRSTVWXYZ";

// Values that no text of a key has by chance. Each round has others, of other lengths.
function sample({ type, choices }, number, round) {
  if (choices) return choices[round % choices.length];
  if (type === "number") return [1_734_021_190_653 + number, 1 + (number % 9), 518 + number][round];
  if (type === "boolean") return round === 1;
  const letters = [...String(number)].map((digit) => LETTERS[Number(digit) + round]).join("");
  return [`Qv${letters}7k`, `xW3${letters}`, `jZz${letters}Y2q9`][round];
}

function located(text, values) {
  const parts = [""];
  for (let at = 0; at < text.length; ) {
    const fits = ([, value]) => text.startsWith(String(value), at) || text.startsWith(String(value).toLowerCase(), at);
    const found = values.filter(fits).sort(([, a], [, b]) => String(b).length - String(a).length)[0];
    if (!found) {
      parts[parts.length - 1] += text[at++];
      continue;
    }
    const [name, value] = found;
    parts.push({ name, format: text.startsWith(String(value), at) ? "" : ":lower" }, "");
    at += String(value).length;
  }
  return parts;
}

function written({ format }, value) {
  if (format === ":lower") return String(value).toLowerCase();
  return String(value).padStart(Number(format.slice(1)) || 0, "0");
}

// Numbers with fewer digits show how wide a field is. In a field as wide as the longest number, the zeros before that are no text.
function padded(parts, text, values, longest) {
  let at = 0;
  for (const [place, part] of parts.entries()) {
    if (typeof part === "string") {
      at += part.length;
      continue;
    }
    const zeros = typeof values[part.name] === "number" ? text.slice(at).match(/^0*/)[0].length : 0;
    const digits = zeros && zeros + String(values[part.name]).length;
    const before = digits === String(longest[part.name]).length ? parts[place - 1].match(/0*$/)[0].length : 0;
    if (digits) part.format = `:0${before + digits}`;
    parts[place - 1] = parts[place - 1].slice(0, parts[place - 1].length - before);
    at += written(part, values[part.name]).length - before;
  }
}

const filled = (parts, values) => parts.map((part) => (typeof part === "string" ? part : written(part, values[part.name]))).join("");
const braced = (text) => text.replace(/[{}]/g, "$&$&");
const printed = (parts, names) => parts.map((part) => (typeof part === "string" ? braced(part) : `{${names[part.name] ?? part.name}${part.format}}`)).join("");

// The template of each key that `compute` returns for values of the attributes; `undefined` if it does something else with them.
// `names` are the names under which attributes are stored.
export function templates(compute, attributes, names = {}) {
  const rounds = [0, 1, 2].map((round) => Object.fromEntries(Object.entries(attributes).map(([name, own], number) => [name, sample(own, number, round)])));
  let keys;
  try {
    keys = rounds.map((values) => compute({ ...values }));
  } catch {
    return {};
  }
  const template = (key) => {
    const texts = keys.map((own) => (own[key] === undefined ? undefined : String(own[key])));
    if (texts.includes(undefined)) return undefined;
    const parts = located(texts[0], Object.entries(rounds[0]));
    padded(parts, texts[1], rounds[1], rounds[0]);
    return texts.every((text, round) => filled(parts, rounds[round]) === text) ? printed(parts, names) : undefined;
  };
  return Object.fromEntries(Object.keys(keys[0]).map((key) => [key, template(key)]));
}
