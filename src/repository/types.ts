/** Name look-up, injected because the standard web interfaces have none. Addresses as text. */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>
