import { createStore, type Store } from '../observable.ts'

/** The state of the connection. `since` is the time of the loss in milliseconds of the epoch. */
type Connection = { online: true } | { online: false; since: number }

export interface ConnectionWatch {
  state: Store<Connection>
  /** Records a request without an answer: listeners are notified, and the platform is polled until it answers. */
  lost(): void
  /** Records a request with an answer. */
  found(): void
  /** Waits until the platform answers again, or until `signal` is aborted. */
  back(signal: AbortSignal): Promise<void>
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

/** Returns a watch of the connection; `probe` resolves when the platform answers anything. */
export function watchConnection(probe: () => Promise<unknown>): ConnectionWatch {
  const state = createStore<Connection>({ online: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const found = () => {
    clearTimeout(timer)
    if (!state.get().online) state.set({ online: true })
  }
  const tryAgain = (wait: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => probe().then(found, () => tryAgain(Math.min(wait * 2, LONGEST_WAIT_MS))), wait)
  }
  const lost = () => {
    if (!state.get().online) return
    state.set({ online: false, since: Date.now() })
    tryAgain(FIRST_WAIT_MS)
  }
  addEventListener('offline', lost)
  addEventListener('online', () => {
    if (!state.get().online) tryAgain(0)
  })
  const back = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (state.get().online || signal.aborted) return resolve()
      const end = () => {
        unsubscribe()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const unsubscribe = state.subscribe(() => state.get().online && end())
      signal.addEventListener('abort', end)
    })
  return { state, lost, found, back }
}
