import type { Masker } from '../../base/masking.ts'
import { cutMiddle } from '../../base/text.ts'
import { planFacts } from '../../plan/change-list.ts'
import type { Plan } from '../../plan/plan.ts'
import { condensePlanText } from '../../plan/plan-text.ts'
import { type BeyondTargets, describeBeyondTargets } from '../../plan/targets.ts'
import { fence, joinParts } from '../../prompts/layout.ts'
import type { RoundResult } from '../../rounds/round-result.ts'
import type { RequestFate, SessionRequest } from '../../sessions/session-requests.ts'

/** The background for judging and reporting a plan. All texts are masked. */
export interface PlanBackground {
  /** The requests of the session, oldest first and the present one last. */
  requests: readonly SessionRequest[]
  /** The result of the round before the review. */
  result: RoundResult
}

/** Number of latest requests that are shown whole. */
const WHOLE = 8
/** Maximum number of other requests after the first, shown by beginning and end. */
const SHORTENED = 40
const MAX_CHARS = { whole: 20_000, shortened: 400, words: 20_000 }

const FATES: Record<RequestFate, string> = {
  present: ', the present one',
  built: '',
  applied: ' (applied already; the plan need not show it again)',
  declined: ' (not carried out)',
}

/** Describes the requests: the first, then every later one in order, with the present one marked. */
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

/** Describes the known result of the code changes; parts without facts are empty. */
export function describeResult({ summary, assumptions, gaps, drift, notes }: RoundResult): string[] {
  const words = joinParts(summary, lines('Assumptions, where the request left something open:', assumptions))
  return [
    block('What the author of the code told the user. It explains the plan and proves nothing', 'author', words),
    block(
      'Found by code: changes that others made to the infrastructure, which this round wrote into the code',
      'drift',
      lines('', drift),
    ),
    block('Remarks of code on what was checked and what was not', 'remarks', lines('', [...gaps, ...notes])),
  ]
}

const block = (lead: string, label: string, text: string): string =>
  text === '' ? '' : `${lead}:\n${fence(label, cutMiddle(text, MAX_CHARS.words))}`

const lines = (lead: string, items: readonly string[]): string =>
  items.length === 0 ? '' : [lead, ...items.map((item) => `- ${item}`)].filter(Boolean).join('\n')

/**
 * Writes a plan for a model: computed facts, then what is outside of it, then its text, condensed, and cut in the
 * middle when it is too long.
 * @param read.text the engine's text, masked
 */
export function describePlan(
  read: { plan: Plan; text: string; reference: { targets: readonly string[] }; beyond?: BeyondTargets | null },
  masker: Pick<Masker, 'text'>,
): string {
  const { plan, text, reference, beyond } = read
  return joinParts(
    `Computed from the plan: ${masker.text(planFacts(plan, reference.targets))}`,
    !!beyond && `Not part of this plan, for information only: ${masker.text(describeBeyondTargets(beyond))}`,
    cutMiddle(condensePlanText(text.replaceAll(TARGETING_WARNING, '').replace(LEGEND, '')), 400_000),
  )
}

/** What the engine says before the first change of every plan: the signs that it uses, which models know. */
const LEGEND = /^\S+ used the selected providers to generate the following execution\nplan\. [^#]{0,600}?actions:\n\n/m

/** The engine's warning about a plan with targets, left out because the platform plans the whole root as well. */
const TARGETING_WARNING =
  /^╷\n│ Warning: Resource targeting is in effect\n(?:│.*\n)*╵\n?|^Warning: Resource targeting is in effect\n[^╷]{0,1000}?\bpart of an error message\.\n*/gm
