import type { Fetch } from '../base/http.ts'
import { allowedAddresses } from './allowed-addresses.ts'
import type { GitContext } from './remote.ts'

/**
 * The `fetch` for one conversation with a repository host: its addresses are looked up and checked
 * here, and connections go to them alone, so that a name which answers otherwise a moment later
 * leads nowhere. Where a context has no pinned `fetch`, only the certificate stands against that.
 * Errors: those of `allowedAddresses`.
 */
export async function checkedFetch(context: GitContext, url: URL, signal?: AbortSignal): Promise<Fetch> {
  const addresses = await allowedAddresses(context.config.git, context.resolver, url, signal)
  return context.pinnedFetch?.(url, addresses) ?? context.fetch
}
