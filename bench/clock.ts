import type { ReceivedSpan } from '../dev/collector/read-spans.ts'
import { createApi } from '../dev/demo/api.ts'
import { type DemoMode, MODES } from '../dev/demo/options.ts'
import type { DemoResult } from '../dev/demo/result.ts'
import { readTrace } from '../dev/demo/trace.ts'
import { withTemporaryFolder } from '../dev/files.ts'
import { countTokens, layOut, type ModelTimes, USUAL_TIMES, type Usage } from '../dev/scripted-model/clock.ts'
import type { Question } from '../dev/scripted-model/conversation.ts'
import type { PlayedCall } from '../dev/scripted-model/start.ts'
import { loadSecrets } from '../dev/stack/configuration.ts'
import type { Stack } from '../dev/stack/start-stack.ts'
import { createPricing } from '../src/llm/prices.ts'
import { criticalPath, gapsByPlace, gapsIn, type Interval, lengthOf } from './clock/critical-path.ts'
import { KINDS, type Known, kindsOf, knownOfChains, knownOfRound, shareOf, sumKnown } from './clock/prompt-shares.ts'
import { type SizedRequest, sizedRequests } from './clock/requests.ts'
import { runDemo } from './lib/demo.ts'
import type { Figure, Section, Table } from './lib/report.ts'
import { startBenchStack } from './lib/stack.ts'
import { readJobs, windowOf } from './share/round.ts'

/** The models whose list prices are used, each for all calls of a round. */
const PRICED = ['anthropic/claude-sonnet-5', 'openai/gpt-5.2', 'gemini/gemini-3.1-pro']
/** Vendors that charge for what is written to the cache: here all that is not read from it. */
const WRITES = /^anthropic\//
const price = createPricing({})

/** The names of the two models, so that what one has read counts as unknown to the other. */
const MODELS = {
  PLATFORM_LLM_MODEL: 'openai/main/scripted-model',
  PLATFORM_LLM_SMALL_MODEL: 'openai/small/scripted-model',
}

interface TimedCall extends PlayedCall {
  /** The chain of the span that holds the call. */
  chain: string
}

interface TimedRound {
  name: string
  /** One for each round of the session, in milliseconds since 1970: from its request to its last status. */
  windows: { from: number; to: number }[]
  /** In the order in which they began, those after the last status too. */
  calls: TimedCall[]
  engine: Interval[]
}

/**
 * Plays rounds with a model that takes time, and shows what their time and their input are made of.
 * @param options.quick one round with a model that is twenty times as fast
 */
export async function benchClock(options: { quick: boolean }): Promise<Section> {
  const times = options.quick ? fasterBy(USUAL_TIMES, 20) : USUAL_TIMES
  const requests = sizedRequests().filter(({ name }) => !options.quick || name === QUEUE)
  const modes = options.quick ? [] : MODES
  const rounds = await withTemporaryFolder(async (folder) => {
    const played: PlayedCall[] = []
    const recordings = requests.map(({ recording }) => recording)
    const stack = await startBenchStack(folder, {
      env: MODELS,
      scripted_model: { times, recordings, onCall: (call) => played.push(call) },
    })
    try {
      const results: TimedRound[] = []
      for (const request of requests)
        results.push(await playRound({ stack, folder, played }, await asked(stack, request)))
      for (const mode of modes) results.push(await playRound({ stack, folder, played }, modeOf(mode)))
      return results
    } finally {
      await stack.stop()
    }
  })
  return {
    title: `Time and money of a round, model clock of ${Object.values(times).join(', ')} ms`,
    figures: goalsOf(rounds),
    tables: [
      tableOfTime(rounds),
      tableOfGaps(rounds),
      tableOfMoney(rounds),
      tableOfChains(rounds),
      tableOfShares(rounds),
    ],
    notes: ['What each column means is defined in bench/README.md.'],
  }
}

const QUEUE = 'queue'

const fasterBy = (times: ModelTimes, factor: number): ModelTimes => ({
  first_token: times.first_token / factor,
  input_token: times.input_token / factor,
  cached_token: times.cached_token / factor,
  output_token: times.output_token / factor,
})

interface Asked {
  name: string
  args: string[]
}

const modeOf = (mode: DemoMode): Asked => ({ name: `mode ${mode}`, args: ['--mode', mode] })

/** Makes the repository of a request, and the arguments of the demo for it. */
async function asked(stack: Stack, { name, request, iac_path, files }: SizedRequest): Promise<Asked> {
  const repository = { owner: 'bench', name: name.replaceAll(/[ ,]/g, '-'), content: { files } }
  const uri = await stack.addresses.git_host?.addRepository(repository)
  if (!uri) throw new Error('the stack of the bench has no git host')
  const root = iac_path === null ? [] : ['--iac-path', iac_path]
  return { name, args: ['--request', request, '--repo', uri, ...root] }
}

interface Player {
  stack: Stack
  folder: string
  /** Filled by the scripted model. */
  played: PlayedCall[]
}

async function playRound({ stack, folder, played }: Player, { name, args }: Asked): Promise<TimedRound> {
  played.length = 0
  stack.scripted_model?.forget()
  const result = await runDemo<DemoResult>(folder, ...args, '--limit', '900')
  const signal = AbortSignal.timeout(60_000)
  const session = await createApi(stack.url, signal).session(result.session_id)
  const { collector_token: token } = await loadSecrets(folder)
  const options = { token, pull_request: result.pull_request !== null, signal }
  const spans = await readTrace(stack.collector_url ?? '', session, options)
  const windows = session.rounds.map(windowOf)
  const began = Math.min(...windows.map(({ from }) => from))
  const calls = played
    .toSorted((a, b) => a.began_ms - b.began_ms)
    .map((call) => ({ ...call, chain: chainOf(call, spans) }))
  return { name, windows, calls, engine: await readJobs(folder, began) }
}

/** Milliseconds by which clocks of two processes and their rounding may differ. */
const TOLERANCE_MS = 20

/** Finds the chain whose span holds the call. */
function chainOf({ began_ms, ended_ms, usage, stopped }: PlayedCall, spans: readonly ReceivedSpan[]): string {
  const span = spans.find(
    (one) =>
      one.name === 'Async Inference' &&
      one.start_ms <= began_ms + TOLERANCE_MS &&
      one.end_ms >= ended_ms - TOLERANCE_MS &&
      (stopped || one.attributes['llm.token_count.prompt'] === usage.input),
  )
  const parent = spans.find(({ span_id }) => span_id === span?.parent_id)
  return parent?.name.replace('Chain - ', '') ?? 'unknown'
}

type Step = Interval & { chain?: string }

/** Reads the time of a round: the sums over the rounds of its session. */
export function timeOf({ windows, calls, engine }: Pick<TimedRound, 'windows' | 'calls' | 'engine'>) {
  const asked = calls.map(
    ({ chain, began_ms, ended_ms }): Step => ({
      ...{ kind: 'model', name: chain, chain },
      ...{ from: began_ms, to: ended_ms },
    }),
  )
  const paths = windows.map((window) => criticalPath([...asked, ...engine], window))
  const path = paths.flat()
  const gaps = paths.flatMap((one, index) => gapsIn(one, windows[index] ?? { from: 0, to: 0 }))
  const of = (steps: readonly Step[], ...chains: string[]) => steps.filter(({ chain = '' }) => chains.includes(chain))
  const wall = windows.reduce((sum, { from, to }) => sum + to - from, 0)
  const engineMs = lengthOf(path.filter(({ kind }) => kind === 'engine'))
  const generator = of(asked, 'IAC_GENERATOR')
  const reports = of(asked, 'REPORT_GENERATOR')
  const floor = lengthOf(generator) + engineMs + lengthOf(reports.slice(0, windows.length))
  return {
    wall,
    path,
    engineMs,
    gaps,
    /** Null for rounds that generate nothing. */
    floor: generator.length > 0 ? floor : null,
    modelCalls: path.filter(({ kind }) => kind === 'model').length,
    /** What the generator's turns, the filter and the reports need. */
    neededCalls: generator.length + of(asked, 'REQUESTS_FILTER').length + Math.min(reports.length, windows.length),
  }
}

/** Milliseconds that a gap must have to count as one. */
const LONG_GAP_MS = 50

const seconds = (ms: number): string => (ms / 1000).toFixed(2)
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
/** The share of calls of which there may be none. */
const shareOrNone = (known: Known): string => (known.length > 0 ? percent(shareOf(known)) : '-')

function tableOfTime(rounds: readonly TimedRound[]): Table {
  return {
    title: 'Time, in seconds',
    columns: [
      ...['round', 'wall', 'calls', 'on path', 'needed', 'stopped', 'model on path', 'engine on path', 'engine in all'],
      ...['idle', `gaps > ${LONG_GAP_MS} ms`, 'floor', 'wall/floor'],
    ],
    rows: rounds.map((round) => {
      const { wall, path, engineMs, gaps, floor, modelCalls, neededCalls } = timeOf(round)
      const idle = gaps.reduce((sum, { ms }) => sum + ms, 0)
      return [
        ...[round.name, seconds(wall), round.calls.length, modelCalls, neededCalls],
        round.calls.filter(({ stopped }) => stopped).length,
        ...[seconds(lengthOf(path) - engineMs), seconds(engineMs), seconds(lengthOf(round.engine))],
        ...[seconds(idle), gaps.filter(({ ms }) => ms > LONG_GAP_MS).length],
        ...(floor === null ? ['-', '-'] : [seconds(floor), (wall / floor).toFixed(2)]),
      ]
    }),
  }
}

/** Shows where the idle time of a round lies, for places with as much as one gap that counts. */
function tableOfGaps(rounds: readonly TimedRound[]): Table {
  return {
    title: 'Idle time by its place on the path',
    columns: ['round', 'after', 'before', 'gaps', 'seconds', 'longest'],
    rows: rounds
      .filter(({ name }) => SHOWN.includes(name))
      .flatMap((round) =>
        gapsByPlace(timeOf(round).gaps)
          .filter(({ ms }) => ms > LONG_GAP_MS)
          .map(({ after, before, count, ms, longest }) => [
            ...[round.name, after, before, count],
            ...[seconds(ms), seconds(longest)],
          ]),
      ),
  }
}

/** Adds up the dollars of calls, as if one model had answered them all. */
const dollarsOf = (model: string, calls: readonly PlayedCall[]): number =>
  calls.reduce((sum, { question, usage: { input, cached, output } }) => {
    const read = { input_tokens: input, cached_tokens: cached, output_tokens: output }
    const written = WRITES.test(model) ? { cache_write_tokens: Math.max(0, writtenOf(question, input) - cached) } : {}
    return sum + (price(model, { ...read, ...written }) ?? 0)
  }, 0)

/** Returns the tokens up to the last mark of a request: all, or of one that nobody continues, tools and system text. */
function writtenOf(question: Question, input: number): number {
  const isContinued = question.tools.length > 1 || question.messages.some(({ role }) => role === 'assistant')
  if (isContinued) return input
  return countTokens(layOut({ ...question, messages: question.messages.filter(({ role }) => role === 'system') }))
}

const totalOf = (calls: readonly { usage: Usage }[], field: keyof Usage): number =>
  calls.reduce((sum, { usage }) => sum + usage[field], 0)

function tableOfMoney(rounds: readonly TimedRound[]): Table {
  return {
    title: 'Money: tokens, and US dollars at list prices when one model answers all calls',
    columns: [
      ...['round', 'input', 'sent before', 'not before', 'share', 'main', 'small', 'chains', 'with rounds before'],
      'output',
      ...PRICED.map((model) => model.slice(model.indexOf('/') + 1)),
    ],
    rows: rounds.map((round, index) => {
      const { calls } = round
      const before = rounds.slice(0, index).flatMap((one) => one.calls)
      const [input, cached] = [totalOf(calls, 'input'), totalOf(calls, 'cached')]
      const ofModel = (name: string) => knownOfRound(calls.filter(({ question }) => question.model.startsWith(name)))
      return [
        ...[round.name, input, cached, input - cached, shareOrNone(knownOfRound(calls))],
        ...[shareOrNone(ofModel('main')), shareOrNone(ofModel('small'))],
        ...[shareOrNone(sumKnown(knownOfChains(calls).values())), shareOrNone(knownOfRound(calls, before))],
        totalOf(calls, 'output'),
        ...PRICED.map((model) => dollarsOf(model, calls).toFixed(4)),
      ]
    }),
  }
}

/** The rounds whose chains are shown one by one. */
const SHOWN = [QUEUE, 'mode generate', '10,000 files']

function tableOfChains(rounds: readonly TimedRound[]): Table {
  return {
    title: 'Chains: calls, tokens, and the share that is the beginning of the call before it in the chain',
    columns: ['round', 'chain', 'calls', 'input', 'not sent before', 'same beginning', 'output', 'seconds'],
    rows: chainsOf(rounds).map(({ round, chain, calls, known }) => [
      ...[round.name, chain, calls.length, totalOf(calls, 'input'), totalOf(calls, 'input') - totalOf(calls, 'cached')],
      ...[known ? percent(shareOf(known)) : '-', totalOf(calls, 'output')],
      seconds(calls.reduce((sum, { began_ms, ended_ms }) => sum + ended_ms - began_ms, 0)),
    ]),
  }
}

function tableOfShares(rounds: readonly TimedRound[]): Table {
  return {
    title: 'Chains: shares of the input',
    columns: ['round', 'chain', ...KINDS],
    rows: chainsOf(rounds).map(({ round, chain, calls }) => {
      const shares = calls.map(({ question }) => kindsOf(question))
      const sums = KINDS.map((kind) => shares.reduce((sum, one) => sum + one[kind], 0))
      const all = sums.reduce((sum, one) => sum + one, 0)
      return [round.name, chain, ...sums.map((sum) => percent(sum / all))]
    }),
  }
}

function chainsOf(rounds: readonly TimedRound[]) {
  return rounds
    .filter(({ name }) => SHOWN.includes(name))
    .flatMap((round) => {
      const known = knownOfChains(round.calls)
      const chains = [...new Set(round.calls.map(({ chain }) => chain))]
      return chains.map((chain) => ({
        ...{ round, chain, known: known.get(chain) },
        calls: round.calls.filter((call) => call.chain === chain),
      }))
    })
}

function goalsOf(rounds: readonly TimedRound[]): Figure[] {
  const round = rounds.find(({ name }) => name === QUEUE)
  if (!round) return []
  const { wall, floor, modelCalls, neededCalls } = timeOf(round)
  const all = rounds.flatMap(({ calls }) => [...knownOfChains(calls).values()])
  const generating = rounds.filter((one) => timeOf(one).floor !== null)
  const shares = generating.map(({ calls }) => shareOf(knownOfRound(calls)))
  const uncached = totalOf(round.calls, 'input') - totalOf(round.calls, 'cached')
  const main = round.calls.filter(({ question }) => question.model.startsWith('main'))
  return [
    { name: 'queue: wall time to its floor', value: wall / (floor ?? wall), unit: 'x', aim: 1.25 },
    { name: 'queue: model calls on the path', value: modelCalls, unit: 'calls', aim: neededCalls + 1 },
    { name: 'queue: input that no call had sent before', value: uncached, unit: 'tokens', aim: 9_800 },
    share('calls of a round to the main model: sent before, queue', shareOf(knownOfRound(main)), 60),
    share('calls of a chain: same beginning, all rounds', shareOf(sumKnown(all)), 90),
    share('calls of a round: sent before, queue', shareOf(knownOfRound(round.calls)), 60),
    share('calls of a round: sent before, all rounds that generate', mean(shares), 60),
    {
      name: 'rounds that generate with at least 60 %',
      value: shares.filter((one) => one >= 0.6).length,
      unit: `of ${shares.length}`,
    },
  ]
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const share = (name: string, value: number, aim: number): Figure => ({
  ...{ name, value: 100 * value, unit: '%', aim },
  at_least: true,
})
