import { OutboundError } from '../../../src/base/http.ts'
import { type EngineProvider, JobFault, SHUT_DOWN } from '../types.ts'
import { awsInventory } from './aws/index.ts'
import { azureInventory } from './azure/index.ts'
import { gcpInventory } from './gcp/index.ts'
import { kubernetesInventory } from './kubernetes/index.ts'
import { ociInventory } from './oci/index.ts'
import { type Inventory, InventoryError, type InventoryRequest } from './types.ts'

/** The result of a discovery, in the form of an engine command's. */
export interface Discovery {
  exitCode: number
  /** JSON array of identifiers, unique, first seen first; empty unless the exit code is 0. */
  stdout: string
  /** One message; empty when the exit code is 0. */
  stderr: string
}

export type Inventories = Partial<Record<EngineProvider, Inventory>>

export const INVENTORIES: Inventories = {
  aws: awsInventory,
  azure: azureInventory,
  gcp: gcpInventory,
  kubernetes: kubernetesInventory,
  oci: ociInventory,
}

const UNEXPECTED = 'the discovery ended with an unexpected error'

/** Lists a scope; a failure has exit code 1. Errors: `JobFault` 504 (time), 503 (service stops), 500 (too large). */
export async function discover(options: {
  provider: EngineProvider
  request: Omit<InventoryRequest, 'signal'>
  stopping: AbortSignal
  timeoutMs: number
  /** Limit of `stdout`, in bytes. */
  maxBytes: number
  inventories?: Inventories
}): Promise<Discovery> {
  const { provider, request, stopping, timeoutMs } = options
  const inventory = (options.inventories ?? INVENTORIES)[provider]
  if (!inventory) return failed(2, `no scope discovery for provider '${provider}'`)
  const limit = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([stopping, limit])
  try {
    const ids = await unlessAborted(inventory({ ...request, signal }), signal)
    const stdout = JSON.stringify([...new Set(ids)])
    if (Buffer.byteLength(stdout) > options.maxBytes)
      throw new JobFault(500, `The discovery found more than ${options.maxBytes} bytes of identifiers.`)
    return { exitCode: 0, stdout, stderr: '' }
  } catch (error) {
    if (error instanceof JobFault) throw error
    if (stopping.aborted) throw new JobFault(503, SHUT_DOWN)
    if (limit.aborted) throw new JobFault(504, `The discovery did not finish within ${timeoutMs / 1000}s.`)
    if (error instanceof InventoryError) return failed(1, error.message)
    request.log.error('discovery failed', { provider, error })
    return failed(1, error instanceof OutboundError ? error.message : UNEXPECTED)
  }
}

const failed = (exitCode: number, stderr: string): Discovery => ({ exitCode, stdout: '', stderr })

/** Settles with the work, or rejects when the signal fires, even if the work ignores it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}
