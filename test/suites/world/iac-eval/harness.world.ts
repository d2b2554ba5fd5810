import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkPolicy, hasOpa } from '../../../../eval/iac-eval/opa.ts'
import { judge, playScenario } from '../../../../eval/sample.ts'
import { selectRunnable } from '../../../../eval/skip.ts'
import { type EvalStack, startEvalStack } from '../../../../eval/stack.ts'
import { overwrite } from './branch.ts'
import { ownReferences, publishedReferences, type Reference } from './cases.ts'
import { FAULTS, plant } from './faults.ts'
import { type Oracle, oracleVariables, startOracle, WRITTEN } from './oracle.ts'

/** The share of the references that has to be judged as they are. */
const AGREEMENT = 0.97
const { WORLD_IAC_EVAL = '', WORLD_IAC_EVAL_DATA = '' } = process.env

const published = await publishedReferences(WORLD_IAC_EVAL, WORLD_IAC_EVAL_DATA)
const own = await ownReferences()
const folder = await mkdtemp(join(tmpdir(), 'world-iac-eval-'))
const running = new AbortController()
let oracle: Oracle
let stack: EvalStack
/** By the name of the scenario: why it cannot be planned here. */
const left = new Map<string, string>()

beforeAll(async () => {
  oracle = await startOracle()
  const env = {
    ...process.env,
    ...(await madeUpAccount()),
    ...oracleVariables(oracle.url),
    // Providers come from the mirror alone; the state of a root lies on this machine.
    TF_CLI_CONFIG_FILE: undefined,
    IAC_PROVIDER_MIRROR: process.env.WORLD_MIRROR,
    IAC_OFFLINE: 'true',
    IAC_OFFLINE_HOSTS: '127.0.0.1,localhost',
  }
  stack = await startEvalStack({ folder, env, scripted: false, concurrency: 1, record_folder: null })
  const { skipped } = await selectRunnable(
    [...published, ...own].map(({ scenario }) => scenario),
    { scripted: false, env, roots: stack.roots, signal: running.signal },
  )
  for (const { scenario, reason } of skipped) left.set(scenario, reason)
}, 300_000)
afterAll(async () => {
  running.abort()
  await stack?.stop()
  await oracle?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The provider of this cloud reads a key before it plans; of these four, nothing belongs to anybody. */
async function madeUpAccount(): Promise<Record<string, string>> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const path = join(folder, 'made-up.pem')
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return {
    OCI_TENANCY_OCID: 'ocid1.tenancy.oc1..example',
    OCI_USER_OCID: 'ocid1.user.oc1..example',
    OCI_FINGERPRINT: Array.from({ length: 16 }, () => 'ab').join(':'),
    OCI_PRIVATE_KEY_PATH: path,
  }
}

const POLICY = /^the policy is not met/
const agreed: string[] = []
const different: string[] = []
const wrongByItself: string[] = []
const caught: Record<string, string[]> = { statements: [], policy: [], engine: [] }
const missed: string[] = []
const notPlanted: string[] = []

/** Plays a round that writes the solution, judges it, and judges its branch again with each fault. */
async function prove(reference: Reference): Promise<void> {
  const { scenario, code } = reference
  const { signal } = running
  oracle.code = code
  const { uri, session } = await playScenario(stack, scenario, signal)
  const verdict = (await judge(stack, scenario, uri, session, signal)).sort()
  const expected = await policyOfPublished(reference)
  if (expected.length > 0) wrongByItself.push(`${scenario.name}: ${expected.join('; ')}`)
  const agrees = verdict.join() === expected.join()
  if (agrees) agreed.push(scenario.name)
  else different.push(`${scenario.name}: ${verdict.join('; ').slice(0, 900)}`)
  for (const fault of agrees ? FAULTS : []) {
    const faulty = plant(fault, reference)
    if (faulty === null) notPlanted.push(`${scenario.name}: ${fault}`)
    else {
      await overwrite(stack.git_host.pathOf(uri), session.workspace.branch, WRITTEN, faulty)
      const found = await judge(stack, scenario, uri, session, signal)
      sort(
        `${scenario.name}: ${fault}`,
        found.filter((text) => !expected.includes(text)),
      )
    }
  }
}

/** What the policy finds in the plan that was published with the solution: what the data set itself would say. */
const policyOfPublished = async ({ scenario, published: plan }: Reference): Promise<string[]> =>
  scenario.rego && plan ? (await checkPolicy(scenario.rego, plan, running.signal)).sort() : []

function sort(name: string, found: string[]): void {
  if (found.length === 0) missed.push(name)
  else if (found.some((text) => text.startsWith('there is no plan'))) caught.engine?.push(name)
  else caught[found.some((text) => !POLICY.test(text)) ? 'statements' : 'policy']?.push(name)
}

describe('the evaluation', () => {
  it('has what it needs', async () => {
    expect(await hasOpa()).toBe(true)
    expect(own.length).toBeGreaterThan(10)
    if (WORLD_IAC_EVAL) expect(published.length).toBeGreaterThan(4)
  })

  it.each([...published, ...own])('judges $scenario.name as it is', { timeout: 300_000 }, async (reference) => {
    const reason = left.get(reference.scenario.name)
    if (reason === undefined) await prove(reference)
    else if (reference.published) expect(await policyOfPublished(reference)).toEqual([])
  })

  it('agrees with the references, and sees every planted fault', () => {
    const planted = Object.values(caught).flat().length + missed.length
    const lines = [
      `agreed with ${agreed.length} of ${agreed.length + different.length} references`,
      ...different.map((line) => `  different: ${line}`),
      ...wrongByItself.map((line) => `  wrong in its own published plan as well: ${line}`),
      ...[...left].map(([name, reason]) => `  not planned: ${name}: ${reason}`),
      `${planted - missed.length} of ${planted} planted faults judged wrong: ` +
        Object.entries(caught)
          .map(([by, names]) => `${names.length} by ${by}`)
          .join(', '),
      ...missed.map((line) => `  missed: ${line}`),
      ...notPlanted.map((line) => `  nothing to break: ${line}`),
    ]
    console.log(lines.join('\n'))
    expect(agreed.length / (agreed.length + different.length)).toBeGreaterThanOrEqual(AGREEMENT)
    expect(missed).toEqual([])
    expect(planted).toBeGreaterThanOrEqual(agreed.length)
  })
})
