import { describeDiff, MAX_DIFF_CHARS } from '../../../src/chains/shared/branch-diff.ts'
import { type EarlierTargets, sessionTargets } from '../../../src/chains/target-generator.ts'
import { covers } from '../../../src/plan/addresses.ts'
import { type CodeChanges, readCodeChanges } from '../../../src/plan/code/changes.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import type { TargetingFault } from '../../../src/plan/targets.ts'
import {
  changedTargets,
  completeTargets,
  findUnknownTargets,
  isWider,
  limitTargets,
} from '../../../src/plan/targets.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'
import { readCode } from '../generator/changed-code.ts'

/** Chooses the targets of plans and learns from the results. An empty list means the whole root. */
export interface TargetChoice {
  /** Returns the first targets, once the code is valid. */
  choose(): Promise<string[]>
  /** Returns better targets after the engine refused these. */
  mend(targets: readonly string[], fault: TargetingFault): Promise<string[]>
  /** Returns the right targets in view of the plan, which is repeated when they are not among these. */
  review(targets: readonly string[], plan: Plan): Promise<string[]>
  /** Notes that the engine refuses every choice, so that the whole root is planned. */
  giveUp(): void
}

/** Creates the choice of given targets, which leaves out unknown ones with a remark as long as others remain. */
export const fixedTargets = (kit: Kit, targets: readonly string[]): TargetChoice => ({
  choose: async () => [...targets],
  mend: async (refused, fault) => mendTargets(kit, refused, fault),
  review: async (planned, plan) => {
    const unknown = await findLeftOut(kit, planned, plan)
    if (unknown.length === planned.length) return [...planned]
    tellLeftOut(kit, unknown)
    return planned.filter((target) => !unknown.includes(target))
  },
  giveUp: () => tellWholeRoot(kit),
})

/** Adds what the engine asks for and removes what it cannot read. */
function mendTargets(kit: Kit, targets: readonly string[], { missing, invalid }: TargetingFault): string[] {
  kit.run.log.info('the engine refused the targets', { missing: missing.length, invalid: invalid.length })
  for (const target of invalid) tell(kit, `The target ${target} was left out: it is no address of a resource.`)
  return limitTargets([...targets.filter((target) => !invalid.includes(target)), ...missing])
}

/** Describes what the session changed, for a model; null, with a logged warning, on failure. */
const readDiff = ({ run }: Kit): Promise<string | null> =>
  withFallback(run, 'the changes of the session could not be shown', null, async () => {
    const diff = describeDiff(await run.workspace.branchDiff(), MAX_DIFF_CHARS)
    return diff === '' ? 'Nothing was changed yet' : diff
  })

/** Returns targets that neither code nor state has. Removed and `moved` blocks count as known. */
async function findLeftOut(kit: Kit, targets: readonly string[], plan: Plan, changes?: CodeChanges | null) {
  const unknown = findUnknownTargets(plan, targets)
  if (unknown.length === 0) return []
  const code = changes === undefined ? await readSessionCode(kit) : changes
  const known = code ? [...code.mentioned, ...code.blocks.flatMap(({ address, exact }) => [address, exact])] : []
  return unknown.filter((target) => !known.some((address) => covers(target, address)))
}

function tellLeftOut(kit: Kit, targets: readonly string[]): void {
  for (const target of targets) tell(kit, `The target ${target} was left out: neither the code nor the state has it.`)
  if (targets.length > 0) kit.run.log.info('targets that do not exist were left out', { count: targets.length })
}

function tellWholeRoot(kit: Kit): void {
  tell(kit, 'The whole root was planned, because the engine refused to plan parts of it.')
  kit.run.log.warn('the engine refused the targets again, the whole root is planned')
}

function tell({ run, secrets }: Kit, remark: string): void {
  const text = secrets.text(remark)
  if (!run.result.notes.includes(text)) run.result.notes.push(text)
}

/** Reads what the session changed, as addresses; null, with a logged warning, on failure. */
const readSessionCode = (kit: Kit): Promise<CodeChanges | null> =>
  withFallback(kit.run, 'the changes of the session could not be read', null, async () => {
    const [versions, files] = await Promise.all([kit.run.workspace.versions(), readCode(kit)])
    return readCodeChanges(versions, files)
  })

/** The last reply of the model, with its outcome. */
interface Remembered extends EarlierTargets {
  /** Fingerprint of the changes in the query; null when they could not be read. */
  fingerprint: string | null
  /** The targets that were finally planned. */
  settled: string[]
}

/** What code proposed, with its outcome. */
interface Proposed {
  fingerprint: string
  settled: string[]
  /** True if the whole root stands for what the session changed, until a plan of it shows more. */
  standsForAll: boolean
}

/** Returns what code knows to be the right targets; null when the changes do not tell all that they affect. */
function propose(code: CodeChanges): Proposed | null {
  const { fingerprint, isComplete, isNew, unread } = code
  if (isNew) return { fingerprint, settled: [], standsForAll: true }
  if (!isComplete && unread.length === 0) return null
  return { fingerprint, settled: changedTargets(code), standsForAll: false }
}

/**
 * Chooses what the session changed, for all attempts of one round. Code names the targets where the changes tell all
 * that they affect; where the session wrote everything, the whole root is planned unless that shows more. Elsewhere a
 * model proposes targets, and code adds other changes. Code adds what the engine asks for and removes what does not
 * exist. The model is asked again only after other addresses have changed.
 */
export function chooseSessionTargets(kit: Kit): TargetChoice {
  let code: CodeChanges | null = null
  let last: Remembered | null = null
  let own: Proposed | null = null
  const complete = (targets: readonly string[]) => (code ? completeTargets(targets, code) : [...targets])
  /** Returns the rest of the proposal, or what the session changed if nothing is left. */
  const settle = (left: readonly string[]): string[] => {
    const targets = left.length > 0 || !code ? complete(left) : changedTargets(code)
    const memory = own ?? last
    if (memory) memory.settled = targets
    return targets
  }
  /** Notes what became of a model's reply. */
  const note = ({ missing = [], invalid = [] }: Partial<TargetingFault>) => {
    if (own) return
    last?.demanded.push(...missing)
    last?.leftOut.push(...invalid)
  }
  const ask = async (fingerprint: string | null): Promise<string[]> => {
    const answer = await runChain(kit, sessionTargets, {
      diff: await readDiff(kit),
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
      const proposal = code && propose(code)
      const isKept = proposal !== null && own?.fingerprint === proposal.fingerprint
      if (!isKept) own = proposal
      if (own) return complete(own.settled)
      const fingerprint = code?.fingerprint ?? null
      const isSame = last !== null && fingerprint !== null && last.fingerprint === fingerprint
      return last && isSame ? complete(last.settled) : await ask(fingerprint)
    },
    mend: async (targets, fault) => {
      note(fault)
      return settle(mendTargets(kit, targets, fault))
    },
    review: async (targets, plan) => {
      if (code && own?.standsForAll && isWider(plan, changedTargets(code))) {
        own.standsForAll = false
        return settle([])
      }
      const unknown = await findLeftOut(kit, targets, plan, code)
      if (unknown.length === 0) return [...targets]
      tellLeftOut(kit, unknown)
      note({ invalid: unknown })
      return settle(targets.filter((target) => !unknown.includes(target)))
    },
    giveUp: () => {
      tellWholeRoot(kit)
      if (own) Object.assign(own, { settled: [], standsForAll: false })
      if (last) last.settled = []
    },
  }
}
