import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPolicy } from '../../../../eval/iac-eval.ts'
import { judge, playScenario } from '../../../../eval/sample.ts'
import { selectRunnable } from '../../../../eval/skip.ts'
import { type EvalStack, startEvalStack } from '../../../../eval/stack.ts'
import { overwrite } from './branch.ts'
import type { Reference } from './cases.ts'
import { FAULTS, type Fault, plant } from './faults.ts'
import { type Oracle, oracleVariables, startOracle } from './oracle.ts'

/** The findings, by the names of the scenarios. */
export interface Found {
  agreed: string[]
  /** Judged otherwise than the reference is, with what the harness says. */
  different: string[]
  /** References whose own plan, made without the platform, does not meet their policy. */
  wrongByItself: string[]
  /** By what a planted fault was found; `policy` where that found it, whatever else did. */
  caught: { statements: string[]; policy: string[]; engine: string[] }
  missed: string[]
  /** Faults that would break nothing that the scenario asks for. */
  notPlanted: string[]
  /** By the name of the scenario: why it cannot be planned here. */
  left: Map<string, string>
}

export interface Proof {
  found: Found
  /**
   * Plays a round in which the model writes the reference, judges it, and judges its branch again with each fault. Of a
   * scenario that cannot be planned here, the published plan alone is judged.
   * @param known what the policy says of a plan that was made without the platform; no faults are planted then
   */
  of(reference: Reference, known?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/**
 * A stack with an endpoint in place of the model, for these references. Providers come from the mirror alone.
 * @param account variables for providers that read a key before they plan
 * @param emulator_url address of an emulator that answers engines in place of AWS
 */
export async function startProof(
  references: readonly Reference[],
  mirror: string | undefined,
  account: Record<string, string> = {},
  emulator_url?: string,
): Promise<Proof> {
  const folder = await mkdtemp(join(tmpdir(), 'world-evaluation-'))
  const running = new AbortController()
  const { signal } = running
  const oracle = await startOracle()
  const env = {
    ...process.env,
    ...account,
    ...oracleVariables(oracle.url),
    TF_CLI_CONFIG_FILE: undefined,
    IAC_PROVIDER_MIRROR: mirror,
    IAC_OFFLINE: 'true',
    IAC_OFFLINE_HOSTS: '127.0.0.1,localhost',
  }
  const stack = await startEvalStack({
    folder,
    env,
    scripted: false,
    concurrency: 1,
    record_folder: null,
    emulator_url,
  })
  const scenarios = references.map(({ scenario }) => scenario)
  const { skipped } = await selectRunnable(scenarios, { scripted: false, env, roots: stack.roots, signal })
  const found: Found = {
    ...{ agreed: [], different: [], wrongByItself: [], missed: [], notPlanted: [] },
    caught: { statements: [], policy: [], engine: [] },
    left: new Map(skipped.map(({ scenario, reason }) => [scenario, reason])),
  }

  return {
    found,
    of: async (reference, known) => {
      const { scenario, published } = reference
      // The verdict of the data set itself.
      const own = scenario.rego && published ? await checkPolicy(scenario.rego, published, signal) : []
      const expected = [...(known ?? own)].sort()
      if (expected.length > 0) found.wrongByItself.push(`${scenario.name}: ${expected.join('; ')}`)
      if (found.left.has(scenario.name)) return
      await prove({ stack, oracle, found, signal }, reference, expected, known ? [] : FAULTS)
    },
    stop: async () => {
      running.abort()
      await stack.stop()
      await oracle.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Running {
  stack: EvalStack
  oracle: Oracle
  found: Found
  signal: AbortSignal
}

/** @param expected what is wrong with the reference by its own policy */
async function prove(
  running: Running,
  reference: Reference,
  expected: readonly string[],
  faults: readonly Fault[],
): Promise<void> {
  const { stack, oracle, found, signal } = running
  const { scenario, code, path } = reference
  Object.assign(oracle, { code, path })
  const { uri, session } = await playScenario(stack, scenario, signal)
  const verdict = (await judge(stack, scenario, uri, session, signal)).sort()
  if (verdict.join() !== expected.join()) {
    found.different.push(`${scenario.name}: ${verdict.join('; ').slice(0, 900)}`)
    return
  }
  found.agreed.push(scenario.name)
  for (const fault of faults) {
    const name = `${scenario.name}: ${fault}`
    const faulty = plant(fault, reference)
    if (faulty === null) {
      found.notPlanted.push(name)
      continue
    }
    await overwrite(stack.git_host.pathOf(uri), session.workspace.branch, path, faulty)
    const texts = await judge(stack, scenario, uri, session, signal)
    sort(
      found,
      name,
      texts.filter((text) => !expected.includes(text)),
    )
  }
}

function sort({ missed, caught }: Found, name: string, faults: readonly string[]): void {
  if (faults.length === 0) missed.push(name)
  else if (faults.some((text) => text.startsWith('there is no plan'))) caught.engine.push(name)
  else caught[faults.some((text) => text.startsWith('the policy is not met')) ? 'policy' : 'statements'].push(name)
}

/** The figures, and by name whatever is not plain agreement. */
export function describeFound({ agreed, different, wrongByItself, caught, missed, notPlanted, left }: Found): string {
  const { statements, policy, engine } = caught
  const right = statements.length + policy.length + engine.length
  return [
    `agreed with ${agreed.length} of ${agreed.length + different.length} references`,
    ...different.map((line) => `  different: ${line}`),
    ...wrongByItself.map((line) => `  wrong in its own plan: ${line}`),
    ...[...left].map(([name, reason]) => `  not planned here: ${name}: ${reason}`),
    `${right} of ${right + missed.length} planted faults judged wrong: ${statements.length} by statements, ` +
      `${policy.length} by the policy, ${engine.length} by the engine`,
    ...missed.map((line) => `  missed: ${line}`),
    ...notPlanted.map((line) => `  nothing to break: ${line}`),
  ].join('\n')
}
