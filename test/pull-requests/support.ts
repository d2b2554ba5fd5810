import { vi } from 'vitest'
import { PlatformError } from '../../src/base/errors.ts'
import type { MergeOptions, PullRequestHost } from '../../src/pull-requests/host.ts'
import { createPullRequestHost } from '../../src/pull-requests/host-of.ts'
import { configOf } from '../helpers/core.ts'

export const NEW = {
  title: 'Add a bucket',
  description: 'Why and what.',
  head: 'Platform/2026-01-31_235959-1a2b',
  base: 'main',
}
export const never = (): AbortSignal => new AbortController().signal
/** Makes the refusal of a merge whose branch is not at the commit that may be merged. */
export const movedRefusal = (number: number, commit: string) => ({
  status: 409,
  message:
    `Pull Request ${number} holds code that was not reviewed: its branch is not at commit ${commit.slice(0, 12)}, ` +
    'with which the last completed round ended. PR merge is not allowed; run another round first.',
})
export const freely: MergeOptions = { confirm: async () => {}, signal: never() }

/** Creates the adapter of the configured provider, on msw's fetch. */
export async function hostOf(uri: string, yaml = ''): Promise<PullRequestHost> {
  return createPullRequestHost(
    { config: await configOf(yaml), fetch: (input, init) => globalThis.fetch(input, init) },
    uri,
  )
}

export async function refusalOf(call: Promise<unknown>): Promise<{ status: number; message: string }> {
  const error: unknown = await call.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof PlatformError)) throw error
  return { status: error.status, message: error.message }
}

/** Makes timers of this length end at once and counts them. `vi.unstubAllGlobals` restores them. */
export function shortenTimers(length_ms: number): { count: number } {
  const shortened = { count: 0 }
  const real = globalThis.setTimeout
  // The HTTP client of the runtime passes further arguments that it needs.
  vi.stubGlobal('setTimeout', (work: () => void, ms?: number, ...args: []) => {
    if (ms === length_ms) shortened.count++
    return real(work, ms === length_ms ? 0 : ms, ...args)
  })
  return shortened
}

/** Controls the limit of 45 seconds of a whole call: the function ends it, as soon as it has begun. */
export function controlTotal(): () => Promise<void> {
  const total = Promise.withResolvers<() => void>()
  const real = globalThis.setTimeout
  vi.stubGlobal('setTimeout', (work: () => void, ms?: number, ...args: []) => {
    if (ms === 45_000) total.resolve(work)
    return real(work, ms, ...args)
  })
  return async () => (await total.promise)()
}

/** Controls the time limit of the current call: `late()` inside a handler ends it, `restore` undoes this. */
export function controlCallLimit(): { late(): void; restore(): void } {
  const limits: AbortController[] = []
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController()
    if (ms === 20_000) limits.push(controller)
    return controller.signal
  })
  return {
    late: () => limits.at(-1)?.abort(new DOMException('late', 'TimeoutError')),
    restore: () => spy.mockRestore(),
  }
}

/** Makes an answer that begins and then stalls. */
export const stuckBody = (begun: () => void): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"number": 7,')),
      pull: () => begun(),
    }),
    { headers: { 'content-type': 'application/json' } },
  )
