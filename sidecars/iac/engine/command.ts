import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'
import { importIdOf } from '../inventory/kubernetes/identifier.ts'
import type { GivenText, JobKind, JobRequest } from '../types.ts'

/** Returns the engine arguments of a kind of job; null for a kind that runs no command. */
export function engineArguments(kind: JobKind, request: JobRequest, backendConfig: string): string[] | null {
  const { plan_file = '', targets = [], address = '', resource_id = '', texts = [] } = request
  const id = request.engine_provider === 'kubernetes' ? importIdOf(address, resource_id) : resource_id
  const quiet = ['-no-color', '-input=false']
  const commands: Record<JobKind, string[] | null> = {
    init: [
      ...['init', ...quiet],
      ...(request.migrate_state ? ['-migrate-state', '-force-copy'] : ['-reconfigure']),
      ...(backendConfig ? [`-backend-config=${backendConfig}`] : []),
    ],
    validate: ['validate', ...(request.json ? ['-json'] : []), '-no-color'],
    plan: [
      'plan',
      ...quiet,
      ...(request.lock === false ? ['-lock=false'] : []),
      ...(request.json ? ['-json'] : []),
      '-out',
      plan_file,
      ...targets.flatMap((target) => ['-target', target]),
    ],
    show: ['show', '-json', '-no-color', plan_file],
    apply: ['apply', ...quiet, '-auto-approve', plan_file],
    import: ['import', ...quiet, address, id],
    state_resource_ids: ['state', 'pull'],
    state_summary: ['state', 'pull'],
    state_rm: ['state', 'rm', '-no-color', address],
    schema: ['providers', 'schema', '-json'],
    diagnostics: ['validate', '-json', '-no-color'],
    fmt: ['fmt', '-no-color', '-list=false', ...fileNames(texts)],
    scope_resource_ids: null,
  }
  return commands[kind]
}

/** Returns the names of the files that hold the texts of a request: `0.tf`, `1.tfvars`, … */
export const fileNames = (texts: readonly GivenText[]): string[] => texts.map(({ form }, index) => `${index}.${form}`)

type Environment = Record<string, string | undefined>

/** Kinds that read no cloud, so that their commands get no scope. */
const UNSCOPED: readonly JobKind[] = ['validate', 'show', 'state_resource_ids', 'schema', 'diagnostics']

/** Returns the environment without the service's own settings and secrets. Cloud credentials stay. */
export function withoutOwnSettings(service: Environment): Environment {
  return Object.fromEntries(Object.entries(service).filter(([name]) => !/^(PLATFORM|IAC)_/i.test(name)))
}

/**
 * Returns the environment of a job's command. The scope of the request replaces the service's own.
 * @param options.cliConfig path of the engine's CLI configuration; null keeps the engine's own
 */
export function engineEnvironment(
  service: Environment,
  kind: JobKind,
  request: JobRequest,
  options: { cliConfig: string | null; offline: boolean; offlineHosts: string; pluginCache: string | null },
): Environment {
  const { cliConfig, offline, offlineHosts, pluginCache } = options
  const environment = withoutOwnSettings(service)
  if (cliConfig !== null) environment.TF_CLI_CONFIG_FILE = cliConfig
  if (offline) {
    // On the discard port nothing listens: a connection is refused at once instead of timing out.
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])
      environment[name] = 'http://127.0.0.1:9'
    environment.NO_PROXY = offlineHosts
    environment.no_proxy = offlineHosts
    // Git reads local paths only.
    environment.GIT_ALLOW_PROTOCOL = 'file'
  }
  environment.TF_IN_AUTOMATION = '1'
  environment.CHECKPOINT_DISABLE = '1'
  delete environment.TF_PLUGIN_CACHE_DIR
  if (pluginCache !== null) environment.TF_PLUGIN_CACHE_DIR = pluginCache
  // Without it the engine downloads again what no lock file names. The checksums that it then leaves out are added.
  if (pluginCache !== null && kind === 'init') environment.TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE ??= 'true'
  if (UNSCOPED.includes(kind) || request.scope_id === undefined) return environment
  if (request.engine_provider === 'azure') environment.ARM_SUBSCRIPTION_ID = request.scope_id
  if (request.engine_provider === 'gcp') environment.GOOGLE_PROJECT = request.scope_id
  return environment
}

/** Drops and logs variables without a configuration file, or with a relative path, which a repository could fill. */
export async function withoutMissingCliConfig(env: Environment, log: Logger): Promise<Environment> {
  const kept = { ...env }
  for (const name of ['TF_CLI_CONFIG_FILE', 'TERRAFORM_CONFIG']) {
    const path = env[name]?.trim() === '' ? undefined : env[name]
    const reason = path === undefined ? null : await findFault(path)
    if (path !== undefined && reason === null) continue
    delete kept[name]
    if (reason !== null) log.warn(`${name} ${reason}; engines run without it`)
  }
  return kept
}

async function findFault(path: string): Promise<string | null> {
  if (!isAbsolute(path)) return 'must be an absolute path'
  const found = await stat(path).catch(() => null)
  if (found === null || found.isDirectory()) return 'names no file'
  return access(path, constants.R_OK).then(
    () => null,
    () => 'names a file that this service cannot read',
  )
}
