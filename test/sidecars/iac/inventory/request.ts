import type { InventoryRequest } from '../../../../sidecars/iac/inventory/request.ts'
import { createLogger } from '../../../../src/base/log.ts'

/** Makes a request as the job does, with waits of a millisecond. `log` holds the finished lines. */
export function inventoryRequest(
  scopeId: string,
  env: Record<string, string | undefined> = {},
  more: Partial<InventoryRequest> = {},
): InventoryRequest & { lines: string[] } {
  const lines: string[] = []
  return {
    scopeId,
    env,
    fetch: (...args) => fetch(...args),
    signal: new AbortController().signal,
    log: createLogger({ level: 'debug', write: (line) => lines.push(line) }),
    now: () => new Date(),
    backoffMs: 1,
    lines,
    ...more,
  }
}
