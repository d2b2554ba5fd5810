import { useQuery } from '@tanstack/preact-query'

/** Returns a part of the console that is loaded when it is first needed; undefined until then, and if that fails. */
export const useModule = <Value>(name: string, needed: boolean, load: () => Promise<Value>): Value | undefined =>
  useQuery({
    queryKey: ['module', name],
    queryFn: load,
    enabled: needed,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  }).data
