// Streams with the JavaScript SDK: a reader that follows shards from parents to children, and the errors it must handle.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DeleteTableCommand, DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand, ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb-streams'
import { BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { client, createTable, uniqueName } from './endpoint.js'

const documents = DynamoDBDocumentClient.from(client)
const streams = new DynamoDBStreamsClient({
  endpoint: process.env.PARTITA_ENDPOINT,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
})
const TableName = uniqueName('streams')
let StreamArn

async function shards() {
  const found = []
  let ExclusiveStartShardId
  do {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn, Limit: 2, ExclusiveStartShardId }))
    found.push(...StreamDescription.Shards)
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId
  } while (ExclusiveStartShardId)
  return found
}

async function records() {
  const read = []
  for (const { ShardId } of await shards()) {
    const position = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }
    let { ShardIterator } = await streams.send(new GetShardIteratorCommand(position))
    while (ShardIterator) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 7 }))
      read.push(...page.Records)
      ShardIterator = page.Records.length ? page.NextShardIterator : undefined
    }
  }
  return read
}

before(async () => {
  await createTable({
    TableName,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
  StreamArn = (await client.send(new DescribeTableCommand({ TableName }))).Table.LatestStreamArn
})
after(() => client.send(new DeleteTableCommand({ TableName })))

describe('a stream', () => {
  it('is listed and described', async () => {
    const { Streams } = await streams.send(new ListStreamsCommand({ TableName }))
    assert.deepEqual(Streams.map((stream) => stream.StreamArn), [StreamArn])
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }))
    assert.equal(StreamDescription.StreamStatus, 'ENABLED')
    assert.ok(StreamDescription.CreationRequestDateTime instanceof Date)
  })

  it('rebuilds the table', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`)
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: keys.map((pk) => ({ PutRequest: { Item: { pk, bytes: new Uint8Array([1, 2]) } } })) } }))
    for (const pk of keys.slice(0, 10)) {
      await documents.send(new UpdateCommand({ TableName, Key: { pk }, UpdateExpression: 'SET tags = :t', ExpressionAttributeValues: { ':t': new Set(['a', pk]) } }))
    }
    for (const pk of keys.slice(5, 15)) await documents.send(new DeleteCommand({ TableName, Key: { pk } }))
    await documents.send(new PutCommand({ TableName, Item: { pk: 'k0', plain: true } }))
    const rebuilt = new Map()
    for (const { eventName, dynamodb } of await records()) {
      const { pk } = unmarshall(dynamodb.Keys)
      assert.deepEqual(dynamodb.OldImage && unmarshall(dynamodb.OldImage), rebuilt.get(pk))
      assert.ok(dynamodb.ApproximateCreationDateTime instanceof Date)
      if (eventName === 'REMOVE') rebuilt.delete(pk)
      else rebuilt.set(pk, unmarshall(dynamodb.NewImage))
    }
    const { Items } = await documents.send(new ScanCommand({ TableName, ConsistentRead: true }))
    assert.equal(Items.length, 10)
    assert.deepEqual(new Map([...rebuilt].sort()), new Map(Items.map((item) => [item.pk, item]).sort()))
  })

  it('ends when it is disabled, and stays readable', async () => {
    const recorded = (await records()).length
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification: { StreamEnabled: false } }))
    await documents.send(new PutCommand({ TableName, Item: { pk: 'unrecorded' } }))
    assert.equal((await records()).length, recorded)
    for (const { ShardId, SequenceNumberRange } of await shards()) {
      assert.match(SequenceNumberRange.EndingSequenceNumber, /^\d{21,40}$/)
      const { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'LATEST' }))
      const page = await streams.send(new GetRecordsCommand({ ShardIterator }))
      assert.deepEqual([page.Records, page.NextShardIterator], [[], undefined])
    }
  })

  it('that does not exist is not found', async () => {
    const missing = StreamArn.replace(TableName, `${TableName}-other`)
    await assert.rejects(streams.send(new DescribeStreamCommand({ StreamArn: missing })), ResourceNotFoundException)
    await assert.rejects(streams.send(new GetRecordsCommand({ ShardIterator: 'made up' })), { name: 'ValidationException', message: /Invalid ShardIterator/ })
  })
})
