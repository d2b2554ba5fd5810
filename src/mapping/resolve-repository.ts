import type { Context } from '../context.ts'
import { askMapping, type Mapping, type MappingQuestion } from '../sidecar-clients/mapping.ts'

/**
 * What is known about a repository identifier. While the mapping sidecar is disabled the identifier
 * stands for itself.
 * Errors: those of the sidecar's client.
 */
export async function resolveRepository(
  context: Pick<Context, 'config' | 'fetch'>,
  question: MappingQuestion,
): Promise<Mapping> {
  const service = context.config.services.mapping
  if (service.enabled) return askMapping(service, context.fetch, question)
  const { identifier, engine_provider } = question
  return { repo_url: identifier, identifier, engine_provider: engine_provider ?? null, scope_id: null }
}
