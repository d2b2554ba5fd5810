import type { Operation } from '../../../src/base/vocabulary.ts'
import { requestsFilter } from '../../../src/chains/requests-filter.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Outcome, Run } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'

/** Lets a model judge the request of the round. Returns why it is declined; null when it is accepted. */
export async function findObjection(kit: Kit, operation: Operation, blocks: Promise<string>): Promise<string | null> {
  const values = { request: kit.run.round.query, operation, blocks: await blocks }
  const verdict = await runChain(kit, requestsFilter, values)
  return verdict.accepted ? null : verdict.explanation
}

/** Ends a round that is not carried out, with the reason as the assistant's side of its turn. */
export function decline({ conversation, round }: Run, message: string): Outcome {
  conversation.push({ user: round.query, assistant: message })
  return { status: 'uncompleted', message }
}
