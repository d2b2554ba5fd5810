import { describe, expect, it } from 'vitest'
import { type Attempt, composeResult, describeResult } from '../../../../pipeline/steps/generator/compose-result.ts'
import { emptyResult } from '../../../../src/rounds/round-result.ts'

const attempt = (summary: string, changes: Partial<Attempt> = {}): Attempt => ({
  summary,
  assumptions: [],
  left_out: [],
  reason: 'validation',
  files: ['queue.tf'],
  ...changes,
})
const FIRST =
  'Added an SQS queue `jobs` with a dead-letter queue in queue.tf and a CloudWatch alarm on the age of its oldest ' +
  'message in alarms.tf.'
const compose = (...later: Attempt[]) => composeResult([attempt(FIRST, { reason: 'task' }), ...later])

describe('what was left out', () => {
  const LISTENER = 'The listener, because no certificate is known'
  it('is a gap, once, until an attempt that was asked for missing parts', () => {
    const first = attempt(FIRST, { reason: 'task', left_out: [LISTENER] })
    const repair = attempt('Corrected a name.', { left_out: [`${LISTENER}.`] })
    expect(composeResult([first, repair]).gaps).toEqual([`Left out: ${LISTENER}.`])
    expect(composeResult([first, attempt('Corrected a name.')]).gaps).toEqual([`Left out: ${LISTENER}.`])
    expect(composeResult([first, attempt('Added it.', { reason: 'request' })]).gaps).toEqual([])
    const refusal = attempt('No.', { reason: 'request', files: [], left_out: ['The topic'] })
    expect(composeResult([first, refusal]).gaps).toEqual([`Left out: ${LISTENER}.`, 'Left out: The topic.'])
  })

  it('is what the user is told first', () => {
    const result = { ...emptyResult(), summary: 'Built.', gaps: ['Left out: The listener.'] }
    expect(describeResult(result)).toBe('Left out: The listener.\n\nBuilt.')
  })
})

describe('a repair that describes the whole result', () => {
  it.each([
    [
      'in nearly the same words',
      'The SQS queue jobs and its dead-letter queue are in queue.tf; alarms.tf adds a CloudWatch alarm on the oldest message age.',
    ],
    [
      'in other words, at greater length',
      'queue.tf now declares the queue `jobs`, which moves messages to a dead-letter queue after five failed ' +
        'attempts, and alarms.tf raises a CloudWatch metric alarm that watches for stale entries and notifies the team.',
    ],
  ])('takes the place of the first: %s', (_, summary) => {
    expect(compose(attempt(summary))).toMatchObject({ summary, repairs: ['After validation: changed queue.tf.'] })
  })
})

describe('a repair that speaks of its correction', () => {
  it.each([
    'Corrected the attribute `visibility_timeout` to `visibility_timeout_seconds`.',
    'Fixed the dimension of the alarm in alarms.tf: a CloudWatch alarm on the age of messages takes QueueName, and ' +
      'the queue in queue.tf exports it as name, so that the reference is now correct and the plan is valid.',
    'The argument was misspelt in queue.tf. It is visibility_timeout_seconds in the provider, which the schema lists, ' +
      'and the validation accepts the file with it; nothing else was touched in this attempt of mine.',
    'Das Attribut heißt in diesem Provider anders und wurde in queue.tf entsprechend umbenannt, sonst blieb alles gleich.',
  ])('is a remark in the words of the model: %s', (summary) => {
    const { summary: kept, repairs } = compose(attempt(summary))
    expect(kept).toBe(FIRST)
    expect(repairs).toEqual([`After validation: ${summary}`])
  })

  it('is a remark too after a check against the request, whether it changed something or not', () => {
    const { repairs } = compose(
      attempt('Set the period to 60 s.', { reason: 'request' }),
      attempt('The request asks for no topic.', { reason: 'request', files: [] }),
      attempt('Nothing to do.', { files: [] }),
    )
    expect(repairs).toEqual([
      'After a check against the request: Set the period to 60 s.',
      'After a check against the request: nothing was changed. The request asks for no topic.',
    ])
  })
})
