import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { withTemporaryFolder } from '../../dev/files.ts'
import type { ModelTimes } from '../../dev/scripted-model/clock.ts'
import { readDocument, SHIPPED_CONFIGURATION, section } from '../../dev/stack/choices.ts'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'
import type { Stack } from '../../dev/stack/start-stack.ts'
import { resolveUser } from '../../src/access/users.ts'
import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { createSendingQueue } from '../../src/data/queue.ts'
import { acceptFirstRound } from '../../src/rounds/accept.ts'
import { type SizedRequest, sizedRequests } from '../clock/requests.ts'
import { startBenchStack, whileRunning } from '../lib/stack.ts'

const PATIENT_MS = 60_000

export interface World {
  stack: Stack
  sql: Sql
  /** The pids of all workers, the first one that of the stack. */
  workers: number[]
  /** Accepts a round and returns its id. */
  accept(user: string, query: string): Promise<number>
  /** Starts another worker with the environment of the first, and waits until it takes rounds. */
  addWorker(): Promise<void>
}

/** Runs `work` with a stack whose model takes time and whose worker runs `concurrency` rounds at once. */
export const withRounds = <T>(
  options: { times: ModelTimes; concurrency: number },
  work: (world: World) => Promise<T>,
): Promise<T> =>
  withTemporaryFolder(async (folder) => {
    const request = requestOf('queue')
    const stack = await startBenchStack(folder, {
      env: { PLATFORM_CONFIG: await writeConfiguration(folder, options.concurrency) },
      scripted_model: { times: options.times, recordings: [request.recording] },
    })
    // On a loaded machine a process of the server may get no time for seconds, which is no reason to end it here.
    const sql = connect(stack.addresses.databaseUrl ?? '', { doubtMs: PATIENT_MS, patienceMs: PATIENT_MS })
    const first = pidOf(stack, 'worker')
    const workers = [first]
    const children: ChildProcess[] = []
    try {
      const repository = { owner: 'bench', name: 'rounds', content: { files: request.files } }
      const repo_uri = (await stack.addresses.git_host?.addRepository(repository)) ?? ''
      const queue = createSendingQueue(sql)
      const world: World = {
        ...{ stack, sql, workers },
        accept: async (subject, query) => {
          const who = { issuer: 'urn:bench', subject, email: null, display_name: null, elevated: false }
          const { id: user_id } = await resolveUser(sql, who)
          const place = { repo_uri, scope_id: 'bench', iac_path: null, provider: 'aws' } as const
          const round = { ...place, user_id, query, mode: 'generate', is_partial: false } as const
          const uuid = await acceptFirstRound({ sql, queue, now: () => new Date() }, round)
          const [row] = await sql<{ id: number }[]>`
            SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
          return row?.id ?? 0
        },
        addWorker: async () => {
          const child = await startWorkerLike(first)
          children.push(child)
          workers.push(child.pid ?? 0)
        },
      }
      return await whileRunning(stack, () => work(world))
    } finally {
      for (const child of children) child.kill('SIGTERM')
      await sql.end({ timeout: 1 })
      await stack.stop()
    }
  })

export function requestOf(name: string): SizedRequest {
  const request = sizedRequests().find((one) => one.name === name)
  if (!request) throw new Error(`the bench has no request ${name}`)
  return request
}

export const pidOf = (stack: Stack, name: string): number =>
  stack.children.find((child) => child.name === name)?.pid ?? 0

async function writeConfiguration(folder: string, concurrency: number): Promise<string> {
  const shipped = await readDocument(SHIPPED_CONFIGURATION)
  const path = join(folder, 'bench.yaml')
  await writeFile(path, stringify({ ...shipped, worker: { ...section(shipped, 'worker'), concurrency } }))
  return path
}

function startWorkerLike(pid: number): Promise<ChildProcess> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  const env = Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'pipeline/main.ts')], {
    ...{ cwd: PROJECT_ROOT, env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a worker ended with ${code}`)))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('"worker ready"')) resolve(child)
    })
  })
}

/** Waits until none of the rounds is unfinished. */
export async function allEnded(sql: Sql, ids: readonly number[], limitS: number): Promise<void> {
  const end = performance.now() + limitS * 1000
  for (;;) {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*) FROM rounds WHERE id = ANY(${ids as number[]}::int[]) AND finished_at IS NULL`
    if (row?.count === 0) return
    if (performance.now() > end) throw new Error(`${row?.count} rounds have not ended after ${limitS} s`)
    await sleep(250)
  }
}

/** Reads the processor time of a process in seconds, with that of its ended children. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
  return ticks / 100
}
