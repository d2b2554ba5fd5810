import * as v from 'valibot'
import { baseUrl, choice, integer, nonEmpty, text, textList } from '../fields.ts'
import type { Source } from '../source.ts'

export type GitProvider = 'GITHUB' | 'AZURE_DEVOPS' | 'GITLAB'
/** Methods by which a host merges a pull request, in the order in which an allowed one is chosen. */
export const MERGE_METHODS = ['merge', 'squash', 'rebase'] as const
export type MergeMethod = (typeof MERGE_METHODS)[number]
export type GitConfig = ReturnType<typeof readGit>

const HOSTS: Record<GitProvider, string> = { GITHUB: 'github.com', AZURE_DEVOPS: 'dev.azure.com', GITLAB: 'gitlab.com' }
const PLACEHOLDERS: Record<string, GitProvider> = {
  PROVIDER_A: 'GITHUB',
  PROVIDER_B: 'AZURE_DEVOPS',
  PROVIDER_C: 'GITLAB',
}
const names = ['GITHUB', 'AZURE_DEVOPS', 'GITLAB'] as const
const spellings = {
  ...PLACEHOLDERS,
  ...Object.fromEntries(names.flatMap((name) => [[name, name] as const, [HOSTS[name], name] as const])),
}

export const gitSchema = v.object({
  provider: choice<GitProvider>('GITHUB', spellings, [...names, ...Object.values(HOSTS)]),
  pat_user_env: text('GIT_USER'),
  pat_token_env: text('GIT_TOKEN'),
  author_name: text('Platform', nonEmpty),
  author_email: text('platform@noreply.invalid', nonEmpty),
  /** `https://<host>[:port][/<path>]` of a self-hosted server; empty for the public host. */
  base_url: baseUrl('', { test: isBaseUrl, text: 'must be https://<host>[:port][/<path>] without user or query' }),
  /** Base URL of the REST API of a self-hosted server; empty for the usual path below `base_url`. */
  api_url: baseUrl('', { test: isApiUrl, text: 'must be an http:// or https:// URL without user or query' }),
  /** Path of a PEM file with additional certificate authorities for the git server; empty for none. */
  ca_file: text(''),
  /** Hosts, as `host` or `host:port`, that may resolve to private addresses. */
  allow_private_hosts: textList([]),
  /** The preferred method of merges; empty for the first that the host allows. */
  merge_method: choice<MergeMethod | ''>('', { '': '', merge: 'merge', squash: 'squash', rebase: 'rebase' }, [
    ...MERGE_METHODS,
    '""',
  ]),
  /** Limits of a clone on disk: MiB of its git directory and files together, files and folders. */
  max_clone_mib: integer(2_048, { min: 1 }),
  max_clone_files: integer(200_000, { min: 1 }),
  /** Maximum MiB of all mirrors of a worker: what it keeps of repositories for later rounds; 0 keeps nothing. */
  mirror_mib: integer(4_096, { min: 0 }),
  /** Limits of the files that a round changes or leaves in its clone: how many, MiB of one, MiB of all together. */
  max_change_files: integer(1_000, { min: 1 }),
  max_change_file_mib: integer(32, { min: 1 }),
  max_change_mib: integer(64, { min: 1 }),
})

export function readGit(source: Source) {
  const { pat_user_env, pat_token_env, ...values } = source.section('git', gitSchema).values
  return {
    ...values,
    allow_private_hosts: values.allow_private_hosts.map((host) => host.toLowerCase()),
    /** The host of `base_url`, otherwise the public host of the provider. */
    host: values.base_url === '' ? HOSTS[values.provider] : new URL(values.base_url).host,
    user: source.variable(pat_user_env),
    token: source.variable(pat_token_env),
  }
}

function isBaseUrl(value: string): boolean {
  return (
    value === '' || (isApiUrl(value) && new URL(value).protocol === 'https:' && !new URL(value).pathname.includes('//'))
  )
}

function isApiUrl(value: string): boolean {
  if (value === '') return true
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  return ['http:', 'https:'].includes(url.protocol) && url.username + url.password + url.search + url.hash === ''
}
