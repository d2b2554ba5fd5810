import { OutboundError } from '../../../src/base/http.ts'
import { waitUnlessAborted } from '../../../src/base/time.ts'
import { type EngineProvider, JobFault, SHUT_DOWN } from '../types.ts'
import { awsInventory } from './aws/index.ts'
import { azureInventory } from './azure/index.ts'
import { gcpInventory } from './gcp/index.ts'
import { kubernetesInventory } from './kubernetes/index.ts'
import { ociInventory } from './oci/index.ts'
import { type Inventory, InventoryError, type InventoryRequest } from './request.ts'

export type Inventories = Partial<Record<EngineProvider, Inventory>>

const INVENTORIES: Inventories = {
  aws: awsInventory,
  azure: azureInventory,
  gcp: gcpInventory,
  kubernetes: kubernetesInventory,
  oci: ociInventory,
}

/**
 * Lists a scope, with a result as of an engine command. `stdout`: JSON array of identifiers, unique, first seen first.
 * A failure has exit code 1 and one message. Errors: `JobFault` 504 (time), 503 (service stops), 500 (too large).
 */
export async function discover(options: {
  provider: EngineProvider
  request: Omit<InventoryRequest, 'signal'>
  stopping: AbortSignal
  timeoutMs: number
  /** Limit of `stdout`, in bytes. */
  maxBytes: number
  inventories?: Inventories
}): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const { provider, request, stopping, timeoutMs } = options
  const inventory = (options.inventories ?? INVENTORIES)[provider]
  if (!inventory) return failed(2, `no scope discovery for provider '${provider}'`)
  const limit = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([stopping, limit])
  try {
    const ids = await waitUnlessAborted(inventory({ ...request, signal }), signal)
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
    return failed(1, error instanceof OutboundError ? error.message : 'the discovery ended with an unexpected error')
  }
}

const failed = (exitCode: number, stderr: string) => ({ exitCode, stdout: '', stderr })
