import type { JobKind, JobRequest } from './types.ts'

type Environment = Record<string, string | undefined>

/** These read no cloud: they run without the scope of the request. */
const UNSCOPED: readonly JobKind[] = ['validate', 'show', 'state_resource_ids', 'schema', 'diagnostics']

/** The service's own environment without its settings and secrets; cloud credentials stay. */
export function withoutOwnSettings(service: Environment): Environment {
  return Object.fromEntries(Object.entries(service).filter(([name]) => !/^(PLATFORM|IAC)_/i.test(name)))
}

/** What a command of a job gets: the above plus the scope of the request, which wins. */
export function engineEnvironment(service: Environment, kind: JobKind, request: JobRequest, plugin_cache: string | null): Environment {
  const environment = withoutOwnSettings(service)
  environment.TF_IN_AUTOMATION = '1'
  environment.CHECKPOINT_DISABLE = '1'
  delete environment.TF_PLUGIN_CACHE_DIR
  if (plugin_cache !== null) environment.TF_PLUGIN_CACHE_DIR = plugin_cache
  if (UNSCOPED.includes(kind) || request.scope_id === undefined) return environment
  if (request.engine_provider === 'azure') environment.ARM_SUBSCRIPTION_ID = request.scope_id
  if (request.engine_provider === 'gcp') environment.GOOGLE_PROJECT = request.scope_id
  return environment
}
