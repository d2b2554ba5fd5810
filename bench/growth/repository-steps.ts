import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createFileAccess } from '../../pipeline/workspace/files/access.ts'
import { openWorkspace } from '../../pipeline/workspace/open.ts'
import type { Workspace } from '../../pipeline/workspace/workspace.ts'
import { silentLogger } from '../../src/base/log.ts'
import { declaredBlocksIn } from '../../src/chains/shared/declared-blocks.ts'
import { describeFiles } from '../../src/chains/shared/repository.ts'
import { round, siteConfig } from '../../test/pipeline/workspace/support.ts'
import { percentile } from '../lib/report.ts'

/** What the program is told as its one argument, in JSON. */
export interface RepositoryTask {
  uri: string
  /** The bare repository on the disk, for commits of others. */
  path: string
  root: string
  /** A folder for clones and mirrors, which does not exist yet. */
  folder: string
  runs: number
  host: { url: string; host: string; ca_file: string }
  account: { user: string; token: string }
}

/** Medians. `cold` has no mirror, `warm` one that is up to date, `moved` one that a commit came after. */
export interface RepositoryFigures {
  cold: Opened
  warm: Opened
  moved: Opened
  /** The files beyond those that a model may be shown, which an engine needs. */
  rest_ms: number
  survey_ms: number
  search_ms: number
  /** Characters of the list of files and blocks that models are shown. */
  prompt: number
  /** Highest resident memory of this process, without its git processes. */
  peak_mb: number
}

interface Opened {
  open_ms: number
  /** Processor time of this process and of its git processes; NaN outside of Linux. */
  cpu_ms: number
  fetched_kb: number
}

/** Ticks of the kernel's clock a second, as Linux shows them to programs. */
const TICKS = 100
const BUDGET = { tokens: 4_000, estimate: (text: string) => Math.ceil(text.length / 3) }
const task: RepositoryTask = JSON.parse(process.argv[2] ?? '')
const { url: base_url, host, ca_file } = task.host
const config = siteConfig(join(task.folder, 'uploads'), { base_url, host, ca_file, ...task.account })
const git = promisify(execFile)

const samples = { cold: [] as Opened[], warm: [] as Opened[], moved: [] as Opened[] }
const surveys: number[] = []
const searches: number[] = []
const rests: number[] = []
let prompt = 0
for (let run = 0; run < task.runs; run++) {
  await rm(join(config.paths.git_folder, 'mirrors'), { recursive: true, force: true })
  await measureOpen('cold')
  await measureOpen('warm', look)
  await commitAtHost()
  await measureOpen('moved')
}
console.log(
  JSON.stringify({
    ...{ cold: median(samples.cold), warm: median(samples.warm), moved: median(samples.moved) },
    rest_ms: percentile(rests, 0.5),
    ...{ survey_ms: percentile(surveys, 0.5), search_ms: percentile(searches, 0.5), prompt },
    peak_mb: process.resourceUsage().maxRSS / 1e3,
  } satisfies RepositoryFigures),
)

async function measureOpen(kind: keyof typeof samples, use?: (workspace: Workspace) => Promise<void>): Promise<void> {
  const before = await mirroredBytes()
  const session = crypto.randomUUID()
  const branch = `Platform/2026-01-31_235959-${session.slice(0, 8)}`
  const cpu = await processorTime()
  const started = performance.now()
  const opened = round(task.uri, { session, branch, root_path: task.root })
  const workspace = await openWorkspace(config, opened, { log: silentLogger })
  const open_ms = performance.now() - started
  const fetched_kb = ((await bytesBelow(join(workspace.gitDirectory, 'objects', 'pack'))) - before) / 1e3
  samples[kind].push({ open_ms, cpu_ms: (await processorTime()) - cpu, fetched_kb })
  await use?.(workspace)
  await workspace.dispose()
}

async function look(workspace: Workspace): Promise<void> {
  const access = createFileAccess(config, workspace)
  const started = performance.now()
  const survey = await access.survey()
  const texts = await access.readAll(survey.files.map(({ path }) => path))
  const files = survey.files.map((file) => {
    const text = texts.get(file.path) ?? null
    return { ...file, text, blocks: text === null ? [] : declaredBlocksIn(file.path, text) }
  })
  prompt = describeFiles(files, BUDGET).length
  surveys.push(performance.now() - started)
  const searching = performance.now()
  await access.grep({ query: 'r7_3', case_sensitive: true })
  searches.push(performance.now() - searching)
  const completing = performance.now()
  await workspace.complete()
  rests.push(performance.now() - completing)
}

/** Milliseconds of processor time of this process and of the children that have ended. */
async function processorTime(): Promise<number> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => '')
  // The name of the program is in parentheses and may hold spaces. User and system time are the 14th to 17th field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS) * 1000 || Number.NaN
}

/** Commits one changed file at the host. */
async function commitAtHost(): Promise<void> {
  const env = { ...process.env, GIT_DIR: task.path, GIT_INDEX_FILE: join(task.folder, 'index') }
  const identity = ['-c', 'user.name=Other', '-c', 'user.email=other@noreply.invalid']
  const ask = async (...args: string[]) => (await git('git', [...identity, ...args], { env })).stdout.trim()
  await ask('read-tree', 'main')
  const blob = await ask('rev-parse', `main:${task.root}/f0.tf`)
  await ask('update-index', '--add', '--cacheinfo', `100644,${blob},${task.root}/new-${Date.now()}.tf`)
  const commit = await ask('commit-tree', await ask('write-tree'), '-p', 'main', '-m', 'Another change')
  await ask('update-ref', 'refs/heads/main', commit)
}

/** Bytes of the packs that a new clone is given from a mirror. */
async function mirroredBytes(): Promise<number> {
  const mirrors = join(config.paths.git_folder, 'mirrors')
  for (const folder of await readdir(mirrors).catch(() => []))
    for (const name of await readdir(join(mirrors, folder)))
      return await bytesBelow(join(mirrors, folder, name, 'pack'))
  return 0
}

async function bytesBelow(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

function median(opened: Opened[]): Opened {
  const of = (field: keyof Opened) =>
    percentile(
      opened.map((one) => one[field]),
      0.5,
    )
  return { open_ms: of('open_ms'), cpu_ms: of('cpu_ms'), fetched_kb: of('fetched_kb') }
}
