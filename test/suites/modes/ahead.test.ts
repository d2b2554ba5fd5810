import { describe, expect, it } from 'vitest'
import type { RoundEvent } from '../../../src/events/round-event.ts'
import type { EngineResult, IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import { driftedRepository, driftScripts, partial, takeOver } from './drift-world.ts'
import { decline, done, GATES, goodRound, type Scripts } from './scripts.ts'
import { firstRound, startStack, watched } from './stack.ts'

const stack = startOnce(startStack)

/** Makes a context whose filter answers no sooner than `until`. */
function filterWaits(scripts: Scripts, iac: IacClient, until: Promise<unknown>, usual = goodRound) {
  const llm = scriptedLlm(usual(scripts))
  return stack.context(
    {
      ...llm,
      complete: async (request) => {
        if (request.tools?.at(-1)?.name === 'requests_filter') await until
        return await llm.complete(request)
      },
    },
    { orchestration: GATES, iac },
  )
}

/** Reads what was shown of a session, in order. */
async function eventsOf(uuid: string): Promise<RoundEvent[]> {
  const rows = await stack.database.sql<{ event: RoundEvent }[]>`
    SELECT e.event FROM round_events e JOIN sessions s ON s.id = e.session_id WHERE s.uuid = ${uuid} ORDER BY e.id`
  return rows.map(({ event }) => event)
}

/** Lists the steps of the engine whose output is kept. */
async function outputsOf(uuid: string): Promise<string[]> {
  const rows = await stack.database.sql<{ step: string }[]>`
    SELECT o.step FROM engine_outputs o JOIN rounds r ON r.id = o.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${uuid}`
  return rows.map(({ step }) => step)
}

/** The watched service, and a promise that resolves when its first `init` has ended. */
function watchedUntilInit() {
  const { iac, jobs } = watched(stack)
  const ended = Promise.withResolvers<void>()
  const run: IacClient['run'] = async (kind, body, options) => {
    const result = await iac.run(kind, body, options)
    if (kind === 'init') ended.resolve()
    return result
  }
  return { iac: { ...iac, run }, jobs, initEnded: ended.promise }
}

describe('init beside the filter', () => {
  it('ends before the filter answers, runs once, and is shown after the answer', async () => {
    const { iac, jobs, initEnded } = watchedUntilInit()
    const session = await firstRound(stack, filterWaits({}, iac, initEnded))
    expect(session.statuses.at(-1)).toBe('completed')
    expect(jobs.filter(([kind]) => kind === 'init')).toHaveLength(1)
    const events = await eventsOf(session.uuid)
    const judged = events.findIndex((event) => event.type === 'chain.ended' && event.chain === 'REQUESTS_FILTER')
    const init = events.flatMap((event, index) => ('step' in event && event.step === 'init' ? [index] : []))
    expect(judged).toBeGreaterThan(0)
    expect(init.length).toBeGreaterThanOrEqual(4)
    expect(Math.min(...init)).toBeGreaterThan(judged)
    expect(await outputsOf(session.uuid)).toContain('init')
  })

  it('ends before the filter of a round about drift answers too', async () => {
    const { iac, jobs, initEnded } = watchedUntilInit()
    const repo_uri = await driftedRepository(stack)
    const scripts = { task_complete: [takeOver('hello'), done('Took it over.')] }
    const context = filterWaits(scripts, iac, initEnded, driftScripts)
    const session = await firstRound(stack, context, { repo_uri, ...partial })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(jobs.filter(([kind]) => kind === 'init')).toHaveLength(1)
  })

  it('is stopped when the request is declined, and leaves nothing to see', async () => {
    const { iac } = watched(stack)
    const [began, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<EngineResult>()]
    const stops: string[] = []
    const run: IacClient['run'] = async (kind, body, options) => {
      if (kind !== 'init') return await iac.run(kind, body, options)
      await options?.onSubmitted?.('the-init')
      began.resolve()
      return await stopped.promise
    }
    const cancel: IacClient['cancel'] = async (id) => {
      stops.push(id)
      stopped.resolve({ exit_code: 1, stdout: 'Initializing the backend...\n', stderr: 'Interrupted.' })
      return true
    }
    const scripts = { requests_filter: decline('Not here.') }
    const session = await firstRound(stack, filterWaits(scripts, { ...iac, run, cancel }, began.promise))
    expect(stops).toEqual(['the-init'])
    expect(session.statuses).toEqual(['started', 'filtering', 'uncompleted'])
    expect(session.messages.at(-1)).toBe('Not here.')
    expect((await eventsOf(session.uuid)).filter((event) => 'step' in event)).toEqual([])
    expect(await artifactsOf(stack, session.uuid)).toEqual([])
    expect(await outputsOf(session.uuid)).toEqual([])
    const [round] = await stack.database.sql<{ usage: Record<string, number> }[]>`
      SELECT usage FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${session.uuid}`
    expect(round?.usage).toMatchObject({ engine_s: expect.any(Number) })
  })

  it('that fails is told of only when the request is accepted, and begins anew in the first attempt', async () => {
    const { iac, jobs } = watched(stack)
    const failed = Promise.withResolvers<void>()
    let inits = 0
    const run: IacClient['run'] = async (kind, body, options) => {
      if (kind !== 'init' || inits++ > 0) return await iac.run(kind, body, options)
      failed.resolve()
      return { exit_code: 1, stdout: 'Initializing', stderr: 'Error: registry.example.com does not answer' }
    }
    const session = await firstRound(stack, filterWaits({}, { ...iac, run }, failed.promise))
    expect(session.statuses.at(-1)).toBe('completed')
    expect(jobs.filter(([kind]) => kind === 'init')).toHaveLength(1)
  })

  it('that is refused ends an accepted round only', async () => {
    const { iac } = watched(stack)
    const run: IacClient['run'] = async (kind, body, options) => {
      if (kind === 'init') throw new Error('the iac service is away')
      return await iac.run(kind, body, options)
    }
    const client = { ...iac, run }
    const declined = filterWaits({ requests_filter: decline('Not here.') }, client, Promise.resolve())
    expect((await firstRound(stack, declined)).statuses.at(-1)).toBe('uncompleted')
    expect((await firstRound(stack, filterWaits({}, client, Promise.resolve()))).statuses.at(-1)).toBe('failed')
  })
})
