// Every pattern of every system under examples/ gets exactly the response that its file specifies.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import * as sdk from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { client, createTable, eventually, uniqueName } from './endpoint.js'

const examples = new URL('../../../examples/', import.meta.url)
const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory())

/** The request with the table's own name in place of the example's. */
function renamed(request, old, name) {
  if (Array.isArray(request)) return request.map((part) => renamed(part, old, name))
  if (request === null || typeof request !== 'object') return request
  const out = {}
  for (const [member, part] of Object.entries(request)) out[member] = renamed(part, old, name)
  if (out.TableName === old) out.TableName = name
  if (out.RequestItems?.[old]) out.RequestItems = { [name]: out.RequestItems[old] }
  return out
}

const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

class System {
  constructor(file) {
    this.file = file
    this.exampleName = file.table.TableName
    this.name = uniqueName(this.exampleName)
    this.keys = file.table.KeySchema.map((part) => part.AttributeName)
  }

  async create() {
    await createTable(renamed(this.file.table, this.exampleName, this.name))
    for (const item of this.file.items) {
      await client.send(new sdk.PutItemCommand({ TableName: this.name, Item: marshall(item) }))
    }
  }

  drop() {
    return client.send(new sdk.DeleteTableCommand({ TableName: this.name }))
  }

  /** The answer, or the exception. */
  async send({ operation, ...parameters }) {
    const command = new sdk[`${operation}Command`](renamed(parameters, this.exampleName, this.name))
    return client.send(command).catch((exception) => {
      if (exception instanceof sdk.DynamoDBServiceException) return exception
      throw exception
    })
  }

  key(item) {
    return this.keys.map((name) => item[name])
  }

  async run(pattern) {
    const gathered = []
    for (const { request, expect } of pattern.steps ?? [pattern]) gathered.push(...(await this.step(request, expect)))
    if (pattern.gather) {
      const { by, keys } = pattern.gather
      gathered.sort((a, b) => (a[by] < b[by] ? -1 : 1))
      assert.deepEqual(gathered.map((item) => this.key(item)), keys)
    }
  }

  step(request, expect) {
    const check = async () => this.check(await this.send(request), expect)
    return request.IndexName ? eventually(check) : check()
  }

  check(answer, expect) {
    assert.equal(answer instanceof Error ? answer.name : undefined, expect.error, answer.message)
    const batch = answer.Responses?.[this.name]
    const items = (batch ?? answer.Items ?? []).map((item) => unmarshall(item))
    for (const [name, expected] of Object.entries(expect)) {
      const actual = this.actual(name, answer, items)
      if (batch) assert.deepEqual(actual.sort(byText), expected.toSorted(byText), name) // a batch is unordered
      else assert.deepEqual(actual, expected, name)
    }
    return items
  }

  actual(name, answer, items) {
    switch (name) {
      case 'error': return answer.name
      case 'reasons': return answer.CancellationReasons.map((reason) => reason.Code)
      case 'keys': return items.map((item) => this.key(item))
      case 'items': return items
      case 'item': return answer.Item && unmarshall(answer.Item)
      case 'attributes': return unmarshall(answer.Attributes)
      case 'count': return answer.Count
      case 'scannedCount': return answer.ScannedCount
      case 'more': return answer.LastEvaluatedKey !== undefined
      case 'lastEvaluatedKey': return unmarshall(answer.LastEvaluatedKey)
      default: throw new Error(`an unknown expectation: ${name}`)
    }
  }
}

it('finds the examples', () => assert.ok(folders.length >= 17))

for (const folder of folders) {
  describe(folder.name, () => {
    const system = new System(JSON.parse(readFileSync(new URL(`${folder.name}/system.json`, examples))))
    before(() => system.create())
    after(() => system.drop())
    for (const pattern of system.file.patterns) it(pattern.name, () => system.run(pattern))
  })
}
