import type { GitProvider } from '../../config/types.ts'
import { badGateway } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { azureDevopsHost } from './azure-devops.ts'
import { githubHost } from './github.ts'
import { gitlabHost } from './gitlab.ts'
import type { HostFactory, PullRequestHost } from './host.ts'

const PROVIDERS: Record<GitProvider, HostFactory> = {
  GITHUB: githubHost,
  AZURE_DEVOPS: azureDevopsHost,
  GITLAB: gitlabHost,
}

/**
 * Creates the configured provider's client for a repository; sends no request. Errors: 502 when the configuration has
 * no credentials, 400 for an address that is not the provider's.
 */
export function createPullRequestHost(
  { config, fetch }: Pick<Context, 'config' | 'fetch'>,
  uri: string,
): PullRequestHost {
  const { git, orchestration } = config
  if (!git.user || !git.token)
    throw badGateway(
      'Git credentials are not configured; pull requests need the account and token of the git provider.',
    )
  return PROVIDERS[git.provider]({ git, fetch, readinessSeconds: orchestration.pull_request_readiness_seconds }, uri)
}
