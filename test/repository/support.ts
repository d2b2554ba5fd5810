import tls from 'node:tls'
import type { Config, GitConfig } from '../../config/types.ts'
import { createLogger } from '../../src/base/log.ts'
import type { GitContext } from '../../src/repository/remote.ts'
import { resolveHost } from '../../src/runtime/fetch.ts'

export const gitConfig = (changes: Partial<GitConfig> = {}): GitConfig => ({
  provider: 'GITHUB',
  host: 'github.com',
  user: 'bot',
  token: 'token-of-the-bot',
  author_name: 'Platform',
  author_email: 'platform@noreply.invalid',
  base_url: '',
  api_url: '',
  ca_file: '',
  allow_private_hosts: [],
  merge_method: '',
  max_clone_mib: 2_048,
  max_clone_files: 200_000,
  mirror_mib: 4_096,
  max_change_files: 1_000,
  max_change_file_mib: 32,
  max_change_mib: 64,
  ...changes,
})

/** Makes the smallest context that can use a remote. `lines` collects its log. */
export function gitContext(
  git: Partial<GitConfig> = {},
  changes: Partial<GitContext> = {},
): GitContext & { lines: string[] } {
  const lines: string[] = []
  return {
    config: { git: gitConfig(git) } as Config,
    log: createLogger({ write: (line) => lines.push(line) }),
    fetch: globalThis.fetch,
    resolver: resolveHost,
    lines,
    ...changes,
  }
}

/** The one error of a repository that cannot be read. */
export const unreachable = (status: number) => ({
  status,
  message: 'Repository is not reachable or access was denied.',
})

/** Makes `fetch` of this process accept certificates of a test server. */
export function trust(caPem: string): void {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), caPem])
}
