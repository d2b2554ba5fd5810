import { fileURLToPath } from 'node:url'
import { createApi, follow, type Session } from '../dev/demo/api.ts'
import { collect } from '../dev/demo/collect.ts'
import { EngineRefused } from '../dev/sample-state/engine-root.ts'
import { makePast, stateObjects } from '../dev/sample-state/prepare.ts'
import { PlatformError } from '../src/base/errors.ts'
import { parsePlan } from '../src/plan/plan.ts'
import { deriveProjectId } from '../src/plan/state/managed-state.ts'
import { checkPolicy } from './iac-eval.ts'
import { collectEvidence, findUnmet, needsPlan, type Outcome } from './scenario/expectations.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { BranchRoot, EngineRoots, EvalStack } from './stack.ts'

/** The result of a sample, without the fields that only the caller knows. */
export interface SampleMeasurement {
  passed: boolean
  /** Unmet expectations as texts; empty if the sample passed. */
  failures: string[]
  status: string
  session_id: string | null
  attempts: number
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** US dollars; null when the price of a model is not known. */
  cost_usd: number | null
  duration_s: number
}

/**
 * Runs one sample through the public API, with a repository and a state of its own. Errors: those of the harness, for
 * example when the stack is gone. Such a sample is not finished.
 * @param limitS time limit in seconds of the sample
 * @param beginRound is called with number and request of each round before it is requested
 */
export async function runSample(
  stack: EvalStack,
  scenario: Scenario,
  limitS: number,
  signal: AbortSignal,
  beginRound?: Watcher['beginRound'],
): Promise<SampleMeasurement> {
  const late = AbortSignal.timeout(limitS * 1000)
  const within = AbortSignal.any([signal, late])
  const began = performance.now()
  const measurementOf = (session: Session | null, failures: string[]) => ({
    passed: failures.length === 0,
    failures,
    ...sumUsage(session),
    duration_s: Math.round(performance.now() - began) / 1000,
  })
  let id: string | null = null
  try {
    const opened = (uuid: string) => {
      id = uuid
    }
    const { uri, session } = await playScenario(stack, scenario, within, { opened, beginRound })
    const failures = await judge(stack, scenario, uri, session, within)
    return { ...measurementOf(session, failures), status: session.current_status, session_id: session.uuid }
  } catch (error) {
    signal.throwIfAborted()
    if (!late.aborted) throw error
    const session = id === null ? null : await createApi(stack.url, AbortSignal.timeout(10_000)).session(id)
    const failures = [`took longer than ${limitS} s`]
    return { ...measurementOf(session, failures), status: session?.current_status ?? 'not begun', session_id: id }
  }
}

/** Receives the progress of a scenario. */
interface Watcher {
  /** Receives the session's id. */
  opened?(id: string): void
  /** Receives number and request of each round before it is requested; an apply has the request before it. */
  beginRound?: ((round: number, request: string) => void) | undefined
}

/** Makes a repository and a state for the scenario and plays all its rounds. */
export async function playScenario(stack: EvalStack, scenario: Scenario, signal: AbortSignal, watcher: Watcher = {}) {
  const name = `${repositorySlug(scenario.name)}-${crypto.randomUUID().slice(0, 8)}`
  const uri = await stack.git_host.addRepository({ owner: 'eval', name, content: contentOf(scenario) })
  await seedState(stack.roots, scenario, uri, signal)
  return { uri, session: await playRounds(stack, scenario, uri, signal, watcher) }
}

/** Makes the first part of the names of a scenario's repositories. */
export const repositorySlug = (name: string): string => name.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 60)

const contentOf = ({ repository, supplement = {} }: Scenario) =>
  'files' in repository
    ? { files: { ...repository.files, ...decoded(supplement) } }
    : { folder: fileURLToPath(new URL(`../dev/samples/${repository.sample}`, import.meta.url)) }

const decoded = (files: Record<string, string>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, Buffer.from(text, 'base64')]))

async function seedState(roots: EngineRoots, scenario: Scenario, uri: string, signal: AbortSignal): Promise<void> {
  const { seed, iac_path, scope: scope_id, cloud } = scenario
  if (!seed) return
  const id = await deriveProjectId(uri, scope_id, iac_path)
  const root = await roots.open({ uri, branch: 'main', iac_path, scope_id, cloud })
  await makePast(root, seed, stateObjects(roots.config.storage), id, signal)
}

/** Plays all rounds. A later round is started only when all earlier ones completed. */
async function playRounds(stack: EvalStack, scenario: Scenario, uri: string, signal: AbortSignal, watcher: Watcher) {
  const api = createApi(stack.url, signal)
  const route = scenario.mode.replace(/^(partial|full)-/, '') as 'generate' | 'drift' | 'import'
  let { request } = scenario
  watcher.beginRound?.(1, request)
  const id = await api.schedule(route, {
    q: request,
    repo_uri: uri,
    scope_id: scenario.scope,
    engine_providers: scenario.cloud,
    ...(scenario.iac_path !== null && { iac_path: scenario.iac_path }),
    ...(route !== 'generate' && { is_partial: scenario.mode.startsWith('partial') }),
  })
  watcher.opened?.(id)
  let session = await follow(api, id, () => {})
  for (const [index, step] of scenario.follow_up.entries()) {
    if (session.current_status !== 'completed') break
    if ('request' in step) request = step.request
    watcher.beginRound?.(index + 2, request)
    const statusCount = session.rounds.flatMap((round) => round.statuses).length
    if ('apply' in step) await api.apply(id)
    else await api.schedule('generate', { session_id: id, q: request })
    session = await follow(api, id, () => {}, statusCount)
  }
  return session
}

/** Finds the unmet expectations of an ended session as texts. No model is used. */
export async function judge(stack: EvalStack, scenario: Scenario, uri: string, session: Session, signal: AbortSignal) {
  const api = createApi(stack.url, signal)
  const collected = await collect(session, await api.metadataPrefix(), signal)
  const planned = needsPlan(scenario.expect) || scenario.rego !== undefined
  const { files, formatted } = scenario.expect
  const wantsRoot = planned || files.length > 0 || formatted !== undefined
  const { iac_path, scope: scope_id, cloud } = scenario
  const place = { uri, branch: session.workspace.branch, iac_path, scope_id, cloud }
  // The branch may never have been pushed.
  const root = wantsRoot ? await stack.roots.open(place).catch(() => null) : null
  try {
    const plan = planned && root ? await planOf(root, signal) : null
    const file = async (path: string) => (root ? await root.file(path) : null)
    const commented = scenario.expect.identified !== undefined && root ? await root.commented() : null
    const unformatted = formatted && root ? await root.unformatted(signal) : null
    const evidence = await collectEvidence({ stack, api, uri, signal }, session, scenario.expect)
    const outcome: Outcome = { session, collected, plan, file, commented, unformatted, evidence }
    const failures = await findUnmet(scenario.expect, outcome)
    if (scenario.rego !== undefined) failures.push(...(await policyFailures(scenario.rego, plan, signal)))
    return failures
  } finally {
    await root?.dispose()
  }
}

async function planOf(root: BranchRoot, signal: AbortSignal): Promise<Outcome['plan']> {
  try {
    return parsePlan(await root.plan(signal))
  } catch (error) {
    if (error instanceof EngineRefused || error instanceof PlatformError) return error.message
    throw error
  }
}

async function policyFailures(rego: string, plan: Outcome['plan'], signal: AbortSignal): Promise<string[]> {
  if (plan === null || typeof plan === 'string')
    return [`there is no plan for the policy: ${plan ?? 'the session did not get that far'}`]
  return await checkPolicy(rego, plan.document, signal)
}

/** Adds up what the finished rounds used. */
function sumUsage(session: Session | null) {
  const used = session?.rounds.flatMap(({ usage }) => usage ?? []) ?? []
  const sum = (pick: (usage: (typeof used)[number]) => number) => used.reduce((total, one) => total + pick(one), 0)
  return {
    attempts: sum((usage) => usage.validation_attempts),
    input_tokens: sum((usage) => usage.input_tokens),
    cached_tokens: sum((usage) => usage.cached_tokens),
    output_tokens: sum((usage) => usage.output_tokens),
    cost_usd: used.some(({ cost_usd }) => cost_usd === null) ? null : sum(({ cost_usd }) => cost_usd ?? 0),
  }
}
