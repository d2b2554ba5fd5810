import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasOpa } from '../../../../eval/iac-eval/opa.ts'
import { runSample } from '../../../../eval/sample.ts'
import { type EvalStack, startEvalStack } from '../../../../eval/stack.ts'
import { loadReferences, type Reference } from './cases.ts'
import { type Oracle, oracleVariables, startOracle } from './oracle.ts'

const LIMIT_S = 240
/** The share of what the provider can plan without an account that has to be judged right. */
const AGREEMENT = 0.97
/** What the plan of a reference says that asks an account or names what the provider no longer has. */
const NEEDS_ACCOUNT =
  /reading |data\.|no valid credential|UnauthorizedOperation|InvalidClientTokenId|Unsupported argument/i

let folder: string
let oracle: Oracle
let stack: EvalStack
let references: Reference[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-iac-eval-'))
  oracle = await startOracle()
  references = await loadReferences(process.env.WORLD_IAC_EVAL ?? '', process.env.WORLD_IAC_EVAL_DATA ?? '')
  const env = {
    ...process.env,
    ...oracleVariables(oracle.url),
    // Providers come from the mirror alone; the state of a root lies on this machine.
    TF_CLI_CONFIG_FILE: undefined,
    IAC_PROVIDER_MIRROR: process.env.WORLD_AWS_MIRROR,
    IAC_OFFLINE: 'true',
    IAC_OFFLINE_HOSTS: '127.0.0.1,localhost',
  }
  stack = await startEvalStack({ folder, env, scripted: false, concurrency: 1, record_folder: null })
}, 300_000)
afterAll(async () => {
  await stack?.stop()
  await oracle?.close()
  await rm(folder, { recursive: true, force: true })
})

const judged = async ({ scenario, code }: Reference) => {
  oracle.code = code
  return await runSample(stack, scenario, LIMIT_S, new AbortController().signal)
}

describe('the evaluation', () => {
  it('has what it needs', async () => {
    expect(await hasOpa()).toBe(true)
    expect(references.length).toBeGreaterThan(4)
  })

  it('judges the reference configurations right', async () => {
    const agreed: string[] = []
    const different: string[] = []
    const without: string[] = []
    const used: { input_tokens: number; output_tokens: number; duration_s: number }[] = []
    for (const reference of references) {
      const { passed, failures, ...usage } = await judged(reference)
      used.push(usage)
      const line = `${reference.scenario.name}: ${failures.join('; ').slice(0, 600)}`
      if (passed) agreed.push(reference.scenario.name)
      else (NEEDS_ACCOUNT.test(line) ? without : different).push(line)
    }
    const mean = (key: 'input_tokens' | 'output_tokens' | 'duration_s') =>
      Math.round(used.reduce((sum, each) => sum + each[key], 0) / used.length)
    console.log(`a case: ${mean('input_tokens')} tokens in, ${mean('output_tokens')} out, ${mean('duration_s')} s`)
    console.log(`agreed ${agreed.length}\ndifferent:\n${different.join('\n')}\nwithout a plan:\n${without.join('\n')}`)
    expect(agreed.length / (agreed.length + different.length)).toBeGreaterThanOrEqual(AGREEMENT)
  }, 3_600_000)

  it('judges configurations with a planted fault wrong', async () => {
    const missed: string[] = []
    for (const { scenario, code } of references) {
      const { passed } = await judged({ scenario, code: planted(code) })
      if (passed) missed.push(scenario.name)
    }
    expect(missed).toEqual([])
  }, 3_600_000)
})

/** The first resource of the code gone, and another one in its place that nobody asked for. */
function planted(code: string): string {
  const type = /^resource "([^"]+)"/m.exec(code)?.[1] ?? ''
  const other = code.replaceAll(new RegExp(`^resource "${type}" "[^"]+" \\{[\\s\\S]*?^\\}\\n?`, 'gm'), '')
  const kept = other.includes(type) ? '' : other
  return `${kept}\nresource "aws_sns_topic" "planted" {\n  name = "planted"\n}\n`
}
