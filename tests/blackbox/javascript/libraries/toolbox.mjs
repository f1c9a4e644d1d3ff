// A gym in DynamoDB-Toolbox: keys that functions compute, with padding, lower case, and one that no template describes.

import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Entity, PutItemCommand, Table, item, number, string } from 'dynamodb-toolbox'
import { client } from '../endpoint.js'

const GymTable = new Table({
  name: process.env.LIBRARY_TABLE,
  partitionKey: { name: 'PK', type: 'string' },
  sortKey: { name: 'SK', type: 'string' },
  indexes: { byCoach: { type: 'global', partitionKey: { name: 'coach', type: 'string' } } },
  documentClient: DynamoDBDocumentClient.from(client),
})

export const Session = new Entity({
  name: 'Session',
  table: GymTable,
  schema: item({ sessionId: string().key().savedAs('s'), n: number().key(), coach: string().optional() }),
  computeKey: ({ sessionId, n }) => ({ PK: `SESSION#${sessionId}`, SK: `SESSION#${String(n).padStart(6, '0')}` }),
})

export const Member = new Entity({
  name: 'Member',
  table: GymTable,
  schema: item({ email: string().key(), state: string().enum('ACTIVE', 'LEFT').key() }),
  computeKey: ({ email, state }) => ({ PK: `MEMBER#${email.toLowerCase()}`, SK: `MEMBER#${state}` }),
})

export const Badge = new Entity({
  name: 'Badge',
  table: GymTable,
  schema: item({ badgeId: string().key() }),
  computeKey: ({ badgeId }) => ({ PK: `BADGE#${[...badgeId].reverse().join('')}`, SK: 'BADGE' }),
})

export async function write() {
  await Session.build(PutItemCommand).item({ sessionId: 'S-1', n: 12, coach: 'Eve' }).send()
  await Session.build(PutItemCommand).item({ sessionId: 'S-1', n: 3 }).send()
  await Member.build(PutItemCommand).item({ email: 'Ann@Example.com', state: 'ACTIVE' }).send()
  await Badge.build(PutItemCommand).item({ badgeId: 'b12' }).send()
}
