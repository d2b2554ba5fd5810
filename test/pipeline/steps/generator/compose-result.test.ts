import { describe, expect, it } from 'vitest'
import { type Attempt, composeResult, describeResult } from '../../../../pipeline/steps/generator/compose-result.ts'
import { emptyResult } from '../../../../src/rounds/round-result.ts'

const attempt = (summary: string, changes: Partial<Attempt> = {}): Attempt => ({
  ...{ summary, assumptions: [], left_out: [], reason: 'validation', files: ['queue.tf'] },
  ...{ number: 2, after: '1 failed at validate: Unsupported argument' },
  ...changes,
})
const FIRST = attempt('Added a queue with an alarm.', { reason: 'task', number: 1, after: '' })
const compose = (first: Partial<Attempt>, ...later: Attempt[]) =>
  composeResult([{ ...FIRST, ...first }, ...later], ['alarms.tf', 'queue.tf'])

describe('what was left out', () => {
  const LISTENER = 'The listener, because no certificate is known'
  it('is a gap, once, until an attempt that was asked for missing parts', () => {
    const first = { left_out: [LISTENER] }
    expect(compose(first, attempt('Corrected a name.', { left_out: [`${LISTENER}.`] })).gaps).toEqual([
      `Left out: ${LISTENER}.`,
    ])
    expect(compose(first, attempt('Corrected a name.')).gaps).toEqual([`Left out: ${LISTENER}.`])
    expect(compose(first, attempt('Added it.', { reason: 'request' })).gaps).toEqual([])
    const refusal = attempt('No.', { reason: 'request', files: [], left_out: ['The topic'] })
    expect(compose(first, refusal).gaps).toEqual([`Left out: ${LISTENER}.`, 'Left out: The topic.'])
  })

  it('is what the user is told first', () => {
    const result = { ...emptyResult(), summary: 'Built.', gaps: ['Left out: The listener.'] }
    expect(describeResult(result)).toBe('Left out: The listener.\n\nBuilt.')
  })
})

describe('the result of several attempts', () => {
  it('has the words of the last one that changed files, and nothing of those before it', () => {
    const result = compose(
      { assumptions: ['Messages are kept for 4 days.', 'The alarm goes to the team.'] },
      attempt('Added a queue without an alarm.', { assumptions: ['Messages are kept for 14 days.'] }),
    )
    expect(result).toMatchObject({
      summary: 'Added a queue without an alarm.',
      assumptions: ['Messages are kept for 14 days.'],
    })
    expect(JSON.stringify(result)).not.toMatch(/with an alarm|4 days\.", "The|goes to the team/)
  })

  it('names by code the files and what each later attempt changed, whatever a model says of itself', () => {
    const third = attempt('Corrected a name.', { number: 3, after: '2 failed at plan: Cycle', files: ['a.tf', 'b.tf'] })
    expect(compose({}, attempt('Corrected the argument.'), third).repairs).toEqual([
      'Changed in all: alarms.tf, queue.tf.',
      'Attempt 1 failed at validate: Unsupported argument; attempt 2 changed queue.tf.',
      'Attempt 2 failed at plan: Cycle; attempt 3 changed a.tf, b.tf.',
    ])
    expect(compose({}).repairs).toEqual([])
  })

  it('keeps why nothing was changed after a check against the request, until a later attempt changes something', () => {
    const refusal = attempt('The request asks for no topic.', { reason: 'request', files: [] })
    const nothing = attempt('Nothing to do.', { files: [], number: 3 })
    expect(compose({}, refusal, nothing)).toMatchObject({
      summary: FIRST.summary,
      repairs: [
        'Attempt 1 failed at validate: Unsupported argument; attempt 2 changed nothing: The request asks for no topic.',
      ],
    })
    expect(JSON.stringify(compose({}, refusal, attempt('Added a topic.', { number: 3 })))).not.toContain('no topic')
  })

  it('counts an attempt as the first where those before it changed nothing', () => {
    expect(compose({ files: [] }, attempt('Added a queue.'))).toMatchObject({ summary: 'Added a queue.', repairs: [] })
  })
})
