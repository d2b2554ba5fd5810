import { importIdOf } from '../inventory/kubernetes/identifier.ts'
import type { GivenText, JobKind, JobRequest } from '../types.ts'

/** Returns the engine arguments of a kind of job; null for a kind that runs no command. */
export function engineArguments(kind: JobKind, request: JobRequest, backendConfig: string): string[] | null {
  const { plan_file = '', targets = [], address = '', resource_id = '' } = request
  switch (kind) {
    case 'init':
      return [
        'init',
        '-no-color',
        '-input=false',
        '-reconfigure',
        ...(backendConfig ? [`-backend-config=${backendConfig}`] : []),
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
    case 'fmt':
      return ['fmt', '-no-color', '-list=false', ...fileNames(request.texts ?? [])]
    case 'scope_resource_ids':
      return null
  }
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

/** Restrictions of the operator for every engine command. */
export interface EngineRestrictions {
  /** Path of the engine's CLI configuration; null keeps the engine's own. */
  cliConfig: string | null
  offline: boolean
  offlineHosts: string
}

/** The discard port, on which nothing listens: a connection is refused at once instead of timing out. */
const NOWHERE = 'http://127.0.0.1:9'

/** Returns the environment of a job's command. The scope of the request replaces the service's own. */
export function engineEnvironment(
  service: Environment,
  kind: JobKind,
  request: JobRequest,
  options: EngineRestrictions & { pluginCache: string | null },
): Environment {
  const { pluginCache } = options
  const environment = restrict(withoutOwnSettings(service), options)
  environment.TF_IN_AUTOMATION = '1'
  environment.CHECKPOINT_DISABLE = '1'
  delete environment.TF_PLUGIN_CACHE_DIR
  if (pluginCache !== null) environment.TF_PLUGIN_CACHE_DIR = pluginCache
  if (UNSCOPED.includes(kind) || request.scope_id === undefined) return environment
  if (request.engine_provider === 'azure') environment.ARM_SUBSCRIPTION_ID = request.scope_id
  if (request.engine_provider === 'gcp') environment.GOOGLE_PROJECT = request.scope_id
  return environment
}

/** Applies the restrictions. An offline engine gets a proxy that does not exist, and git may read local paths only. */
function restrict(environment: Environment, { cliConfig, offline, offlineHosts }: EngineRestrictions): Environment {
  if (cliConfig !== null) environment.TF_CLI_CONFIG_FILE = cliConfig
  if (!offline) return environment
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])
    environment[name] = NOWHERE
  environment.NO_PROXY = offlineHosts
  environment.no_proxy = offlineHosts
  environment.GIT_ALLOW_PROTOCOL = 'file'
  return environment
}
