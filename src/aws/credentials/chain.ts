import { fromContainer } from './container.ts'
import { fromInstance } from './instance.ts'
import { keptCredentials } from './kept.ts'
import { fromProfile } from './profile.ts'
import { type ChainLink, type ChainTools, type CredentialSource, credentialFault } from './types.ts'
import { fromVariables } from './variables.ts'
import { fromWebIdentity } from './web-identity.ts'

const LINKS: readonly (readonly [string, ChainLink])[] = [
  ['key variables', fromVariables],
  ['web identity', fromWebIdentity],
  ['shared files', fromProfile],
  ['container', fromContainer],
  ['instance metadata', fromInstance],
]

/**
 * The default credential chain: the first place that is set up is used, and stays the one that is asked
 * for renewals. Errors: `CredentialError`.
 */
export function defaultCredentials(tools: ChainTools): CredentialSource {
  let chosen: ChainLink | null = null
  const lookUp: CredentialSource = async () => {
    for (const [source, link] of LINKS) {
      if (chosen && link !== chosen) continue
      const found = await link(tools)
      if (!found) continue
      if (!chosen)
        tools.log.info(`credentials of ${tools.purpose} found`, {
          source,
          expires: found.expires?.toISOString() ?? null,
        })
      chosen = link
      return found
    }
    throw credentialFault(chosen ? 'the place they came from has none any more' : 'no place to look for them is set up')
  }
  return keptCredentials(lookUp, tools)
}
