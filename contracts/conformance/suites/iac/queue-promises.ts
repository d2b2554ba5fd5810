import { setTimeout as wait } from 'node:timers/promises'
import { type Check, check, type Options, type Tester } from '../../types.ts'
import { isTerminal, type Job, poll, submit, timeOf, waitUntilFinished } from './jobs.ts'
import { createWorkspace, listSpellings } from './workspaces.ts'

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
