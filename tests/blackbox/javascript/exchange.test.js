// Exports, imports and bulk operations with the JavaScript SDK: dates, pages of lists, typed exceptions. No bucket is needed: an export
// into a missing one fails in the background, as on AWS.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CancelBulkOperationCommand, DeleteTableCommand, DescribeBulkOperationCommand, DescribeExportCommand, DescribeImportCommand, DescribeTableCommand,
  ExportConflictException, ExportNotFoundException, ExportTableToPointInTimeCommand, IdempotentParameterMismatchException, ImportNotFoundException,
  ImportTableCommand, InvalidExportTimeException, ResourceNotFoundException, StartBulkPutItemsCommand, TableNotFoundException,
  UpdateContinuousBackupsCommand, paginateListBulkOperations, paginateListExports, paginateListImports,
} from '@aws-sdk/client-dynamodb'
import { client, createTable, uniqueName } from './endpoint.js'

const TableName = uniqueName('exchange')
const definition = (name) => ({
  TableName: name,
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
})
let TableArn
const start = (more) => client.send(new ExportTableToPointInTimeCommand({ TableArn, S3Bucket: 'no-such-bucket', ...more }))

async function ended(describe, status) {
  for (;;) {
    const description = await describe()
    if (description[status] !== 'IN_PROGRESS') return description
    await sleep(50)
  }
}

before(async () => {
  await createTable(definition(TableName))
  TableArn = (await client.send(new DescribeTableCommand({ TableName }))).Table.TableArn
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }))
})
after(() => client.send(new DeleteTableCommand({ TableName })))

describe('exports', () => {
  it('are described with dates and failure reasons', async () => {
    const { ExportDescription: job } = await start({ ExportFormat: 'ION', S3Prefix: 'a/b' })
    assert.equal(job.ExportStatus, 'IN_PROGRESS')
    assert.ok(job.StartTime instanceof Date && job.ExportTime instanceof Date)
    const describeExport = async () => (await client.send(new DescribeExportCommand({ ExportArn: job.ExportArn }))).ExportDescription
    const done = await ended(describeExport, 'ExportStatus')
    assert.deepEqual([done.ExportStatus, done.FailureCode, done.ExportFormat], ['FAILED', 'S3NoSuchBucket', 'ION'])
  })

  it('are listed in pages, newest first', async () => {
    const ClientToken = uniqueName('token')
    const first = (await start({ ClientToken })).ExportDescription.ExportArn
    const second = (await start({ ClientToken: uniqueName('token') })).ExportDescription.ExportArn
    assert.equal((await start({ ClientToken })).ExportDescription.ExportArn, first)
    await assert.rejects(start({ ClientToken, S3Prefix: 'other' }), ExportConflictException)
    const listed = []
    for await (const page of paginateListExports({ client, pageSize: 1 }, { TableArn })) {
      assert.ok(page.ExportSummaries.length <= 1)
      listed.push(...page.ExportSummaries.map((summary) => summary.ExportArn))
    }
    assert.deepEqual(listed.slice(0, 2), [second, first])
  })

  it('are refused with typed exceptions', async () => {
    await assert.rejects(start({ ExportTime: new Date(0) }), InvalidExportTimeException)
    await assert.rejects(start({ TableArn: `${TableArn}-not` }), TableNotFoundException)
    const nowhere = new DescribeExportCommand({ ExportArn: `${TableArn}/export/01234567890123-a1b2c3d4` })
    await assert.rejects(client.send(nowhere), ExportNotFoundException)
  })
})

describe('imports', () => {
  it('are described, listed and refused', async () => {
    const name = uniqueName('imported')
    const { ImportTableDescription: job } = await client.send(new ImportTableCommand({
      S3BucketSource: { S3Bucket: 'no-such-bucket' }, InputFormat: 'CSV', InputFormatOptions: { Csv: { Delimiter: '|', HeaderList: ['pk', 'x'] } },
      TableCreationParameters: definition(name),
    }))
    assert.deepEqual(job.TableCreationParameters, definition(name))
    const describeImport = async () => (await client.send(new DescribeImportCommand({ ImportArn: job.ImportArn }))).ImportTableDescription
    const done = await ended(describeImport, 'ImportStatus')
    assert.deepEqual([done.ImportStatus, done.FailureCode, done.ImportedItemCount], ['FAILED', 'S3NoSuchBucket', 0])
    assert.deepEqual(done.InputFormatOptions, { Csv: { Delimiter: '|', HeaderList: ['pk', 'x'] } })
    const listed = []
    for await (const page of paginateListImports({ client, pageSize: 25 }, {})) listed.push(...page.ImportSummaryList)
    assert.ok(listed.some((summary) => summary.ImportArn === job.ImportArn && summary.StartTime instanceof Date))
    // Without a source, the table is removed.
    await assert.rejects(client.send(new DescribeTableCommand({ TableName: name })), ResourceNotFoundException)
    const nowhere = new DescribeImportCommand({ ImportArn: `${TableArn}/import/01234567890123-a1b2c3d4` })
    await assert.rejects(client.send(nowhere), ImportNotFoundException)
  })
})

describe('bulk operations', () => {
  const startBulk = (more) => client.send(new StartBulkPutItemsCommand({
    TableName, InputS3Configuration: { S3Bucket: 'no-such-bucket', InputFormat: 'ION' },
    OutputS3Configuration: { S3Bucket: 'no-such-bucket', OutputType: ['ERROR'] }, MaxWriteRequestUnits: 2048, ...more,
  }))

  it('are described with dates and failure reasons', async () => {
    const { BulkOperationDescription: job } = await startBulk({ PerformanceTier: 'ACCELERATED' })
    assert.ok(job.StartTime instanceof Date)
    const { BulkOperationArn } = job
    const describeBulk = async () => (await client.send(new DescribeBulkOperationCommand({ BulkOperationArn }))).BulkOperationDescription
    const done = await ended(describeBulk, 'BulkOperationStatus')
    assert.deepEqual([done.BulkOperationStatus, done.FailureCode, done.ProcessedItemCount], ['FAILED', 'S3NoSuchBucket', 0])
    assert.deepEqual([done.MaxWriteRequestUnits, done.PerformanceTier, done.TableDetails[0].TableName], [2048, 'ACCELERATED', TableName])
    assert.ok(done.EndTime >= done.StartTime)
    await assert.rejects(client.send(new CancelBulkOperationCommand({ BulkOperationArn })), { name: 'ValidationException' })
  })

  it('are listed in pages and started once per token', async () => {
    const ClientToken = uniqueName('token')
    const first = (await startBulk({ ClientToken })).BulkOperationDescription.BulkOperationArn
    const second = (await startBulk({ ClientToken: uniqueName('token') })).BulkOperationDescription.BulkOperationArn
    assert.equal((await startBulk({ ClientToken })).BulkOperationDescription.BulkOperationArn, first)
    await assert.rejects(startBulk({ ClientToken, MaxWriteRequestUnits: 1024 }), IdempotentParameterMismatchException)
    const listed = []
    for await (const page of paginateListBulkOperations({ client, pageSize: 1 }, {})) {
      assert.ok(page.BulkOperationsSummaryList.length <= 1)
      listed.push(...page.BulkOperationsSummaryList.map((summary) => summary.BulkOperationArn))
    }
    assert.deepEqual(listed.slice(0, 2), [second, first])
  })

  it('are refused with typed exceptions', async () => {
    await assert.rejects(startBulk({ TableName: `${TableName}-not` }), ResourceNotFoundException)
    const nowhere = { BulkOperationArn: `${TableArn}/bulk-operation/01234567890123-a1b2c3d4` }
    await assert.rejects(client.send(new DescribeBulkOperationCommand(nowhere)), ResourceNotFoundException)
    await assert.rejects(client.send(new CancelBulkOperationCommand(nowhere)), ResourceNotFoundException)
  })
})
