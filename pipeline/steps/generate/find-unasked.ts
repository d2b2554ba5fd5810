import { writeUnaskedQuery } from '../../../src/chains/iac-generator.ts'
import { isMoved } from '../../../src/plan/actions.ts'
import { driftOperations } from '../../../src/plan/drift.ts'
import { isRefreshed, type Plan } from '../../../src/plan/plan.ts'
import { managedChanges } from '../../../src/plan/planned-changes.ts'
import { describeLosses, findLosses, type Loss, lossFeedback } from '../../../src/rules/intent/losses.ts'
import { describeMovedUpdates, findMovedUpdates, movedUpdateFeedback } from '../../../src/rules/intent/moved-updates.ts'
import { readAskedLosses } from '../../../src/sessions/session-requests.ts'
import type { Finding } from '../../kit/attempts.ts'
import type { Kit } from '../../kit/kit.ts'
import { attributeChanges } from '../drift/genuine-drift.ts'
import type { PlanCheck } from '../plan/validators.ts'
import type { IntentCheck } from './check-intent.ts'

/** What a plan does to existing objects although the request does not ask for it. */
export interface Unasked {
  losses: Loss[]
  /** Describes them, as masked sentences for the beginning of an answer; none when there are none. */
  sentences: string[]
  /** True if the request was turned into statements, so that it is known what it asks for. */
  isKnown: boolean
}

/** Finds what a plan does unasked. What an earlier round of the session was asked to destroy is asked for. */
export async function findUnasked(kit: Kit, intent: IntentCheck, plan: Plan): Promise<Unasked> {
  const { losses, updates, isKnown } = await readUnasked(kit, intent, plan)
  const sentences = [describeLosses(losses, { asked: isKnown }), describeMovedUpdates(updates)]
  return { losses, isKnown, sentences: sentences.filter((text) => text !== '').map((text) => kit.secrets.text(text)) }
}

async function readUnasked(kit: Kit, intent: IntentCheck, plan: Plan) {
  const { run, secrets } = kit
  const changes = managedChanges(plan)
  const isTouched = changes.some(
    ({ resource, action }) => action !== 'create' && (action !== 'update' || isMoved(resource)),
  )
  if (!isTouched) return { losses: [], updates: [], isKnown: true }
  const statements = (await intent.evaluate(plan)).map(({ statement }) => statement)
  const isKnown = intent.gap() === null
  const asked = run.round.number > 1 ? await readAskedLosses(run.context.sql, run.round) : new Set<string>()
  const losses = findLosses(statements, plan, await findOwn(kit, plan))
  return {
    losses: losses.filter(({ address }) => !asked.has(secrets.text(address))),
    updates: isKnown ? findMovedUpdates(statements, plan) : [],
    isKnown,
  }
}

/**
 * Returns the addresses whose change comes from the session's code, alone or with others. What the code before the
 * session would do as well is left out; what cannot be told is not, since it would be destroyed all the same.
 */
async function findOwn(kit: Kit, plan: Plan): Promise<Set<string>> {
  const moved = managedChanges(plan).filter(({ resource }) => isMoved(resource) && !isRefreshed(plan, resource))
  const { own, both, unknown } = (await attributeChanges(kit, plan, driftOperations(plan))).found
  return new Set([
    ...moved.map(({ resource }) => resource.address),
    ...[...own, ...both, ...unknown].map(({ address }) => address),
  ])
}

/** The name of the check, as attempts are compared by it. */
const NOTHING_UNASKED = 'Nothing that exists is destroyed or changed unasked'

/** Creates the check of a loop that rejects a plan once for what it does unasked. */
export const createUnaskedCheck = (kit: Kit, intent: IntentCheck): PlanCheck => ({
  most: 1,
  writeQuery: writeUnaskedQuery,
  check: async ({ plan }) => {
    const { losses, updates } = await readUnasked(kit, intent, plan)
    const isClean = losses.length + updates.length === 0
    if (!isClean)
      kit.run.log.info('the plan does what the request does not ask for', {
        destroyed: losses.length,
        moved_and_updated: updates.length,
      })
    return {
      findings: [
        ...losses.map(toFinding),
        ...updates.map(({ address, attributes }) => ({
          severity: 'error' as const,
          summary: 'It is moved, and changed in place unasked.',
          detail: attributes.join('\n'),
          address,
        })),
      ],
      feedback: kit.secrets.text(
        [losses.length > 0 && lossFeedback(losses), updates.length > 0 && movedUpdateFeedback(updates)]
          .filter((text) => text !== false)
          .join('\n'),
      ),
      verdicts: new Map([[NOTHING_UNASKED, isClean]]),
    }
  },
})

const toFinding = ({ address, action, forced_by }: Loss): Finding => ({
  severity: 'error',
  summary: action === 'delete' ? 'It is destroyed unasked.' : 'It is destroyed and created anew unasked.',
  detail: forced_by.length > 0 ? `Forced by ${forced_by.join(', ')}.` : '',
  address,
})
