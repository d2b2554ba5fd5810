import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withTemporaryFolder } from '../../dev/files.ts'
import { startGitHost } from '../../dev/git-host/start.ts'
import { type Distance, startDistantRelay } from '../lib/distant.ts'
import { type Growth, growthTable } from '../lib/growth.ts'
import type { Figure, Section } from '../lib/report.ts'
import type { RepositoryFigures, RepositoryTask } from './repository-steps.ts'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('repository-steps.ts', import.meta.url))
const ACCOUNT = { user: 'bench', token: 'token-of-the-bench' }
/** Files of the repository with a long history. */
const HISTORY_FILES = 100
/** Files of one root. */
const ROOT_FILES = 10
/** Bytes of a file that each commit of a long history replaces. */
const BLOB_BYTES = 8 * 1024 * 1024

const AIM_TIMES = 5
/** A host of the same region in the internet. */
const DISTANCE: Distance = { round_trip_ms: 20, mbit_s: 100 }
const FAR = `host ${DISTANCE.round_trip_ms} ms and ${DISTANCE.mbit_s} Mbit/s away`
const NEAR = 'host on this machine'

/** What was measured of one repository, with the host as near and as far as told. */
interface Measured {
  name: string
  /** Files of the repository; null for one that is no point of the growth. */
  size: number | null
  near: RepositoryFigures
  far: RepositoryFigures
}

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
  const measured: Measured[] = []
  await withTemporaryFolder(async (folder) => {
    const host = await startGitHost({ data_dir: join(folder, 'host'), ...ACCOUNT, samples: false })
    const relay = await startDistantRelay(host.port, DISTANCE)
    try {
      const look = async (uri: string, files: number, port: number) => {
        const throughPort = (text: string) => text.replace(`:${host.port}`, `:${port}`)
        const task: RepositoryTask = {
          ...{ uri: throughPort(uri), runs: options.runs, path: host.pathOf(uri), account: ACCOUNT },
          folder: join(folder, `${files}-${port}-${crypto.randomUUID()}`),
          root: `stacks/s${Math.floor(files / ROOT_FILES / 2)}`,
          host: { url: throughPort(host.url), host: throughPort(host.host), ca_file: host.ca_file },
        }
        const { stdout } = await run(process.execPath, [PROGRAM, JSON.stringify(task)], { maxBuffer: 1e8 })
        return JSON.parse(stdout) as RepositoryFigures
      }
      const measure = async (name: string, fill: (path: string) => Promise<void>, size: number | null) => {
        const uri = await host.addRepository({ owner: 'bench', name: name.replaceAll(/\W+/g, '-') })
        await fill(host.pathOf(uri))
        const near = await look(uri, size ?? HISTORY_FILES, host.port)
        measured.push({ name, size, near, far: await look(uri, size ?? HISTORY_FILES, relay.port) })
      }
      for (const size of options.sizes)
        await measure(`${size.toLocaleString('en')} files`, (path) => fillWithFiles(path, size), size)
      const { history_mb } = options
      if (history_mb > 0)
        await measure(`history of ${history_mb} MB`, (path) => fillWithHistory(path, history_mb), null)
    } finally {
      await relay.close()
      await host.close()
    }
  })
  const growths = (lines: typeof STEPS, which: 'near' | 'far'): Growth[] =>
    lines.map(([name, unit, figure]) => ({
      ...{ name, unit },
      points: measured.flatMap((one) => (one.size === null ? [] : [{ size: one.size, cost: figure(one[which]) }])),
    }))
  const title = `Files of the repository, ${ROOT_FILES} of them in the root; median of ${options.runs}`
  return {
    title: 'Growth of repositories',
    figures: measured.flatMap(({ name, near, far }) => [
      ...ratios(`${name}, ${NEAR}`, near),
      ...ratios(`${name}, ${FAR}`, far),
    ]),
    tables: [
      growthTable(`${title}; ${NEAR}`, growths([...STEPS, ...SIZES], 'near')),
      growthTable(`${title}; ${FAR}`, growths(STEPS, 'far')),
    ],
    notes: [
      'A model can be asked when the repository is opened and surveyed. An engine waits for the other files, too.',
      'Processor time includes that of git, without the host.',
    ],
  }
}

const STEPS: [string, string, (figures: RepositoryFigures) => number][] = [
  ['opened, first round', 'ms', ({ cold }) => cold.open_ms],
  ['opened, second round', 'ms', ({ warm }) => warm.open_ms],
  ['opened after a commit of others', 'ms', ({ moved }) => moved.open_ms],
  ['processor time, first round', 'ms', ({ cold }) => cold.cpu_ms],
  ['processor time, second round', 'ms', ({ warm }) => warm.cpu_ms],
  ['survey', 'ms', ({ survey_ms }) => survey_ms],
  ['search', 'ms', ({ search_ms }) => search_ms],
  ['the other files', 'ms', ({ rest_ms }) => rest_ms],
]

const SIZES: typeof STEPS = [
  ['fetched, first round', 'kB', ({ cold }) => cold.fetched_kb],
  ['fetched, second round', 'kB', ({ warm }) => warm.fetched_kb],
  ['shown of the root', 'characters', ({ prompt }) => prompt],
  ['memory of the worker, peak', 'MB', ({ peak_mb }) => peak_mb],
]

const ratios = (name: string, { cold, warm, moved, survey_ms, search_ms, peak_mb }: RepositoryFigures): Figure[] => [
  {
    name: `${name}: first round to second, until a model can be asked`,
    value: (cold.open_ms + survey_ms) / (warm.open_ms + survey_ms),
    ...{ unit: 'times', aim: AIM_TIMES, at_least: true },
  },
  { name: `${name}: second round, until a model can be asked`, value: warm.open_ms + survey_ms, unit: 'ms' },
  { name: `${name}: fetched in the first round`, value: cold.fetched_kb, unit: 'kB' },
  { name: `${name}: fetched after a commit of others`, value: moved.fetched_kb, unit: 'kB' },
  { name: `${name}: search`, value: search_ms, unit: 'ms' },
  { name: `${name}: memory of the worker, peak`, value: peak_mb, unit: 'MB' },
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
  await fillWithFiles(path, HISTORY_FILES)
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
