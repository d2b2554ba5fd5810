import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import {
  CODE,
  code,
  decompose,
  driftedRepository,
  driftReport,
  driftReportOf,
  GREETING,
  partial,
  remediated,
  takeOver,
} from '../modes/drift-world.ts'
import { accept, done, targets } from '../modes/scripts.ts'
import { oneEdit } from './model.ts'
import { type Chaos, commitsOn, endingsOf, type Phases, roundsIn, sessionFolder, startChaos, taken } from './world.ts'

let chaos: Chaos
beforeEach(async () => {
  chaos = await startChaos({
    status: { text: 'One sentence.' },
    requests_filter: accept,
    construct_information: { args: { templates: [], abbreviations: [] } },
    generate_engine_targets: targets(GREETING),
    report_decomposed_task_operations: decompose(),
    task_complete: oneEdit(takeOver('hello'), done('Took the greeting over.')),
    generate_engine_drift_report: driftReport({ remediated_resources: [remediated(GREETING)] }),
  })
})
afterEach(() => chaos.close())

/** Makes repositories whose states have drifted in the same way. One engine makes the state of all. */
async function drifted(count: number): Promise<string[]> {
  const { stack } = chaos
  const first = await driftedRepository(stack)
  const { storage } = stack.config
  const states = createObjectStore({ ...storage, bucket: storage.engine_state_bucket }, { fetch, log: silentLogger })
  const keyOf = async (repo_uri: string) => `${await deriveProjectId(repo_uri, 'acme-test', null)}/terraform.tfstate`
  const state = await states.get(await keyOf(first))
  const others = await Promise.all(Array.from({ length: count - 1 }, () => stack.repository({ 'main.tf': CODE })))
  for (const repo_uri of others) await states.put(await keyOf(repo_uri), state, { content_type: 'application/json' })
  return [first, ...others]
}

const PHASES: Phases = {
  chains: [
    'requests_filter',
    'generate_engine_targets',
    'report_decomposed_task_operations',
    'task_complete',
    'generate_engine_drift_report',
  ],
  command: 'plan',
  table: 'reports',
}

it.each(
  endingsOf(PHASES),
)('a worker that is %s with drift rounds in every phase: another one ends them all', async (_, signal, phases) => {
  const { stack } = chaos
  const repositories = new Map<string, string>()
  for (const repo_uri of await drifted(roundsIn(phases)))
    repositories.set(await chaos.open({ repo_uri, ...partial }), repo_uri)
  for (const session of await chaos.interrupt([...repositories.keys()], phases, signal)) {
    const repo_uri = repositories.get(session.uuid) ?? ''
    expect(session).toMatchObject({
      ...taken(signal),
      message: 'DRIFT',
      artifacts: ['plan', 'change', 'plan', 'report'],
    })
    expect(session.statuses).toEqual([
      'filtering',
      'validating',
      'generating',
      'validating',
      'validating',
      'validating',
      'report',
      'completed',
    ])
    expect(await commitsOn(stack, repo_uri, session.branch)).toBe(1)
    expect(await stack.git(repo_uri, 'show', `${session.branch}:main.tf`)).toBe(code('hello by hand', 'goodbye'))
    expect(await driftReportOf(stack, session.uuid)).toMatchObject({
      status: 'Succeeded',
      remediated_resources: [{ resource_address: GREETING, file_path: 'main.tf' }],
    })
    expect(readdirSync(sessionFolder(stack, session.uuid))).toEqual([])
  }
})
