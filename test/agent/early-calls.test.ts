import { describe, expect, it } from 'vitest'
import { type AgentRequest, type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { runAgent } from '../../src/agent/run-agent.ts'
import { OutboundError } from '../../src/base/http.ts'
import type { Inference, LlmClient, ReplyProgress, ToolCall } from '../../src/llm/inference.ts'
import { untilAborted } from '../helpers/until-aborted.ts'

/** Calls of a reply that start while it is still arriving. */

const call = (name: string, args: unknown): ToolCall => ({
  id: crypto.randomUUID(),
  name,
  arguments: JSON.stringify(args),
})
const end = call('done', { summary: 'all good' })

const answer = (tool_calls: ToolCall[], more: Partial<Inference> = {}): Inference => ({
  model: 'test/model',
  text: '',
  tool_calls,
  finish: 'tool_use',
  finish_raw: 'tool_calls',
  usage: { input_tokens: 10, cached_tokens: 0, output_tokens: 5 },
  ...more,
})

type Reply = (progress: ReplyProgress) => Promise<Inference> | Inference

/** Makes a chain whose replies arrive as each function says. */
function chain(replies: readonly Reply[], tools: readonly Tool[], more: Partial<AgentRequest<unknown>> = {}) {
  const sent: string[][] = []
  const llm: LlmClient = {
    complete: async ({ messages, progress }) => {
      sent.push(messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])))
      const reply = replies[Math.min(sent.length, replies.length) - 1]
      if (!reply || !progress) throw new Error('no reply, or nothing to follow it')
      return await reply(progress)
    },
    search: async () => null,
  }
  const run = () =>
    runAgent({
      llm,
      chain: 'IAC_GENERATOR',
      role: 'main',
      query: 'the query',
      tools,
      resultTool: { definition: definitionOf('done'), run: (args) => args.summary },
      maxTurns: 5,
      signal: new AbortController().signal,
      ...more,
    })
  return { run, sent }
}

const definitionOf = (name: string) => ({ name, description: name, parameters: { type: 'object', required: [] } })
const log: string[] = []
const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  definition: definitionOf(name),
  run: ({ target }) => {
    log.push(`${name} ${target}`)
    return `${name} of ${target}`
  },
  ...more,
})
const started = () => log.splice(0)

describe('a call of a reply that is still arriving', () => {
  it('starts when it is complete, once, and its result answers the call', async () => {
    const ran = Promise.withResolvers<void>()
    const read = tool('read', {
      reads: true,
      run: ({ target }) => {
        log.push(`read ${target}`)
        ran.resolve()
        return `text of ${target}`
      },
    })
    const [a, b] = [call('read', { target: 'a' }), call('read', { target: 'b' })]
    const { run, sent } = chain(
      [
        async (progress) => {
          progress.call(a)
          // The reply ends only when the first call has run.
          await ran.promise
          expect(started()).toEqual(['read a'])
          progress.call(b)
          return answer([a, b])
        },
        () => answer([end]),
      ],
      [read],
    )
    expect((await run()).value).toBe('all good')
    expect(started()).toEqual(['read b'])
    expect(sent[1]).toEqual(['text of a', 'text of b'])
  })

  it('runs after the one before it has ended', async () => {
    const first = Promise.withResolvers<string>()
    const read = tool('read', {
      reads: true,
      run: ({ target }) => {
        log.push(`read ${target}`)
        return target === 'a' ? first.promise : 'b'
      },
    })
    const calls = [call('read', { target: 'a' }), call('read', { target: 'b' })]
    const { run, sent } = chain(
      [
        async (progress) => {
          for (const one of calls) progress.call(one)
          await new Promise(setImmediate)
          expect(started()).toEqual(['read a'])
          first.resolve('a')
          return answer(calls)
        },
        () => answer([end]),
      ],
      [read],
    )
    await run()
    expect(started()).toEqual(['read b'])
    expect(sent[1]).toEqual(['a', 'b'])
  })

  it('does not start when it edits, comes after an edit, ends the chain, is unknown, wrong or was made before', async () => {
    const tools = [tool('read', { reads: true }), tool('edit', { mutates: true })]
    const replies: ToolCall[][] = [
      [call('read', { target: 'x' })],
      [call('read', { target: 'x' }), call('edit', { target: 'a' }), call('read', { target: 'x' })],
      [call('nothing', {}), call('read', { target: 'y' })],
      [{ ...call('read', {}), arguments: '{"target"' }, call('read', { target: 'z' }), end],
    ]
    const early: string[][] = []
    const { run, sent } = chain(
      replies.map((calls) => async (progress: ReplyProgress) => {
        started()
        for (const one of calls) progress.call(one)
        await new Promise(setImmediate)
        early.push(started())
        return answer(calls)
      }),
      tools,
    )
    expect((await run()).value).toBe('all good')
    expect(early).toEqual([['read x'], [], [], ['read z']])
    expect(sent[2]?.slice(1)).toEqual([expect.stringContaining('Not run again'), 'edit of a', 'read of x'])
  })

  it('that fails tells its error, as a call of a whole reply does', async () => {
    const read = tool('read', {
      reads: true,
      run: () => {
        throw new ToolError('no such file')
      },
    })
    const one = call('read', { target: 'a' })
    const follow = (progress: ReplyProgress) => {
      progress.call(one)
      return answer([one])
    }
    const { run, sent } = chain([follow, () => answer([end])], [read])
    await run()
    expect(sent[1]).toEqual(['no such file'])
  })
})

describe('a call that was started in vain', () => {
  /** A tool that runs until it is stopped. */
  const waiting = () => {
    const stopped = Promise.withResolvers<void>()
    const read = tool('read', {
      reads: true,
      run: async (_, signal) => {
        log.push('began')
        await untilAborted(signal)
        stopped.resolve()
        throw signal.reason
      },
    })
    return { read, stopped: stopped.promise }
  }
  const begun = async (progress: ReplyProgress) => {
    progress.call(call('read', { target: 'a' }))
    await new Promise(setImmediate)
    expect(started()).toEqual(['began'])
  }

  it.each<[string, Reply, RegExp | null]>([
    ['the reply fails', () => Promise.reject(new OutboundError('network', 'it broke')), /it broke/],
    [
      'the reply is withheld',
      () => answer([], { finish: 'content_filter', finish_raw: 'content_filter' }),
      /content_filter/,
    ],
    ['the reply holds another call in the end', () => answer([end]), null],
    [
      'the reply is asked for again',
      async (progress) => {
        progress.restart()
        return answer([end])
      },
      null,
    ],
  ])('is stopped when %s', async (_, then, error) => {
    const { read, stopped } = waiting()
    const { run } = chain(
      [
        async (progress) => {
          await begun(progress)
          return await then(progress)
        },
      ],
      [read],
    )
    if (error) await expect(run()).rejects.toThrow(error)
    else expect((await run()).value).toBe('all good')
    await stopped
  })

  it('is stopped when the reply was cut off and is asked for again', async () => {
    const { read, stopped } = waiting()
    const cut: Reply = async (progress) => {
      await begun(progress)
      return answer([call('read', { target: 'a' })], { finish: 'max_tokens', finish_raw: 'length' })
    }
    const { run } = chain([cut, () => answer([end])], [read])
    expect((await run()).value).toBe('all good')
    await stopped
  })
})
