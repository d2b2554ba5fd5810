import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { startFakeService } from '../service.ts'
import { apiServer, object } from './kubernetes/api-server.ts'

let answer: (path: string, body: string, request: IncomingMessage, response: ServerResponse) => void
const cloud = createServer(async (request, response) =>
  answer(request.url ?? '', await text(request), request, response),
)
await once(cloud.listen(0, '127.0.0.1'), 'listening')
const AWS_ENDPOINT_URL = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`
afterAll(() => {
  cloud.closeAllConnections()
  cloud.close()
})

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret-of-the-key', AWS_REGION: 'eu-west-1' }

async function start(env: Record<string, string>) {
  const service = await startFakeService({ AWS_ENDPOINT_URL, ...env })
  const workspace_path = await service.workspace()
  const body = (engine_provider: string, scope_id: string) => ({ workspace_path, engine_provider, scope_id })
  return {
    service,
    body,
    list: (provider: string, scope: string) => service.run('/v1/import/scope-resource-ids', body(provider, scope)),
  }
}

const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** Plays the services of account 123456789012 on one address, as a local cloud has them. */
function account(resources: (page: string) => unknown) {
  answer = (path, body, _request, response) => {
    if (path === '/')
      return response
        .writeHead(200)
        .end('<GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult>')
    if (path === '/ListIndexes') return json(response, { Indexes: [{ Region: 'us-east-1', Type: 'AGGREGATOR' }] })
    if (path === '/GetDefaultView')
      return json(response, { ViewArn: 'arn:aws:resource-explorer-2:us-east-1:123456789012:view/all/1' })
    return json(response, resources(JSON.parse(body).NextToken ?? ''))
  }
}

it('a cancelled discovery ends without its answer', async () => {
  const asked = Promise.withResolvers<void>()
  answer = () => asked.resolve()
  const { service, body } = await start(KEYS)
  const id = await service.submit('/v1/import/scope-resource-ids', body('aws', '123456789012'))
  await asked.promise
  expect((await service.request('DELETE', `/v1/jobs/${id}`)).body.status).toBe('running')
  const error = { status: 409, detail: 'The job was cancelled.' }
  expect(await service.finished(id)).toMatchObject({ status: 'failed', error })
})

const bucket = (name: string) => ({
  Arn: `arn:aws:s3:::${name}`,
  OwningAccountId: '123456789012',
  ResourceType: 's3:bucket',
  Properties: [],
})

describe('the job that lists a scope', () => {
  it('answers the identifiers of an aws account', async () => {
    account((page) =>
      page === ''
        ? { Resources: [bucket('b'), bucket('a')], NextToken: '2' }
        : { Resources: [bucket('b'), bucket('ä')] },
    )
    const { list, service } = await start(KEYS)
    const { status, result } = await list('aws', '123456789012')
    expect(status).toBe('succeeded')
    expect(result).toEqual({ exit_code: 0, stdout: '["arn:aws:s3:::b","arn:aws:s3:::a","arn:aws:s3:::ä"]', stderr: '' })
    expect(service.log.join('\n')).toContain('scope discovery ended')
    expect(service.log.join('\n')).not.toContain(KEYS.AWS_SECRET_ACCESS_KEY)
  })

  it('answers the identifiers of a cluster', async () => {
    const server = apiServer({ kinds: { v1: [{ kind: 'Secret', resource: 'secrets', objects: [object('login')] }] } })
    answer = async (path, _body, request, response) => {
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      json(response, await server.answer(new URL(path, AWS_ENDPOINT_URL), headers).json())
    }
    const { list } = await start({ KUBE_HOST: AWS_ENDPOINT_URL, KUBE_TOKEN: 'token-of-the-account' })
    const stdout = JSON.stringify(['apiVersion=v1,kind=Secret,namespace=shop,name=login'])
    expect((await list('kubernetes', 'cluster-1')).result).toEqual({ exit_code: 0, stdout, stderr: '' })
    expect(server.requests[0]?.headers.get('authorization')).toBe('Bearer token-of-the-account')
  })

  it('has exit code 1 and one message when the cloud refuses, without the credentials that it echoes', async () => {
    const message = `no such key AKIDEXAMPLE or ${KEYS.AWS_SECRET_ACCESS_KEY}`
    answer = (_path, _body, _request, response) => json(response, { message, __type: 'InvalidClientTokenId' }, 403)
    const { list, service } = await start(KEYS)
    const stderr = '403 from AWS STS: no such key (sensitive value) or (sensitive value)'
    expect((await list('aws', '123456789012')).result).toEqual({ exit_code: 1, stdout: '', stderr })
    expect(service.log.join('\n')).not.toContain(KEYS.AWS_SECRET_ACCESS_KEY)
  })

  it.each([
    ['aws', '123456789012', 'AWS_REGION is not set'],
    ['azure', 'no-guid', "'no-guid' is not an Azure subscription id"],
    ['azure', '00000000-0000-0000-0000-000000000001', /^no Azure credentials configured for scope discovery; /],
    ['gcp', 'NO', "'NO' is not a GCP project id"],
    ['kubernetes', 'any name', /^no Kubernetes cluster configured for scope discovery; /],
  ])('says of %s %s what is missing', async (provider, scope, message) => {
    const { list } = await start({})
    const { status, result } = await list(provider, scope)
    expect(status).toBe('succeeded')
    expect(result).toEqual({ exit_code: 1, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('fails when its time is up', async () => {
    answer = () => undefined
    const { list } = await start({ ...KEYS, IAC_JOB_TIMEOUT_SECONDS: '0.2' })
    const error = { status: 504, detail: 'The discovery did not finish within 0.2s.' }
    expect(await list('aws', '123456789012')).toMatchObject({ status: 'failed', result: null, error })
  })

  it('does not keep the service from stopping, which cuts its call and fails it', async () => {
    const call = Promise.withResolvers<void>()
    const cut = Promise.withResolvers<void>()
    answer = (_path, _body, _request, response) => {
      response.once('close', cut.resolve)
      call.resolve()
    }
    const { service, body } = await start(KEYS)
    const id = await service.submit('/v1/import/scope-resource-ids', body('aws', '123456789012'))
    await call.promise
    await service.stop()
    await cut.promise
    const record = await readFile(join(service.folder, 'data', 'jobs', `${id}.json`), 'utf8')
    const error = { status: 503, detail: 'Service shut down before the job finished.' }
    expect(JSON.parse(record)).toMatchObject({ status: 'failed', error })
  })
})
