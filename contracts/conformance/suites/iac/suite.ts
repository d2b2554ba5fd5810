import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Operation } from '../../document.ts'
import { bodyPromises } from '../../promises/bodies.ts'
import { policyFor } from '../../promises/policy.ts'
import { tokenPromises } from '../../promises/token.ts'
import { healthPromises, transportPromises } from '../../promises/transport.ts'
import { isRecord } from '../../schema/schema.ts'
import { type Check, check, type Options, type Tester } from '../../types.ts'
import { enginePromises } from './engine-promises.ts'
import {
  createWorkspace,
  isTerminal,
  type Job,
  listSpellings,
  poll,
  ran,
  submit,
  timeOf,
  waitUntilFinished,
} from './jobs.ts'

/** Returns the promises of `contracts/iac.v1.yaml`. Generated bodies name no real workspace: 404 means accepted. */
export function iacSuite(options: Options): Check[] {
  const { contract, token, workspace } = options
  const workspacePath = join(workspace, 'missing')
  const prepare = (body: unknown) => (isRecord(body) ? { ...body, workspace_path: workspacePath } : body)
  const submissions = contract.operations
    .filter(({ body }) => body !== null)
    .map((operation) => policyFor(operation, [404, 202], { prepare }))
  const questions = contract.operations
    .filter(({ body, secured, path }) => body === null && secured && path.startsWith('/v1/'))
    .map((operation) => policyFor(operation, [404, 200]))
  return [
    ...healthPromises(contract),
    ...tokenPromises([...submissions, ...questions], token),
    ...submissions.flatMap(bodyPromises),
    ...jobPromises(options),
    ...queuePromises(options),
    ...enginePromises(options),
    ...transportPromises(contract.operations),
  ]
}

const SCOPE = { scope_id: 'conformance', engine_provider: 'azure' }
const KINDS: Record<string, { kind: string; more: object }> = {
  init: { kind: 'init', more: SCOPE },
  validate: { kind: 'validate', more: {} },
  plan: { kind: 'plan', more: { ...SCOPE, plan_file: 'kinds.plan' } },
  show: { kind: 'show', more: { plan_file: 'no-such.plan' } },
  apply: { kind: 'apply', more: { ...SCOPE, plan_file: 'no-such.plan' } },
  import: { kind: 'import', more: { ...SCOPE, address: 'terraform_data.nothing', resource_id: 'none' } },
  stateResourceIds: { kind: 'state_resource_ids', more: {} },
  scopeResourceIds: { kind: 'scope_resource_ids', more: SCOPE },
}

/** Returns the promises about the states of a job, independent of its engine. */
export function jobPromises({ contract }: Options): Check[] {
  const job = contract.operation('job')
  const validate = contract.operation('validate')
  return [
    check(
      'submit.location',
      'A submission is answered 202 with the header Location: /v1/jobs/<job_id>, where the job is found',
      async (tester) => {
        const id = await submit(tester, validate, { workspace_path: await createWorkspace(tester) })
        const made = tester.exchangesWith(validate).at(-1)
        tester.expect(made?.headers.get('location') === `/v1/jobs/${id}`, 'Location names something else', made)
        await waitUntilFinished(tester, id)
      },
    ),
    check('submit.workspace', 'A workspace that does not exist or is no folder is 404', async (tester) => {
      const workspace = await createWorkspace(tester)
      const file = join(workspace, 'file')
      await writeFile(file, '')
      for (const path of [
        `${workspace}-missing`,
        file,
        `${file}/inside`,
        `${workspace}/../none`,
        `/${'x'.repeat(300)}`,
      ]) {
        const made = await tester.ask(validate, { json: { workspace_path: path } })
        tester.expectStatus(made, 404)
      }
    }),
    check(
      'job.life-cycle',
      'A job goes from queued over running to succeeded or failed; at every look keys, times, result and error agree',
      async (tester) => {
        const workspacePath = await createWorkspace(tester)
        const ids = []
        for (let index = 0; index < 3; index++)
          ids.push(await submit(tester, validate, { workspace_path: workspacePath }))
        await Promise.all(ids.map((id) => waitUntilFinished(tester, id)))
        for (const id of ids) {
          const [once, again] = [await poll(tester, id), await poll(tester, id)]
          tester.expect(once.made.text === again.made.text, 'a terminal job changed', again.made)
        }
      },
    ),
    check('job.kinds', 'Every route makes a job of its kind, which ends', async (tester) => {
      const workspacePath = await createWorkspace(tester)
      for (const [id, { kind, more }] of Object.entries(KINDS)) {
        const done = await ran(tester, contract.operation(id), { workspace_path: workspacePath, ...more })
        tester.expect(done.kind === kind, `the job of ${id} is of the kind ${String(done.kind)}`, done.made)
      }
    }),
    check('job.unknown', 'A job that does not exist is 404', async (tester) => {
      for (const jobId of [crypto.randomUUID(), crypto.randomUUID().toUpperCase()]) {
        const made = await tester.ask(job, { path: { job_id: jobId } })
        tester.expectStatus(made, 404)
      }
    }),
    check('job.invalid-id', 'An id that is no UUID is 422', async (tester) => {
      for (const jobId of [
        'none',
        '1',
        '../healthz',
        `${crypto.randomUUID()}x`,
        crypto.randomUUID().slice(1),
        'x'.repeat(2000),
        'ü',
      ]) {
        const made = await tester.ask(job, { path: { job_id: jobId } })
        tester.expectStatus(made, 422)
      }
    }),
    preferPromise(job, validate),
  ]
}

function preferPromise(job: Operation, validate: Operation): Check {
  return check(
    'job.wait',
    '`Prefer: wait` is honoured or ignored; a preference that makes no sense is ignored',
    async (tester) => {
      const id = await submit(tester, validate, { workspace_path: await createWorkspace(tester) })
      for (const prefer of [
        'wait=1',
        'wait=5',
        'respond-async, wait=1',
        'wait=-1',
        'wait=soon',
        'wait',
        'return=minimal',
        'wait=99999999999999999999',
        ',',
      ])
        await poll(tester, id, { prefer })
      await waitUntilFinished(tester, id)
      const unknown = await tester.ask(job, { path: { job_id: crypto.randomUUID() }, headers: { prefer: 'wait=5' } })
      tester.expectStatus(unknown, 404, 'an unknown job')
    },
  )
}

/** Numbers of jobs that wait in one workspace while another gets a job. Quick jobs need more of them. */
const LENGTHS = [4, 8, 16, 32]
/** The least number of waiting jobs: one or two quick ones may end while another is accepted, which proves nothing. */
const QUEUED_AT_LEAST = 3

/** Returns the promises about the order in which jobs run. */
export function queuePromises({ contract }: Options): Check[] {
  const validate = contract.operation('validate')
  return [
    check(
      'queue.order',
      'Jobs of one workspace run one at a time, in the order of their submission, under whatever name of the folder',
      async (tester) => {
        const names = await listSpellings(await createWorkspace(tester))
        const ids: string[] = []
        for (const workspacePath of [...names, ...names])
          ids.push(await submit(tester, validate, { workspace_path: workspacePath }))
        const jobs = await watchJobs(tester, ids)
        for (const [index, later] of jobs.entries()) {
          const earlier = jobs[index - 1]
          if (earlier && later.started_at !== null)
            tester.expect(
              timeOf(later.started_at) >= timeOf(earlier.finished_at),
              `job ${index + 1} started before job ${index} had finished`,
              later.made,
            )
        }
      },
    ),
    check('queue.parallel', 'Jobs of another workspace do not wait for them', async (tester) => {
      const [busy, free] = [await createWorkspace(tester), await createWorkspace(tester)]
      for (const length of LENGTHS) {
        const ids = []
        for (let index = 0; index < length; index++) ids.push(await submit(tester, validate, { workspace_path: busy }))
        const other = await waitUntilFinished(tester, await submit(tester, validate, { workspace_path: free }))
        const jobs = await Promise.all(ids.map((id) => waitUntilFinished(tester, id)))
        const queued = jobs.filter(({ started_at }) => timeOf(started_at) > timeOf(other.created_at))
        if (queued.length < QUEUED_AT_LEAST) continue
        if (queued.some(({ finished_at }) => timeOf(other.started_at) < timeOf(finished_at))) return
        if (length === LENGTHS.at(-1))
          tester.broken(
            'it started after all jobs of the other workspace, also the last one that was still queued',
            other.made,
          )
      }
      tester.skip('the jobs end too quickly to tell')
    }),
  ]
}

/** Polls all jobs, the latest first: once a job has left the queue, all jobs before it must have ended. */
async function watchJobs(tester: Tester, ids: string[]): Promise<Job[]> {
  const limit = performance.now() + tester.options.jobMs
  for (;;) {
    const jobs: Job[] = []
    for (const id of ids.toReversed()) jobs.unshift(await poll(tester, id))
    for (const [index, later] of jobs.entries()) {
      const waiting = jobs.slice(0, index).find((job) => !isTerminal(job))
      if (later.status !== 'queued' && waiting)
        tester.broken(
          `job ${index + 1} is ${String(later.status)} while an earlier one is ${String(waiting.status)}`,
          later.made,
        )
    }
    if (jobs.every(isTerminal)) return jobs
    if (performance.now() > limit) {
      tester.broken(`the jobs have not ended after ${tester.options.jobMs / 1000} s`)
      return tester.skip('no end')
    }
    await wait(10)
  }
}
