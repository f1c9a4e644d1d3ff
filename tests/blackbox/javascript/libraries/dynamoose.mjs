// A gym in Dynamoose: two models in one table with an expiry time, told apart by an attribute with one value.

import dynamoose from 'dynamoose'

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB({ endpoint: process.env.PARTITA_ENDPOINT, region: 'us-east-1', credentials }))
const keys = { PK: { type: String, hashKey: true }, SK: { type: String, rangeKey: true } }

export const Member = dynamoose.model('Member', new dynamoose.Schema({ ...keys, kind: { type: String, enum: ['member'], default: 'member' }, name: { type: String, required: true } }))
export const Session = dynamoose.model(
  'Session',
  new dynamoose.Schema({ ...keys, kind: { type: String, enum: ['session'], default: 'session' }, coach: { type: String, index: { name: 'byCoach', rangeKey: 'SK' } }, seats: Number }),
)

new dynamoose.Table(process.env.LIBRARY_TABLE, [Member, Session], { create: false, waitForActive: false, expires: { ttl: 3600, attribute: 'expiresAt' } })

export async function write() {
  await Member.create({ PK: 'MEMBER#1', SK: 'MEMBER', name: 'Ann' })
  await Session.create({ PK: 'SESSION#9', SK: 'SESSION', coach: 'Eve', seats: 12 })
}
