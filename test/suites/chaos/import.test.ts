import { readdirSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { ACCOUNT, cloudVariables, RESOURCES, startCloud } from '../../../dev/cloud.ts'
import { recordedJobs } from '../modes/apply-world.ts'
import { addresses, blocks, importReport, toldReport } from '../modes/import-world.ts'
import { done, MAIN, operations, targets, write } from '../modes/scripts.ts'
import { oneEdit } from './model.ts'
import { type Chaos, commitsOn, endingsOf, type Phases, roundsIn, sessionFolder, startChaos, taken } from './world.ts'

const [first = '', second = ''] = RESOURCES.map(({ arn }) => arn)
const PAIRS: [address: string, resource_id: string][] = [
  ['terraform_data.a', first],
  ['terraform_data.b', second],
]

let cloud: Awaited<ReturnType<typeof startCloud>>
let chaos: Chaos
beforeAll(async () => {
  cloud = await startCloud()
})
afterAll(() => cloud.close())
beforeEach(async () => {
  const scripts = {
    report_decomposed_task_operations: operations([first, second]),
    task_complete: oneEdit(write('imported.tf', blocks('a', 'b')), done('Wrote two blocks.')),
    generate_engine_targets: targets('terraform_data.a', 'terraform_data.b'),
    import_addresses: addresses(...PAIRS),
    generate_engine_import_report: toldReport,
  }
  chaos = await startChaos(scripts, cloudVariables(cloud.url))
})
afterEach(() => chaos.close())

const PHASES: Phases = {
  chains: ['requests_filter', 'report_decomposed_task_operations', 'task_complete', 'generate_engine_import_report'],
  command: 'import',
  when: 'after',
  table: 'reports',
}

it.each(
  endingsOf(PHASES),
)('a worker that is %s with import rounds in every phase: another one ends them all', async (_, signal, phases) => {
  const { stack, processes } = chaos
  const repositories = new Map<string, string>()
  let refused = 0
  for (let number = roundsIn(phases); number > 0; number--) {
    const repo_uri = await stack.repository({ 'main.tf': MAIN })
    repositories.set(
      await chaos.open({ repo_uri, scope_id: ACCOUNT, mode: 'import', query: 'Import mail', is_partial: true }),
      repo_uri,
    )
  }
  for (const session of await chaos.interrupt([...repositories.keys()], phases, signal)) {
    const repo_uri = repositories.get(session.uuid) ?? ''
    expect(session).toMatchObject({ ...taken(signal), message: 'IMPORT' })
    expect(session.statuses.slice(-2)).toEqual(['report', 'completed'])
    expect(session.artifacts.filter((kind) => kind !== 'plan' && kind !== 'change')).toEqual(['report'])
    expect(await commitsOn(stack, repo_uri, session.branch)).toBe(1)
    expect(await stack.git(repo_uri, 'show', `${session.branch}:imported.tf`)).toBe(blocks('a', 'b'))
    const report = await importReport(stack, session.uuid)
    expect(report).toMatchObject({ summary: { selected: 2, imported: 2, failed: 0 }, status: 'Succeeded' })
    const folder = sessionFolder(stack, session.uuid)
    // Once each, over both attempts, by the sidecar's records. An engine that had not begun yet has lost its directory.
    const jobs = recordedJobs(processes.jobs_folder, session.uuid).filter(({ kind }) => kind === 'import')
    expect(jobs.filter(({ exit_code }) => exit_code === 0)).toHaveLength(2)
    const calls = (await processes.engineCalls(folder)).filter((line) => line.startsWith('import '))
    const asked = calls.map((line) => line.split(' ').slice(-2))
    if (signal === 'SIGKILL') expect(asked).toEqual(PAIRS)
    else expect(asked.slice(-2)).toEqual(PAIRS)
    refused += calls.length - 2
    expect(readdirSync(folder)).toEqual([])
  }
  expect(refused).toBe(signal === 'SIGKILL' ? 0 : 1)
})
