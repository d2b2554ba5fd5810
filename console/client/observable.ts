export type Store<T> = ReturnType<typeof createStore<T>>

/** Creates a value that parts of the page share and subscribe to. */
export function createStore<T>(initial: T) {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set: (value: T) => {
      if (Object.is(value, current)) return
      current = value
      for (const listener of listeners) listener()
    },
    /** Returns a function that ends the subscription. */
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
