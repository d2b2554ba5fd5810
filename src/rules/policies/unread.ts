import { joinNames } from '../../base/text.ts'
import type { Rule } from '../rule.ts'

/** What of the policies of a plan could not be judged. */
export const unreadRule: Rule = {
  id: 'common.iam.unread-policy',
  title: 'Policy that is known only after the apply',
  reason:
    'Neither the plan nor the code tells the policy, or the condition that narrows it, so that no rule judges it.',
  fix: 'Look at the policy after the apply, or write its statements out in the code.',
  severity: 'info',
  checkPlan: (_plan, { unread }) =>
    unread.length === 0
      ? []
      : [
          {
            resource: unread.length === 1 ? (unread[0] ?? null) : null,
            message: `A policy could not be read before the apply: ${joinNames([...unread], 5)}.`,
          },
        ],
}
