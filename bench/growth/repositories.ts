import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withTemporaryFolder } from '../../dev/files.ts'
import { startGitHost } from '../../dev/git-host/start.ts'
import { type Growth, growthTable, type Point } from '../lib/growth.ts'
import type { Figure, Section } from '../lib/report.ts'
import type { RepositoryFigures, RepositoryTask } from './repository-steps.ts'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('repository-steps.ts', import.meta.url))
const ACCOUNT = { user: 'bench', token: 'token-of-the-bench' }
/** Files of one root. */
const ROOT_FILES = 10
/** Bytes of a file that each commit of a long history replaces. */
const BLOB_BYTES = 8 * 1024 * 1024

const AIM_TIMES = 5

/**
 * Opens repositories of growing size as a round does, with and without a mirror, and looks at them as the first calls of
 * a model do. Each size has a process of its own.
 * @param options.history_mb size of a repository of 100 files with a long history; 0 for none
 */
export async function benchGrowthRepositories(options: {
  sizes: readonly number[]
  history_mb: number
  runs: number
}): Promise<Section> {
  const measured: { size: number; figures: RepositoryFigures }[] = []
  let history: RepositoryFigures | null = null
  await withTemporaryFolder(async (folder) => {
    const host = await startGitHost({ data_dir: join(folder, 'host'), ...ACCOUNT, samples: false })
    try {
      const measure = async (name: string, fill: (path: string) => Promise<void>, files: number) => {
        const uri = await host.addRepository({ owner: 'bench', name })
        await fill(host.pathOf(uri))
        const task: RepositoryTask = {
          ...{ uri, runs: options.runs, path: host.pathOf(uri), folder: join(folder, name), account: ACCOUNT },
          root: `stacks/s${Math.floor(files / ROOT_FILES / 2)}`,
          host: { url: host.url, host: host.host, ca_file: host.ca_file },
        }
        const { stdout } = await run(process.execPath, [PROGRAM, JSON.stringify(task)], { maxBuffer: 1e8 })
        return JSON.parse(stdout) as RepositoryFigures
      }
      for (const size of options.sizes)
        measured.push({ size, figures: await measure(`files-${size}`, (path) => fillWithFiles(path, size), size) })
      if (options.history_mb > 0)
        history = await measure('history', (path) => fillWithHistory(path, options.history_mb), 100)
    } finally {
      await host.close()
    }
  })
  const points = (figure: (figures: RepositoryFigures) => number): Point[] =>
    measured.map(({ size, figures }) => ({ size, cost: figure(figures) }))
  const times: Growth[] = STEPS.map(([name, figure]) => ({ name, unit: 'ms', points: points(figure) }))
  const sizes: Growth[] = [
    { name: 'fetched, first round', unit: 'kB', points: points((one) => one.cold.fetched_kb) },
    { name: 'fetched, second round', unit: 'kB', points: points((one) => one.warm.fetched_kb) },
    { name: 'shown of the root', unit: 'characters', points: points((one) => one.prompt) },
    { name: 'memory of the worker, peak', unit: 'MB', points: points((one) => one.peak_mb) },
  ]
  return {
    title: 'Growth of repositories',
    figures: [...measured.flatMap(({ size, figures }) => ratios(size.toLocaleString('en'), figures)), ...last(history)],
    tables: [
      growthTable(`Files of the repository, ${ROOT_FILES} of them in the root; median of ${options.runs}`, times),
      growthTable('Sizes', sizes),
    ],
    notes: ['The host is on the same machine: what a network adds is saved by a mirror as well.'],
  }

  function last(figures: RepositoryFigures | null): Figure[] {
    return figures === null ? [] : ratios(`history of ${options.history_mb} MB`, figures)
  }
}

const STEPS: [string, (figures: RepositoryFigures) => number][] = [
  ['opened, first round', ({ cold }) => cold.open_ms],
  ['opened, second round', ({ warm }) => warm.open_ms],
  ['opened after a commit of others', ({ moved }) => moved.open_ms],
  ['survey', ({ survey_ms }) => survey_ms],
  ['search', ({ search_ms }) => search_ms],
]

const ratios = (name: string, { cold, warm, moved, survey_ms }: RepositoryFigures): Figure[] => [
  {
    name: `${name}: first round to second, until a model can be asked`,
    value: (cold.open_ms + survey_ms) / (warm.open_ms + survey_ms),
    ...{ unit: 'times', aim: AIM_TIMES, at_least: true },
  },
  { name: `${name}: fetched in the first round`, value: cold.fetched_kb, unit: 'kB' },
  { name: `${name}: fetched after a commit of others`, value: moved.fetched_kb, unit: 'kB' },
]

/** Commits so many files of 0.5 to 1 kB in roots of ten. */
async function fillWithFiles(path: string, files: number): Promise<void> {
  await fastImport(path, function* () {
    yield 'commit refs/heads/main\ncommitter Bench <bench@noreply.invalid> 1700000000 +0000\ndata 5\nfiles\n'
    for (let index = 0; index < files; index++) {
      const blocks = Array.from({ length: 8 }, (_, at) => {
        const size = (index * 7919 + at * 104_729) % 1_000_003
        return `resource "terraform_data" "r${index}_${at}" {\n  input = { name = "r${size}", size = ${size} }\n}\n`
      })
      const name = `stacks/s${Math.floor(index / ROOT_FILES)}/f${index % ROOT_FILES}.tf`
      yield `M 100644 inline ${name}\n${dataOf(blocks.join('\n'))}`
    }
  })
}

/** Commits 100 files, and one that so many commits replace by as many bytes that nothing compresses. */
async function fillWithHistory(path: string, megabytes: number): Promise<void> {
  await fillWithFiles(path, 100)
  await fastImport(path, function* () {
    for (let left = megabytes * 1e6, at = 0; left > 0; left -= BLOB_BYTES, at++) {
      yield `commit refs/heads/main\ncommitter Bench <bench@noreply.invalid> ${1_700_000_001 + at} +0000\ndata 4\nblob\n`
      if (at === 0) yield 'from refs/heads/main^0\n'
      yield `M 100644 inline data.bin\ndata ${BLOB_BYTES}\n`
      yield randomBytes(BLOB_BYTES)
      yield '\n'
    }
  })
}

const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`

async function fastImport(path: string, commands: () => Iterable<string | Buffer>): Promise<void> {
  const child = spawn('git', ['--git-dir', path, 'fast-import', '--quiet'], { stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  for (const command of commands()) if (!child.stdin.write(command)) await once(child.stdin, 'drain')
  child.stdin.end()
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}
