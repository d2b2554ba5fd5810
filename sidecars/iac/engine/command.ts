import { importIdOf } from '../inventory/kubernetes/identifier.ts'
import type { JobKind, JobRequest } from '../types.ts'

/** Arguments of the one engine command of a kind; null for kinds that run none. */
export function engineArguments(kind: JobKind, request: JobRequest, backend_config: string): string[] | null {
  const { plan_file = '', targets = [], address = '', resource_id = '' } = request
  switch (kind) {
    case 'init':
      return [
        'init',
        '-no-color',
        '-input=false',
        '-reconfigure',
        ...(backend_config ? [`-backend-config=${backend_config}`] : []),
      ]
    case 'validate':
      return ['validate', '-no-color']
    case 'plan':
      return [
        'plan',
        '-no-color',
        '-input=false',
        '-out',
        plan_file,
        ...targets.flatMap((target) => ['-target', target]),
      ]
    case 'show':
      return ['show', '-json', '-no-color', plan_file]
    case 'apply':
      return ['apply', '-no-color', '-input=false', '-auto-approve', plan_file]
    case 'import':
      return [
        'import',
        '-no-color',
        '-input=false',
        address,
        request.engine_provider === 'kubernetes' ? importIdOf(address, resource_id) : resource_id,
      ]
    case 'state_resource_ids':
      return ['state', 'pull']
    case 'schema':
      return ['providers', 'schema', '-json']
    case 'diagnostics':
      return ['validate', '-json', '-no-color']
    case 'scope_resource_ids':
      return null
  }
}

type Environment = Record<string, string | undefined>

/** These read no cloud: they run without the scope of the request. */
const UNSCOPED: readonly JobKind[] = ['validate', 'show', 'state_resource_ids', 'schema', 'diagnostics']

/** The service's own environment without its settings and secrets; cloud credentials stay. */
export function withoutOwnSettings(service: Environment): Environment {
  return Object.fromEntries(Object.entries(service).filter(([name]) => !/^(PLATFORM|IAC)_/i.test(name)))
}

/** What the operator restricts. */
export interface EngineRestrictions {
  /** Path of the engine's CLI configuration; null: its own. */
  cli_config: string | null
  offline: boolean
  offline_hosts: string
}

/** A port that nothing listens on: what is sent there is refused at once. */
const NOWHERE = 'http://127.0.0.1:9'

/** What a command of a job gets: the above plus the scope of the request, which wins. */
export function engineEnvironment(
  service: Environment,
  kind: JobKind,
  request: JobRequest,
  options: EngineRestrictions & { plugin_cache: string | null },
): Environment {
  const { plugin_cache } = options
  const environment = restricted(withoutOwnSettings(service), options)
  environment.TF_IN_AUTOMATION = '1'
  environment.CHECKPOINT_DISABLE = '1'
  delete environment.TF_PLUGIN_CACHE_DIR
  if (plugin_cache !== null) environment.TF_PLUGIN_CACHE_DIR = plugin_cache
  if (UNSCOPED.includes(kind) || request.scope_id === undefined) return environment
  if (request.engine_provider === 'azure') environment.ARM_SUBSCRIPTION_ID = request.scope_id
  if (request.engine_provider === 'gcp') environment.GOOGLE_PROJECT = request.scope_id
  return environment
}

/** Offline, modules from elsewhere are as unreachable as providers: the engine's calls and those of git end nowhere. */
function restricted(environment: Environment, { cli_config, offline, offline_hosts }: EngineRestrictions): Environment {
  if (cli_config !== null) environment.TF_CLI_CONFIG_FILE = cli_config
  if (!offline) return environment
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])
    environment[name] = NOWHERE
  environment.NO_PROXY = offline_hosts
  environment.no_proxy = offline_hosts
  environment.GIT_ALLOW_PROTOCOL = 'file'
  return environment
}
