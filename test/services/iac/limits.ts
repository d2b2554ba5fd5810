import { vi } from 'vitest'

/** Records the time limits of calls in milliseconds. `end` ends the latest call with this limit. */
export function controlTimeLimits(): { asked: number[]; end(ms: number): void; restore(): void } {
  const asked: number[] = []
  const controllers = new Map<number, AbortController>()
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController()
    asked.push(ms)
    controllers.set(ms, controller)
    return controller.signal
  })
  const end = (ms: number) => {
    const controller = controllers.get(ms)
    if (!controller) throw new Error(`no call has a limit of ${ms} ms`)
    controller.abort(new DOMException('late', 'TimeoutError'))
  }
  return { asked, end, restore: () => spy.mockRestore() }
}
