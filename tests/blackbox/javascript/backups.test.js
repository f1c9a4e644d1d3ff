// Backups and point-in-time recovery with the JavaScript SDK: dates, pages of lists, typed exceptions.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  BackupNotFoundException, CreateBackupCommand, DeleteBackupCommand, DeleteTableCommand, DescribeBackupCommand, DescribeContinuousBackupsCommand,
  GetItemCommand, InvalidRestoreTimeException, ListBackupsCommand, PointInTimeRecoveryUnavailableException, PutItemCommand,
  RestoreTableFromBackupCommand, RestoreTableToPointInTimeCommand, ScanCommand, TableAlreadyExistsException, TableNotFoundException,
  UpdateContinuousBackupsCommand, waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { client, createTable, uniqueName } from './endpoint.js'

const TableName = uniqueName('backups')
const tables = [TableName]
const send = (Command, input) => client.send(new Command(input))
const put = (pk) => send(PutItemCommand, { TableName, Item: { pk: { S: pk }, b: { B: new Uint8Array([0, 255]) } } })
const has = async (name, pk) => 'Item' in (await send(GetItemCommand, { TableName: name, Key: { pk: { S: pk } }, ConsistentRead: true }))
const setRecovery = (PointInTimeRecoveryEnabled, more) =>
  send(UpdateContinuousBackupsCommand, { TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled, ...more } })

function newName() {
  tables.push(uniqueName('restored'))
  return tables.at(-1)
}

const untilActive = (name) => waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: name })

before(async () => {
  await createTable({
    TableName,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  await put('first')
})
after(() => Promise.allSettled(tables.map((name) => send(DeleteTableCommand, { TableName: name }))))

describe('backups', () => {
  it('are created, described, listed, restored and deleted', async () => {
    const { BackupDetails } = await send(CreateBackupCommand, { TableName, BackupName: 'nightly' })
    assert.ok(BackupDetails.BackupCreationDateTime instanceof Date)
    const { BackupArn } = BackupDetails
    await put('later')
    const { BackupDescription } = await send(DescribeBackupCommand, { BackupArn })
    assert.deepEqual([BackupDescription.BackupDetails.BackupStatus, BackupDescription.BackupDetails.BackupType], ['AVAILABLE', 'USER'])
    assert.deepEqual([BackupDescription.SourceTableDetails.TableName, BackupDescription.SourceTableDetails.ItemCount], [TableName, 1])
    const { BackupSummaries } = await send(ListBackupsCommand, { TableName, Limit: 10, TimeRangeLowerBound: new Date(0) })
    assert.deepEqual(BackupSummaries.map((backup) => backup.BackupArn), [BackupArn])

    const copy = newName()
    const { TableDescription } = await send(RestoreTableFromBackupCommand, { TargetTableName: copy, BackupArn, OnDemandThroughputOverride: { MaxReadRequestUnits: 9 } })
    assert.deepEqual([TableDescription.RestoreSummary.SourceBackupArn, TableDescription.RestoreSummary.RestoreInProgress], [BackupArn, true])
    await untilActive(copy)
    const { Items } = await send(ScanCommand, { TableName: copy })
    assert.deepEqual(Items, [{ pk: { S: 'first' }, b: { B: new Uint8Array([0, 255]) } }])

    const deleted = await send(DeleteBackupCommand, { BackupArn })
    assert.equal(deleted.BackupDescription.BackupDetails.BackupStatus, 'DELETED')
    await assert.rejects(send(DescribeBackupCommand, { BackupArn }), BackupNotFoundException)
  })

  it('are refused with typed exceptions', async () => {
    await assert.rejects(send(CreateBackupCommand, { TableName: uniqueName('nowhere'), BackupName: 'nightly' }), TableNotFoundException)
    const { BackupDetails } = await send(CreateBackupCommand, { TableName, BackupName: 'nightly' })
    await assert.rejects(send(RestoreTableFromBackupCommand, { TargetTableName: TableName, BackupArn: BackupDetails.BackupArn }), TableAlreadyExistsException)
  })
})

describe('point-in-time recovery', () => {
  it('is enabled, restores a table to a past time, and is disabled', async () => {
    const restore = async (moment) => {
      const TargetTableName = newName()
      await send(RestoreTableToPointInTimeCommand, { SourceTableName: TableName, TargetTableName, ...moment })
      await untilActive(TargetTableName)
      return TargetTableName
    }
    await assert.rejects(restore({ UseLatestRestorableTime: true }), PointInTimeRecoveryUnavailableException)
    const { ContinuousBackupsDescription: on } = await setRecovery(true, { RecoveryPeriodInDays: 7 })
    const recovery = on.PointInTimeRecoveryDescription
    assert.deepEqual([on.ContinuousBackupsStatus, recovery.PointInTimeRecoveryStatus, recovery.RecoveryPeriodInDays], ['ENABLED', 'ENABLED', 7])
    assert.ok(recovery.EarliestRestorableDateTime <= recovery.LatestRestorableDateTime)

    await put('before')
    const RestoreDateTime = new Date((Math.floor(Date.now() / 1000) + 1) * 1000)
    await pause(RestoreDateTime - Date.now() + 50)
    await put('after')
    const then = await restore({ RestoreDateTime })
    assert.deepEqual([await has(then, 'before'), await has(then, 'after')], [true, false])
    assert.ok(await has(await restore({ UseLatestRestorableTime: true }), 'after'))
    await assert.rejects(restore({ RestoreDateTime: new Date(0) }), InvalidRestoreTimeException)

    await setRecovery(false)
    const { ContinuousBackupsDescription: off } = await send(DescribeContinuousBackupsCommand, { TableName })
    assert.deepEqual(off.PointInTimeRecoveryDescription, { PointInTimeRecoveryStatus: 'DISABLED' })
  })
})
