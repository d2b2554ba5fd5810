import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createReplayLlm } from '../../../eval/replay/answers.ts'
import { createRoundRecorder, readRecording } from '../../../pipeline/kit/recording.ts'
import { createLogger, silentLogger } from '../../../src/base/log.ts'
import type { LlmClient } from '../../../src/llm/inference.ts'
import { createRecordingWriter } from '../../../src/runtime/files.ts'
import { useFolder } from '../../helpers/folder.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { done, GATES, goodLlm, goodRound, write } from './scripts.ts'
import { firstRound, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)
const folder = useFolder()

/** A value that only the plan marks as sensitive. */
const PASSWORD = 'correct-horse-battery-staple-42'
const SECOND = `resource "terraform_data" "second" {\n  input = sensitive("${PASSWORD}")\n}\n`
const scripts = (changes: Record<string, Script | Script[]> = {}) =>
  goodRound({
    task_complete: [write('second.tf', SECOND), done(`Added a greeting with ${stack.config.git.token}.`)],
    ...changes,
  })

async function round(llm: LlmClient, into: string) {
  const recorder = createRoundRecorder({
    write: createRecordingWriter(into),
    log: silentLogger,
    secrets: [stack.config.git.token, stack.config.storage.secret_key],
  })
  const session = await firstRound(stack, stack.context(llm, { orchestration: GATES, recorder }))
  const text = await readFile(join(into, `${session.uuid}-round-1-attempt-1.jsonl`), 'utf8')
  const plans = (await textsOf(stack, session.uuid, 'plan')).map((plan) => /^Plan: .*$/m.exec(plan)?.[0])
  return { session, text, plans }
}

describe('a recorded round', () => {
  it('is played again without a model: same statuses, same counts, same code', async () => {
    const llm = goodLlm()
    const first = await round(llm, folder.path)
    expect(first.session.failures).toEqual([])
    const recording = await readRecording(first.text)
    expect(recording.round).toMatchObject({
      session: first.session.uuid,
      round: 1,
      mode: 'generate',
      query: 'Add a second greeting',
    })
    expect(recording.completions).toHaveLength(llm.requests.length)
    expect(recording.outcome.end).toEqual({ status: 'completed', message: 'GENERATE' })
    expect(recording.outcome.plans[0]).toEqual({ create: 1, update: 0, delete: 0, recreate: 0 })

    const replay = await createReplayLlm(recording)
    const second = await round(replay, folder.path)
    expect(replay.statistics()).toMatchObject({ unused: 0, missed: [] })
    expect(second.session.statuses).toEqual(first.session.statuses)
    expect(second.session.messages).toEqual(first.session.messages)
    expect(second.plans).toEqual(first.plans)
    const again = await readRecording(second.text)
    expect(again.outcome).toEqual(recording.outcome)
  })

  it('holds no secret: neither of the configuration nor what the plan says is sensitive', async () => {
    const { text, session } = await round(scriptedLlm(scripts()), folder.path)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(text).toContain('second.tf')
    expect(text).not.toContain(PASSWORD)
    expect(text).not.toContain(stack.config.git.token)
    const [file] = (await readdir(folder.path)).filter((name) => name.startsWith(session.uuid))
    expect((await stat(join(folder.path, file ?? ''))).mode & 0o777).toBe(0o600)
  })

  it('fails clearly when a call is not in the recording', async () => {
    const { text } = await round(scriptedLlm(scripts()), folder.path)
    const recording = await readRecording(text)
    const completions = recording.completions.filter(({ chain }) => chain !== 'task_complete')
    const replay = await createReplayLlm({ ...recording, completions })
    const { session } = await round(replay, folder.path)
    expect(session.statuses.at(-1)).toBe('failed')
    expect(session.messages.at(-1)).toMatch(
      /The recording has no answer for call \d+, chain task_complete \(main model, tools .*: it has no such call\./,
    )
    expect(replay.statistics().missed).toHaveLength(1)
  })

  it('does not disturb a round when it cannot be written', async () => {
    const lines: string[] = []
    const recorder = createRoundRecorder({
      write: async () => {
        throw new Error('no space left')
      },
      log: createLogger({ write: (line) => lines.push(line) }),
      secrets: [],
    })
    const { session } = await runGenerate(stack, {}, { recorder })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(lines.join()).toContain('the recording of a round was not written')
  })
})
