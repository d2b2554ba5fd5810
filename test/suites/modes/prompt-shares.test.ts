import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type ChainCall,
  firstDifference,
  knownOfChains,
  knownOfRound,
  shareOf,
  sumKnown,
} from '../../../bench/clock/prompt-shares.ts'
import { sizedRequests } from '../../../bench/clock/requests.ts'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { type PlayedCall, startScriptedModel } from '../../../dev/scripted-model/start.ts'
import { interceptedLlm } from '../../helpers/model-server.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { GATES } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)
const played: PlayedCall[] = []
const model = startScriptedModel({
  recordings: sizedRequests().map(({ recording }) => recording),
  onCall: (call) => played.push(call),
})
afterAll(async () => (await model).close())

/** Runs a recorded round with two models, and returns its calls in order. A chain is known by the tool that ends it. */
async function callsOf(query: string, files: Record<string, string>): Promise<ChainCall[]> {
  const { url } = await model
  const named = (name: string) => ({
    model_name: name,
    litellm_params: { model: `openai/${name}`, api_base: `${url}/v1`, api_key: 'k' },
  })
  const llm = interceptedLlm({ model: 'main', small_model: 'small', model_list: [named('main'), named('small')] })
  played.length = 0
  const session = await firstRound(stack, stack.context(llm, { orchestration: GATES }), { query, files })
  expect(session.failures).toEqual([])
  expect(session.statuses.at(-1)).toBe('completed')
  return played
    .toSorted((a, b) => a.began_ms - b.began_ms)
    .map(({ question }) => ({ chain: question.tools.at(-1)?.name ?? 'text', question }))
}

const percentOf = (known: Parameters<typeof shareOf>[0]) => Math.round(100 * shareOf(known))

async function sample(name: string): Promise<Record<string, string>> {
  const folder = join('dev/samples', name)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')])),
  )
}

/** Names each call of a chain that does not begin with all of the call before it. */
function broken(calls: readonly ChainCall[], chain: string): string[] {
  const own = calls.filter((call) => call.chain === chain)
  return own
    .slice(1)
    .flatMap(({ question }, index) => firstDifference(own[index]?.question ?? question, question) ?? [])
}

/** What the round of the queue may send that no call of it has sent before: a little more than when it was measured. */
const MAX_NEW_TOKENS = 12_000
const CHARS_PER_TOKEN = 4

describe('what a provider has read before', () => {
  it('is most of a round with a repair', async () => {
    const calls = await callsOf(EXAMPLES.generate.request, await sample(EXAMPLES.generate.sample))
    expect(broken(calls, 'task_complete')).toEqual([])
    expect(broken(calls, 'requests_filter')).toEqual([])
    expect(percentOf(sumKnown(knownOfChains(calls).values()))).toBeGreaterThanOrEqual(90)
    expect(percentOf(knownOfRound(calls))).toBeGreaterThanOrEqual(60)
  })

  it.each(['tag', 'queue'])('is most of what the main model reads for: %s', async (name) => {
    const asked = sizedRequests().find((one) => one.name === name)
    const calls = await callsOf(asked?.request ?? '', asked?.files ?? {})
    expect(broken(calls, 'task_complete')).toEqual([])
    expect(percentOf(sumKnown(knownOfChains(calls).values()))).toBeGreaterThanOrEqual(90)
    const main = calls.filter(({ question }) => question.model === 'main')
    expect(percentOf(knownOfRound(main))).toBeGreaterThanOrEqual(60)
    const { length, known } = knownOfRound(calls)
    if (name === 'queue') expect((length - known) / CHARS_PER_TOKEN).toBeLessThanOrEqual(MAX_NEW_TOKENS)
  })

  it('holds the tools that chains of one model have in common', async () => {
    // Of a small repository the filter is shown all, so that it has no tools.
    const calls = await callsOf(EXAMPLES.generate.request, await sample(EXAMPLES.generate.sample))
    const toolsOf = (chain: string) =>
      calls.find((call) => call.chain === chain)?.question.tools.map((tool) => JSON.stringify(tool)) ?? []
    const [filter, generator] = [toolsOf('requests_filter'), toolsOf('task_complete')]
    expect(filter.length).toBeGreaterThan(1)
    expect(generator.slice(0, filter.length - 1)).toEqual(filter.slice(0, -1))
  })
})
