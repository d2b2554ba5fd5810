import { type CodeChanges, readCodeChanges } from '../../../src/plan/code/changes.ts'
import type { CodeFile } from '../../../src/plan/code/modules.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { covers, findUnknownTargets, limitTargets, type TargetingFault } from '../../../src/plan/targets.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess } from '../../workspace/files/access.ts'

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
export function mendTargets(kit: Kit, targets: readonly string[], { missing, invalid }: TargetingFault): string[] {
  kit.run.log.info('the engine refused the targets', { missing: missing.length, invalid: invalid.length })
  for (const target of invalid) tell(kit, `The target ${target} was left out: it is no address of a resource.`)
  return limitTargets([...targets.filter((target) => !invalid.includes(target)), ...missing])
}

/** Returns targets that neither code nor state has. Removed and `moved` blocks count as known. */
export async function findLeftOut(
  kit: Kit,
  targets: readonly string[],
  plan: Plan,
  changes?: CodeChanges | null,
): Promise<string[]> {
  const unknown = findUnknownTargets(plan, targets)
  if (unknown.length === 0) return []
  const code = changes === undefined ? ((await readSessionCode(kit))?.changes ?? null) : changes
  const known = code ? [...code.mentioned, ...code.blocks.flatMap(({ address, exact }) => [address, exact])] : []
  return unknown.filter((target) => !known.some((address) => covers(target, address)))
}

export function tellLeftOut(kit: Kit, targets: readonly string[]): void {
  for (const target of targets) tell(kit, `The target ${target} was left out: neither the code nor the state has it.`)
  if (targets.length > 0) kit.run.log.info('targets that do not exist were left out', { count: targets.length })
}

export function tellWholeRoot(kit: Kit): void {
  tell(kit, 'The whole root was planned, because the engine refused to plan parts of it.')
  kit.run.log.warn('the engine refused the targets again, the whole root is planned')
}

function tell({ run, secrets }: Kit, remark: string): void {
  const text = secrets.text(remark)
  if (!run.result.notes.includes(text)) run.result.notes.push(text)
}

/** The changes of the session, as git shows them and as addresses. */
export interface SessionCode {
  diff: string
  changes: CodeChanges
}

/** Reads what the session changed; null, with a logged warning, on failure. */
export async function readSessionCode(kit: Kit): Promise<SessionCode | null> {
  const { run } = kit
  try {
    const [diff, files] = await Promise.all([run.workspace.branchDiff(), readCode(kit)])
    return { diff, changes: readCodeChanges(diff, files) }
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('the changes of the session could not be read', { error })
    return null
  }
}

const READERS = 16
/** Maximum bytes of a file. */
const MAX_BYTES = 256 * 1024

async function readCode({ run }: Kit): Promise<CodeFile[]> {
  const access = createFileAccess(run.context.config, run.workspace)
  const paths = (await access.survey(run.signal))
    .filter(({ path, bytes }) => /\.(?:tf|tofu)$/.test(path) && bytes <= MAX_BYTES)
    .map(({ path }) => path)
  const files: CodeFile[] = []
  const waiting = paths.values()
  const reader = async () => {
    for (const path of waiting) {
      const text = await access.read(path).catch(() => null)
      if (text !== null) files.push({ path, text })
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  // Order matters where one file overrides another.
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}
