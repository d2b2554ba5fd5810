import { engineTargetsTool } from '../../src/agent/sentinels/engine-targets.ts'
import { targetGeneratorLayout } from '../../src/prompts/layouts/target-generator.ts'
import { SESSION_TARGETS_QUERY } from '../../src/prompts/queries.ts'
import { type Kit, runChain } from './kit.ts'
import { inspection } from './tools.ts'

/** More targets than the sidecar takes mean the whole root. */
const MAX_TARGETS = 256

/** Addresses that the session changed, read by a model from the branch diff; none plans the whole root. */
export async function generateSessionTargets(kit: Kit): Promise<string[]> {
  const { targets } = await runChain(kit, {
    chain: 'TARGET_GENERATOR',
    role: 'main',
    system: targetGeneratorLayout({ variant: 'session' }),
    query: SESSION_TARGETS_QUERY,
    tools: inspection(kit),
    sentinel: engineTargetsTool(),
  })
  const unique = [...new Set(targets)]
  if (unique.length <= MAX_TARGETS) return unique
  kit.run.log.info('too many targets, the whole root is planned', { targets: unique.length })
  return []
}
