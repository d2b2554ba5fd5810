import { parentPort, workerData } from 'node:worker_threads'
import { connect } from '../data/db/pool.ts'
import type { HeldLease } from '../rounds/round.ts'
import { extendLease } from '../rounds/transitions.ts'
import { readTextFile } from './files.ts'
import { BEAT_MS, type LeaseThreadData } from './lease-guard.ts'

/** Silence of the process after which its leases are extended here: two beats that did not come. */
const LATE_MS = 2 * BEAT_MS
/** Silence after which the process counts as hung, so that another worker may take its rounds. */
const HUNG_MS = 120_000

/** The thread of `startLeaseGuard`. It connects to the database when it is needed first. */
const { url }: LeaseThreadData = workerData
const sql = connect(url, { max: 1, readFile: readTextFile })
let held: readonly HeldLease[] = []
let heard = performance.now()
let extending = false

parentPort?.on('message', (message: readonly HeldLease[]) => {
  held = message
  heard = performance.now()
})

setInterval(async () => {
  const silent = performance.now() - heard
  if (silent < LATE_MS || silent > HUNG_MS || extending) return
  extending = true
  // The process itself finds out that a lease is lost, and what the database says.
  await Promise.allSettled(held.map((round) => extendLease(sql, round)))
  extending = false
}, BEAT_MS)
