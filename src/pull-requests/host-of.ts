import type { Context } from '../context.ts'
import { badGateway } from '../errors.ts'
import { githubHost } from './github.ts'
import type { PullRequestHost } from './types.ts'

/**
 * The provider of pull requests for a repository: the configured one, whatever the address says.
 * Errors: 502 without credentials and for providers that are not supported, 400 for an address that
 * does not belong to the provider. Contacts nobody.
 */
export function pullRequestHost(context: Pick<Context, 'config' | 'fetch'>, uri: string): PullRequestHost {
  const { git } = context.config
  if (git.provider !== 'GITHUB')
    throw badGateway(`Pull requests at ${git.provider} are not supported by this version; open one by hand from the session branch.`)
  if (!git.user || !git.token)
    throw badGateway('Git credentials are not configured; pull requests need the account and token of the git provider.')
  return githubHost(git, uri, context.fetch)
}
