import type { GitConfig } from '../../config/types.ts'
import { basicAuthorization } from '../base/http.ts'

type Account = Pick<GitConfig, 'provider' | 'user' | 'token'>

/** An access token of Entra, or of a pipeline of Azure DevOps. Personal tokens have no dots. */
const isJwt = (token: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

/** Reports whether the account is an app of GitHub: such a token has rights of its own and no person behind it. */
export const isGithubApp = ({ provider, token }: Account): boolean => provider === 'GITHUB' && token.startsWith('ghs_')

const isJob = ({ provider, token }: Account): boolean => provider === 'GITLAB' && token.startsWith('glcbt-')

/** Returns the name with which git signs in. Some kinds of tokens come with one name alone. */
export const gitUser = (account: Account): string =>
  isGithubApp(account) ? 'x-access-token' : isJob(account) ? 'gitlab-ci-token' : account.user

/** Returns the header `Authorization` with which git signs in. */
export function gitAuthorization(account: Account): string {
  const { provider, token } = account
  return provider === 'AZURE_DEVOPS' && isJwt(token) ? `Bearer ${token}` : basicAuthorization(gitUser(account), token)
}

/** Returns the headers with which the interface of the host is called. */
export function apiHeaders(account: Account): Record<string, string> {
  const { provider, user, token } = account
  if (isJob(account)) return { 'job-token': token }
  if (provider === 'GITLAB') return { 'private-token': token }
  if (isGithubApp(account) || (provider === 'AZURE_DEVOPS' && isJwt(token))) return { authorization: `Bearer ${token}` }
  return { authorization: basicAuthorization(provider === 'AZURE_DEVOPS' ? '' : user, token) }
}

/** Says why a kind of token cannot serve for rounds; null for all others. The host names it in its first letters. */
export function describeUnfitToken({ provider, token }: Account): string | null {
  const kind =
    provider !== 'GITLAB'
      ? null
      : token.startsWith('gldt-')
        ? 'a deploy token'
        : token.startsWith('glcbt-')
          ? 'a job token of a pipeline'
          : null
  return (
    kind &&
    `The token of the platform is ${kind}, with which GitLab opens no merge requests: use a personal, project or group ` +
      'access token with the scopes api and write_repository.'
  )
}

/** Says that the host does not take the token, with what is known of its kind. */
export const tokenRefused = (account: Account): string =>
  'The git host does not take the token of the platform (401): it has expired, was revoked, or is too new to be known ' +
  `everywhere.${isGithubApp(account) || isJwt(account.token) ? ' A token of this kind lasts about an hour.' : ''}`
