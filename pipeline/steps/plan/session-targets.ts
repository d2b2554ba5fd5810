import { describeDiff, MAX_DIFF_CHARS } from '../../../src/chains/shared/branch-diff.ts'
import { type EarlierTargets, sessionTargets } from '../../../src/chains/target-generator.ts'
import { completeTargets } from '../../../src/plan/targets.ts'
import type { Kit } from '../../kit/kit.ts'
import { runChain } from '../../kit/run-chain.ts'
import {
  findLeftOut,
  mendTargets,
  readSessionCode,
  type SessionCode,
  type TargetChoice,
  tellLeftOut,
  tellWholeRoot,
} from './target-choice.ts'

/** The last reply of the model, with its outcome. */
interface Remembered extends EarlierTargets {
  /** Fingerprint of the changes in the query; null when they could not be read. */
  fingerprint: string | null
  /** The targets that were finally planned. */
  settled: string[]
}

/**
 * Chooses what the session changed, for all attempts of one round. A model proposes targets; code adds other changes
 * and what the engine asks for, and removes what does not exist. The model is asked again only after other addresses
 * have changed.
 */
export function chooseSessionTargets(kit: Kit): TargetChoice {
  let code: SessionCode | null = null
  let last: Remembered | null = null
  const complete = (targets: readonly string[]) => (code ? completeTargets(targets, code.changes) : [...targets])
  /** Returns the rest of the proposal, or what the session changed if nothing is left. */
  const settle = (left: readonly string[]): string[] => {
    const changed = code?.changes.blocks.map(({ address }) => address) ?? []
    const targets = complete(left.length > 0 ? left : changed)
    if (last) last.settled = targets
    return targets
  }
  const ask = async (fingerprint: string | null): Promise<string[]> => {
    const answer = await runChain(kit, sessionTargets, {
      diff: code && (describeDiff(code.diff, MAX_DIFF_CHARS) || 'Nothing was changed yet'),
      earlier: last,
    })
    const targets = complete(answer)
    const added = targets.filter((target) => !answer.includes(target))
    if (added.length > 0) kit.run.log.info('targets were added that a model missed', { added })
    last = { fingerprint, answer, added, demanded: [], leftOut: [], settled: targets }
    return targets
  }
  return {
    choose: async () => {
      code = await readSessionCode(kit)
      const fingerprint = code?.changes.fingerprint ?? null
      const isSame = last !== null && fingerprint !== null && last.fingerprint === fingerprint
      return last && isSame ? complete(last.settled) : await ask(fingerprint)
    },
    mend: async (targets, fault) => {
      last?.demanded.push(...fault.missing)
      last?.leftOut.push(...fault.invalid)
      return settle(mendTargets(kit, targets, fault))
    },
    review: async (targets, plan) => {
      const unknown = await findLeftOut(kit, targets, plan, code?.changes ?? null)
      if (unknown.length === 0) return [...targets]
      tellLeftOut(kit, unknown)
      last?.leftOut.push(...unknown)
      return settle(targets.filter((target) => !unknown.includes(target)))
    },
    giveUp: () => {
      tellWholeRoot(kit)
      if (last) last.settled = []
    },
  }
}
