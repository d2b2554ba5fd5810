import { useEffect, useState } from 'preact/hooks'

/** A value once it has stayed the same for a while, so that not every key that is pressed asks the platform. */
export function useDebounced(value: string, ms = 400): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
