import type { GitProvider } from '../../config/types.ts'
import { badGateway } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { azureDevopsHost } from './azure-devops.ts'
import { githubHost } from './github.ts'
import { gitlabHost } from './gitlab.ts'
import type { HostFactory, KnownAnswers, PullRequestHost } from './host.ts'
import { mergeOnce } from './repeat.ts'

const PROVIDERS: Record<GitProvider, HostFactory> = {
  GITHUB: githubHost,
  AZURE_DEVOPS: azureDevopsHost,
  GITLAB: gitlabHost,
}

/** Milliseconds of a call of the platform that uses a git host; clients give up after 50 seconds. */
export const TOTAL_MS = 45_000

/**
 * Creates the configured provider's client for a repository and one call of the platform; sends no request. Errors: 502
 * when the configuration has no credentials, 400 for an address that is not the provider's.
 * @param known earlier answers, to which new ones are added; GitHub is asked only for what has changed since
 */
export function createPullRequestHost(
  { config, fetch }: Pick<Context, 'config' | 'fetch'>,
  uri: string,
  known?: KnownAnswers,
): PullRequestHost {
  const { git, orchestration } = config
  if (!git.user || !git.token)
    throw badGateway(
      'Git credentials are not configured; pull requests need the account and token of the git provider.',
    )
  const readinessSeconds = orchestration.pull_request_readiness_seconds
  const access = { git, fetch, known, readinessSeconds, until: performance.now() + TOTAL_MS }
  const host = PROVIDERS[git.provider](access, uri)
  const merge: PullRequestHost['merge'] = (number, options) =>
    mergeOnce(access, options.signal, () => host.merge(number, options))
  return { ...host, merge }
}
