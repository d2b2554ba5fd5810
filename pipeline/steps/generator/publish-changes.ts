import { allInOrder, forEachOf } from '../../../src/base/gate.ts'
import { dropCodeChanges, storeCodeChange } from '../../../src/reports/artifacts.ts'
import { recordPush } from '../../../src/rounds/run-records.ts'
import type { CodeText } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Run } from '../../kit/run.ts'
import type { FileChange } from '../../workspace/workspace.ts'
import { learnDeclaredSecrets } from '../shared/look-at-repository.ts'

/** Number of artifacts of an attempt that are uploaded in parallel. */
const UPLOADS = 8

/**
 * Formats the changed files, stores their changes, commits and begins to push. Returns the commit of the branch head, the
 * files changed since the previous one, which of them differ from the start of the round, and which the engine formatted,
 * so that they differ from what the model wrote. `pushed` resolves when the remote has the commit and that is recorded;
 * it must be awaited before the commit counts for anything. Errors: those of workspace and object store.
 */
export async function publishChanges(kit: Kit) {
  const { run } = kit
  const formatted = await formatChanges(kit)
  const [, changes] = await allInOrder([learnDeclaredSecrets(kit), run.workspace.pendingChanges()])
  const paths = new Set(changes.map(({ path }) => path))
  const differing = paths.size === 0 ? [] : (await run.workspace.runChanges()).filter(({ path }) => paths.has(path))
  // The commit is local: nothing is pushed before its files are stored.
  const stored = storeChanges(kit, paths, differing)
  const [, { commit, pushed }] = await allInOrder([stored, commitChanges(run, stored)])
  for (const { path, ...change } of changes) {
    const { added, removed } = countLines(change)
    run.eventLog.activity({ type: 'file.written', path, lines_added: added, lines_removed: removed })
  }
  return { commit, files: [...paths], differing: differing.map(({ path }) => path), formatted, pushed }
}

/**
 * Commits, and begins to push when `ready` has resolved. Errors: those of the commit, and of a push that fails before
 * the commit is known.
 */
async function commitChanges(run: Run, ready: Promise<void>): Promise<{ commit: string; pushed: Promise<void> }> {
  const committed = Promise.withResolvers<string>()
  const pushing = run.workspace.commitAndPush(committed.resolve, ready)
  const pushed = pushing.then((commit) => recordPush(run.context.sql, run.round, commit))
  // Whoever awaits it hears of the failure; until then it must not count as unhandled.
  pushed.catch(() => {})
  return { commit: await Promise.race([committed.promise, pushing]), pushed }
}

/** Stores how files differ from the start of the round, in place of earlier attempts' changes of all `paths`. */
async function storeChanges({ run, secrets }: Kit, paths: ReadonlySet<string>, changes: readonly FileChange[]) {
  if (paths.size === 0) return
  const stored: number[] = []
  await forEachOf(changes, UPLOADS, async (change) => {
    const masked = { ...change, content: secrets.text(change.content) }
    stored.push((await storeCodeChange(run.context, run.round, masked, run.signal)).id)
  })
  await dropCodeChanges(run.context.sql, run.round, { paths: [...paths], except: stored })
}

/** Counts the lines that a file change adds and removes. */
export function countLines(change: { new_file: boolean; content: string }): { added: number; removed: number } {
  const lines = change.content.replace(/\n$/, '').split('\n')
  if (change.new_file) return { added: change.content === '' ? 0 : lines.length, removed: 0 }
  // The lines before the first hunk name the files.
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith('@@')) + 1)
  const count = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length
  return { added: count('+'), removed: count('-') }
}

/** A file whose text is known. */
interface ChangedFile {
  path: string
  form: CodeText['form']
  current: string
  /** Its text in the last commit; null for a new file. */
  committed: string | null
}

/** Maximum content of one request to the iac service, which accepts 8 MiB in all. */
const MAX_TEXTS = 256
const MAX_BYTES = 7 * 1024 * 1024

/**
 * Formats the `.tf` and `.tfvars` files of the next commit like the engine's `fmt`, except files that were not
 * formatted before, to keep the reviewed change small. Returns the changed paths; none when the iac service cannot
 * format or fails. Errors: the reason of the run's signal.
 */
export async function formatChanges(kit: Kit): Promise<string[]> {
  const { run } = kit
  const { iac } = run.context
  if (!iac.fmt) return []
  const started = performance.now()
  const written: string[] = []
  try {
    for (const files of batchesOf(await readChangedFiles(run))) {
      const texts = files.flatMap(textsOf)
      const formatted = await iac.fmt(run.workspace.iacRoot, texts, run.signal)
      if (formatted === null) break
      written.push(...(await writeFormatted(kit, files, formatted)))
    }
    if (written.length > 0) run.log.info('changed files were formatted', { files: written.length })
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('changed files could not be formatted', { error })
  } finally {
    run.meter.recordEngineTime(performance.now() - started)
  }
  return written
}

async function readChangedFiles(run: Run): Promise<ChangedFile[]> {
  return (await run.workspace.versions('commit')).flatMap(({ to, before, after }) => {
    const form = /\.(tf|tfvars)$/.exec(to ?? '')?.[1] as CodeText['form'] | undefined
    return form === undefined || to === null || after === null
      ? []
      : [{ path: to, form, current: after, committed: before }]
  })
}

/** Returns the texts of a file to send: the current one, and the committed one if known. */
const textsOf = ({ form, current, committed }: ChangedFile): CodeText[] =>
  [current, ...(committed === null ? [] : [committed])].map((text) => ({ form, text }))

/** Divides the files into requests, without files that are too large for any request. */
function batchesOf(files: readonly ChangedFile[]): ChangedFile[][] {
  const batches: ChangedFile[][] = []
  let [texts, bytes] = [MAX_TEXTS, 0]
  for (const file of files) {
    const own = textsOf(file)
    const size = Buffer.byteLength(JSON.stringify(own))
    if (size > MAX_BYTES) continue
    if (texts + own.length > MAX_TEXTS || bytes + size > MAX_BYTES) {
      batches.push([])
      texts = 0
      bytes = 0
    }
    batches.at(-1)?.push(file)
    texts += own.length
    bytes += size
  }
  return batches
}

/** Writes formatted files whose committed version was formatted. Returns their paths. */
async function writeFormatted({ openFiles }: Kit, files: readonly ChangedFile[], formatted: readonly string[]) {
  const access = openFiles()
  const answers = formatted.values()
  const written: string[] = []
  for (const { path, current, committed } of files) {
    const text = answers.next().value
    const wasFormatted = committed === null || answers.next().value === committed
    if (text === undefined || text === current || !wasFormatted) continue
    await access.write(path, text)
    written.push(path)
  }
  return written
}
