// Schemas of client libraries become models that are checked, and the items that a library writes are those of its model.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { templates } from '../../../integrations/schemas/templates.mjs'
import { createTable, uniqueName } from './endpoint.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const binary = resolve(here('../../..'), process.env.PARTITA_BINARY ?? 'target/release/partita')

function partita(...words) {
  const { status, stdout, stderr } = spawnSync(binary, ['model', ...words], { encoding: 'utf8' })
  return { status, stdout, text: stdout + stderr }
}

/** The model of a library's schema, as a file and as text. */
function imported(library, answers) {
  const folder = mkdtempSync(join(tmpdir(), `${library}-`))
  const path = (name) => join(folder, name)
  const script = here(`../../../integrations/schemas/${library}_schema.mjs`)
  writeFileSync(path('schema.json'), execFileSync('node', [script, here(`libraries/${library}.mjs`)], { encoding: 'utf8' }))
  writeFileSync(path('answers.json'), JSON.stringify(answers))
  const { status, stdout, text } = partita('import', '--from', library, path('schema.json'), '--answers', path('answers.json'))
  assert.equal(status, 0, text)
  writeFileSync(path('model.toml'), stdout)
  return { file: path('model.toml'), text: stdout }
}

/** Creates the table of a model, writes the library's items, and audits them. */
async function audited(library, file) {
  const { status, stdout, text } = partita('export', '--to', 'create-table', file)
  assert.equal(status, 0, text)
  await createTable(JSON.parse(stdout))
  const { write } = await import(`./libraries/${library}.mjs`)
  await write()
  const audit = partita('audit', file, '--endpoint', process.env.PARTITA_ENDPOINT)
  assert.equal(audit.status, 0, audit.text)
}

function assertChecked(file) {
  const { status, text } = partita('check', file)
  assert.equal(status, 0, text)
  assert.match(text, /(\d+) of \1 patterns served/)
}

function assertContains(text, ...parts) {
  for (const part of parts) assert.ok(text.includes(part), `${part}\n${text}`)
}

it('numbers padded to any width', () => {
  for (const width of [2, 4, 7, 8, 10, 13, 16, 20, 38]) {
    const keys = ({ n, a }) => ({ PK: `E0#${String(n).padStart(width, '0')}#${a}`, SK: `V00${n}x` })
    const found = templates(keys, { a: { type: 'string' }, n: { type: 'number' } })
    assert.deepEqual(found, { PK: `E0#{n:0${width}}#{a}`, SK: 'V00{n}x' })
  }
})

it('ElectroDB', async () => {
  process.env.LIBRARY_TABLE = uniqueName('Gym')
  const { file, text } = imported('electrodb', {})
  assertContains(
    text,
    'key = ["$gym#memberid_{memberId:lower}", "$account#booking_2#number_{number:06}#bookingid_{b:lower}"]',
    'index.gsi1 = { key = ["$gym#state_{state:lower}", "B#{b}"] }',
    '? table.casing',
    'bookingsByState',
  )
  assertChecked(file)
  await audited('electrodb', file)
  assertContains(imported('electrodb', { 'table.casing': 'no' }).text, '"$gym#memberid_{memberId}"', '"$gym#state_{state:lower}"')
})

it('DynamoDB-Toolbox', async () => {
  process.env.LIBRARY_TABLE = uniqueName('Gym')
  const { file, text } = imported('toolbox', { 'entity.Badge.key.0': 'BADGE#{reversed}' })
  assertContains(text, 'key = ["SESSION#{s}", "SESSION#{n:06}"]', 'key = ["MEMBER#{email:lower}", "MEMBER#{state}"]', 'key = ["BADGE#{reversed}", "BADGE"]')
  assertChecked(file)
  await audited('toolbox', file)
})

it('Dynamoose', async () => {
  process.env.LIBRARY_TABLE = uniqueName('Gym')
  const answers = { 'entity.Member.key.0': 'MEMBER#{memberId}', 'entity.Member.key.1': 'MEMBER', 'entity.Session.key.0': 'SESSION#{sessionId}', 'entity.Session.key.1': 'SESSION' }
  const { file, text } = imported('dynamoose', answers)
  assertContains(text, 'ttl = "expiresAt"', 'type_attribute = "kind"', 'type = "member"', 'index.byCoach')
  assertChecked(file)
  await audited('dynamoose', file)
})
