import { cutMiddle } from '../../base/text.ts'
import { fence } from '../../prompts/fence.ts'
import type { RoundResult } from '../../rounds/round-result.ts'
import type { RequestFate, SessionRequest } from '../../sessions/session-requests.ts'

/** The background by which a plan is judged and reported. All texts are masked. */
export interface PlanBackground {
  /** The requests of the session, the oldest first and the present one last. */
  requests: readonly SessionRequest[]
  /** The result of the round, as far as it is known before the review. */
  result: RoundResult
}

/** The latest requests, which are shown whole. */
const WHOLE = 8
/** Most requests between the first one and those, of which the beginning and the end are shown. */
const SHORTENED = 40
const MAX_CHARS = { whole: 20_000, shortened: 400, words: 20_000 }

const FATES: Record<RequestFate, string> = {
  present: ', the present one',
  built: '',
  applied: ' (applied already; the plan need not show it again)',
  declined: ' (not carried out)',
}

/** Shows what was asked for: the first request, then every later one in their order, the present one named. */
export function describeRequests(requests: readonly SessionRequest[]): string {
  const [first, ...later] = requests
  if (!first) return ''
  if (later.length === 0)
    return `The request that the plan was made for:\n${fence('request', cutMiddle(first.text, MAX_CHARS.whole))}`
  const whole = later.slice(-WHOLE)
  const between = later.slice(0, -WHOLE)
  const shortened = between.slice(-SHORTENED)
  const missing = between.length - shortened.length
  const show = ({ number, text, fate, assumptions = [] }: SessionRequest, limit: number) =>
    [
      `Request ${number}${FATES[fate]}:\n${fence('request', cutMiddle(text, limit))}`,
      block('What the user was told to be assumed for it', 'assumptions', lines('', assumptions)),
    ]
      .filter(Boolean)
      .join('\n')
  return [
    'What the session asked for, the oldest request first. Each later request counts where it contradicts an earlier ' +
      `one; request ${requests.at(-1)?.number} is the present one and counts above all. The plan shows everything ` +
      'that the session built and did not apply yet, so it carries what earlier requests asked for as well.',
    show(first, MAX_CHARS.whole),
    ...(missing > 0 ? [`${missing} requests after it are not shown.`] : []),
    ...shortened.map((request) => show(request, MAX_CHARS.shortened)),
    ...whole.map((request) => show(request, MAX_CHARS.whole)),
  ].join('\n\n')
}

/** Shows what is known about the making of the code; an empty text for a part about which there is nothing. */
export function describeResult({ summary, assumptions, drift, notes }: RoundResult): string[] {
  const words = [summary, lines('Assumptions, where the request left something open:', assumptions)]
    .filter(Boolean)
    .join('\n\n')
  return [
    block('What the author of the code told the user. It explains the plan and proves nothing', 'author', words),
    block(
      'Found by code: changes that others made to the infrastructure, which this round wrote into the code',
      'drift',
      lines('', drift),
    ),
    block('Remarks of code on what was checked and what was not', 'remarks', lines('', notes)),
  ]
}

const block = (lead: string, label: string, text: string): string =>
  text === '' ? '' : `${lead}:\n${fence(label, cutMiddle(text, MAX_CHARS.words))}`

const lines = (lead: string, items: readonly string[]): string =>
  items.length === 0 ? '' : [lead, ...items.map((item) => `- ${item}`)].filter(Boolean).join('\n')
