import type { Config } from '../../config/types.ts'
import { inWorkspace, type ModeHandler, type Modes } from '../../pipeline/kit/run.ts'
import type { RoundFrame } from '../../pipeline/run-round.ts'
import type { Workspace } from '../../pipeline/workspace/workspace.ts'
import type { Context } from '../../src/context.ts'
import type { SessionFacts } from '../../src/rounds/round.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { memoryCache } from '../helpers/memory-cache.ts'

/** Creates a working copy in memory that counts how often it was discarded. */
export function fakeFrame() {
  const told: { session: SessionFacts; message: string }[] = []
  const state = { opened: 0, disposed: 0 }
  const workspace = { head: async () => 'head-1', dispose: async () => void state.disposed++ } as Workspace
  const frame: RoundFrame = {
    openWorkspace: async () => {
      state.opened++
      return workspace
    },
    notifyFailure: async (session, facts) => void told.push({ session, message: facts.message }),
  }
  return { frame, told, state }
}

export const allModes = (handler: ModeHandler): Modes => ({
  generate: inWorkspace(handler),
  drift: inWorkspace(handler),
  import: inWorkspace(handler),
  apply: inWorkspace(handler),
})

export async function detailOf(verbs: Parameters<typeof loadAggregate>[0], uuid: string) {
  const session = await loadAggregate(verbs, uuid, { includeHistory: true })
  if (!session) throw new Error('no session')
  return session
}

/** Lists status and message of each row of a session's first round. */
export const statusesOf = ({ rounds }: Awaited<ReturnType<typeof detailOf>>) =>
  rounds[0]?.statuses.map(({ status, message }) => [status, message]) ?? []

/** Creates the parts of a context that the frame of a round uses. */
export function runContext(
  { sql, log, queue }: Pick<Context, 'sql' | 'log' | 'queue'>,
  worker = { concurrency: 2, max_restarts: 3 },
): Context {
  const parts: Partial<Context> = {
    sql,
    log,
    queue,
    cache: memoryCache(),
    config: { worker, llm: { prices: {}, budget: {}, max_session_tokens: 0 } } as Config,
    now: () => new Date(),
  }
  return parts as Context
}
