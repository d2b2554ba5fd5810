import { describe, expect, it } from 'vitest'
import { lastPlanTool } from '../../../pipeline/tools/last-plan.ts'
import { createPlanDocument } from '../../../src/plan/document/create-document.ts'
import type { LastReview, ReviewDocuments } from '../../../src/reports/last-review.ts'
import { planOf } from '../../plan/fixtures.ts'

const REVIEW: LastReview = {
  round: 3,
  mode: 'generate',
  result: null,
  applies: [],
  plan: 'p',
  report: null,
  check: null,
}
const masker = { text: (text: string) => text }

/** Makes the document of a plan that updates so many queues, each in so many attributes. */
function documentOf(resources: number, attributes: number) {
  const values = (length: number) =>
    Object.fromEntries(Array.from({ length: attributes }, (_, at) => [`attribute_${at}`, 'x'.repeat(length)]))
  const changes = Array.from({ length: resources }, (_, at) => ({
    address: `module.queues.aws_sqs_queue.queue[${at}]`,
    type: 'aws_sqs_queue',
    actions: ['update'],
    before: values(200),
    after: values(201),
  }))
  return createPlanDocument({ plan: planOf(changes), targets: [], masker })
}

const ask = (
  documents: Partial<ReviewDocuments>,
  about?: string,
  review: Parameters<typeof lastPlanTool>[0] = REVIEW,
) =>
  lastPlanTool(review, async () => ({ plan: null, report: null, findings: null, applies: [], ...documents })).run(
    about === undefined ? {} : { about },
    new AbortController().signal,
  )

describe('the size of an answer', () => {
  it('is limited for a plan with many changes, and names their number', async () => {
    const answer = await ask({ plan: documentOf(3_000, 1) })
    expect(answer.length).toBeLessThan(8_000)
    const lines = answer.split('\n').filter((line) => line.startsWith('- update '))
    expect(answer).toContain('0 to create, 3000 to update')
    expect(answer).toContain(`- and ${3_000 - lines.length} more, left out here`)
  })

  it('is limited for one large resource, and for a module of many, which are named', async () => {
    const plan = documentOf(40, 300)
    const one = await ask({ plan }, 'module.queues.aws_sqs_queue.queue[7]')
    expect(one.length).toBeLessThan(14_000)
    expect(one).toMatch(/- and \d+ more, left out here/)
    const all = await ask({ plan }, 'module.queues')
    expect(all.length).toBeLessThan(16_000)
    expect(all).toContain('No room for these, ask for them alone:\n- module.queues.aws_sqs_queue.queue[1]\n')
  })
})

it('says which documents cannot be read', async () => {
  const review = { ...REVIEW, check: { passed: false, uri: 'c' }, applies: [{ round: 4, uri: null }] }
  const answer = await ask({ applies: [{ round: 4, report: null }] }, undefined, review)
  expect(answer).toBe(
    [
      'The plan of round 3 (generate). Round 4 gave it to the engine; what came of it cannot be read at present.',
      'The plan itself cannot be read at present.',
      'There is no report that can be read.',
      'The audit failed; its findings cannot be read at present.',
    ].join('\n\n'),
  )
})
