import { parentPort, workerData } from 'node:worker_threads'
import { type Inspection, inspect } from './inspect.ts'
import { LIMITS } from './limits.ts'

/** The thread of `inspectAside`. */
parentPort?.postMessage(await inspect(workerData as Inspection, LIMITS))
