import type { Fetch } from '../http/outbound.ts'

/** Name look-up, injected because the standard web interfaces have none. Addresses as text. */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>

/**
 * A `fetch` that connects to these addresses of the host, and to no others.
 * @param host `hostname` of a URL
 */
export type PinnedFetch = (host: string, addresses: readonly string[]) => Fetch
