import { afterEach, describe, expect, it, vi } from 'vitest'
import { ANTHROPIC } from './clients/anthropic.ts'
import { BEDROCK } from './clients/bedrock.ts'
import { CHAT } from './clients/chat.ts'
import { GOOGLE } from './clients/google.ts'
import { MISTRAL } from './clients/mistral.ts'
import type { Oracle } from './clients/types.ts'
import { OPENING } from './conversation.ts'
import { ERRORS } from './errors.ts'
import { interceptor, ourClient, type Reply } from './exchange.ts'

const serve = interceptor()
afterEach(() => vi.unstubAllGlobals())

/** Lets waits of a quarter of a second to fifty seconds pass at once, and notes them. */
function noteWaits(): number[] {
  const waits: number[] = []
  const real = globalThis.setTimeout
  vi.stubGlobal('setTimeout', (work: () => void, ms = 0, ...args: []) => {
    const isWait = ms >= 250 && ms <= 50_000
    if (isWait) waits.push(ms)
    return real(work, isWait ? 0 : ms, ...args)
  })
  return waits
}

interface Seen {
  status: number | undefined
  message: string
  repeated: boolean
  waits: number[]
}

async function seen(reply: Reply, call: () => Promise<unknown>): Promise<Seen> {
  const sent = serve(reply)
  const waits = noteWaits()
  const error = await call().then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  vi.unstubAllGlobals()
  const { status, statusCode, $metadata, message } = error as {
    status?: number
    statusCode?: number
    $metadata?: { httpStatusCode?: number }
    message: string
  }
  return {
    status: status ?? statusCode ?? $metadata?.httpStatusCode,
    message,
    repeated: sent.length > 1,
    waits,
  }
}

const CLIENTS: Record<string, Oracle | undefined> = {
  openai: CHAT.find(({ name }) => name.startsWith('openai/gpt-4o')),
  groq: CHAT.find(({ name }) => name.startsWith('groq')),
  anthropic: ANTHROPIC[0],
  google: GOOGLE[0],
  bedrock: BEDROCK[0],
  mistral: MISTRAL[0],
}

describe('an error of the documentation', () => {
  it.each(ERRORS.map((one) => [one.client, one.what, one] as const))(
    '%s: %s',
    async (client, _what, { reply, says, differs, never_repeats, waits }) => {
      const oracle = CLIENTS[client]
      if (!oracle) throw new Error(`no client ${client}`)
      const theirs = await seen(reply, () => oracle.begin({ maxRetries: 1 }))
      const ours = await seen(reply, () => ourClient(oracle.ours).complete({ role: 'main', messages: OPENING }))
      expect(ours.status).toBe(theirs.status)
      expect(theirs.message).toContain(says)
      expect(ours.message).toBe(`Inference call to ${oracle.ours.model} failed: ${says}`)
      // The clients of Google and Mistral repeat nothing unless they are told what.
      if (never_repeats) expect(theirs.repeated).toBe(false)
      else if (differs) expect(ours.repeated, differs).toBe(!theirs.repeated)
      else expect(ours.repeated).toBe(theirs.repeated)
      if (waits !== undefined) {
        expect(ours.waits).toContain(waits)
        if (!never_repeats) expect(theirs.waits).toContain(waits)
      }
    },
    60_000,
  )
})
