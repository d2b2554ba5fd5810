import { Document, isScalar } from 'yaml'
import { readDatabaseAddress } from './database-address.ts'
import type { ReadFile } from './document.ts'
import { ConfigError, loadConfig } from './load.ts'
import { maskedConfig } from './mask.ts'
import type { ReadRuleIds } from './rules-file.ts'
import type { IsPriced } from './sections/llm.ts'
import type { Environment } from './source.ts'
import type { Config, StorageConfig } from './types.ts'

/**
 * Writes the effective configuration as YAML with secrets masked, or each error on its own line.
 * @returns the exit code: 0, or 1 when the platform would not start with this configuration
 */
export async function runCheckConfig(
  env: Environment,
  readFile: ReadFile,
  write: (text: string) => void,
  readRuleIds: ReadRuleIds,
  isPriced?: IsPriced,
): Promise<number> {
  let hasFile: boolean | null = null
  // The configuration file is read first; the rules and the files of variables come after it.
  const readAndNote: ReadFile = async (path) => {
    const text = await readFile(path)
    hasFile ??= text !== null
    return text
  }
  try {
    const config = await loadConfig(env, readAndNote, readRuleIds, isPriced)
    write(`# ${hasFile ? 'configuration file found' : 'no configuration file: built-in defaults'}\n`)
    for (const warning of configWarnings(config)) write(`# warning: ${warning}\n`)
    write(render(maskedConfig(config)))
    return 0
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) write(`${problem}\n`)
    return 1
  }
}

/** Fields that have no effect. They are accepted so that older files stay valid. */
const IGNORED = [
  [['services', 'mapping', 'timeout'], 'ignored: mapping calls have a fixed budget of 10 s'],
  [['services', 'authz', 'timeout'], 'ignored: authorization calls have a fixed budget of 15 s'],
] as const

function render(config: unknown): string {
  const document = new Document(config)
  for (const [path, reason] of IGNORED) {
    const value = document.getIn(path, true)
    if (isScalar(value)) value.comment = ` ${reason}`
  }
  return document.toString({ lineWidth: 0 })
}

/** Returns warnings about settings with which the platform starts. The texts contain no secrets. */
export function configWarnings(config: Config): string[] {
  const warnings: string[] = []
  if (config.oidc.issuer_url === '')
    warnings.push('oidc.issuer_url is empty: authentication is disabled, every caller is the local developer')
  if (config.git.user === '' || config.git.token === '')
    warnings.push('git user or token is unset: pushes, pull-request creation and merge will fail')
  if (config.storage.engine_state_bucket === '')
    warnings.push('storage.engine_state_bucket is empty: each repository must declare its own remote backend')
  else if (isEmulator(config.storage))
    warnings.push(
      'storage.endpoint_url is no account host: ' +
        'the engine looks for managed state at the account of that name in the cloud',
    )
  const { url, platform_database_url_env, direct_url, platform_direct_url_env } = config.database
  for (const [variable, address] of [
    [platform_database_url_env, url],
    [platform_direct_url_env, direct_url],
  ]) {
    const ignored = address ? readDatabaseAddress(address).ignored : []
    if (ignored.length > 0) warnings.push(`${variable}: parameters without effect: ${ignored.join(', ')}`)
  }
  const { collector_url } = config.telemetry
  if (collector_url !== '' && !collector_url.endsWith('/'))
    warnings.push('telemetry.collector_url does not end in "/": v1/traces is appended to it as it is')
  for (const [name, service] of Object.entries(config.services))
    if ('enabled' in service && service.enabled && service.endpoint === '')
      warnings.push(`services.${name} is enabled without an endpoint: every call to it will fail`)
  const { authz } = config.services
  if (authz.enabled && !authz.enforce)
    warnings.push(
      'services.authz is enabled and not enforced: rounds are accepted without asking it; ' +
        'set services.authz.enforce to true to have it asked',
    )
  return warnings
}

/**
 * True if the endpoint is not the account's endpoint in the cloud, for example an emulator. The engine's state backend
 * takes the account name but no address, so it would look for state in the cloud.
 */
const isEmulator = ({ provider, endpoint_url, account_name }: StorageConfig): boolean =>
  provider === 'STORAGE_ACCOUNT' && !new URL(endpoint_url).hostname.startsWith(`${account_name}.blob.`)
