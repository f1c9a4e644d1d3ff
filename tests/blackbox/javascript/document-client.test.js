// The document client: plain values in and out, paginators, batches and transactions.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ConditionalCheckFailedException, DeleteTableCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand, BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, NumberValue, PutCommand, QueryCommand,
  TransactGetCommand, TransactWriteCommand, UpdateCommand, paginateQuery, paginateScan,
} from '@aws-sdk/lib-dynamodb'
import { client, createTable, eventually, newClient, uniqueName } from './endpoint.js'

const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
const TableName = uniqueName('documents')

before(() =>
  createTable({
    TableName,
    AttributeDefinitions: ['pk', 'sk', 'group'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [
      { IndexName: 'byGroup', KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  }),
)
after(() => client.send(new DeleteTableCommand({ TableName })))

const put = (Item, more) => documents.send(new PutCommand({ TableName, Item, ...more }))
const get = async (Key) => (await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item

describe('values', () => {
  it('are returned unchanged', async () => {
    const item = {
      pk: 'values', sk: 'all', text: 'ünï 😀', empty: '', number: -12.5, zero: 0, yes: true, no: false, nothing: null,
      list: [1, 'two', [3], { four: 4 }], map: { deep: { deeper: [] } }, bytes: new Uint8Array([0, 127, 255]),
      strings: new Set(['a', 'b']), numbers: new Set([1, 2]),
    }
    await put(item)
    assert.deepEqual(await get({ pk: 'values', sk: 'all' }), item)
  })

  it('omit undefined members', async () => {
    await put({ pk: 'values', sk: 'undefined', a: undefined, b: { c: undefined } })
    assert.deepEqual(await get({ pk: 'values', sk: 'undefined' }), { pk: 'values', sk: 'undefined', b: {} })
  })

  it('keep all 38 digits of a number', async () => {
    const exact = DynamoDBDocumentClient.from(newClient(), { unmarshallOptions: { wrapNumbers: true } })
    const digits = '12345678901234567890.123456789012345678'
    await put({ pk: 'values', sk: 'exact', n: NumberValue.from(digits) })
    const { Item } = await exact.send(new GetCommand({ TableName, Key: { pk: 'values', sk: 'exact' } }))
    assert.equal(Item.n.toString(), digits)
  })

  it('may be large integers', async () => {
    await put({ pk: 'values', sk: 'big', n: 9007199254740993n })
    const exact = DynamoDBDocumentClient.from(newClient(), { unmarshallOptions: { wrapNumbers: (text) => BigInt(text) } })
    const { Item } = await exact.send(new GetCommand({ TableName, Key: { pk: 'values', sk: 'big' } }))
    assert.equal(Item.n, 9007199254740993n)
  })

  it('are absent for a missing item', async () => {
    assert.equal(await get({ pk: 'values', sk: 'nowhere' }), undefined)
  })
})

describe('updates', () => {
  it('count up and return the new value', async () => {
    const count = () =>
      documents.send(new UpdateCommand({
        TableName, Key: { pk: 'updates', sk: 'counter' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      }))
    await count()
    assert.deepEqual((await count()).Attributes, { n: 2 })
  })

  it('fail with a typed exception that carries the item', async () => {
    await put({ pk: 'updates', sk: 'guarded', version: 3 })
    const attempt = put({ pk: 'updates', sk: 'guarded', version: 2 }, {
      ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': 1 }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    await assert.rejects(attempt, (failure) => {
      assert.ok(failure instanceof ConditionalCheckFailedException)
      assert.equal(failure.message, 'The conditional request failed')
      assert.equal(failure.$metadata.httpStatusCode, 400)
      assert.equal(failure.Item.version.N ?? failure.Item.version, failure.Item.version.N ? '3' : 3)
      return true
    })
  })

  it('delete and return the old item', async () => {
    await put({ pk: 'updates', sk: 'gone', a: 1 })
    const { Attributes } = await documents.send(new DeleteCommand({ TableName, Key: { pk: 'updates', sk: 'gone' }, ReturnValues: 'ALL_OLD' }))
    assert.deepEqual(Attributes, { pk: 'updates', sk: 'gone', a: 1 })
  })
})

describe('paginators', () => {
  const names = Array.from({ length: 57 }, (_, n) => String(n).padStart(3, '0'))
  before(async () => {
    for (let start = 0; start < names.length; start += 25) {
      const requests = names.slice(start, start + 25).map((sk) => ({ PutRequest: { Item: { pk: 'pages', sk, group: 'paged' } } }))
      const { UnprocessedItems } = await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }))
      assert.deepEqual(UnprocessedItems, {})
    }
  })

  const collect = async (pages) => {
    const found = []
    for await (const page of pages) found.push(...page.Items.map((item) => item.sk))
    return found
  }
  const condition = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'pages' } }

  it('follow a query in both directions', async () => {
    assert.deepEqual(await collect(paginateQuery({ client: documents, pageSize: 10 }, { TableName, ...condition })), names)
    const back = paginateQuery({ client: documents, pageSize: 10 }, { TableName, ...condition, ScanIndexForward: false })
    assert.deepEqual(await collect(back), names.toReversed())
  })

  it('follow a query of an index', () =>
    eventually(async () => {
      const pages = paginateQuery({ client: documents, pageSize: 7 }, {
        TableName, IndexName: 'byGroup', KeyConditionExpression: '#g = :g', ExpressionAttributeNames: { '#g': 'group' },
        ExpressionAttributeValues: { ':g': 'paged' },
      })
      assert.deepEqual((await collect(pages)).sort(), names)
    }))

  it('follow a scan, also in parallel', async () => {
    const filter = { FilterExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'pages' } }
    assert.deepEqual((await collect(paginateScan({ client: documents, pageSize: 9 }, { TableName, ...filter }))).sort(), names)
    const segments = await Promise.all(
      [0, 1, 2].map((Segment) => collect(paginateScan({ client: documents }, { TableName, ...filter, Segment, TotalSegments: 3 }))),
    )
    assert.deepEqual(segments.flat().sort(), names)
  })

  it('count without items', async () => {
    const { Count, Items } = await documents.send(new QueryCommand({ TableName, ...condition, Select: 'COUNT' }))
    assert.equal(Count, names.length)
    assert.equal(Items, undefined)
  })
})

describe('batches', () => {
  it('read existing items', async () => {
    await put({ pk: 'batch', sk: '1', n: 1 })
    await put({ pk: 'batch', sk: '2', n: 2 })
    const Keys = ['1', '2', 'nowhere'].map((sk) => ({ pk: 'batch', sk }))
    const { Responses, UnprocessedKeys } = await documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }))
    assert.deepEqual(Responses[TableName].map((item) => item.n).sort(), [1, 2])
    assert.deepEqual(UnprocessedKeys, {})
  })
})

describe('transactions', () => {
  const key = (sk) => ({ pk: 'transaction', sk })

  it('write all and read all', async () => {
    await put({ ...key('old'), n: 1 })
    await documents.send(new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: { ...key('new'), tags: new Set(['a']) } } },
        { Update: { TableName, Key: key('old'), UpdateExpression: 'SET n = n + :x', ExpressionAttributeValues: { ':x': 41 } } },
        { ConditionCheck: { TableName, Key: key('nowhere'), ConditionExpression: 'attribute_not_exists(pk)' } },
      ],
    }))
    const gets = ['old', 'nowhere', 'new'].map((sk) => ({ Get: { TableName, Key: key(sk) } }))
    const { Responses } = await documents.send(new TransactGetCommand({ TransactItems: gets }))
    assert.deepEqual(Responses.map((part) => part.Item), [{ ...key('old'), n: 42 }, undefined, { ...key('new'), tags: new Set(['a']) }])
  })

  it('write nothing when a condition fails, and return the reasons', async () => {
    const attempt = documents.send(new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: key('never') } },
        { ConditionCheck: { TableName, Key: key('nowhere'), ConditionExpression: 'attribute_exists(pk)' } },
      ],
    }))
    await assert.rejects(attempt, (failure) => {
      assert.ok(failure instanceof TransactionCanceledException)
      assert.deepEqual(failure.CancellationReasons.map((reason) => reason.Code), ['None', 'ConditionalCheckFailed'])
      return true
    })
    assert.equal(await get(key('never')), undefined)
  })

  it('are executed once per token', async () => {
    const command = () => new TransactWriteCommand({
      ClientRequestToken: 'one-token-for-both-' + TableName.slice(-8),
      TransactItems: [{ Update: { TableName, Key: key('once'), UpdateExpression: 'ADD n :x', ExpressionAttributeValues: { ':x': 1 } } }],
    })
    await documents.send(command())
    await documents.send(command())
    assert.equal((await get(key('once'))).n, 1)
  })

  it('keep the total under contention', async () => {
    const accounts = ['a', 'b', 'c']
    for (const sk of accounts) await put({ ...key(sk), balance: 50 })
    const move = async (n) => {
      const [from, to] = [accounts[n % 3], accounts[(n + 1) % 3]]
      const change = (sk, sign, more) => ({
        Update: { TableName, Key: key(sk), UpdateExpression: `SET balance = balance ${sign} :x`, ExpressionAttributeValues: { ':x': 7 }, ...more },
      })
      const TransactItems = [change(from, '-', { ConditionExpression: 'balance >= :x' }), change(to, '+')]
      await documents.send(new TransactWriteCommand({ TransactItems })).catch((failure) => {
        if (!(failure instanceof TransactionCanceledException)) throw failure
      })
    }
    await Promise.all(Array.from({ length: 60 }, (_, n) => move(n)))
    const balances = await Promise.all(accounts.map(async (sk) => (await get(key(sk))).balance))
    assert.equal(balances.reduce((sum, balance) => sum + balance), 150)
    assert.ok(Math.min(...balances) >= 0)
  })
})
