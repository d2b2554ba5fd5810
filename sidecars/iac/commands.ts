import { importIdOf } from './inventory/kubernetes/identifier.ts'
import type { JobKind, JobRequest } from './types.ts'

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
