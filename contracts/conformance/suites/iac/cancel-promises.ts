import { isRecord } from '../../schema/types.ts'
import { type Check, check, type Options, type Tester } from '../../types.ts'
import { isTerminal, poll, submit, waitUntilFinished } from './jobs.ts'
import { createWorkspace } from './workspaces.ts'

/** Number of jobs submitted at once, so that some still wait when they are cancelled. */
const JOBS = 8
const EARLY = 'The job was cancelled before it started.'

/** Returns the promises about cancelling a job, where that is offered. */
export function cancelPromises(
  { contract }: Pick<Options, 'contract'>,
  offered: (tester: Tester, id: string) => Promise<void>,
): Check[] {
  const validate = contract.operation('validate')
  const cancel = async (tester: Tester, jobId: string) => {
    const made = await tester.ask(contract.operation('cancel'), { path: { job_id: jobId } })
    tester.expect(
      made.status === 202 && isRecord(made.json) && String(made.json.job_id).toLowerCase() === jobId.toLowerCase(),
      `a cancellation was answered ${made.status}`,
      made,
    )
    return made
  }
  return [
    check(
      'addition.cancel',
      'Where it is offered, a cancelled job ends: 409 without a start, 409 when killed, or as its engine does',
      async (tester) => {
        await offered(tester, 'cancel')
        const workspacePath = await createWorkspace(tester)
        const ids: string[] = []
        for (let index = 0; index < JOBS; index++)
          ids.push(await submit(tester, validate, { workspace_path: workspacePath }))
        // The last ones wait the longest.
        for (const id of ids.toReversed()) await cancel(tester, id)
        for (const id of ids) {
          const job = await waitUntilFinished(tester, id)
          if (job.status !== 'failed') continue
          tester.expect(job.error?.status === 409, 'a cancelled job failed with another status than 409', job.made)
          if (job.started_at === null)
            tester.expect(job.error?.detail === EARLY, `a job that never started does not say "${EARLY}"`, job.made)
        }
      },
    ),
    check(
      'addition.cancel.repeated',
      'Where it is offered, a cancellation of a job that has ended changes nothing',
      async (tester) => {
        await offered(tester, 'cancel')
        const id = await submit(tester, validate, { workspace_path: await createWorkspace(tester) })
        const before = await waitUntilFinished(tester, id)
        for (const spelling of [id, id.toUpperCase()]) {
          const made = await cancel(tester, spelling)
          tester.expect(
            isRecord(made.json) && made.json.status === before.status,
            'the answer has another status than the job',
            made,
          )
        }
        const after = await poll(tester, id)
        tester.expect(isTerminal(after) && after.made.text === before.made.text, 'the job changed', after.made)
      },
    ),
    check(
      'addition.cancel.unknown',
      'Where it is offered, a cancellation of an unknown job is 404, of an id that is no UUID 422',
      async (tester) => {
        await offered(tester, 'cancel')
        for (const [jobId, status] of [
          [crypto.randomUUID(), 404],
          ['none', 422],
        ] as const) {
          const refused = await tester.ask(contract.operation('cancel'), { path: { job_id: jobId } })
          tester.expectStatus(refused, status)
        }
      },
    ),
  ]
}
