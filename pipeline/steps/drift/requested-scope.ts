import { requestsFilter } from '../../../src/chains/requests-filter.ts'
import { driftTargets } from '../../../src/chains/target-generator.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import { readDeclarations } from '../shared/look-at-repository.ts'

/** Lets two models interpret a partial round. Returns the targets, or why nothing is to be done. */
export async function findRequestedScope(kit: Kit): Promise<{ targets: string[] } | { declined: string }> {
  const request = kit.run.round.query
  const verdict = await runChain(kit, requestsFilter, {
    request,
    operation: 'drift',
    blocks: await readDeclarations(kit),
  })
  if (!verdict.accepted) return { declined: verdict.explanation }
  const answer = await runChain(kit, driftTargets, { request })
  return answer.fits ? { targets: answer.targets } : { declined: answer.explanation }
}
