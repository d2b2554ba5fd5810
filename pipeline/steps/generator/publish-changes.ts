import { storeCodeChange } from '../../../src/reports/artifacts.ts'
import { recordPush } from '../../../src/rounds/run-records.ts'
import type { Kit } from '../../kit/kit.ts'
import { countLines } from '../../kit/observe.ts'
import { learnDeclaredSecrets } from '../shared/learn-declared-secrets.ts'
import { formatChanges } from './format-changes.ts'

/** The result of an attempt in the branch. */
export interface Published {
  /** Commit of the branch head. */
  commit: string
  /** Files that changed since the commit before. */
  files: string[]
  /** Those of them that the engine has formatted, so that they are not as the model wrote them. */
  formatted: string[]
}

/** Artifacts of one attempt that are uploaded at the same time. */
const UPLOADS = 8

/**
 * Formats the changed files, stores each of them as an artifact, then commits and pushes all of them.
 * Errors: those of the workspace and of the object store.
 */
export async function publishChanges(kit: Kit): Promise<Published> {
  const { run, secrets } = kit
  const formatted = await formatChanges(kit)
  await learnDeclaredSecrets(kit)
  const changes = await run.workspace.pendingChanges()
  await forEachOf(changes, UPLOADS, (change) =>
    storeCodeChange(run.context, run.round, { ...change, content: secrets.text(change.content) }, run.signal),
  )
  const commit = await run.workspace.commitAndPush(run.signal)
  for (const { path, ...change } of changes) {
    const { added, removed } = countLines(change)
    run.eventLog.activity({ type: 'file.written', path, lines_added: added, lines_removed: removed })
  }
  await recordPush(run.context.sql, run.round, commit)
  return { commit, files: changes.map(({ path }) => path), formatted }
}

/**
 * Does the work for all items, for at most `limit` at a time. The first failure is thrown, and no further item begins.
 */
async function forEachOf<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  let failed = false
  const worker = async () => {
    for (const item of queue) {
      if (failed) return
      await work(item).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
