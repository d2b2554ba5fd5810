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
  /** Files changed since the previous commit. */
  files: string[]
  /** Those that the engine formatted, so that they differ from what the model wrote. */
  formatted: string[]
}

/** Number of artifacts of an attempt that are uploaded in parallel. */
const UPLOADS = 8

/** Formats the changed files, stores them, commits and pushes. Errors: those of workspace and object store. */
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

/** Does the work for all items, `limit` in parallel. The first failure is thrown and stops further items. */
async function forEachOf<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<unknown>,
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
