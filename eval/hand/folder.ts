import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readText, writeAtomically } from '../../dev/files.ts'
import { AnswerFault, type HandAnswer, type HandRequest, readAnswer, readRequest } from './answer.ts'
import { readWhole } from './readable.ts'
import type { CallRecord } from './statistics.ts'

/**
 * The folder that an endpoint shares with the people who answer. Each call has a folder `calls/<number>` with
 * - `request.json`: the body of the request
 * - `request.txt`: what is new in it, readable
 * - `answer.json`: the answer, written by whoever answers
 * - `problem.txt` and `refused.json`: why an answer was not sent, and that answer; gone after the next one
 * - `end.json`: the record of a call that has ended
 */
export type HandFolder = ReturnType<typeof openHandFolder>

export function openHandFolder(path: string) {
  const file = (call: number, name: string) => join(path, 'calls', String(call).padStart(4, '0'), name)
  const half = new Map<number, string>()
  const all = async (): Promise<number[]> => {
    await mkdir(join(path, 'calls'), { recursive: true })
    const names = await readdir(join(path, 'calls'))
    return names
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .sort((a, b) => a - b)
  }
  const isWaiting = async (call: number) => {
    const [request, ended, answered] = await Promise.all(
      ['request.txt', 'end.json', 'answer.json'].map((name) => readText(file(call, name))),
    )
    return request !== null && ended === null && answered === null
  }
  const refuse = async (call: number, text: string, fault: AnswerFault) => {
    await writeAtomically(file(call, 'refused.json'), text)
    await writeAtomically(file(call, 'problem.txt'), `${fault.message}\n`)
    await rm(file(call, 'answer.json'), { force: true })
  }
  /** Reads the request of a call; null if there is no such call. Errors: `RangeError` for a broken request. */
  const request = async (call: number): Promise<HandRequest | null> => {
    const text = await readText(file(call, 'request.json'))
    return text === null ? null : readRequest(JSON.parse(text))
  }
  return {
    path,
    /** Returns the number after the highest one. */
    nextNumber: async (): Promise<number> => ((await all()).at(-1) ?? 0) + 1,
    begin: async (call: number, body: unknown, readable: string): Promise<void> => {
      await writeAtomically(file(call, 'request.json'), `${JSON.stringify(body, null, 1)}\n`)
      await writeAtomically(file(call, 'request.txt'), `${readable}\n`)
    },
    /**
     * Reads an answer; null while there is none. An invalid answer is put aside, and the call goes on waiting. A text
     * that is no JSON counts as half written until it is the same twice.
     */
    look: async (call: number, { tools }: HandRequest): Promise<HandAnswer | null> => {
      const text = await readText(file(call, 'answer.json'))
      if (text === null) return null
      try {
        return readAnswer(text, tools)
      } catch (error) {
        if (!(error instanceof AnswerFault)) throw error
        if (half.get(call) === text) await refuse(call, text, error)
        half.set(call, text)
        return null
      }
    },
    /** Checks an answer and writes it for the endpoint. Errors: `AnswerFault`, also for a call that does not wait. */
    answer: async (call: number, text: string): Promise<HandAnswer> => {
      const asked = await request(call)
      if (!asked || !(await isWaiting(call))) throw new AnswerFault(`Call ${call} does not wait for an answer.`)
      const answer = readAnswer(text, asked.tools)
      await rm(file(call, 'problem.txt'), { force: true })
      await writeAtomically(file(call, 'answer.json'), text)
      return answer
    },
    end: (record: CallRecord): Promise<void> =>
      writeAtomically(file(record.call, 'end.json'), `${JSON.stringify(record)}\n`),
    /** Lists the calls that wait for an answer, the oldest first. */
    waiting: async (): Promise<number[]> => {
      const calls = await all()
      const verdicts = await Promise.all(calls.map(isWaiting))
      return calls.filter((_, index) => verdicts[index])
    },
    request,
    /** Renders a call as text; null if there is no such call. Errors: as `request`. */
    show: async (call: number, { whole }: { whole: boolean }): Promise<string | null> => {
      const asked = whole ? await request(call) : null
      const text = asked ? readWhole(call, asked) : await readText(file(call, 'request.txt'))
      if (text === null) return null
      const problem = await readText(file(call, 'problem.txt'))
      return `${problem === null ? '' : `The last answer was not sent. ${problem}\n`}${text.trimEnd()}\n`
    },
    records: async (): Promise<CallRecord[]> => {
      const texts = await Promise.all((await all()).map((call) => readText(file(call, 'end.json'))))
      return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text)]))
    },
    /** Records the endpoint that uses the folder. */
    setEndpoint: (record: { url: string; pid: number; open: boolean }): Promise<void> =>
      writeAtomically(join(path, 'endpoint.json'), `${JSON.stringify(record)}\n`),
    endpoint: async (): Promise<{ pid: number; open: boolean } | null> =>
      JSON.parse((await readText(join(path, 'endpoint.json'))) ?? 'null'),
  }
}
