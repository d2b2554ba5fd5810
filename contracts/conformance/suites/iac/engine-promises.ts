import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { askWith, policyFor } from '../../promises/policy.ts'
import { isRecord } from '../../schema/schema.ts'
import { type Check, check, type Options, type Tester } from '../../types.ts'
import { additionPromises } from './addition-promises.ts'
import { BROKEN, createWorkspace, type Job, parseStdout, ran, TWO_RESOURCES } from './jobs.ts'

const SCOPE = { scope_id: 'conformance', engine_provider: 'kubernetes' }

/** Returns the promises about the engine. Their configurations need no provider and no network. */
export function enginePromises({ contract }: Options): Check[] {
  const run = (tester: Tester, id: string, workspacePath: string, more: object = {}) =>
    ran(tester, contract.operation(id), { workspace_path: workspacePath, ...more })
  const initialised = async (tester: Tester, files: Record<string, string> = { 'main.tf': TWO_RESOURCES }) => {
    const workspace = await createWorkspace(tester, files)
    const { result } = await run(tester, 'init', workspace, SCOPE)
    if (result?.exit_code !== 0)
      tester.skip(
        'the engine behind the service does not initialise a configuration without providers: ' +
          `${result?.stderr.slice(0, 200) ?? 'the job failed'}`,
      )
    return workspace
  }
  return [
    check(
      'engine.failure',
      'A command that the engine ends with another exit code than 0 has succeeded as a job and tells code and output',
      async (tester) => {
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        tester.expect(done.status === 'succeeded', 'the job has failed', done.made)
        tester.expect(done.result?.exit_code !== 0, 'the exit code is 0', done.made)
        tester.expect(
          done.result !== null && done.result.stdout + done.result.stderr !== '',
          'there is no output',
          done.made,
        )
      },
    ),
    check(
      'engine.sequence',
      'init, validate, plan, show, apply and the list of identifiers work one after the other',
      async (tester) => {
        const workspace = await initialised(tester)
        const zero = (job: Job, what: string) =>
          tester.expect(job.result?.exit_code === 0, `${what} did not end with 0`, job.made)
        zero(await run(tester, 'validate', workspace), 'validate')
        zero(await run(tester, 'plan', workspace, { ...SCOPE, plan_file: 'first.plan' }), 'plan')
        tester.expect(existsSync(join(workspace, 'first.plan')), 'the plan is not in the workspace')
        const showJob = await run(tester, 'show', workspace, { plan_file: 'first.plan' })
        tester.expect(
          changesIn(showJob).length === 2,
          'stdout of show is not the plan with two changes as JSON',
          showJob.made,
        )
        zero(await run(tester, 'apply', workspace, { ...SCOPE, plan_file: 'first.plan' }), 'apply')
        const ids = await run(tester, 'stateResourceIds', workspace)
        tester.expect(textsIn(ids)?.length === 2, 'stdout is not a JSON array of the two identifiers', ids.made)
      },
    ),
    check('engine.targets', 'A plan with targets holds their changes alone', async (tester) => {
      const workspace = await initialised(tester)
      await run(tester, 'plan', workspace, { ...SCOPE, plan_file: 'part.plan', targets: ['terraform_data.second'] })
      const shown = await run(tester, 'show', workspace, { plan_file: 'part.plan' })
      tester.expect(
        changesIn(shown).join() === 'terraform_data.second',
        `it holds ${changesIn(shown).join(', ') || 'nothing'}`,
        shown.made,
      )
    }),
    check(
      'engine.import',
      'An import puts the resource into the state, where the list of identifiers shows it',
      async (tester) => {
        const workspace = await initialised(tester)
        const before = textsIn(await run(tester, 'stateResourceIds', workspace))
        tester.expect(before?.length === 0, 'an empty state has identifiers')
        const done = await run(tester, 'import', workspace, {
          ...SCOPE,
          address: 'terraform_data.first',
          resource_id: 'conformance id 1',
        })
        tester.expect(done.result?.exit_code === 0, 'the import did not end with 0', done.made)
        const after = await run(tester, 'stateResourceIds', workspace)
        tester.expect(textsIn(after)?.join() === 'conformance id 1', 'the identifier is not listed', after.made)
      },
    ),
    check(
      'engine.scope',
      'A discovery that fails has an exit code other than 0, no stdout and a message on stderr',
      async (tester) => {
        const done = await run(tester, 'scopeResourceIds', await createWorkspace(tester), {
          scope_id: 'no such scope',
          engine_provider: 'azure',
        })
        const { result } = done
        tester.expect(
          result !== null && result.exit_code !== 0 && result.stdout === '' && result.stderr !== '',
          'the result is another one',
          done.made,
        )
      },
    ),
    check('engine.name', 'Where it is offered, `GET /v1/engine` names the engine and its version', async (tester) => {
      const made = await askWith(tester, policyFor(contract.operation('engine'), [200]), {})
      tester.expectStatus(made, 200)
    }),
    ...additionPromises({ contract }, run, initialised),
  ]
}

/** Reads the addresses that a plan creates from the result of `show`. */
function changesIn(job: Job): string[] {
  const plan = parseStdout(job)
  const changes = isRecord(plan) && Array.isArray(plan.resource_changes) ? plan.resource_changes.filter(isRecord) : []
  return changes.flatMap(({ address }) => (typeof address === 'string' ? [address] : []))
}

function textsIn(job: Job): string[] | null {
  const json = parseStdout(job)
  return job.result?.exit_code === 0 && Array.isArray(json) && json.every((each) => typeof each === 'string')
    ? json
    : null
}
