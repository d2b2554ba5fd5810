import { rm } from 'node:fs/promises'
import { type Interval, seededRandom, wilson } from '../../../eval/statistics.ts'
import { copyProject } from './copy.ts'
import type { Mutant } from './mutants.ts'
import type { MutationOptions } from './options.ts'
import { openProject, type Project } from './project.ts'
import { findTests, type Killer, type Tests, type Verdict } from './tests.ts'

/** What became of a mutant: a test that fails, and a run that does not end, both notice it. */
export interface Tried extends Pick<Mutant, 'file' | 'line' | 'operator' | 'original' | 'replacement'> {
  outcome: 'killed' | 'timeout' | 'survived'
  /** The first test that failed. */
  killer: string | null
}

export interface Measured {
  seed: number
  areas: readonly string[]
  relatedOnly: boolean
  /** Mutants of the areas, those that the compiler refuses included. */
  possible: number
  refused: number
  tried: Tried[]
  killed: number
  score: number | null
  /** Where the share of all mutants that the compiler accepts lies with 95 % confidence (Wilson). */
  interval: Interval | null
}

/** Test files that a mutant is shown to one group after the other, the nearest first. */
const GROUPS = [4, 12]
const GROUP_LIMIT_MS = 300_000
const ALL_LIMIT_MS = 1_800_000

/**
 * Tries a random sample of mutants in a copy of the project.
 * @param log progress, a line at a time
 * Errors: plain ones, among them one for a project whose tests fail without any mutant.
 */
export async function measure(root: string, options: MutationOptions, log: (line: string) => void): Promise<Measured> {
  const copy = await copyProject(root)
  log(`copy in ${copy}`)
  try {
    return await measureCopy(copy, options, log)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function measureCopy(copy: string, options: MutationOptions, log: (line: string) => void): Promise<Measured> {
  const project = openProject(copy)
  try {
    const tests = await findTests(copy)
    const inArea = (file: string) => options.areas.some((area) => file === area || file.startsWith(`${area}/`))
    const all = project.files.filter(inArea).flatMap((file) => project.mutantsOf(file))
    log(`seed ${options.seed}; ${all.length} mutants in ${options.areas.join(', ')}`)
    const { accepted, refused } = await draw(project, all, options)
    log(`${accepted.length} drawn, ${refused} refused by the compiler on the way`)
    const proven = new Set<string | null>()
    const tried: Tried[] = []
    for (const mutant of accepted) {
      const verdict = await tryOut(project, tests, mutant, options)
      await assertPassing(tests, verdict, proven)
      const one = describe(mutant, verdict)
      tried.push(one)
      log(`${tried.length}/${accepted.length} ${lineOf(one)}`)
    }
    const { seed, areas, relatedOnly } = options
    const killed = tried.filter(({ outcome }) => outcome !== 'survived').length
    const score = tried.length === 0 ? null : killed / tried.length
    const interval = wilson(killed, tried.length)
    return { seed, areas, relatedOnly, possible: all.length, refused, tried, killed, score, interval }
  } finally {
    project.close()
  }
}

/** The first mutants of a shuffled list that the compiler accepts. */
async function draw(
  project: Project,
  all: readonly Mutant[],
  { seed, count }: MutationOptions,
): Promise<{ accepted: Mutant[]; refused: number }> {
  const random = seededRandom(seed)
  const left = [...all]
  const accepted: Mutant[] = []
  let refused = 0
  while (accepted.length < count && left.length > 0) {
    const [mutant] = left.splice(Math.floor(random() * left.length), 1)
    if (!mutant) break
    if (await project.accepts(mutant)) accepted.push(mutant)
    else refused++
  }
  return { accepted, refused }
}

async function tryOut(
  project: Project,
  tests: Tests,
  mutant: Mutant,
  { relatedOnly }: MutationOptions,
): Promise<Verdict> {
  const groups = nearest(project, tests, mutant.file)
  await project.apply(mutant)
  try {
    for (const group of groups) {
      const verdict = await tests.run(group, GROUP_LIMIT_MS)
      if (verdict.kind !== 'passed') return verdict
    }
    if (relatedOnly) return { kind: 'passed' }
    const seen = new Set(groups.flat())
    return await tests.run(
      tests.files.filter((file) => !seen.has(file)),
      ALL_LIMIT_MS,
    )
  } finally {
    await project.undo(mutant)
  }
}

/**
 * A file of tests that fails by itself would notice every mutant: before it counts, it has to pass without one.
 * @param proven files that did
 */
async function assertPassing(tests: Tests, verdict: Verdict, proven: Set<string | null>): Promise<void> {
  if (verdict.kind !== 'failed' || proven.has(verdict.killer.file)) return
  const { file } = verdict.killer
  const again = await tests.run(file === null ? tests.files.slice(0, 1) : [file], GROUP_LIMIT_MS)
  if (again.kind !== 'passed') throw new Error(`The tests fail without a mutant already: ${nameOf(verdict.killer)}`)
  proven.add(file)
}

/** Test files that load the file: by the number of imports in between, then by what their paths share. */
function nearest(project: Project, tests: Tests, file: string): string[][] {
  const importers = project.importersOf(file)
  const words = new Set(wordsOf(file))
  const shared = (test: string) => wordsOf(test).filter((word) => words.has(word)).length
  const ordered = tests.files
    .flatMap((test) => {
      const distance = importers.get(test)
      return distance === undefined ? [] : [{ test, rank: distance - shared(test) }]
    })
    .sort((a, b) => a.rank - b.rank || a.test.localeCompare(b.test))
    .map(({ test }) => test)
  let from = 0
  return GROUPS.map((size) => {
    const group = ordered.slice(from, from + size)
    from += size
    return group
  })
}

const wordsOf = (path: string): string[] => path.split(/[^a-z0-9]+/i).filter((word) => word !== 'ts' && word !== 'test')

const nameOf = ({ file, test }: Killer): string => (file === null ? test : `${file}: ${test}`)

function describe({ file, line, operator, original, replacement }: Mutant, verdict: Verdict): Tried {
  const outcome = verdict.kind === 'failed' ? 'killed' : verdict.kind === 'passed' ? 'survived' : 'timeout'
  const killer = verdict.kind === 'failed' ? nameOf(verdict.killer) : null
  return { file, line, operator, original, replacement, outcome, killer }
}

/** For example `survived src/plan/parse.ts:12 equality: < became <=`. */
export const lineOf = ({ outcome, file, line, operator, original, replacement, killer }: Tried): string =>
  `${outcome} ${file}:${line} ${operator}: ${short(original)} became ` +
  `${short(replacement)}${killer ? ` (${killer})` : ''}`

const MAX_SHOWN = 100

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** Survivors and the score. */
export function summaryOf({ tried, killed, score, interval, seed, relatedOnly }: Measured): string[] {
  const survivors = tried.filter(({ outcome }) => outcome === 'survived')
  const range = interval ? ` (${percent(interval.low)} to ${percent(interval.high)})` : ''
  const tests = relatedOnly ? 'the nearest tests' : 'npm test'
  return [
    ...survivors.map(lineOf),
    score === null
      ? 'no mutant that the compiler accepts'
      : `${killed} of ${tried.length} mutants noticed by ${tests}: ${percent(score)}${range}, seed ${seed}`,
  ]
}
