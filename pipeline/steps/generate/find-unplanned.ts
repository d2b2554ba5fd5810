import { describeUnplanned, explainEmptyPlan } from '../../../src/plan/code/unplanned.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { readPresentCode } from '../generator/changed-code.ts'
import type { ValidPlan } from '../plan/plan.ts'

/**
 * Says, as masked sentences, which files of the session the plan does not cover, and why code that the round changed
 * changes nothing in it. A report begins with them; none when there is nothing to say.
 */
export const findUnplanned = (kit: Kit, { plan, reference: { targets } }: ValidPlan): Promise<string[]> =>
  withFallback(kit.run, 'it could not be told what the plan does not cover', [], async () => {
    const { changedSince } = await readPresentCode(kit)
    const [session, run] = await Promise.all([changedSince('session'), changedSince('run')])
    const sentences = [describeUnplanned(session.changed), explainEmptyPlan(plan, { ...run, targets })]
    return sentences.filter((text) => text !== null).map((text) => kit.secrets.text(text))
  })
