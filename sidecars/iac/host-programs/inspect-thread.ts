import { parentPort, workerData } from 'node:worker_threads'
import { type Inspection, inspect } from './inspect.ts'
import { LIMITS } from './limits.ts'

/** The thread that `inspectAside` starts: inspects what it was given and answers the text. */
parentPort?.postMessage(await inspect(workerData as Inspection, LIMITS))
