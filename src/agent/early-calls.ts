import type { ReplyProgress } from '../llm/inference.ts'
import type { Tool } from './agent-request.ts'
import { type CallMemory, keyOf } from './call-memory.ts'
import { parseArguments, type StartedCall, type StartedCalls } from './execute-call.ts'

/**
 * Starts the calls of a reply that is still arriving, one after the other, as long as they only read. The first call of
 * another kind ends this for the reply: what comes after it may depend on what it changes. Whoever uses it calls
 * `progress.restart` when the reply failed and when it was answered, which stops what was started in vain.
 */
export function createEarlyCalls(context: {
  offered: ReadonlyMap<string, Tool>
  memory: CallMemory
  signal: AbortSignal
}): StartedCalls & { progress: ReplyProgress } {
  const { offered, memory, signal } = context
  let started = new Map<string, StartedCall>()
  let stop = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  let mayStart = true
  const clear = () => {
    stop.abort()
    stop = new AbortController()
    started = new Map()
    last = Promise.resolve()
  }
  return {
    progress: {
      call: ({ name, arguments: text }) => {
        const tool = offered.get(name)
        mayStart &&= tool?.reads === true
        const args = mayStart && tool ? argumentsOrNull(tool, text) : null
        if (!tool || !args || memory.earlier(name, args) !== undefined || started.has(keyOf(name, args))) return
        const either = AbortSignal.any([signal, stop.signal])
        const call = startAfter(last, () => {
          either.throwIfAborted()
          return tool.run(args, either)
        })
        last = call.result.catch(() => {})
        started.set(keyOf(name, args), call)
      },
      restart: () => {
        clear()
        mayStart = true
      },
    },
    take: (name, args) => {
      const call = started.get(keyOf(name, args))
      started.delete(keyOf(name, args))
      return call
    },
    clear,
  }
}

function startAfter(before: Promise<unknown>, work: () => unknown): StartedCall {
  const call: StartedCall = { result: Promise.resolve(), durationMs: 0 }
  call.result = before.then(async () => {
    const began = performance.now()
    try {
      return await work()
    } finally {
      call.durationMs = performance.now() - began
    }
  })
  return call
}

/** Returns null for arguments with a fault, which is told to the model when the reply is whole. */
function argumentsOrNull({ definition }: Tool, text: string): Record<string, unknown> | null {
  try {
    return parseArguments(definition, text)
  } catch {
    return null
  }
}
