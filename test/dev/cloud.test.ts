import { AwsClient } from 'aws4fetch'
import { expect, test } from 'vitest'
import {
  ACCOUNT,
  AGGREGATOR_REGION,
  cloudVariables,
  REGION,
  RESOURCES,
  SAMPLE_KEYS,
  startCloud,
} from '../../dev/cloud.ts'
import { awsInventory } from '../../sidecars/iac/inventory/aws/index.ts'
import { silentLogger } from '../../src/base/log.ts'
import { startOnce } from '../helpers/start-once.ts'

const cloud = startOnce(() => startCloud())

const KEYS = { accessKeyId: SAMPLE_KEYS.access_key, secretAccessKey: SAMPLE_KEYS.secret_key, retries: 0 }
const explorer = (region: string, keys = KEYS) => new AwsClient({ ...keys, service: 'resource-explorer-2', region })
const post = async (client: AwsClient, path: string, body: unknown) => {
  const response = await client.fetch(`${cloud.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('says whose keys these are', async () => {
  const sts = new AwsClient({ ...KEYS, service: 'sts', region: REGION })
  const ask = (action: string) =>
    sts.fetch(`${cloud.url}/`, {
      method: 'POST',
      body: `Action=${action}&Version=2011-06-15`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  const answer = await ask('GetCallerIdentity')
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain(`<Account>${ACCOUNT}</Account>`)
  expect((await ask('AssumeRole')).status).toBe(400)
})

test('index, view and every page of the resources', async () => {
  const here = explorer(REGION)
  const { body: indexes } = await post(here, '/ListIndexes', { Type: 'AGGREGATOR' })
  expect(indexes).toMatchObject({ Indexes: [{ Region: AGGREGATOR_REGION, Type: 'AGGREGATOR' }] })
  expect((await post(here, '/GetDefaultView', {})).body).toEqual({})
  const there = explorer(AGGREGATOR_REGION)
  const { ViewArn } = (await post(there, '/GetDefaultView', {})).body
  const arns: unknown[] = []
  let NextToken: unknown
  let pages = 0
  do {
    const { body } = await post(there, '/ListResources', {
      ViewArn,
      MaxResults: 500,
      ...(NextToken !== undefined && { NextToken }),
    })
    arns.push(...(body.Resources as { Arn: string }[]).map(({ Arn }) => Arn))
    NextToken = body.NextToken
    pages++
  } while (NextToken !== undefined)
  expect(arns).toEqual(RESOURCES.map(({ arn }) => arn))
  expect(pages).toBeGreaterThan(1)
})

test('refuses wrong keys, changed bodies, other regions, odd input', async () => {
  const there = explorer(AGGREGATOR_REGION)
  expect(
    (await post(explorer(AGGREGATOR_REGION, { ...KEYS, secretAccessKey: 'other' }), '/GetDefaultView', {})).status,
  ).toBe(403)
  expect((await post(explorer(REGION), '/ListResources', {})).status).toBe(404)
  expect((await post(there, '/ListResources', { NextToken: 'rubbish' })).status).toBe(400)
  expect((await post(there, '/CreateView', {})).status).toBe(404)
  expect((await post(there, '/ListIndexes', [])).status).toBe(400)
  expect((await fetch(`${cloud.url}/ListIndexes`, { method: 'POST', body: '{}' })).status).toBe(403)
  const signed = await there.sign(`${cloud.url}/GetDefaultView`, { method: 'POST', body: '{}' })
  const changed = await fetch(signed.url, { method: 'POST', headers: signed.headers, body: '{"a":1}' })
  expect(changed.status).toBe(403)
})

test('the inventory lists what is to be managed and nothing else', async () => {
  const request = { scopeId: ACCOUNT, env: cloudVariables(cloud.url), fetch, log: silentLogger, now: () => new Date() }
  const ids = await awsInventory({ ...request, signal: new AbortController().signal })
  expect(ids).toEqual(RESOURCES.slice(0, 8).map(({ arn }) => arn))
  await expect(
    awsInventory({ ...request, scopeId: '999999999999', signal: new AbortController().signal }),
  ).rejects.toThrow(`AWS credentials belong to account ${ACCOUNT}, not 999999999999`)
})
