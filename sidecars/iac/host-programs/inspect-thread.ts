import { parentPort, workerData } from 'node:worker_threads'
import { LIMITS } from './findings.ts'
import { type Inspection, inspect } from './inspect.ts'

/** The thread of `inspectAside`. */
parentPort?.postMessage(await inspect(workerData as Inspection, LIMITS))
