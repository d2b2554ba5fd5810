import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isOffered } from '../../promises/policy.ts'
import { isRecord } from '../../schema/types.ts'
import { type Check, check, type Options, type Tester } from '../../types.ts'
import { cancelPromises } from './cancel-promises.ts'
import { type Job, parseStdout } from './jobs.ts'
import { outputPromises } from './output-promises.ts'
import { BROKEN, createWorkspace, FORMATTED, UNFORMATTED } from './workspaces.ts'

/** Returns the promises about additions, which an implementation may leave out. */
export function additionPromises(
  { contract }: Pick<Options, 'contract'>,
  run: (tester: Tester, id: string, workspace: string, more?: object) => Promise<Job>,
  initialised: (tester: Tester, files?: Record<string, string>) => Promise<string>,
): Check[] {
  const offered = async (tester: Tester, id: string) => {
    if (!(await isOffered(tester, contract.operation(id))))
      tester.skip('optional, and this implementation does not offer it')
  }
  return [
    check(
      'addition.diagnostics',
      'Where they are offered, diagnostics are JSON on stdout, also of a configuration that is not valid',
      async (tester) => {
        await offered(tester, 'diagnostics')
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
    check(
      'addition.fmt',
      'Where it is offered, texts come back formatted and in order, and one that cannot be parsed as it was',
      async (tester) => {
        await offered(tester, 'fmt')
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
    check(
      'addition.output',
      'Where it is offered, the output of a job so far is answered, 404 of an unknown job',
      async (tester) => {
        await offered(tester, 'output')
        const output = contract.operation('output')
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        const made = await tester.ask(output, { path: { job_id: done.id } })
        tester.expect(
          made.status === 200 && isRecord(made.json) && made.json.status === done.status,
          `answered ${made.status} and something else`,
          made,
        )
        for (const [job_id, status] of [
          [crypto.randomUUID(), 404],
          ['none', 422],
        ] as const) {
          const refused = await tester.ask(output, { path: { job_id } })
          tester.expectStatus(refused, status)
        }
      },
    ),
    check(
      'addition.schema',
      'Where they are offered, the names of the providers\u2019 types are JSON on stdout',
      async (tester) => {
        await offered(tester, 'schema')
        const done = await run(tester, 'schema', await initialised(tester))
        const json = parseStdout(done)
        tester.expect(
          isRecord(json) && typeof json.format_version === 'string' && isRecord(json.providers),
          'stdout is another document',
          done.made,
        )
      },
    ),
    ...cancelPromises({ contract }, offered),
    ...outputPromises({ contract }, run),
  ]
}
