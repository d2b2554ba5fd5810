import { describe, expect, it } from 'vitest'
import { discover, type Inventories } from '../../../../sidecars/iac/inventory/discover.ts'
import { type Inventory, InventoryError, RefusedError } from '../../../../sidecars/iac/inventory/request.ts'
import { inventoryRequest } from './request.ts'

const run = (inventory: Inventory, more: Partial<Parameters<typeof discover>[0]> = {}) => {
  const { signal: _unused, ...request } = inventoryRequest('scope')
  const inventories: Inventories = { gcp: inventory }
  return discover({
    provider: 'gcp',
    request,
    stopping: new AbortController().signal,
    timeoutMs: 60_000,
    maxBytes: 1000,
    inventories,
    ...more,
  })
}

describe('a discovery', () => {
  it('answers each identifier once, the first seen first', async () => {
    expect(await run(async ({ scopeId }) => ['b', 'a', 'b', scopeId])).toEqual({
      exitCode: 0,
      stdout: '["b","a","scope"]',
      stderr: '',
    })
    expect(await run(async () => [])).toEqual({ exitCode: 0, stdout: '[]', stderr: '' })
  })

  it('of a provider that has none says so', async () => {
    const none = await run(async () => [], { provider: 'oci' })
    expect(none).toEqual({ exitCode: 2, stdout: '', stderr: "no scope discovery for provider 'oci'" })
  })

  it.each([
    [new InventoryError('AWS_REGION is not set'), 'AWS_REGION is not set'],
    [new RefusedError('the cloud', 403, '', 'no'), '403 from the cloud: no'],
    [new TypeError('reading secret-value failed'), 'the discovery ended with an unexpected error'],
  ])('that fails with %s is a result with one message', async (error, stderr) => {
    const inventory: Inventory = () => Promise.reject(error)
    expect(await run(inventory)).toEqual({ exitCode: 1, stdout: '', stderr })
  })

  it('keeps the details of an unexpected error in the log', async () => {
    const request = inventoryRequest('scope')
    await run(() => Promise.reject(new TypeError('the details')), { request })
    expect(request.lines.join()).toContain('the details')
  })

  it('that throws at once is a failed one too', async () => {
    const inventory: Inventory = () => {
      throw new InventoryError('at once')
    }
    expect(await run(inventory)).toMatchObject({ exitCode: 1, stderr: 'at once' })
  })

  const never: Inventory = () => new Promise(() => undefined)

  it('ends with the time of its job, whatever it waits for', async () => {
    await expect(run(never, { timeoutMs: 1 })).rejects.toMatchObject({
      status: 504,
      message: 'The discovery did not finish within 0.001s.',
    })
  })

  it('ends when the service stops, before and while it runs', async () => {
    const stop = new AbortController()
    const cut: Inventory = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))))
    const running = run(cut, { stopping: stop.signal })
    stop.abort()
    const stopped = { status: 503, message: 'Service shut down before the job finished.' }
    await expect(running).rejects.toMatchObject(stopped)
    await expect(run(never, { stopping: stop.signal })).rejects.toMatchObject(stopped)
  })

  it('that finds more than fits fails the job', async () => {
    await expect(run(async () => ['ä'.repeat(600)])).rejects.toMatchObject({
      status: 500,
      message: 'The discovery found more than 1000 bytes of identifiers.',
    })
  })
})
