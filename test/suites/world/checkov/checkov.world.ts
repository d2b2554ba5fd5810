import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { evaluateRules } from '../../../../src/rules/evaluate.ts'
import { RULES } from '../../../../src/rules/index.ts'
import { examplePlan, withNeighbours } from './example-plans.ts'
import { type CloudVerdicts, checksOf, isHeldOut, readVerdicts } from './verdicts.ts'

const python = process.env.WORLD_CHECKOV_PYTHON ?? ''
const source = process.env.WORLD_CHECKOV_EXAMPLES ?? ''
const run = async (script: string, ...args: string[]) =>
  (
    await promisify(execFile)(python, [new URL(script, import.meta.url).pathname, ...args], {
      maxBuffer: 2 ** 28,
      timeout: 1_500_000,
      env: { ...process.env, LOG_LEVEL: 'ERROR' },
    })
  ).stdout

interface Example {
  check: string
  failed: string[]
  passed: string[]
  resources: Record<string, Record<string, unknown>>
}
type Catalogue = Record<string, { name: string; argument: string | null; words: string[]; several?: boolean }>

let verdicts: Record<string, CloudVerdicts>
let catalogue: Catalogue
beforeAll(async () => {
  verdicts = await readVerdicts()
  if (python !== '') catalogue = JSON.parse(await run('catalogue.py'))
}, 300_000)

/** Counts of resources on which a check and its rules are compared. */
interface Score {
  bad: number
  found: number
  good: number
  alarms: number
}

describe.skipIf(python === '')("Checkov's catalogue", () => {
  it('has a verdict for each check of our clouds', () => {
    const clouds = Object.keys(verdicts).map((cloud) => cloud.toUpperCase())
    const ours = Object.keys(catalogue).filter((id) => clouds.includes(id.split('_')[1] ?? ''))
    expect(ours.filter((id) => !Object.values(verdicts).flatMap(checksOf).includes(id))).toEqual([])
  })

  it.skipIf(source === '')(
    'is held beside the rules on its own examples',
    async () => {
      const scores = new Map<string, Score>()
      for (const line of (await run('examples.py', source)).split('\n').filter((each) => each !== ''))
        count(JSON.parse(line), scores)
      console.log(table(scores))
      const held = total(scores, (key) => key.includes(' high ') && key.endsWith('held out'))
      expect(held.bad).toBeGreaterThan(200)
      expect(held.found / held.bad).toBeGreaterThanOrEqual(LEAST_FOUND)
      const all = total(scores, () => true)
      expect(all.alarms / all.good).toBeLessThanOrEqual(MOST_ALARMS)
    },
    1_800_000,
  )
})

/**
 * Parts of the bad resources of grave classes that are found, and of the good resources on which a rule of the class
 * finds something in what the check reads.
 */
const LEAST_FOUND = 0.85
const MOST_ALARMS = 0.05

function count({ check, failed, passed, resources }: Example, scores: Map<string, Score>): void {
  const built = Object.values(verdicts)
    .flatMap((each) => each.built)
    .find(({ checks }) => checks.includes(check))
  if (built === undefined) return
  const cloud = check.split('_')[1] ?? ''
  const key = `${cloud} ${built.high ? 'high' : 'other'} ${built.class}, ${isHeldOut(check) ? 'held out' : 'seen'}`
  const score = scores.get(key) ?? { bad: 0, found: 0, good: 0, alarms: 0 }
  scores.set(key, score)
  // A check over several resources names one of them, and the rules may name another.
  const examined = (address: string) =>
    catalogue[check]?.several ? withNeighbours(address, resources) : { [address]: resources[address] ?? {} }
  const messages = (address: string) =>
    evaluateRules(examplePlan(examined(address)), { targets: [], grades: {} })
      .findings.filter(({ rule_id }) => built.rules.includes(rule_id))
      .map(({ message }) => message)
  const types = RULES.filter(({ id }) => built.rules.includes(id)).flatMap((rule) =>
    'types' in rule ? (rule.types ?? []) : [],
  )
  const isLookedAt = (address: string) =>
    !catalogue[check]?.several ||
    Object.keys(examined(address)).some((each) => types.includes(each.split('.')[0] ?? ''))
  for (const address of failed.filter((each) => Object.hasOwn(resources, each) && isLookedAt(each))) {
    score.bad++
    if (messages(address).length > 0) score.found++
  }
  for (const address of passed.filter((each) => Object.hasOwn(resources, each))) {
    score.good++
    if (messages(address).some((message) => isAbout(check, message))) score.alarms++
  }
}

/**
 * Reports whether a message is about what a check reads: what is good for one check of a class is often bad for another.
 * A message begins with the path of an argument, or names ports; any other is taken to be about the check.
 */
function isAbout(check: string, message: string): boolean {
  const { argument = null, words = [] } = catalogue[check] ?? {}
  const path = /^[a-z][\w.]*(?= )/.exec(message)?.[0] ?? ''
  if (argument !== null && path !== '') {
    const whole = argument.replaceAll(/\/(?:\[?\d+\]?)/g, '').replaceAll('/', '.')
    return path.startsWith(whole) || whole.endsWith(`.${path}`)
  }
  const ports = words.filter((word) => /^\d{2,5}$/.test(word))
  if (/\b(?:tcp|udp) (?:port )?\d/.test(message) && !/ to \d| more\./.test(message) && ports.length > 0)
    return ports.some((port) => new RegExp(`\\b${port}\\b`).test(message))
  return (
    path === '' ||
    words.length === 0 ||
    path
      .split('.')
      .slice(-2)
      .every((step) => words.includes(step))
  )
}

function total(scores: ReadonlyMap<string, Score>, chosen: (key: string) => boolean): Score {
  const sum: Score = { bad: 0, found: 0, good: 0, alarms: 0 }
  for (const [key, score] of scores)
    if (chosen(key)) for (const part of Object.keys(sum) as (keyof Score)[]) sum[part] += score[part]
  return sum
}

function table(scores: ReadonlyMap<string, Score>): string {
  const verdictLines = Object.entries(verdicts).map(([cloud, { built, left = [], unseen = [] }]) => {
    const [b, l, u] = [built, left, unseen].map((entries) => entries.flatMap(({ checks }) => checks).length)
    return `${cloud}: ${b} built, ${l} left, ${u} cannot be seen`
  })
  const lines = [...scores].sort().map(([key, { bad, found, good, alarms }]) => {
    return `${key.padEnd(60)} found ${found} of ${bad}, false alarms ${alarms} of ${good}`
  })
  const sums = ['seen', 'held out'].map((end) => {
    const { bad, found, good, alarms } = total(scores, (key) => key.includes(' high ') && key.endsWith(end))
    return `high, ${end}: found ${found} of ${bad}, false alarms ${alarms} of ${good}`
  })
  return [...verdictLines, ...lines, ...sums].join('\n')
}
