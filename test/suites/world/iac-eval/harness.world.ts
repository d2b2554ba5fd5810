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
const NEEDS_ACCOUNT = /reading |data\.|no valid credential|UnauthorizedOperation|InvalidClientTokenId|Unsupported argument/i

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
    IAC_PROVIDER_MIRROR: process.env.WORLD_AWS_MIRROR,
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
    for (const reference of references) {
      const { passed, failures } = await judged(reference)
      const line = `${reference.scenario.name}: ${failures.join('; ').slice(0, 600)}`
      if (passed) agreed.push(reference.scenario.name)
      else (NEEDS_ACCOUNT.test(line) ? without : different).push(line)
    }
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
