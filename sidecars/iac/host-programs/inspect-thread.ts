import { parentPort, workerData } from 'node:worker_threads'
import { type FileScan, LIMITS, type Refusal } from './findings.ts'
import { type Inspection, inspect } from './inspect.ts'
import { createKnownScans } from './known-scans.ts'

/** The message with the outcome of the thread. */
export interface Inspected {
  refusal: Refusal | null
  /** The scans of its files, for the next inspection. */
  scans: [string, FileScan][]
}

/** The thread of `inspectAside`. */
const known = createKnownScans()
const refusal = await inspect(workerData as Inspection, LIMITS, known)
parentPort?.postMessage({ refusal, scans: known.entries() } satisfies Inspected)
