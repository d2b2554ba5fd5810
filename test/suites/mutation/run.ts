import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PROJECT_ROOT } from '../../../dev/stack/data-folder.ts'
import { seededRandom } from '../../../eval/summary.ts'

const HELP = `Measures how much the tests notice: Stryker changes the code in one small place after the other, runs the tests that
reach it, and counts the changes for which a test fails.

Usage: npm run test:mutation -- <file or folder>... [options]

  --sample <n>   changes only n random places of ten lines (default: everything)
  --seed <n>     the same seed draws the same places of the same code (default: one of the clock, printed)
  --tests <path> tests to run, may be repeated (default: the folder below test/ that mirrors the code)

Example: npm run test:mutation -- src/plan --sample 10
Works on a copy in .platform/mutation. On a free machine a change takes about a second. Needs npm's registry once.`

const VERSION = '10.1.1'
/** Not a dependency, because it brings 170 packages of 61 MB. From here it finds the project's vitest. */
const FOLDER = join(PROJECT_ROOT, 'node_modules/.cache/stryker', VERSION)
const PACKAGES = join(FOLDER, 'node_modules/@stryker-mutator')
const PLACE_LINES = 10

async function install(): Promise<void> {
  if (existsSync(join(PACKAGES, 'vitest-runner'))) return
  console.log(`installing Stryker ${VERSION}`)
  await mkdir(FOLDER, { recursive: true })
  const flags = ['--prefix', FOLDER, '--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error']
  const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${VERSION}`)
  execFileSync('npm', ['install', ...flags, ...packages], { cwd: FOLDER, stdio: 'inherit' })
}

/** Draws places in Stryker's form, `src/plan/impact.ts:11-20`. Each line of the files has the same chance. */
async function draw(files: readonly string[], count: number, seed: number): Promise<string[]> {
  const places: string[] = []
  for (const file of files) {
    const lines = (await readFile(join(PROJECT_ROOT, file), 'utf8')).split('\n').length
    for (let from = 1; from < lines; from += PLACE_LINES) places.push(`${file}:${from}-${from + PLACE_LINES - 1}`)
  }
  const random = seededRandom(seed)
  return Array.from({ length: Math.min(count, places.length) }).flatMap(() =>
    places.splice(Math.floor(random() * places.length), 1),
  )
}

function listFiles(areas: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '--', ...areas], { cwd: PROJECT_ROOT, encoding: 'utf8' })
  return listed.split('\n').filter((file) => /\.tsx?$/.test(file))
}

/** Returns `test/plan` for `src/plan/impact.ts`, `test/sidecars/iac` for `sidecars/iac`. */
const mirrorOf = (area: string): string => join('test', area.replace(/^src\//, '').replace(/(^|\/)[^/]+\.tsx?$/, ''))

async function run(areas: readonly string[], values: { sample?: string; seed?: string; tests?: string[] }) {
  const files = listFiles(areas)
  if (files.length === 0) throw new Error(`No TypeScript files in ${areas.join(', ')}.`)
  const seed = Number(values.seed ?? Date.now() % 100_000)
  if (values.sample) console.log(`seed ${seed}`)
  await install()
  const settings = {
    mutate: values.sample ? await draw(files, Number(values.sample), seed) : files,
    testRunner: 'vitest',
    plugins: [join(PACKAGES, 'vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'test/suites/mutation/vitest.config.ts', related: true },
    // Stryker does not support the API of TypeScript 7. Types are not checked.
    tsconfigFile: 'none',
    coverageAnalysis: 'perTest',
    concurrency: 1,
    tempDirName: '.platform/mutation',
    ignorePatterns: ['/.platform', '/console/dist'],
    reporters: ['clear-text'],
    clearTextReporter: { logTests: false, reportTests: false },
  }
  const config = join(FOLDER, 'stryker.conf.json')
  await writeFile(config, JSON.stringify(settings))
  const env = { ...process.env, MUTATION_TESTS: JSON.stringify(values.tests ?? areas.map(mirrorOf)) }
  const command = [join(PACKAGES, 'core/bin/stryker.js'), 'run', config]
  const stryker = spawn(process.execPath, command, { cwd: PROJECT_ROOT, env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stryker.kill(signal))
  const [code] = await once(stryker, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
}

const text = { type: 'string' } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: text, seed: text, tests: { ...text, multiple: true }, help: { type: 'boolean', short: 'h' } },
})
if (values.help || positionals.length === 0) console.log(HELP)
else await run(positionals, values)
