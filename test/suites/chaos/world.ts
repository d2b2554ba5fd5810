import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createSendingQueue, type RoundQueue } from '../../../src/data/queue.ts'
import type { FirstRound } from '../../../src/rounds/accept.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import type { LoggingProcess } from '../../helpers/logging-process.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { applyJobs, contextOf, requestApply, sessionWithPlan } from '../modes/apply-world.ts'
import { artifactsOf } from '../modes/artifacts.ts'
import { accept } from '../modes/scripts.ts'
import { type Stack, startStack } from '../modes/stack.ts'
import { type ChaosModel, startChaosModel } from './model.ts'
import { createProcesses, type Processes } from './processes.ts'

export const within = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 90_000, interval: 100 })

/** The places at which rounds are stopped: a chain of the model, a command of the engine, or a write to a table. */
export interface Phases {
  chains: string[]
  command: string
  when?: 'before' | 'after'
  table?: string
}

export type EndSignal = 'SIGKILL' | 'SIGTERM'

/** Lists endings of a worker, for `it.each`: killed with a round in every phase, or stopped while one writes code. */
export const endingsOf = (everywhere: Phases): [name: string, EndSignal, Phases][] => [
  ['killed', 'SIGKILL', everywhere],
  ['told to stop', 'SIGTERM', { chains: ['task_complete'], command: everywhere.command }],
]

/** Counts the rounds for one to wait in each phase: a chain, the command, and the table if there is one. */
export const roundsIn = ({ chains, table }: Phases): number => chains.length + (table === undefined ? 1 : 2)

export interface Chaos {
  stack: Stack
  processes: Processes
  queue: RoundQueue
  model: ChaosModel
  /** Opens a session whose first round is queued. */
  open(request: Partial<FirstRound>): Promise<string>
  /**
   * Lets one worker run all waiting rounds until there is exactly one in each phase, ends it with the signal, and lets
   * another one finish them. Resolves when all have ended.
   */
  interrupt(uuids: readonly string[], phases: Phases, signal: EndSignal): Promise<Ended[]>
  close(): Promise<void>
}

export interface Ended {
  uuid: string
  branch: string
  in_flight: boolean
  status: string
  message: string
  attempts: number
  handed_back: number
  /** Of the last attempt, without `started`. */
  statuses: string[]
  /** Numbers of `started` and of terminal rows, over all attempts. */
  starts: number
  ends: number
  turns: number
  /** Kinds of the artifacts, oldest first. */
  artifacts: string[]
}

/** Answers that rounds of every mode need. */
const USUAL = {
  status: { text: 'One sentence.' },
  requests_filter: accept,
  construct_information: { args: { templates: [], abbreviations: [] } },
}

export async function startChaos(
  scripts: Record<string, Script> = {},
  engine_variables: Record<string, string> = {},
): Promise<Chaos> {
  const stack = await startStack()
  const processes = await createProcesses(stack, engine_variables)
  const queue: RoundQueue = createSendingQueue(stack.database.sql)
  const model = await startChaosModel({ ...USUAL, ...scripts })
  const { sql } = stack.database
  const user = await createUser(sql, crypto.randomUUID())
  const context = stack.context(scriptedLlm({}), { queue })
  return {
    stack,
    processes,
    queue,
    model,
    open: (request) => openSession(context, user.id, request),
    interrupt: async (uuids, phases, signal) => {
      const sidecar = await processes.sidecar()
      const changes = { modelUrl: model.url, concurrency: uuids.length }
      model.hold(phases.chains)
      await processes.closeGate(phases.command, phases.when)
      const lock = phases.table === undefined ? null : await lockTable(stack, phases.table)
      const first = await processes.worker(sidecar.url, changes)
      await inEveryPhase(stack, processes, model, phases)
      const second = await processes.worker(sidecar.url, changes)
      first.child.kill(signal)
      await once(first.child, 'exit')
      await lock?.release()
      model.hold([])
      await startsAll(second, uuids)
      await processes.openGate()
      return await Promise.all(uuids.map((uuid) => ended(stack, uuid)))
    },
    close: async () => {
      await processes.close()
      await model.close()
      await stack.close()
    },
  }
}

async function inEveryPhase(
  { database }: Stack,
  processes: Processes,
  model: ChaosModel,
  { chains, table }: Phases,
): Promise<void> {
  await within(async () => {
    expect(model.held()).toEqual([...chains].sort())
    expect(existsSync(processes.mark)).toBe(true)
    if (table === undefined) return
    const waiting = await database.sql`SELECT 1 FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`
    expect(waiting).toHaveLength(1)
  })
}

/** Waits until every round was claimed once. */
const startsAll = (worker: LoggingProcess, uuids: readonly string[]) =>
  within(() => {
    const taken = worker.lines.filter(({ message }) => message === 'round starts')
    expect(taken.map(({ session_id, attempt }) => `${session_id} ${attempt}`).sort()).toEqual(
      uuids.map((uuid) => `${uuid} 2`).sort(),
    )
  })

/** Blocks writes to the table, but not reads. */
async function lockTable({ database }: Stack, table: string): Promise<{ release(): Promise<void> }> {
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const done = database.sql
    .begin(async (tx) => {
      await tx`LOCK TABLE ${tx(table)} IN SHARE MODE`
      locked.resolve()
      await released.promise
    })
    .catch(locked.reject)
  await locked.promise
  return {
    release: async () => {
      released.resolve()
      await done
    },
  }
}

/** Waits for the end of a session's last round. */
export const ended = (stack: Stack, uuid: string): Promise<Ended> => within(() => endedRound(stack, uuid))

async function endedRound(stack: Stack, uuid: string): Promise<Ended> {
  const { sql } = stack.database
  const [row] = await sql<
    (Omit<Ended, 'statuses' | 'starts' | 'ends' | 'artifacts'> & { all: string[]; finished: boolean })[]
  >`
    SELECT s.uuid, w.branch, s.in_flight, s.last_status AS status, s.last_message AS message, r.attempts, r.handed_back,
           r.finished_at IS NOT NULL AS finished, jsonb_array_length(h.payload) AS turns,
           (SELECT array_agg(status::text ORDER BY created_at, id) FROM statuses WHERE round_id = r.id) AS all
    FROM sessions s JOIN rounds r ON r.session_id = s.id AND r.number = s.round_count
    JOIN workspaces w ON w.session_id = s.id JOIN histories h ON h.session_id = s.id WHERE s.uuid = ${uuid}`
  if (!row?.finished) throw new Error('the round has not ended')
  const { all, finished: _, ...ended } = row
  return {
    ...ended,
    statuses: all.slice(all.lastIndexOf('started') + 1),
    starts: all.filter((status) => status === 'started').length,
    ends: all.filter((status) => ['completed', 'uncompleted', 'failed'].includes(status)).length,
    artifacts: (await artifactsOf(stack, uuid)).map(({ kind }) => kind),
  }
}

/** Makes the expected result of a round that was taken over once and ended well. */
export const taken = (signal: EndSignal) => ({
  in_flight: false,
  status: 'completed',
  attempts: 2,
  handed_back: signal === 'SIGTERM' ? 1 : 0,
  starts: 2,
  ends: 1,
  turns: 1,
})

export const sessionFolder = ({ config }: Stack, uuid: string) => join(config.paths.upload_folder, uuid)

/** Lists the commits of a session's branch that the default branch does not have. */
export const commitsOn = async (stack: Stack, repo_uri: string, branch: string) =>
  Number(await stack.git(repo_uri, 'rev-list', '--count', `main..${branch}`))

/** Starts an apply whose engine waits at the gate, with the sidecar that made its plan and the worker that runs it. */
export async function waitingApply({ stack, processes, queue }: Chaos) {
  await processes.closeGate('apply')
  const sidecar = await processes.sidecar()
  const iac = createIacClient(
    { ...stack.config.services.iac, endpoint: sidecar.url, job_poll_interval: 0.2 },
    { fetch, log: silentLogger },
  )
  const { uuid, repo_uri, context } = await sessionWithPlan(stack, contextOf(stack, { iac, queue }))
  const worker = await processes.worker(sidecar.url)
  await requestApply(context, uuid)
  // The engine may reach the gate before its process is recorded by the sidecar, and its job by the worker.
  await within(async () => {
    expect(existsSync(processes.mark)).toBe(true)
    const [job] = applyJobs(stack, uuid, processes.jobs_folder)
    expect(job?.process).toBeTruthy()
    const known = await stack.database.sql`SELECT 1 FROM applies WHERE job_id = ${job?.job_id ?? null}`
    expect(known).toHaveLength(1)
  })
  return { sidecar, worker, context, uuid, repo_uri }
}
