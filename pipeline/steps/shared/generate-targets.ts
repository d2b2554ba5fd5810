import { engineTargetsTool } from '../../../src/agent/sentinels/engine-targets.ts'
import { targetGeneratorLayout } from '../../../src/prompts/layouts/target-generator.ts'
import { driftTargetsQuery, earlierTurns, SESSION_TARGETS_QUERY } from '../../../src/prompts/queries.ts'
import { type Kit, promptBodies, runChain } from '../../kit/kit.ts'
import { inspection } from '../../kit/tools.ts'

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
    resultTool: engineTargetsTool(),
  })
  return withinLimit(kit, targets)
}

/**
 * Addresses that a request about drift means, found by a model in the code. `found` is false when nothing
 * fits; none that are found means too many, so that the whole root is planned.
 */
export async function generateDriftTargets(
  kit: Kit,
): Promise<{ found: true; targets: string[] } | { found: false; explanation: string }> {
  const { run } = kit
  const [targeting_policies] = await promptBodies(run, 'general-guidelines-targeting_policies')
  const { targets, explanation } = await runChain(kit, {
    chain: 'TARGET_GENERATOR',
    role: 'main',
    system: targetGeneratorLayout({ variant: 'drift', targeting_policies }),
    query: driftTargetsQuery(run.round.query),
    conversation: earlierTurns(run.conversation),
    tools: inspection(kit),
    resultTool: engineTargetsTool(),
  })
  if (targets.length > 0) return { found: true, targets: withinLimit(kit, targets) }
  return { found: false, explanation: kit.secrets.text(explanation).trim() || NOTHING_FITS }
}

const NOTHING_FITS = 'Nothing in the code fits this request, so no drift was looked for.'

function withinLimit({ run }: Kit, targets: readonly string[]): string[] {
  const unique = [...new Set(targets)]
  if (unique.length <= MAX_TARGETS) return unique
  run.log.info('too many targets, the whole root is planned', { targets: unique.length })
  return []
}
