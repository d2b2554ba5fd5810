import { itemsOf, memberOf } from '../base/json.ts'
import { endSentence } from '../base/text.ts'
import type { Plan } from './plan.ts'

/**
 * Describes the `check` blocks that fail in a plan, one sentence for each instance with the messages of its assertions;
 * not masked. The engine only warns of them. Source: `checks` of the plan JSON.
 */
export const describeFailedChecks = ({ document }: Plan): string[] =>
  itemsOf(document.checks)
    .filter((check) => memberOf(memberOf(check, 'address'), 'kind') === 'check')
    .flatMap((check) => itemsOf(memberOf(check, 'instances')))
    .filter((instance) => ['fail', 'error'].includes(`${memberOf(instance, 'status')}`))
    .map((instance) => {
      const address = memberOf(memberOf(instance, 'address'), 'to_display')
      const messages = itemsOf(memberOf(instance, 'problems')).flatMap((problem) => {
        const message = memberOf(problem, 'message')
        return typeof message === 'string' && message.trim() !== '' ? message.trim().replaceAll(/\s+/g, ' ') : []
      })
      return endSentence(`\`${address}\` fails in this plan${messages.length > 0 ? `: ${messages.join(' ')}` : ''}`)
    })
