import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../dev/postgres.ts'
import type { HandChoice, HandTask } from '../options.ts'
import { AnswerFault } from './answer.ts'
import { type HandFolder, openHandFolder } from './folder.ts'
import { renderStatistics, summariseCalls } from './statistics.ts'

/** The tasks of `--hand` other than playing and serving. */
export type HelperTask = Exclude<HandTask, { kind: 'play' | 'serve' }>

/** The exit code of `--next` if no call arrived in time. */
const NOTHING_YET = 3
/** Milliseconds for a new endpoint to replace one that has ended. */
const GRACE_MS = 20_000

/**
 * Runs a helper and prints its result. Returns the exit code: 1 for a refused or unknown call, 3 for no call in time.
 */
export async function runHelper({ folder: path }: HandChoice, task: HelperTask, json: boolean): Promise<number> {
  const folder = openHandFolder(path)
  if (task.kind === 'next') return await printNext(folder, task)
  if (task.kind === 'answer') return await giveAnswer(folder, task)
  if (task.kind === 'show') return print(await folder.show(task.call, task), `There is no call ${task.call}.`)
  await printStatistics(folder, json)
  return 0
}

/** Prints the statistics of all calls in a folder, as a table or as one line of JSON. */
export async function printStatistics(folder: HandFolder, json: boolean): Promise<void> {
  const statistics = summariseCalls(await folder.records())
  console.log(json ? JSON.stringify(statistics) : renderStatistics(statistics).join('\n'))
}

async function printNext(folder: HandFolder, { waitS, whole }: HelperTask & { kind: 'next' }): Promise<number> {
  const until = waitS === null ? Number.POSITIVE_INFINITY : performance.now() + waitS * 1000
  const graceEnd = performance.now() + GRACE_MS
  for (;;) {
    const [call] = await folder.waiting()
    if (call !== undefined) {
      console.log(await folder.show(call, { whole }))
      console.log(
        `--- answer call ${call} with: npm run eval -- --hand --folder ${folder.path} --answer ${call} <file or ->`,
      )
      return 0
    }
    const endpoint = await folder.endpoint()
    const hasEnded = endpoint !== null && !(endpoint.open && isAlive(endpoint.pid))
    if (performance.now() >= graceEnd && hasEnded)
      return print(null, 'The endpoint has ended; --hand --stats says what was asked.')
    if (performance.now() >= until) {
      console.error('No call waits yet.')
      return NOTHING_YET
    }
    await sleep(150)
  }
}

async function giveAnswer(folder: HandFolder, { call, file }: HelperTask & { kind: 'answer' }): Promise<number> {
  try {
    const source = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
    const { calls } = await folder.answer(call, source)
    const what = calls.map(({ name }) => name).join(', ') || 'a text'
    return print(`Call ${call} is answered with ${what}.\n`)
  } catch (error) {
    const explained = error instanceof AnswerFault || (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!explained) throw error
    return print(null, (error as Error).message)
  }
}

function print(found: string | null, otherwise = ''): number {
  if (found === null) console.error(otherwise)
  else console.log(found.trimEnd())
  return found === null ? 1 : 0
}
