import { describe, expect, it } from 'vitest'
import { STOPPING } from '../../../src/data/queue/types.ts'
import type { IacClient, IacJobKind } from '../../../src/services/iac/types.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import { code, driftReportOf, driftScripts, GREETING, partial, startDriftedStack, takeOver } from './drift-world.ts'
import { done } from './scripts.ts'
import { firstRound, runWaiting } from './stack.ts'

const stack = startOnce(startDriftedStack)

const request = () => ({ repo_uri: stack.drifted, ...partial })
const scripts = () => driftScripts({ task_complete: [takeOver('hello'), done('Took the greeting over.')] })

/** A good round whose worker is gone as soon as a chain is asked for the first time. */
const goneAt = (chain: string, gone: () => void) => {
  const good = scripts()
  const script: Script = () => {
    gone()
    return { error: new Error('the connection is gone with its process') }
  }
  return scriptedLlm({ ...good, [chain]: script })
}

/** The engine's client, whose caller is gone once this job was submitted for the n-th time. */
function goneAfter(kind: IacJobKind, number: number, gone: () => void): IacClient {
  const { iac } = stack.context(scriptedLlm({}))
  let seen = 0
  return {
    ...iac,
    run: (job, body, options) =>
      iac.run(job, body, {
        ...options,
        onSubmitted: async (id) => {
          await options?.onSubmitted?.(id)
          if (job === kind && ++seen === number) gone()
        },
      }),
  }
}

/** Runs the round again and looks at everything it leaves. */
async function takenUp(uuid: string) {
  const session = await runWaiting(stack, stack.context(scriptedLlm(scripts())), uuid)
  expect(session.failures).toEqual([])
  expect(session.messages.at(-1)).toBe('DRIFT')
  expect(session.in_flight).toBe(false)
  expect(session.statuses.slice(-7)).toEqual([
    'validating',
    'generating',
    'validating',
    'validating',
    'validating',
    'report',
    'completed',
  ])
  expect(session.history).toEqual([{ user: partial.query, assistant: 'Took the greeting over.' }])
  expect(await stack.git(stack.drifted, 'show', `${session.branch}:main.tf`)).toBe(code('hello by hand', 'goodbye'))
  expect((await stack.git(stack.drifted, 'rev-list', '--count', `main..${session.branch}`)).trim()).toBe('1')
  expect((await artifactsOf(stack, uuid)).map(({ kind, type }) => [kind, type])).toEqual([
    ['plan', 'drift'],
    ['change', null],
    ['plan', 'plan'],
    ['report', null],
  ])
  expect(await driftReportOf(stack, uuid)).toMatchObject({
    status: 'Succeeded',
    remediated_resources: [{ resource_address: GREETING, file_path: 'main.tf' }],
  })
}

describe('a drift round whose worker dies is taken up and leaves nothing twice', () => {
  const died = new Error('the worker is gone')

  it.each([
    'requests_filter',
    'generate_engine_targets',
    'report_decomposed_task_operations',
    'generate_engine_drift_report',
  ])('while %s was asked', async (chain) => {
    const stop = new AbortController()
    const llm = goneAt(chain, () => stop.abort(died))
    const { uuid, in_flight } = await firstRound(stack, stack.context(llm), request(), stop.signal)
    expect(in_flight).toBe(true)
    await leaseRunsOut(uuid)
    await takenUp(uuid)
  })

  it.each<[string, IacJobKind, number]>([
    ['reading the drift', 'plan', 1],
    ['planning the remediation, after its push', 'plan', 2],
  ])('while it was %s', async (_, kind, number) => {
    const stop = new AbortController()
    const context = stack.context(scriptedLlm(scripts()), { iac: goneAfter(kind, number, () => stop.abort(died)) })
    const { uuid } = await firstRound(stack, context, request(), stop.signal)
    await leaseRunsOut(uuid)
    await takenUp(uuid)
  })

  it('when it stopped in order, without waiting for the lease', async () => {
    const stop = new AbortController()
    const llm = goneAt('task_complete', () => stop.abort(STOPPING))
    const { uuid } = await firstRound(stack, stack.context(llm), request(), stop.signal)
    await takenUp(uuid)
  })
})

/** Time passes for the database. */
const leaseRunsOut = (uuid: string) => stack.database.sql`
  UPDATE rounds SET lease_until = clock_timestamp() - interval '1 second'
  WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${uuid}) AND finished_at IS NULL`
