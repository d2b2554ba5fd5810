import { requestsFilterTool } from '../../../src/agent/sentinels/requests-filter.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { requestsFilterLayout } from '../../../src/prompts/layouts/requests-filter.ts'
import { earlierTurns, requestQuery } from '../../../src/prompts/queries.ts'
import { type Kit, promptBodies, runChain } from '../../kit/kit.ts'
import { inspection } from '../../kit/tools.ts'

export type Verdict = { accepted: true } | { accepted: false; explanation: string }

/**
 * Decides whether the request of the round is one for this mode; a declined or merely answered one
 * comes with the text for the user.
 */
export async function filterRequest(kit: Kit, variant: Operation): Promise<Verdict> {
  const { run } = kit
  const { provider } = run.round.session
  const [guideline, forbidden_actions] = await promptBodies(
    run,
    'general-guidelines-requests',
    `${provider}-guidelines-forbidden_actions`,
  )
  const { status, explanation } = await runChain(kit, {
    chain: 'REQUESTS_FILTER',
    role: 'small',
    system: requestsFilterLayout({ guideline, forbidden_actions, variant }),
    query: requestQuery(run.round.query),
    conversation: earlierTurns(run.conversation),
    tools: inspection(kit),
    resultTool: requestsFilterTool(),
  })
  return status ? { accepted: true } : { accepted: false, explanation: kit.secrets.text(explanation) }
}
