import { awsImportId, providerRegion } from '../../../src/plan/imports/aws-import-forms.ts'
import {
  compareImported,
  findMisplaced,
  importBlocks,
  kubernetesImportId,
  type Misplaced,
} from '../../../src/plan/imports/compare-imported.ts'
import type { Failure, Pair } from '../../../src/plan/imports/pairs.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { stateIdentifiers } from '../../../src/plan/planned-changes.ts'
import { limitTargets } from '../../../src/plan/targets.ts'
import type { Kit } from '../../kit/kit.ts'
import { writeIntoRoot } from '../../workspace/backend-override.ts'
import { IMPORTS_FILE } from '../../workspace/files/engine-files.ts'
import { removeRightInside } from '../../workspace/files/private-files.ts'
import { describeRefusal, EngineRefusal, planRoot } from '../plan/plan.ts'

/** What the engine says about pairs before it imports them. */
export interface Reading {
  /** Pairs whose object was read. */
  seen: Pair[]
  /** Those of them that the block contradicts. */
  failures: Failure[]
}

const NOTHING: Reading = { seen: [], failures: [] }

/** Maximum number of plans for the pairs of one attempt: a pair that cannot be read fails the plan of all. */
const MAX_PLANS = 8

/**
 * Lets the engine read the objects of proposed pairs, with a plan over `import` blocks, which writes no state, and
 * compares them with the blocks. An engine or provider that cannot do it leaves pairs unseen. Errors: `LeaseLost`; the
 * reason of the run's signal.
 * @param plan the one that creates the addresses
 */
export async function readObjects(kit: Kit, plan: Plan, pairs: readonly Pair[]): Promise<Reading> {
  const asked = pairs.flatMap((pair) => {
    const id = blockId(kit, plan, pair)
    return id === null ? [] : [{ ...pair, resource_id: id }]
  })
  const read = await readTogether(kit, asked, { plans: MAX_PLANS })
  const isSeen = ({ address }: Pair) => read.seen.some((one) => one.address === address)
  const unseen = pairs.filter((pair) => !isSeen(pair))
  if (unseen.length > 0)
    kit.run.log.info('objects to import could not be read first; only the texts in their blocks were compared', {
      addresses: unseen.map(({ address }) => address),
    })
  return {
    seen: pairs.filter(isSeen),
    failures: pairs.flatMap((pair) => {
      const failure = read.failures.find(({ address }) => address === pair.address)
      return failure ? [{ ...pair, error: kit.secrets.text(failure.error) }] : []
    }),
  }
}

function blockId(kit: Kit, plan: Plan, pair: Pair): string | null {
  const { provider } = kit.run.round.session
  if (provider === 'kubernetes') return kubernetesImportId(pair)
  const form =
    provider === 'aws' ? awsImportId(pair.address, pair.resource_id, providerRegion(plan, pair.address)) : null
  return form ?? pair.resource_id
}

async function readTogether(kit: Kit, pairs: readonly Pair[], budget: { plans: number }): Promise<Reading> {
  if (pairs.length === 0 || budget.plans === 0) return NOTHING
  budget.plans--
  const plan = await planImports(kit, pairs, budget)
  if (plan !== null) return compareImported(plan, pairs)
  if (pairs.length === 1) return NOTHING
  const middle = Math.ceil(pairs.length / 2)
  const first = await readTogether(kit, pairs.slice(0, middle), budget)
  const second = await readTogether(kit, pairs.slice(middle), budget)
  return { seen: [...first.seen, ...second.seen], failures: [...first.failures, ...second.failures] }
}

/** Plans with `import` blocks; null when that fails. The files are removed before the promise settles. */
async function planImports(kit: Kit, pairs: readonly Pair[], budget: { plans: number }): Promise<Plan | null> {
  const { run } = kit
  const { iacRoot } = run.workspace
  const blocks = `${nameFiles()}.tf.json`
  try {
    await writeIntoRoot(run.context.config.paths, iacRoot, blocks, importBlocks(pairs))
    return await planBeside(kit, pairs)
  } catch (error) {
    run.log.info('a plan with import blocks was not possible', { reason: describeRefusal(kit, error) })
    // Fewer pairs help only where the engine has refused one of them.
    if (!(error instanceof EngineRefusal)) budget.plans = 0
    return null
  } finally {
    await removeFile(kit, blocks)
  }
}

/**
 * Finds the imported pairs of which a plan shows that the object is that of another block. Nothing is seen when no plan
 * can be made. Errors: `LeaseLost`; the reason of the run's signal.
 */
export async function readMisplaced(
  kit: Kit,
  pairs: readonly Pair[],
): Promise<{ seen: readonly Pair[]; misplaced: Misplaced[] }> {
  const plan = pairs.length === 0 ? null : await planImported(kit, pairs)
  if (plan === null) return { seen: [], misplaced: [] }
  const misplaced = findMisplaced(plan, pairs).map((one) => ({ ...one, error: kit.secrets.text(one.error) }))
  return { seen: compareImported(plan, pairs).seen, misplaced }
}

/** Reports whether the state has an address; null when no plan can be made. Errors: those of `readMisplaced`. */
export async function isInState(kit: Kit, pair: Pair): Promise<boolean | null> {
  const plan = await planImported(kit, [pair])
  return plan && stateIdentifiers(plan).has(pair.address)
}

async function planImported(kit: Kit, pairs: readonly Pair[]): Promise<Plan | null> {
  try {
    return await planBeside(kit, pairs)
  } catch (error) {
    kit.run.log.info('imports could not be compared with their blocks', { reason: describeRefusal(kit, error) })
    return null
  }
}

/** Returns a name that no file of the repository has. */
const nameFiles = () => `${IMPORTS_FILE}${crypto.randomUUID().slice(0, 8)}`

/** Plans the addresses of pairs into a file that is removed. Errors: those of `planRoot`. */
async function planBeside(kit: Kit, pairs: readonly Pair[]): Promise<Plan> {
  const { run, engine, secrets } = kit
  const plan_file = `${nameFiles()}.plan`
  const offered = await run.context.iac.offers?.('lock', run.signal).catch(() => false)
  const targets = limitTargets(pairs.map(({ address }) => address))
  try {
    const plan = await planRoot(kit, { ...engine.place, plan_file, targets, ...(offered && { lock: false as const }) })
    await secrets.learn(plan)
    return plan
  } finally {
    await removeFile(kit, plan_file)
  }
}

const removeFile = ({ run }: Kit, name: string) =>
  removeRightInside(run.workspace.iacRoot, name).catch((error: unknown) =>
    run.log.warn('a file of a plan beside the import was not removed', { error }),
  )
