import type { Operation } from '../../document.ts'
import { isRecord } from '../../schema/schema.ts'
import { type Check, check, type Exchange, type Options, type Tester } from '../../types.ts'
import { NOT_OFFERED, type RunJob } from './jobs.ts'
import { BROKEN, createWorkspace } from './workspaces.ts'

/** The limit of reads of one output, against a service that never ends it. */
const MAX_PIECES = 1000

interface Piece {
  made: Exchange
  text: string
  stdout_next: number
  stderr_next: number
}

/** Returns the promises about reading the output of a job from an offset, where that is offered. */
export function outputPromises({ contract }: Pick<Options, 'contract'>, run: RunJob): Check[] {
  const output = contract.operation('output')
  return [
    check(
      'addition.output_from',
      'Where offsets are offered, the pieces from 0 on are the output of the job, and the last one is empty',
      async (tester) => {
        await offered(tester, contract.operation('engine'))
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
        await offered(tester, contract.operation('engine'))
        const done = await run(tester, 'validate', await createWorkspace(tester, { 'main.tf': BROKEN }))
        for (const query of ['stdout_from=-1', 'stderr_from=x', 'stdout_from=0&stderr_from=0.5']) {
          tester.expectStatus(await ask(tester, output, done.id, query), 422)
        }
      },
    ),
  ]
}

/** Skips the promise unless the service announces offsets, which are no separate operation. */
async function offered(tester: Tester, engine: Operation): Promise<void> {
  const { json } = await tester.send(engine.method, engine.path)
  const additions = isRecord(json) && Array.isArray(json.additions) ? json.additions : []
  if (!additions.includes('output_from')) tester.skip(NOT_OFFERED)
}

const ask = (tester: Tester, output: Operation, jobId: string, query: string): Promise<Exchange> =>
  tester.ask({ ...output, path: `${output.path}?${query}` }, { path: { job_id: jobId } })

async function readFrom(tester: Tester, output: Operation, jobId: string, query: string): Promise<Piece> {
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
