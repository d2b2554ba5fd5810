import type { Fetch } from '../base/http.ts'

/** Name look-up, injected because the standard web interfaces have none. Addresses as text. */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>

/**
 * A `fetch` for the origin of this address that connects to these addresses of its host, and to no
 * others. It follows no redirect.
 */
export type PinnedFetch = (url: URL, addresses: readonly string[]) => Fetch
