import { describe, expect, it } from 'vitest'
import type { OutputEvent, Round, Session, Status } from '../../../console/client/api/client.ts'
import { spendOf } from '../../../console/client/sessions/use-session.ts'
import { answersOf, modeOf } from '../../../console/screens/rounds/conversation.ts'
import { createOutputFolder, inChunks } from '../../../console/screens/rounds/fold-output.ts'
import { nextStep } from '../../../console/screens/session/next-step.ts'
import { sampleReport, sampleRound, sampleSession } from '../samples.ts'

const round = (number: number, query: string, status: Status, more: Partial<Round> = {}) =>
  sampleRound(number, status, { query, ...more })
const report = (type: Parameters<typeof sampleReport>[0]) => ({ reports: [sampleReport(type)] })

describe('answersOf', () => {
  it('finds the answer of each round over failed rounds, previews and words of the platform', () => {
    const rounds = [
      round(1, 'a', 'uncompleted'),
      round(2, 'look', 'completed', { preview: true }),
      round(3, 'cancelled', 'uncompleted'),
      round(4, 'take in', 'completed', report('import')),
      round(5, 'b', 'completed'),
    ]
    const history = [
      { user: 'a', assistant: 'A' },
      { user: 'Write one block for each.', assistant: 'I' },
      { user: 'b', assistant: 'B' },
    ]
    expect([...answersOf(sampleSession(rounds, { history }))]).toEqual([
      [1, 'A'],
      [4, 'I'],
      [5, 'B'],
    ])
  })
})

describe('modeOf', () => {
  it('takes the report, the status or the attempts, and knows when nothing tells', () => {
    const open = sampleSession([])
    expect(modeOf(round(2, 'x', 'completed', report('drift')), open)).toBe('drift')
    expect(modeOf(round(2, 'x', 'apply'), open)).toBe('apply')
    expect(modeOf(round(1, 'x', 'generating'), open)).toBe('generate')
    const attempts = [{ task: 'drift' }, { task: 'generate' }] as Round['attempts']
    expect(modeOf(round(2, 'x', 'generating', { attempts }), open)).toBe('generate')
    expect(modeOf(round(2, 'x', 'generating'), open)).toBeNull()
    const question = { is_partial: true, backend: 's3', serial: null, resources: null, choices: [] }
    const stopped = { state_question: { ...question, mode: 'drift' as const } }
    expect(modeOf(round(2, 'x', 'uncompleted', stopped), open)).toBe('drift')
  })
})

describe('createOutputFolder', () => {
  const event = (id: number, more: object) =>
    ({ id, round: 1, at: '', job_id: 'j', step: 'plan', ...more }) as OutputEvent
  const lines = (id: number, text: string, stream = 'stdout') => event(id, { type: 'lines', text, stream })

  it('joins lines of a stream, and reads each event once', () => {
    const fold = createOutputFolder()
    const events = [event(1, { type: 'step.began' }), lines(2, 'a\n')]
    expect(fold(events)).toHaveLength(2)
    const all = fold([
      ...events,
      lines(3, 'b\n'),
      lines(4, 'c\n', 'stderr'),
      event(5, { type: 'step.ended', exit_code: 1, seconds: 2 }),
    ])
    expect(all.map(({ kind, text }) => `${kind}:${text}`)).toEqual(['head:', 'text:a\nb', 'text:c', 'foot:'])
    expect(all.at(-1)).toMatchObject({ exit_code: 1, seconds: 2 })
  })

  it('begins anew with another round', () => {
    const fold = createOutputFolder()
    fold([lines(1, 'a'), lines(2, 'b')])
    expect(fold([lines(9, 'z')]).map(({ text }) => text)).toEqual(['z'])
  })

  it('keeps 20,000 lines in few blocks, and cuts a line of a megabyte', () => {
    const blocks = createOutputFolder()(Array.from({ length: 20_000 }, (_, index) => lines(index, `line ${index}\n`)))
    expect(blocks).toHaveLength(100)
    expect(inChunks('x'.repeat(1_000_000))[0]).toHaveLength(4_000)
  })

  it('shows control characters instead of obeying them', () => {
    expect(inChunks('\u001b[31mred\u202e')).toEqual(['␛[31mred⟨U+202E⟩'])
  })
})

describe('nextStep', () => {
  const step = (rounds: Round[], more: Partial<Session> = {}) => nextStep(sampleSession(rounds, more))
  it('waits for nobody while a round runs', () => {
    expect(step([round(1, 'a', 'generating')], { in_flight: true })).toBeNull()
  })
  it('says the most important thing first', () => {
    const done = round(1, 'a', 'completed', report('generate'))
    expect(step([done])).toMatchObject({ part: 'review', label: 'Review the plan', round: 1 })
    expect(step([done], { is_blocked: true })).toMatchObject({ tone: 'bad', part: 'review', label: 'See why' })
    expect(step([done, round(2, 'b', 'failed')], { is_blocked: true })).toMatchObject({ part: 'rounds', round: 2 })
    expect(step([round(1, 'a', 'uncompleted')])).toMatchObject({ tone: 'warn', label: 'Read the answer' })
    expect(step([round(1, 'a', 'completed', report('drift'))])).toMatchObject({ part: 'drift' })
    const listed = { ...report('import'), previews: [{}] } as Partial<Round>
    expect(step([round(1, 'a', 'completed', listed)])).toMatchObject({ label: 'Select what to import' })
  })
})

describe('spendOf', () => {
  const used = (cost_usd: number | null) => ({ input_tokens: 3, output_tokens: 2, cost_usd }) as Round['usage']
  const spend = (usage: Round['usage'], attempts: unknown[] = []) =>
    spendOf(round(1, 'a', 'completed', { usage, attempts } as Partial<Round>))
  it('is what was recorded, and before that what the attempts that have ended cost', () => {
    expect(spend(used(1), [used(7)])).toEqual({ tokens: 5, cost_usd: 1 })
    expect(spend(null, [used(1), used(2), { input_tokens: null }])).toEqual({ tokens: 10, cost_usd: 3 })
    expect(spend(null)).toBeNull()
  })
  it('claims no sum of which a part is not known', () =>
    expect(spend(null, [used(1), used(null)])).toEqual({ tokens: 10, cost_usd: null }))
})
