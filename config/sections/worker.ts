import * as v from 'valibot'
import { integer } from '../fields.ts'
import type { Source } from '../source.ts'
import type { WorkerConfig } from '../types.ts'

export const workerSchema = v.object({ concurrency: integer(4, { min: 1 }), max_restarts: integer(3, { min: 0 }) })

export const readWorker = (source: Source): WorkerConfig => source.section('worker', workerSchema).values
