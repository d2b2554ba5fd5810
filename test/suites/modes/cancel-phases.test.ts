import { describe, expect, it } from 'vitest'
import { platformFor } from '../../../src/access/audit/record.ts'
import type { Context } from '../../../src/context.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import { cancelRound } from '../../../src/rounds/cancel.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { driftedRepository, driftScripts, full } from './drift-world.ts'
import { importRound, QUERY, withScope } from './import-world.ts'
import { GATES, goodRound, MAIN } from './scripts.ts'
import { firstRound, type SessionRequest, startStack } from './stack.ts'

const stack = startOnce(startStack)

/** A mode with everything that a good round of it needs. */
interface World {
  scripts: () => Record<string, Script | Script[]>
  repository: () => Promise<string>
  request: Omit<SessionRequest, 'repo_uri'>
  iac?: (context: Context) => IacClient
}
const MODES: Record<string, World> = {
  generate: { scripts: goodRound, repository: () => stack.repository({ 'main.tf': MAIN }), request: {} },
  drift: { scripts: driftScripts, repository: () => driftedRepository(stack), request: full },
  import: {
    scripts: importRound,
    repository: () => stack.repository({ 'main.tf': MAIN }),
    request: { mode: 'import', query: QUERY },
    iac: () => withScope(stack, ['id-a', 'id-b']),
  },
}

/** Wraps a context so that `before` is called ahead of each call of a model and each job of the engine. */
function announced(world: World, before: (phase: string) => Promise<void>): Context {
  const llm = scriptedLlm(world.scripts())
  const base = stack.context(llm, { orchestration: GATES })
  const counts = new Map<string, number>()
  const tell = async (name: string) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    await before(`${name} ${count}`)
  }
  const iac = world.iac?.(base) ?? base.iac
  return {
    ...base,
    llm: {
      ...llm,
      complete: async (request) => {
        const tool = request.tools?.at(-1)?.name
        if (tool !== undefined) await tell(`model ${tool}`)
        return await llm.complete(request)
      },
    },
    iac: {
      ...iac,
      run: async (kind, body, options) => {
        await tell(`engine ${kind}`)
        return await iac.run(kind, body, options)
      },
    },
  }
}

async function runOnce(world: World, before: (context: Context, phase: string) => Promise<void>) {
  const repo_uri = await world.repository()
  const context: Context = announced(world, (phase) => before(context, phase))
  const session = await firstRound(stack, context, { repo_uri, ...world.request })
  return { session, context, repo_uri }
}

async function cancel(context: Context): Promise<void> {
  const [round] = await context.sql<{ uuid: string; id: number }[]>`
    SELECT s.uuid, r.id FROM sessions s JOIN rounds r ON r.session_id = s.id WHERE s.in_flight AND r.finished_at IS NULL`
  if (!round) throw new Error('no round runs')
  // The worker subscribes longer, so it knows of the cancellation when this does.
  const heard = Promise.withResolvers<void>()
  const stop = stack.cancellations.watch(round.id, () => heard.resolve())
  await cancelRound(context, { session_uuid: round.uuid, by: 'ada@example.org', actor: platformFor(null) })
  await heard.promise.finally(stop)
}

/** True if the managed state has a lock file. */
async function isLocked({ stateStore, config }: Context, repo_uri: string, scope: string): Promise<boolean> {
  const project = await deriveProjectId(repo_uri, scope, null)
  const key = `${project}/${config.storage.engine_state_filename}.tflock`
  const found = await stateStore?.get(key).catch(() => null)
  return found !== null && found !== undefined
}

/** Each test runs a round for each phase of its mode. */
const LIMIT_MS = 180_000

describe.each(Object.entries(MODES))('a %s round that is cancelled in any of its phases', (mode, world) => {
  it(
    'ends once, leaves no lock, no seal and no reviewed commit, and starts nothing further',
    async () => {
      const phases: string[] = []
      const { session: whole } = await runOnce(world, async (_, phase) => void phases.push(phase))
      expect(whole.statuses.at(-1), whole.failures.join()).toBe('completed')
      expect(phases.length).toBeGreaterThan(5)
      for (const wanted of phases) {
        const later: string[] = []
        let reached = false
        const { session, context, repo_uri } = await runOnce(world, async (context, phase) => {
          if (reached) later.push(phase)
          if (phase !== wanted) return
          reached = true
          await cancel(context)
        })
        expect(reached, wanted).toBe(true)
        expect([session.statuses.at(-1), session.messages.at(-1)], `${mode}: ${wanted}`).toEqual([
          'uncompleted',
          'Cancelled by ada@example.org.',
        ])
        expect(session, wanted).toMatchObject({ in_flight: false, is_blocked: false, failures: [] })
        // Work that ran in parallel with the cancelled call may still have been in flight.
        expect(later.length, `${wanted}, then ${later.join()}`).toBeLessThanOrEqual(1)
        const [row] = await context.sql<{ reviewed_commit: string; plans: number; scope_id: string }[]>`
        SELECT s.reviewed_commit, p.scope_id, (SELECT count(*)::int FROM saved_plans WHERE session_id = s.id AND ended_at IS NULL) AS plans
        FROM sessions s JOIN engine_providers p ON p.session_id = s.id WHERE s.uuid = ${session.uuid}`
        expect(row, wanted).toMatchObject({ reviewed_commit: '', plans: 0 })
        expect(await isLocked(context, repo_uri, row?.scope_id ?? ''), wanted).toBe(false)
      }
    },
    LIMIT_MS,
  )
})
