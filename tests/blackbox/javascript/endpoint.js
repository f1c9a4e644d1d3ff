// The client of the endpoint under test, tables with unique names, and waiting for indexes that lag behind.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb'

const endpoint = process.env.PARTITA_ENDPOINT
if (!endpoint) throw new Error('PARTITA_ENDPOINT is not set')

export const newClient = () =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  })

export const client = newClient()

export const uniqueName = (name) => `${name}-${randomUUID().slice(0, 8)}`

export async function createTable(request) {
  await client.send(new CreateTableCommand(request))
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: request.TableName })
}

/** Repeats a check until it holds: reads of a global index may lag behind the writes. */
export async function eventually(check, milliseconds = 5000) {
  const end = Date.now() + milliseconds
  for (;;) {
    try {
      return await check()
    } catch (failure) {
      if (failure.code !== 'ERR_ASSERTION' || Date.now() > end) throw failure
      await pause(20)
    }
  }
}
