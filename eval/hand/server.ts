import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { type ChatAnswer, chatCompletion, chatCompletionEvents, chatError } from '../../dev/chat-completions.ts'
import { writeAtomically } from '../../dev/files.ts'
import { BodyTooLarge, listen, readBody } from '../../dev/server.ts'
import { section } from '../../dev/stack/choices.ts'
import type { HandChoice } from '../options.ts'
import { modelVariables, readConfiguration } from '../stack.ts'
import {
  createPrefixes,
  type HandAnswer,
  type HandRequest,
  type Measured,
  outputChars,
  readRequest,
  STATUS_TEXT,
  tokensOf,
} from './answer.ts'
import { type HandFolder, openHandFolder } from './folder.ts'
import { createReader } from './readable.ts'
import { recordOf } from './statistics.ts'

/** The endpoint's model names, without their provider. */
export const HAND_MODELS = { main: 'hand', small: 'hand-small' } as const

export interface HandOptions {
  folder: string
  /** Port on the loopback address; by default a free one. */
  port?: number
  /** True if calls without tools are answered at once. */
  autoStatus: boolean
  /** Milliseconds between two looks for an answer. */
  pollMs?: number
  /** Milliseconds between two signs of life to a client that waits. */
  aliveMs?: number
  onCall?(call: number, chain: string): void
}
export type HandEndpoint = Awaited<ReturnType<typeof startHandEndpoint>>

const AUTOMATIC: HandAnswer = { text: 'Working on it.', calls: [] }

/**
 * Starts an endpoint of chat completions at `/v1` that waits for answers in files. A client that disconnects aborts its
 * call. Blanks, or comments in a stream, keep the connection of a waiting call alive. Errors: `EADDRINUSE`.
 */
export async function startHandEndpoint(options: HandOptions) {
  const folder = openHandFolder(options.folder)
  await endForgotten(folder)
  const play = createPlay(options, folder, await folder.nextNumber())
  const server = createServer(async (request, response) => {
    const refuse = (status: number, message: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(chatError(message)))
    try {
      if (request.method !== 'POST' || !/\/chat\/completions$/.test(request.url ?? ''))
        return refuse(404, 'only chat completions are served here')
      const body: unknown = JSON.parse((await readBody(request, 64 * 1024 * 1024)).toString('utf8'))
      await play.serve(body, readRequest(body), response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else if (error instanceof BodyTooLarge) refuse(413, error.message)
      else if (error instanceof RangeError || error instanceof SyntaxError) refuse(400, error.message)
      else refuse(500, 'the call could not be kept')
    }
  })
  // A call may wait for hours, unlike the server's default limits, which are for slow requests.
  server.requestTimeout = 0
  const running = await listen(server, { port: options.port })
  await folder.setEndpoint({ url: running.url, pid: process.pid, open: true })
  return {
    ...running,
    folder,
    /**
     * Names a round that begins. Until one is named, rounds are identified by their first chain.
     * @param lane the sample; its rounds follow one another
     * @param request its text, by which the calls of rounds at the same time are told apart
     */
    beginRound: play.beginRound,
    /** Ends the last round of a sample. */
    endRounds: play.endRounds,
    close: async () => {
      await running.close()
      await play.settled()
      await folder.setEndpoint({ url: running.url, pid: process.pid, open: false })
    },
  }
}

/** Ends the calls that waited when an earlier endpoint of the folder ended, because their clients are gone. */
async function endForgotten(folder: HandFolder): Promise<void> {
  for (const call of await folder.waiting()) {
    const request = await folder.request(call)
    const nothing = { input_chars: 0, prefix_chars: 0, answer: null, waitedMs: 0 }
    if (request) await folder.end(recordOf(call, 'an earlier run', request, nothing))
  }
}

/** Makes the state that the endpoint keeps from call to call. */
function createPlay(options: HandOptions, folder: HandFolder, first: number) {
  const measure = createPrefixes()
  const render = createReader()
  const underWay = new Set<Promise<void>>()
  const rounds = createRounds()
  let next = first
  /** Polls for the answer; null if the client disconnects first. */
  const waitForAnswer = async (call: number, request: HandRequest, response: ServerResponse) => {
    for (; !response.destroyed; await sleep(options.pollMs ?? 150)) {
      const answer = await folder.look(call, request)
      if (answer) return answer
    }
    return null
  }
  const serve = async (body: unknown, request: HandRequest, response: ServerResponse) => {
    const call = next++
    const round = rounds.of(request)
    const began = performance.now()
    const measured = measure(request)
    await folder.begin(call, body, render(call, request))
    options.onCall?.(call, request.chain)
    const keepAlive = beginResponse(request, response, options.aliveMs ?? 10_000)
    const automatic = options.autoStatus && request.chain === STATUS_TEXT
    const answer = automatic ? AUTOMATIC : await waitForAnswer(call, request, response)
    clearInterval(keepAlive)
    const waitedMs = Math.round(performance.now() - began)
    await folder.end(recordOf(call, round, request, { ...measured, answer, waitedMs }))
    if (!answer) return
    const completion = completionOf(call, request, measured, answer)
    response.end(request.stream ? chatCompletionEvents(completion) : JSON.stringify(chatCompletion(completion)))
  }
  return {
    beginRound: rounds.begin,
    endRounds: rounds.end,
    serve: async (body: unknown, request: HandRequest, response: ServerResponse) => {
      const serving = serve(body, request, response)
      underWay.add(serving)
      await serving.finally(() => underWay.delete(serving))
    },
    settled: () => Promise.allSettled(underWay),
  }
}

function completionOf(call: number, { model }: HandRequest, measured: Measured, answer: HandAnswer): ChatAnswer {
  const input = tokensOf(measured.input_chars)
  const cached = Math.min(input, Math.floor(measured.prefix_chars / 4))
  return {
    id: `hand-${call}`,
    model,
    text: answer.text,
    calls: answer.calls.map((each, index) => ({ id: `call_${call}_${index}`, ...each })),
    usage: { input, output: tokensOf(outputChars(answer)), cached },
  }
}

/** Sends the head of the answer at once, followed by keep-alive bytes. */
function beginResponse({ stream }: HandRequest, response: ServerResponse, everyMs: number): NodeJS.Timeout {
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
  response.flushHeaders()
  return setInterval(() => response.write(stream ? ': waiting\n\n' : ' '), everyMs)
}

/**
 * Identifies rounds by the names of those under way, or by the first call of the chain that begins a round. Of several
 * rounds, the ones whose request a call contains are named, or all where it contains none.
 */
function createRounds() {
  const underWay = new Map<string, { name: string; request: string }>()
  let last: string | null = null
  let count = 0
  return {
    begin: (lane: string, name: string, request: string) => {
      underWay.set(lane, { name, request })
      last = name
    },
    end: (lane: string) => underWay.delete(lane),
    of: ({ chain, messages }: HandRequest): string => {
      if (chain === 'requests_filter' && messages.every(({ calls }) => calls.length === 0)) count++
      const rounds = [...underWay.values()]
      const asked = rounds.filter(({ request }) => messages.some(({ text }) => text?.includes(request)))
      const names = (asked.length > 0 ? asked : rounds).map(({ name }) => name)
      return names.join(' or ') || (last ?? `round ${Math.max(count, 1)}`)
    },
  }
}

/** Time limit in seconds of a model call that people answer: a day. */
export const PATIENCE_S = 86_400

/** Starts the endpoint of a choice. @param fresh removes what the folder holds from earlier runs */
export async function openEndpoint(choice: HandChoice, fresh: boolean): Promise<HandEndpoint> {
  if (fresh) await rm(choice.folder, { recursive: true, force: true })
  const endpoint = await startHandEndpoint({
    ...choice,
    onCall: (call, chain) => console.error(`call ${call}: ${chain}`),
  })
  console.error(`answers are awaited in ${choice.folder}: npm run eval -- --hand --next shows the first call`)
  return endpoint
}

/** Makes the variables that connect a stack to the endpoint. */
export const handVariables = (url: string) => modelVariables(url, HAND_MODELS)

/** Serves until the signal fires. Prints the lines that start a stack with the endpoint. */
export async function serve(choice: HandChoice, options: { fresh: boolean; signal: AbortSignal }): Promise<void> {
  const endpoint = await openEndpoint(choice, options.fresh)
  const path = join(choice.folder, 'platform.yaml')
  const document = await readConfiguration(process.env.PLATFORM_CONFIG)
  await writeAtomically(path, stringify({ ...document, llm: { ...section(document, 'llm'), timeout: PATIENCE_S } }))
  const variables = { ...handVariables(endpoint.url), PLATFORM_CONFIG: path }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value} \\`)
  console.log([...lines, '  npm start'].join('\n'))
  if (!options.signal.aborted) await once(options.signal, 'abort')
  await endpoint.close()
}
