import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, createApi, type PullRequest, type Session } from './demo/api.ts'
import { createDisplay, type Display } from './demo/display.ts'
import { follow } from './demo/follow.ts'
import { type DemoOptions, HELP, readOptions, UsageError } from './demo/options.ts'
import { collect, type DemoResult, showSummary, usageOf } from './demo/summary.ts'
import { dataFolder, type ReadyStack, runningStack } from './stack/data-folder.ts'
import { onInterrupt } from './stack/interrupts.ts'
import { readable } from './stack/log-lines.ts'
import { type Stack, startStack } from './stack/start-stack.ts'

/** A failure that the demo explains; the text says what to do. */
class DemoError extends Error {}

const seconds = (ms: number) => Math.round(ms) / 1000

/** The stack that runs on the folder, or one of our own. */
async function findStack(options: DemoOptions, display: Display, signal: AbortSignal): Promise<{ stack: ReadyStack; own: Stack | null }> {
  const folder = dataFolder(options.data)
  for (let told = false; ; told = true) {
    const record = runningStack(folder)
    if (!record) break
    if (record.ready) {
      display.event('stack', `the running one, ${record.ready.url}`)
      return { stack: record.ready, own: null }
    }
    if (!told) display.event('stack', `process ${record.owner.pid} is starting it, waiting`)
    await sleep(250, undefined, { signal })
  }
  display.busy('starting the embedded stack')
  const quiet: string[] = []
  const own = await startStack({
    folder,
    env: process.env,
    embedded: options.embedded,
    signal,
    on_line: (name, line) => {
      const text = readable(name, line, false)
      if (name === 'stack') display.event('stack', line)
      else if (text !== null) quiet.push(text)
      if (quiet.length > 200) quiet.shift()
    },
  })
  display.event('stack', `started, ${own.url}`)
  return { stack: own, own }
}

async function runJob(options: DemoOptions, stack: ReadyStack, display: Display, signal: AbortSignal): Promise<DemoResult> {
  const repo_uri = options.repo ?? stack.git_host?.repositories[0]
  if (!repo_uri) throw new DemoError('The stack uses a real git host: name a repository with --repo, and the request with --request.')
  const api = createApi(stack.url, signal)
  display.event('request', options.request)
  display.event('repository', repo_uri)
  if (stack.model.scripted) display.event('model', `${stack.model.name}: plays recorded requests`)
  else display.event('model', stack.model.name)
  const began = performance.now()
  const session_id = await api.generate({
    q: options.request,
    repo_uri,
    scope_id: options.scope,
    engine_providers: options.cloud,
    ...(options.iac_path !== null && { iac_path: options.iac_path }),
  })
  display.event('session', session_id)
  display.busy('waiting for a worker')
  let session = await follow(api, session_id, (status, message) => {
    display.event(status, message)
    display.busy(status)
  })
  const duration_s = seconds(performance.now() - began)
  let pull_request: PullRequest | null = null
  if (session.current_status === 'completed') {
    display.busy('opening the pull request')
    pull_request = await api.openPullRequest(session_id)
    session = await api.session(session_id)
  }
  display.busy('downloading the artifacts')
  const collected = await collect(session, await api.metadataPrefix(), signal)
  display.end()
  const counts = collected.report?.summary ?? { create: 0, update: 0, delete: 0, recreate: 0 }
  const { engine_s, model_s, validation_attempts } = usageOf(session)
  const result: DemoResult = {
    session_id,
    mode: 'generate',
    status: session.current_status,
    statuses: session.rounds.flatMap((round) => round.statuses.map(({ status }) => status)),
    plan: { create: counts.create, update: counts.update, delete: counts.delete, replace: counts.recreate },
    targets: collected.targets,
    validation_attempts,
    pull_request,
    artifacts: collected.artifacts,
    engine: { name: stack.engine.name, version: stack.engine.version },
    duration_s,
    engine_s,
    model_s,
  }
  if (session.current_status === 'completed') showSummary(display, collected, result)
  display.line(outcome(display, session, result))
  return result
}

/** One sentence on how it went and where the time was spent. */
function outcome(display: Display, session: Session, result: DemoResult): string {
  const { engine_s, model_s, duration_s } = result
  if (result.pull_request === null) {
    const last = session.rounds.at(-1)?.statuses.at(-1)?.message ?? ''
    const what = result.status === 'uncompleted' ? 'The request was declined or answered without changes' : 'The round failed'
    return `\n${display.paint('red', `${what}: ${last}`)}`
  }
  const platform_s = Math.max(0, Math.round((duration_s - engine_s - model_s) * 1000) / 1000)
  const parts = `engine ${engine_s} s, model ${model_s} s, platform ${platform_s} s`
  return `\n${display.paint('green', 'Done')}: ${result.engine.name} ${result.engine.version}, ${duration_s} s from request to reviewed plan (${parts}).`
}

const LIMIT_S = { scripted: 120, real: 3600 }
const START_LIMIT_S = 90

async function run(options: DemoOptions): Promise<number> {
  const display = createDisplay(process.stdout, process.stdout.isTTY === true && !process.env.NO_COLOR)
  const interrupted = new AbortController()
  onInterrupt((signal) => interrupted.abort(new DemoError(`stopped by ${signal}`)))
  const within = (limit_s: number, what: string) => {
    const late = new AbortController()
    setTimeout(
      () =>
        late.abort(
          new DemoError(`${what} took longer than ${limit_s} s. The logs are in the folder logs below ${dataFolder(options.data)}.`),
        ),
      limit_s * 1000,
    ).unref()
    return AbortSignal.any([interrupted.signal, late.signal])
  }
  let own: Stack | null = null
  try {
    const found = await findStack(options, display, within(START_LIMIT_S, 'The start of the stack'))
    own = found.own
    const limit_s = options.limit_s ?? (found.stack.model.scripted ? LIMIT_S.scripted : LIMIT_S.real)
    const signal = own ? AbortSignal.any([within(limit_s, 'The job'), endOf(own)]) : within(limit_s, 'The job')
    const result = await orAbort(runJob(options, found.stack, display, signal), signal)
    if (options.keep && own) await keep(own, display, interrupted.signal)
    if (own) await own.stop()
    if (options.json) console.log(JSON.stringify(result))
    return result.pull_request?.status === 'open' ? 0 : 1
  } catch (error) {
    display.end()
    console.error(explain(error))
    await own?.stop()
    return interrupted.signal.aborted ? 130 : 1
  }
}

/** Fires when a process of our own stack ends by itself. */
function endOf(stack: Stack): AbortSignal {
  const controller = new AbortController()
  void stack.failed.then((text) => controller.abort(new DemoError(text)))
  return controller.signal
}

/** A cancelled call rejects in its own words; the reason of the signal says more. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    }),
  ])
}

async function keep(stack: Stack, display: Display, signal: AbortSignal): Promise<void> {
  display.line(`\nThe stack keeps running: ${stack.url}/api/docs. Ctrl-C stops it.`)
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await Promise.race([stopped, stack.failed])
}

function explain(error: unknown): string {
  if (error instanceof ApiError || error instanceof DemoError) return error.message
  if (error instanceof TypeError && error.cause instanceof Error)
    return `The platform cannot be reached (${error.cause.message}). Is the stack still running? npm start shows its log.`
  return error instanceof Error ? error.message : String(error)
}

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options) return await run(options)
    console.log(HELP)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\nnpm run demo -- --help lists the options.`)
    return 2
  }
}

process.exit(await main())
