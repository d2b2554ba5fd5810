import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Config, GitConfig } from '../../../config/types.ts'
import type { Logger } from '../../../src/base/log.ts'
import { percentEncode } from '../../../src/base/text.ts'
import { basePath } from '../../../src/repository/address.ts'
import { isConfiguredHost, isOperatorsHost } from '../../../src/repository/remote.ts'
import { gitAuthorization } from '../../../src/repository/sign-in.ts'
import { replaceFile } from '../../../src/runtime/files.ts'
import { runProcess } from '../../../src/runtime/run-process.ts'
import type { GitPlace } from './place.ts'

/** Environment variables that git inherits: the search path of programs, and network settings. */
const INHERITED = [
  'PATH',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]
/** Certificate authorities from the operator's git environment, trusted for the operator's hosts only. */
const INHERITED_FOR_TRUSTED = ['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH']

/** Settings that neither operator nor repository overrides: no program of a repository runs, and only https. */
const SETTINGS: readonly [string, string][] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.autocrlf', 'false'],
  ['core.quotePath', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.askPass', ''],
  ['core.editor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  // Larger files are not held in memory as a whole.
  ['core.bigFileThreshold', '16m'],
  // Fetched objects stay one pack, which is checked on arrival and whose size is easy to watch.
  ['fetch.unpackLimit', '1'],
  // A folder of a repository that is itself a git directory is never used as one.
  ['safe.bareRepository', 'explicit'],
  // The configuration of a submodule lies in the work tree, where the engine can write it, and git would run it there.
  ['diff.ignoreSubmodules', 'all'],
  ['protocol.allow', 'never'],
  ['protocol.https.allow', 'always'],
  ['http.followRedirects', 'false'],
  ['http.emptyAuth', 'false'],
  ['credential.helper', ''],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['commit.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
  ['init.templateDir', ''],
  // The folder may belong to another user id on a shared disk; this worker has cloned everything in it.
  ['safe.directory', '*'],
]

/**
 * Creates the environment of a git process, which holds settings and credentials, because every user of the machine can
 * read arguments.
 * @param place names git directory and work tree, so that git searches for neither
 * @param remote the repository, its checked addresses, and where it is now if its host has moved it, for network commands
 */
export function createGitEnvironment(
  git: GitConfig,
  place: GitPlace,
  remote?: { url: URL; addresses: readonly string[]; current?: URL },
): Record<string, string> {
  const settings = remote ? [...SETTINGS, ...remoteSettings(git, remote.url, remote.addresses)] : [...SETTINGS]
  if (remote?.current && remote.current.href !== remote.url.href)
    settings.push([`url.${remote.current.href}.insteadOf`, remote.url.href])
  const env: Record<string, string> = {
    // Without a home directory git finds neither the operator's configuration nor a `.netrc` with passwords.
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_DIR: place.directory,
    GIT_WORK_TREE: place.workTree,
    GIT_CEILING_DIRECTORIES: `${place.workTree}:${dirname(place.workTree)}`,
    // The maximum that git allocates at once, whatever size an object claims to have.
    GIT_ALLOC_LIMIT: '1g',
    GIT_AUTHOR_NAME: git.author_name,
    GIT_AUTHOR_EMAIL: git.author_email,
    GIT_COMMITTER_NAME: git.author_name,
    GIT_COMMITTER_EMAIL: git.author_email,
    GIT_CONFIG_COUNT: String(settings.length),
  }
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  for (const name of remote && isOperatorsHost(git, remote.url)
    ? [...INHERITED, ...INHERITED_FOR_TRUSTED]
    : INHERITED) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  // Git prefers the variable to its setting, but the configuration of the platform takes precedence.
  if (git.ca_file) delete env.GIT_SSL_CAINFO
  return env
}

function remoteSettings(git: GitConfig, url: URL, addresses: readonly string[]): [string, string][] {
  const own = isConfiguredHost(git, url)
  const settings: [string, string][] = []
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const pinned = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',')
  if (!addresses.includes(host)) settings.push(['http.curloptResolve', `${host}:${url.port || '443'}:${pinned}`])
  if (git.ca_file && isOperatorsHost(git, url)) settings.push(['http.sslCAInfo', resolve(git.ca_file)])
  if (own && git.user && git.token)
    settings.push([`http.${url.origin}${basePath(git)}/.extraHeader`, `Authorization: ${gitAuthorization(git)}`])
  return settings
}

/**
 * Writes the author and, if user and token are set, the credentials to the git configuration of this account, for an
 * operator who uses git manually; the platform's git does not read it. Errors are logged, never thrown.
 * @param home directory of `.gitconfig` and `.git-credentials`
 */
export async function configureGit(config: Config, log: Logger, home: string = homedir()): Promise<void> {
  const { git } = config
  try {
    await setGlobal(home, 'user.name', git.author_name)
    await setGlobal(home, 'user.email', git.author_email)
    const unset = [!git.user && 'user', !git.token && 'token'].filter(Boolean)
    if (unset.length > 0) {
      log.warn(`git credentials are not configured (unset: ${unset.join(', ')}): pushes and pull requests will fail`, {
        provider: git.provider,
      })
      return
    }
    const line = `https://${percentEncode(git.user)}:${percentEncode(git.token)}@${git.host}\n`
    await replaceFile(join(home, '.git-credentials'), line)
    await setGlobal(home, 'credential.helper', 'store')
  } catch (error) {
    log.warn(`Failed to configure git credentials: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

async function setGlobal(home: string, key: string, value: string): Promise<void> {
  const env = { HOME: home, PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' }
  const args = ['config', '--global', '--replace-all', '--', key, value]
  const output = await runProcess({ file: 'git', args, cwd: home, env, timeoutMs: 10_000 })
  if (output.code !== 0)
    throw new Error(output.stderr.trim() || `git config ended with ${output.code ?? output.stopped}`)
}
