import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import type { FirstRound } from '../../../src/rounds/accept.ts'
import { leftOfPlan } from '../modes/apply-world.ts'
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
import { ADDED, done, findings, MAIN, operations, report, targets, write } from '../modes/scripts.ts'
import type { Stack } from '../modes/stack.ts'
import { oneEdit } from './model.ts'
import { commitsOn, type Ended, endingsOf, type Phases, roundsIn, sessionFolder, startChaos, taken } from './world.ts'

interface Mode {
  scripts: Parameters<typeof startChaos>[0]
  phases: Phases
  repositories(stack: Stack, count: number): Promise<string[]>
  request: Partial<FirstRound>
  /** The end of a good round. */
  ended: Partial<Ended>
  /** The file that the round changes, with its text, and what it leaves in the folder of the session. */
  file: [name: string, text: string]
  left: string[]
  check(stack: Stack, uuid: string): Promise<void>
}

const repositories = (stack: Stack, count: number, files: Record<string, string>) =>
  Promise.all(Array.from({ length: count }, () => stack.repository(files)))

const generate: Mode = {
  scripts: {
    task_complete: oneEdit(write('second.tf', ADDED), done('Added a second greeting.')),
    generate_engine_targets: targets('terraform_data.second'),
    report_decomposed_task_operations: operations([]),
    generate_engine_plan_report: report(),
    report_compliance_findings: findings(),
  },
  phases: {
    // The audit runs beside the round that waits for its report.
    chains: ['requests_filter', 'task_complete', 'generate_engine_plan_report'],
    command: 'plan',
    table: 'saved_plans',
  },
  repositories: (stack, count) => repositories(stack, count, { 'main.tf': MAIN }),
  request: { query: 'Add a second greeting' },
  ended: {
    message: 'GENERATE',
    artifacts: ['change', 'plan', 'plan', 'report', 'check'],
    statuses: ['filtering', 'generating', 'validating', 'validating', 'validating', 'report', 'completed'],
  },
  file: ['second.tf', ADDED],
  left: ['saved-plan'],
  check: async (stack, uuid) => expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 }),
}

const drift: Mode = {
  scripts: {
    generate_engine_targets: targets(GREETING),
    report_decomposed_task_operations: decompose(),
    task_complete: oneEdit(takeOver('hello'), done('Took the greeting over.')),
    generate_engine_drift_report: driftReport({ remediated_resources: [remediated(GREETING)] }),
  },
  phases: {
    chains: [
      'requests_filter',
      'generate_engine_targets',
      'report_decomposed_task_operations',
      'task_complete',
      'generate_engine_drift_report',
    ],
    command: 'plan',
    table: 'reports',
  },
  // The states have drifted in the same way. One engine makes the state of all.
  repositories: async (stack, count) => {
    const first = await driftedRepository(stack)
    const { storage } = stack.config
    const states = createObjectStore({ ...storage, bucket: storage.engine_state_bucket }, { fetch, log: silentLogger })
    const keyOf = async (repo_uri: string) => `${await deriveProjectId(repo_uri, 'acme-test', null)}/terraform.tfstate`
    const state = await states.get(await keyOf(first))
    const others = await repositories(stack, count - 1, { 'main.tf': CODE })
    for (const repo_uri of others) await states.put(await keyOf(repo_uri), state, { content_type: 'application/json' })
    return [first, ...others]
  },
  request: partial,
  ended: {
    message: 'DRIFT',
    artifacts: ['plan', 'change', 'plan', 'report'],
    statuses: ['filtering', 'validating', 'generating', ...Array(3).fill('validating'), 'report', 'completed'],
  },
  file: ['main.tf', code('hello by hand', 'goodbye')],
  left: [],
  check: async (stack, uuid) =>
    expect(await driftReportOf(stack, uuid)).toMatchObject({
      status: 'Succeeded',
      remediated_resources: [{ resource_address: GREETING, file_path: 'main.tf' }],
    }),
}

it.each(
  Object.entries({ generate, drift }).flatMap(([name, mode]) =>
    endingsOf(mode.phases).map(([ending, signal, phases]) => ({ name, mode, ending, signal, phases })),
  ),
)('a worker that is $ending with $name rounds in every phase: another one ends them all', async (given) => {
  const { mode, signal, phases } = given
  const chaos = await startChaos(mode.scripts)
  try {
    const { stack } = chaos
    const opened = new Map<string, string>()
    for (const repo_uri of await mode.repositories(stack, roundsIn(phases)))
      opened.set(await chaos.open({ repo_uri, ...mode.request }), repo_uri)
    for (const session of await chaos.interrupt([...opened.keys()], phases, signal)) {
      const repo_uri = opened.get(session.uuid) ?? ''
      expect(session).toMatchObject({ ...taken(signal), ...mode.ended })
      expect(await commitsOn(stack, repo_uri, session.branch)).toBe(1)
      const [name, text] = mode.file
      expect(await stack.git(repo_uri, 'show', `${session.branch}:${name}`)).toBe(text)
      await mode.check(stack, session.uuid)
      expect(readdirSync(sessionFolder(stack, session.uuid))).toEqual(mode.left)
    }
  } finally {
    await chaos.close()
  }
})
