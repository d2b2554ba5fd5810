import type { CodeText } from '../../../src/services/iac/contract.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Run } from '../../kit/run.ts'
import { createFileAccess } from '../../workspace/files/access.ts'
import { readVersions, type Versions } from '../../workspace/files/versions.ts'

interface ChangedFile extends Versions {
  path: string
  form: CodeText['form']
}

/** Largest content of one request to the iac service, whose limit is 8 MiB with everything around the texts. */
const MAX_TEXTS = 256
const MAX_BYTES = 7 * 1024 * 1024

/**
 * Formats the `.tf` and `.tfvars` files that the next commit would change, as the engine's `fmt` does. A file that was
 * not formatted in the last commit stays as the model left it, so that the change that people review stays small.
 * Without an iac service that can format, or when it fails, the files stay as they are. Answers the paths of the files
 * that formatting changed.
 * Errors: the reason of the run's signal.
 */
export async function formatChanges({ run }: Kit): Promise<string[]> {
  const { iac } = run.context
  if (!iac.fmt) return []
  const started = performance.now()
  const written: string[] = []
  try {
    for (const files of batchesOf(await readChangedFiles(run))) {
      const texts = files.flatMap(textsOf)
      const formatted = await iac.fmt(run.workspace.iacRoot, texts, run.signal)
      if (formatted === null) break
      written.push(...(await writeFormatted(run, files, formatted)))
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
  const files: ChangedFile[] = []
  for (const { path, new_file: isNew } of await run.workspace.pendingChanges()) {
    const form = /\.(tf|tfvars)$/.exec(path)?.[1] as CodeText['form'] | undefined
    if (form === undefined) continue
    const versions = await readVersions(run.context.config, run.workspace, { path, isNew }, run.signal)
    if (versions !== null) files.push({ path, form, ...versions })
  }
  return files
}

/** The texts of a file that are sent: what it is now, and what it was, where that is known. */
const textsOf = ({ form, current, committed }: ChangedFile): CodeText[] =>
  [current, ...(committed === null ? [] : [committed])].map((text) => ({ form, text }))

/** Divides the files into requests. One that is too large for any request is left out. */
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

/** Writes the files that formatting changes and that were formatted before. Answers their paths. */
async function writeFormatted(
  run: Run,
  files: readonly ChangedFile[],
  formatted: readonly string[],
): Promise<string[]> {
  const access = createFileAccess(run.context.config, run.workspace)
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
