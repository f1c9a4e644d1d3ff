// PartiQL with the JavaScript SDK: plain values as parameters, pages, batches, transactions and their errors.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  ConditionalCheckFailedException, DeleteTableCommand, DuplicateItemException, ExecuteStatementCommand as TypedStatement,
  ResourceNotFoundException, TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchExecuteStatementCommand, DynamoDBDocumentClient, ExecuteStatementCommand, ExecuteTransactionCommand, GetCommand,
} from '@aws-sdk/lib-dynamodb'
import { client, createTable, uniqueName } from './endpoint.js'

const documents = DynamoDBDocumentClient.from(client)
const TableName = uniqueName('partiql')
const text = (statement) => statement.replace('{t}', `"${TableName}"`)
const sent = (statement, Parameters, more) => ({ Statement: text(statement), ...(Parameters && { Parameters }), ...more })
const run = async (statement, parameters, more) => documents.send(new ExecuteStatementCommand(sent(statement, parameters, more)))
const stored = async (Key) => (await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item

before(() =>
  createTable({
    TableName,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    BillingMode: 'PAY_PER_REQUEST',
  }),
)
after(() => client.send(new DeleteTableCommand({ TableName })))

describe('statements', () => {
  it('write and read plain values', async () => {
    const item = { pk: 'plain', sk: 1, tags: new Set(['a']), parts: [1, { deep: null }], bytes: new Uint8Array([0, 255]), yes: true }
    await run(`INSERT INTO {t} VALUE {'pk': ?, 'sk': ?, 'tags': ?, 'parts': ?, 'bytes': ?, 'yes': ?}`, Object.values(item))
    assert.deepEqual((await run('SELECT * FROM {t} WHERE pk = ? AND sk = ? AND bytes = ?', ['plain', 1, item.bytes])).Items, [item])
    const { Items } = await run(`UPDATE {t} SET parts[1].deep = ? SET tags = set_add(tags, ?) WHERE pk = ? AND sk = 1 RETURNING ALL NEW *`, ['x', new Set(['b']), 'plain'])
    assert.deepEqual(Items, [{ ...item, tags: new Set(['a', 'b']), parts: [1, { deep: 'x' }] }])
    assert.deepEqual((await run(`SELECT parts[1].deep, parts[0] FROM {t} WHERE pk = 'plain'`)).Items, [{ deep: 'x', 'parts[0]': 1 }])
  })

  it('return pages', async () => {
    for (let sk = 1; sk <= 5; sk++) await run(`INSERT INTO {t} VALUE {'pk': 'pages', 'sk': ${sk}}`)
    const found = []
    let NextToken
    do {
      const page = await run('SELECT sk FROM {t} WHERE pk = ? ORDER BY sk DESC', ['pages'], { Limit: 2, NextToken })
      found.push(...page.Items.map((item) => item.sk))
      NextToken = page.NextToken
    } while (NextToken)
    assert.deepEqual(found, [5, 4, 3, 2, 1])
  })

  it('fail with typed exceptions', async () => {
    await run(`INSERT INTO {t} VALUE {'pk': 'fail', 'sk': 1, 'v': 1}`)
    await assert.rejects(run(`INSERT INTO {t} VALUE {'pk': 'fail', 'sk': 1}`), DuplicateItemException)
    await assert.rejects(
      client.send(new TypedStatement(sent(`UPDATE {t} SET v = 2 WHERE pk = 'fail' AND sk = 1 AND v = 5`, undefined, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }))),
      (error) => error instanceof ConditionalCheckFailedException && error.Item.v.N === '1',
    )
    await assert.rejects(run(`SELECT * FROM "not-there"`), ResourceNotFoundException)
    await assert.rejects(run('SELECT * FROM {t} WHERE'), { name: 'ValidationException', message: "Statement wasn't well formed, can't be processed: Unexpected term" })
  })
})

describe('several statements', () => {
  it('in a batch have a response each', async () => {
    const { Responses } = await documents.send(
      new BatchExecuteStatementCommand({
        Statements: [
          sent(`INSERT INTO {t} VALUE {'pk': 'batch', 'sk': 1, 'v': ?}`, [7]),
          sent(`INSERT INTO {t} VALUE {'pk': 'batch', 'sk': 1}`),
          sent(`DELETE FROM {t} WHERE pk = 'batch' AND sk = 1 RETURNING ALL OLD *`),
        ],
      }),
    )
    assert.deepEqual(Responses.map((response) => response.Error?.Code), [undefined, 'DuplicateItem', undefined])
    assert.deepEqual(Responses[2].Item, { pk: 'batch', sk: 1, v: 7 })
  })

  it('in a transaction are atomic', async () => {
    const send = (...statements) => documents.send(new ExecuteTransactionCommand({ TransactStatements: statements }))
    await send(sent(`INSERT INTO {t} VALUE {'pk': 'both', 'sk': 1}`), sent(`INSERT INTO {t} VALUE {'pk': 'both', 'sk': 2}`))
    await assert.rejects(
      send(sent(`UPDATE {t} SET v = 1 WHERE pk = 'both' AND sk = 1`), sent(`INSERT INTO {t} VALUE {'pk': 'both', 'sk': 2}`)),
      (error) => error instanceof TransactionCanceledException && error.CancellationReasons[1].Code === 'DuplicateItem',
    )
    assert.deepEqual(await stored({ pk: 'both', sk: 1 }), { pk: 'both', sk: 1 })
    const { Responses } = await send(sent(`SELECT * FROM {t} WHERE pk = 'both' AND sk = 2`), sent(`SELECT * FROM {t} WHERE pk = 'both' AND sk = 3`))
    assert.deepEqual(Responses, [{ Item: { pk: 'both', sk: 2 } }, {}])
  })
})
