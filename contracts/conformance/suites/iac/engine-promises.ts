import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Contract, Operation } from '../../document.ts'
import { askWith, isOffered, policyFor } from '../../promises/policy.ts'
import { isRecord } from '../../schema/schema.ts'
import { type Check, check, type Exchange, type Options, type Tester } from '../../types.ts'
import {
  BROKEN,
  createWorkspace,
  FORMATTED,
  isTerminal,
  type Job,
  NOT_OFFERED,
  parseStdout,
  poll,
  type RunJob,
  ran,
  submit,
  TWO_RESOURCES,
  UNFORMATTED,
  waitUntilFinished,
} from './jobs.ts'

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

/** Creates the function that makes a promise about an operation, which is skipped where that is not offered. */
const additionOf =
  (contract: Contract) =>
  (operation: string, id: string, promise: string, run: Check['run']): Check =>
    check(id, promise, async (tester) => {
      if (!(await isOffered(tester, contract.operation(operation)))) tester.skip(NOT_OFFERED)
      await run(tester)
    })

/** Checks that a job that nobody knows is 404, and an id that is no UUID 422. */
async function refusesUnknown(tester: Tester, operation: Operation): Promise<void> {
  for (const [job_id, status] of [[crypto.randomUUID(), 404] as const, ['none', 422] as const])
    tester.expectStatus(await tester.ask(operation, { path: { job_id } }), status)
}

/** Returns the promises about additions, which an implementation may leave out. */
export function additionPromises(
  { contract }: Pick<Options, 'contract'>,
  run: RunJob,
  initialised: (tester: Tester, files?: Record<string, string>) => Promise<string>,
): Check[] {
  const addition = additionOf(contract)
  return [
    addition(
      'diagnostics',
      'addition.diagnostics',
      'Where they are offered, diagnostics are JSON on stdout, also of a configuration that is not valid',
      async (tester) => {
        const workspace = await initialised(tester)
        for (const [where, valid] of [
          [workspace, true],
          [await createWorkspace(tester, { 'main.tf': BROKEN }), false],
        ] as const) {
          const done = await run(tester, 'diagnostics', where)
          const json = parseStdout(done)
          tester.expect(
            isRecord(json) && json.valid === valid,
            `stdout does not say that it is ${valid ? 'valid' : 'not valid'}`,
            done.made,
          )
        }
      },
    ),
    addition(
      'engine',
      'addition.validate_json',
      'Where it is offered, a validation with `json` is JSON on stdout, also of a configuration that is not valid',
      async (tester) => {
        await announced(tester, contract.operation('engine'), 'validate_json')
        const workspace = await initialised(tester)
        for (const [where, valid] of [
          [workspace, true],
          [await createWorkspace(tester, { 'main.tf': BROKEN }), false],
        ] as const) {
          const done = await run(tester, 'validate', where, { json: true })
          const json = parseStdout(done)
          tester.expect(
            isRecord(json) && json.valid === valid && done.result?.exit_code === (valid ? 0 : 1),
            `stdout and exit code do not say that it is ${valid ? 'valid' : 'not valid'}`,
            done.made,
          )
        }
      },
    ),
    addition(
      'diagnostics',
      'addition.programs_only',
      'Where it is offered, what jobs would be refused for is answered by file and line, and nothing of plain code',
      async (tester) => {
        await announced(tester, contract.operation('engine'), 'programs_only')
        for (const code of [TWO_RESOURCES, PROGRAM]) {
          const workspace = await createWorkspace(tester, { 'main.tf': code })
          const done = await run(tester, 'diagnostics', workspace, { programs_only: true })
          const found = findingsIn(done)
          tester.expect(found !== null, 'stdout is another document', done.made)
          const isRefused = (found ?? []).length > 0
          tester.expect(done.result?.exit_code === (isRefused ? 1 : 0), 'the exit code says something else', done.made)
          // An implementation, or its operator, may allow the program.
          tester.expect(!isRefused || code === PROGRAM, 'plain code would be refused', done.made)
        }
      },
    ),
    addition(
      'fmt',
      'addition.fmt',
      'Where it is offered, texts come back formatted and in order, and one that cannot be parsed as it was',
      async (tester) => {
        const workspace = await createWorkspace(tester, { 'main.tf': UNFORMATTED })
        const texts = [
          { form: 'tf', text: UNFORMATTED },
          { form: 'tf', text: BROKEN },
          { form: 'tfvars', text: 'days   =7\n' },
        ]
        const done = await run(tester, 'fmt', workspace, { texts })
        const json = parseStdout(done)
        tester.expect(
          done.result?.exit_code === 0 &&
            isRecord(json) &&
            isDeepStrictEqual(json.texts, [FORMATTED, BROKEN, 'days = 7\n']),
          'the texts are others',
          done.made,
        )
        tester.expect(
          (await readFile(join(workspace, 'main.tf'), 'utf8')) === UNFORMATTED,
          'a file of the workspace was changed',
          done.made,
        )
      },
    ),
    addition(
      'output',
      'addition.output',
      'Where it is offered, the output of a job so far is answered, 404 of an unknown job',
      async (tester) => {
        const output = contract.operation('output')
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        const made = await tester.ask(output, { path: { job_id: done.id } })
        tester.expect(
          made.status === 200 && isRecord(made.json) && made.json.status === done.status,
          `answered ${made.status} and something else`,
          made,
        )
        await refusesUnknown(tester, output)
      },
    ),
    addition(
      'schema',
      'addition.schema',
      'Where they are offered, the names of the providers\u2019 types are JSON on stdout',
      async (tester) => {
        const done = await run(tester, 'schema', await initialised(tester))
        const json = parseStdout(done)
        tester.expect(
          isRecord(json) && typeof json.format_version === 'string' && isRecord(json.providers),
          'stdout is another document',
          done.made,
        )
      },
    ),
    addition(
      'stateSummary',
      'addition.state_summary',
      'Where it is offered, the summary of a state names its objects and none of their values',
      async (tester) => {
        const workspace = await initialised(tester)
        const empty = await summaryOf(tester, run, workspace)
        tester.expect(empty.lineage === '' && empty.serial === 0, 'a missing state has a lineage or a serial')
        await run(tester, 'plan', workspace, { ...SCOPE, plan_file: 'all.plan' })
        await run(tester, 'apply', workspace, { ...SCOPE, plan_file: 'all.plan' })
        const { addresses } = await summaryOf(tester, run, workspace)
        tester.expect(isDeepStrictEqual(addresses, ADDRESSES), 'it names other addresses')
      },
    ),
    addition(
      'stateSummary',
      'addition.migrate_state',
      'Where it is offered, init copies the state of the earlier backend to that of the configuration',
      async (tester) => {
        const engine = await tester.ask(contract.operation('engine'), {})
        const { additions } = isRecord(engine.json) ? engine.json : {}
        if (!Array.isArray(additions) || !additions.includes('migrate_state')) tester.skip(NOT_OFFERED)
        const workspace = await initialised(tester)
        await run(tester, 'plan', workspace, { ...SCOPE, plan_file: 'all.plan' })
        await run(tester, 'apply', workspace, { ...SCOPE, plan_file: 'all.plan' })
        const before = await summaryOf(tester, run, workspace)
        await writeFile(join(workspace, 'backend.tf'), 'terraform {\n  backend "local" { path = "other.tfstate" }\n}\n')
        const moved = await run(tester, 'init', workspace, { ...SCOPE, migrate_state: true })
        tester.expect(moved.result?.exit_code === 0, 'init did not end with 0', moved.made)
        const after = await summaryOf(tester, run, workspace)
        tester.expect(existsSync(join(workspace, 'other.tfstate')), 'the new backend has no state')
        tester.expect(
          isDeepStrictEqual(before.addresses, ADDRESSES) && before.content_sha256 === after.content_sha256,
          'the state is another one',
        )
      },
    ),
    addition(
      'stateRm',
      'addition.state_rm',
      'Where it is offered, one object leaves the state, and nothing does for an address of several or of none',
      async (tester) => {
        const code = { 'main.tf': `${TWO_RESOURCES}\nresource "terraform_data" "many" {\n  count = 2\n}\n` }
        const workspace = await initialised(tester, code)
        await run(tester, 'plan', workspace, { ...SCOPE, plan_file: 'all.plan' })
        await run(tester, 'apply', workspace, { ...SCOPE, plan_file: 'all.plan' })
        const managed = async () => textsIn(await run(tester, 'stateResourceIds', workspace))?.length
        const remove = (address: string) => run(tester, 'stateRm', workspace, { ...SCOPE, address })
        for (const address of ['terraform_data.many', 'terraform_data.none']) {
          const done = await remove(address)
          tester.expect(done.result !== null && done.result.exit_code !== 0, 'the exit code is 0', done.made)
        }
        tester.expect((await managed()) === 4, 'something was removed')
        for (const address of ['terraform_data.first', 'terraform_data.many[1]']) {
          const done = await remove(address)
          tester.expect(done.result?.exit_code === 0, 'the exit code is another one than 0', done.made)
        }
        tester.expect((await managed()) === 2, 'the state holds other objects')
      },
    ),
    ...cancelPromises(contract),
    ...outputPromises({ contract }, run),
  ]
}

const ADDRESSES = ['terraform_data.first', 'terraform_data.second']

async function summaryOf(tester: Tester, run: RunJob, workspace: string): Promise<Record<string, unknown>> {
  const done = await run(tester, 'stateSummary', workspace, SCOPE)
  const json = parseStdout(done)
  tester.expect(done.result?.exit_code === 0 && isRecord(json), 'stdout is no JSON object', done.made)
  return isRecord(json) ? json : {}
}

/** A program that the engine would run for the data it answers. */
const PROGRAM = `${TWO_RESOURCES}\ndata "external" "third" {\n  program = ["true"]\n}\n`

/** Reads the findings of a job with `programs_only`; null when they have another form. */
function findingsIn(job: Job): unknown[] | null {
  const json = parseStdout(job)
  const entries = isRecord(json) && Array.isArray(json.diagnostics) ? json.diagnostics : null
  const isFinding = (entry: unknown) =>
    isRecord(entry) &&
    entry.severity === 'error' &&
    typeof entry.summary === 'string' &&
    typeof entry.detail === 'string' &&
    isRecord(entry.range) &&
    typeof entry.range.filename === 'string' &&
    isRecord(entry.range.start) &&
    Number.isInteger(entry.range.start.line) &&
    (entry.allowed_by === null || isRecord(entry.allowed_by))
  return entries?.every(isFinding) ? entries : null
}

/** Number of jobs submitted at once, so that some still wait when they are cancelled. */
const JOBS = 8
const EARLY = 'The job was cancelled before it started.'

/** Returns the promises about cancelling a job, where that is offered. */
function cancelPromises(contract: Contract): Check[] {
  const addition = additionOf(contract)
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
    addition(
      'cancel',
      'addition.cancel',
      'Where it is offered, a cancelled job ends: 409 without a start, 409 when killed, or as its engine does',
      async (tester) => {
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
    addition(
      'cancel',
      'addition.cancel.repeated',
      'Where it is offered, a cancellation of a job that has ended changes nothing',
      async (tester) => {
        const id = await submit(tester, validate, { workspace_path: await createWorkspace(tester) })
        const before = await waitUntilFinished(tester, id)
        for (const spelling of [id, id.toUpperCase()]) {
          const made = await cancel(tester, spelling)
          tester.expectBody(made, (json) => json.status === before.status, 'the answer has another status than the job')
        }
        const after = await poll(tester, id)
        tester.expect(isTerminal(after) && after.made.text === before.made.text, 'the job changed', after.made)
      },
    ),
    addition(
      'cancel',
      'addition.cancel.unknown',
      'Where it is offered, a cancellation of an unknown job is 404, of an id that is no UUID 422',
      async (tester) => {
        await refusesUnknown(tester, contract.operation('cancel'))
      },
    ),
  ]
}

/** The limit of reads of one output, against a service that never ends it. */
const MAX_PIECES = 1000

/** Returns the promises about reading the output of a job from an offset, where that is offered. */
function outputPromises({ contract }: Pick<Options, 'contract'>, run: RunJob): Check[] {
  const output = contract.operation('output')
  return [
    check(
      'addition.output_from',
      'Where offsets are offered, the pieces from 0 on are the output of the job, and the last one is empty',
      async (tester) => {
        await announced(tester, contract.operation('engine'), 'output_from')
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        let [text, stdout, stderr] = ['', 0, 0]
        for (let count = 0; ; count++) {
          const piece = await readFrom(tester, output, done.id, `stdout_from=${stdout}&stderr_from=${stderr}`)
          if (piece.text === '') break
          text += piece.text
          tester.expect(
            piece.stdout_next >= stdout && piece.stderr_next >= stderr && count < MAX_PIECES,
            'the offsets do not go forwards',
            piece.made,
          )
          if (count >= MAX_PIECES) break
          stdout = piece.stdout_next
          stderr = piece.stderr_next
        }
        tester.expect(
          text.length === (done.result?.stdout ?? '').length + (done.result?.stderr ?? '').length,
          'the pieces together are not the output of the job',
          done.made,
        )
        const again = await readFrom(tester, output, done.id, `stdout_from=${stdout}&stderr_from=${stderr}`)
        tester.expect(
          again.stdout_next === stdout && again.stderr_next === stderr,
          'the offsets changed without output',
          again.made,
        )
      },
    ),
    check(
      'addition.output_from.invalid',
      'Where offsets are offered, an offset that is no number of bytes is 422',
      async (tester) => {
        await announced(tester, contract.operation('engine'), 'output_from')
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        for (const query of ['stdout_from=-1', 'stderr_from=x', 'stdout_from=0&stderr_from=0.5']) {
          tester.expectStatus(await ask(tester, output, done.id, query), 422)
        }
      },
    ),
  ]
}

/** Skips the promise unless the service announces an addition that is no separate operation. */
async function announced(tester: Tester, engine: Operation, addition: string): Promise<void> {
  const { json } = await tester.send(engine.method, engine.path)
  const additions = isRecord(json) && Array.isArray(json.additions) ? json.additions : []
  if (!additions.includes(addition)) tester.skip(NOT_OFFERED)
}

const ask = (tester: Tester, output: Operation, jobId: string, query: string): Promise<Exchange> =>
  tester.ask({ ...output, path: `${output.path}?${query}` }, { path: { job_id: jobId } })

async function readFrom(tester: Tester, output: Operation, jobId: string, query: string) {
  const made = await ask(tester, output, jobId, query)
  const { json } = made
  if (
    made.status !== 200 ||
    !isRecord(json) ||
    typeof json.stdout_next !== 'number' ||
    typeof json.stderr_next !== 'number'
  ) {
    tester.broken(`answered ${made.status} and something else`, made)
    return tester.skip('no output')
  }
  const { stdout, stderr, stdout_next, stderr_next } = json
  return { made, text: `${String(stdout)}${String(stderr)}`, stdout_next, stderr_next }
}
