import { waitUnlessAborted } from '../../src/base/time.ts'
import { createSampleStates, rootOfExample } from '../sample-state/prepare.ts'
import { bodyOf, SCOPE, uriOfSample } from '../scripted-model/examples.ts'
import { loadSecrets } from '../stack/configuration.ts'
import { dataFolder, type ReadyStack } from '../stack/data-folder.ts'
import { type Api, ApiError, createApi, DemoError, follow, type PullRequest, type Session } from './api.ts'
import { collect } from './collect.ts'
import type { Display } from './display.ts'
import type { Interruption } from './live/interruption.ts'
import { openLanes } from './live/lanes.ts'
import { type DemoMode, type DemoOptions, findExample, MODES, SHOWS } from './options.ts'
import { type AllResult, type DemoResult, type Evidence, resultOf, round3, sumUp, unplayedResult } from './result.ts'
import { describeOutcome, showAll, showSummary } from './summary.ts'
import { readTrace, showTrace } from './trace.ts'

interface ModeRun {
  mode: DemoMode
  options: DemoOptions
  stack: ReadyStack
  display: Display
  interruption: Interruption
  signal: AbortSignal
}

/** Plays one mode, prints its progress and returns the result. Errors: `DemoError` if it cannot run, `ApiError`. */
async function runMode(run: ModeRun): Promise<DemoResult> {
  const { mode, display, stack, signal } = run
  if (run.options.trace && stack.collector_url === null)
    throw new DemoError('The stack uses a collector of yours: look for the trace there.', true)
  display.event('mode', `${mode}: ${SHOWS[mode]}`)
  const request = requestOf(run)
  await prepareState(run)
  const api = createApi(stack.url, signal)
  display.event('request', request.q)
  display.event('repository', request.repo_uri)
  const began = performance.now()
  const sessionId = await api.schedule(findExample(mode).route, request)
  display.event('session', sessionId)
  let session = await followRound(run, api, sessionId)
  if (mode === 'apply' && session.current_status === 'completed' && !run.interruption.wanted) {
    const statusCount = session.rounds.flatMap((round) => round.statuses).length
    await api.apply(sessionId)
    session = await followRound(run, api, sessionId, statusCount)
  }
  const durationS = round3((performance.now() - began) / 1000)
  const evidence = await gather(run, api, session)
  display.busy('')
  const result = resultOf(mode, engineOf(stack), evidence, durationS)
  showSummary(display, evidence, result)
  display.line(
    run.interruption.wanted
      ? '\nThe round was cancelled; nothing of it is merged or applied.\n'
      : describeOutcome(display, result),
  )
  if (!run.options.trace || stack.collector_url === null) return result
  display.busy('waiting for the last spans')
  const hasPullRequest = evidence.pull_request !== null
  const { collector_token: token } = await loadSecrets(dataFolder(run.options.data))
  const options = { token, pull_request: hasPullRequest, signal }
  const spans = await readTrace(stack.collector_url, evidence.session, options)
  display.busy('')
  return { ...result, trace: showTrace(display, spans) }
}

/** Shows a round from its start to its end. Ctrl-C cancels it. */
async function followRound(run: ModeRun, api: Api, sessionId: string, known = 0): Promise<Session> {
  const { display, interruption, options, signal, stack } = run
  display.busy('waiting for a worker')
  const release = interruption.duringRound(() => api.cancel(sessionId))
  const lanes = openLanes(display, { base: stack.url, sessionId, output: options.output, signal })
  try {
    const showStatus = (status: string, message: string) => {
      display.event(status, message)
      display.busy(status)
    }
    return await follow(api, sessionId, showStatus, known)
  } finally {
    release()
    await lanes.close()
    display.busy('')
  }
}

function requestOf({ mode, options, stack }: ModeRun) {
  const example = findExample(mode)
  if (mode === 'exhausted' && !stack.model.scripted)
    throw new DemoError(
      'Only the scripted model can be relied upon to fail: npm run demo -- --mode exhausted on a stack ' +
        'without a real model.',
    )
  const repoUri = options.repo ?? uriOfSample(stack.git_host?.repositories ?? [], example.sample)
  if (!repoUri)
    throw new DemoError(
      'The stack uses a real git host: name a repository with --repo, and the request with --request.',
    )
  const recorded = options.repo === null && options.request === null
  if (recorded && example.route === 'import' && !stack.sample_account)
    throw new DemoError(
      'The stack uses an AWS account of yours: the recorded import needs the sample account, which npm start ' +
        '-- --embedded has.',
    )
  const iacPath = options.iac_path ?? (recorded ? example.iac_path : null)
  return {
    ...bodyOf({ ...example, request: options.request ?? example.request, iac_path: iacPath }, repoUri),
    scope_id: options.scope,
    engine_providers: options.cloud,
  }
}

/** Resets the engine state to that of the recorded request, except in an operator's own repository. */
async function prepareState({ mode, options, stack, display, signal }: ModeRun): Promise<void> {
  const root = rootOfExample(mode)
  const own = options.repo !== null || options.request !== null || options.scope !== SCOPE || options.iac_path !== null
  if (!root || own) return
  if (!stack.sample_state || !stack.git_host)
    throw new DemoError(
      `The recorded request of ${mode} needs the embedded object store and git host: npm start -- --embedded has them.`,
    )
  display.busy('setting the state of the sample')
  const states = await createSampleStates(dataFolder(options.data), stack.git_host.repositories)
  await states.reset(root, signal)
  const { past } = root
  const changes = past?.changed.map(({ name, attribute }) => `${name}.${attribute}`) ?? []
  const applied = changes.length > 0 ? `applied, then changed by hand: ${changes.join(', ')}` : 'applied'
  const texts = { applied, imported: 'imported, as far as the code of the default branch goes' }
  display.event('state', past ? texts[past.state] : 'never applied')
}

/** Downloads the results of the session, and opens a pull request if code has changed. */
async function gather({ mode, display, signal }: ModeRun, api: Api, ended: Session): Promise<Evidence> {
  let pullRequest: PullRequest | null = null
  const changed = ended.rounds.some((round) => round.code_changes.length > 0)
  if (changed && ended.current_status === 'completed') {
    display.busy('opening the pull request')
    pullRequest = await api.openPullRequest(ended.uuid)
  }
  const refusals: Evidence['refusals'] = []
  if (mode === 'blocked')
    for (const what of ['apply', 'merge'] as const) {
      const refusal = await api.refusal(what, ended.uuid)
      display.event(what, `${refusal.status} ${refusal.detail}`)
      refusals.push(refusal)
    }
  const session = await api.session(ended.uuid)
  display.busy('downloading the artifacts')
  const collected = await collect(session, await api.metadataPrefix(), signal)
  return { session, collected, pull_request: pullRequest, refusals }
}

const engineOf = ({ engine: { name, version } }: ReadyStack) => ({ name, version })

/** Everything that a run of a mode needs, except the mode and the signal that limits it. */
type Setting = Omit<ModeRun, 'mode' | 'signal'> & { signalFor(mode: DemoMode): AbortSignal }

/** Plays the wanted modes. Returns the object for the last line of `--json`. */
export async function runModes(setting: Setting): Promise<DemoResult | AllResult> {
  const { options, display } = setting
  if (options.mode !== 'all') return await play(setting, options.mode)
  const results: DemoResult[] = []
  const began = performance.now()
  for (const mode of MODES) {
    if (setting.interruption.wanted) break
    const result = await play(setting, mode).catch((error: unknown) => reportUnplayed(setting, mode, error))
    results.push(result)
    if (options.json) display.line(JSON.stringify(result))
  }
  const line = sumUp(results, (performance.now() - began) / 1000)
  showAll(display, line)
  return line
}

function play({ signalFor, ...setting }: Setting, mode: DemoMode): Promise<DemoResult> {
  const signal = signalFor(mode)
  return waitUnlessAborted(runMode({ ...setting, mode, signal }), signal)
}

/** Reports a mode that could not be played, so that the others go on. An interruption ends all. */
function reportUnplayed({ stack, display }: Setting, mode: DemoMode, error: unknown): DemoResult {
  if (!(error instanceof ApiError) && !(error instanceof DemoError && !error.final)) throw error
  display.busy('')
  display.line(display.paint('red', `${mode}: ${error.message}\n`))
  return unplayedResult(mode, engineOf(stack), error.message)
}
