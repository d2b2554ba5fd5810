import * as v from 'valibot'
import type { Config, ServiceConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { CLOUDS, type Cloud } from '../base/vocabulary.ts'
import { ask, contractText, unexpectedAnswer } from './ask.ts'

/**
 * Finds the repository, cloud and scope of an identifier. While the mapping sidecar is disabled, the identifier is used
 * as the address of the repository. Throws the errors of the sidecar's client.
 */
export async function resolveRepository(
  context: { config: Pick<Config, 'services'>; fetch: Fetch },
  question: MappingQuestion,
): Promise<Mapping> {
  const service = context.config.services.mapping
  if (service.enabled) return askMapping(service, context.fetch, question)
  const { identifier, engine_provider } = question
  return { repo_url: identifier, identifier, engine_provider: engine_provider ?? null, scope_id: null }
}

/** Not configurable: `services.mapping.timeout` is ignored. */
const TIMEOUT_MS = 10_000

/** Body of `POST /v1/resolve`. */
interface MappingQuestion {
  identifier: string
  engine_provider?: Cloud
}

/** The catalogue may not know provider and scope; null means unknown. */
const MappingSchema = v.strictObject({
  repo_url: contractText(1, 2048),
  identifier: contractText(1, 1024),
  engine_provider: v.nullish(v.picklist(CLOUDS), null),
  scope_id: v.nullish(contractText(1, 1024), null),
})
type Mapping = v.InferOutput<typeof MappingSchema>

/** Asks the mapping sidecar. Throws 502 and 504, beginning with `mapping service`, also for unknown identifiers. */
export async function askMapping(service: ServiceConfig, fetcher: Fetch, question: MappingQuestion): Promise<Mapping> {
  const mapping = await ask(fetcher, {
    name: 'mapping',
    service,
    path: '/v1/resolve',
    json: question,
    timeoutMs: TIMEOUT_MS,
    answer: MappingSchema,
  })
  if (mapping.identifier !== question.identifier) throw unexpectedAnswer('mapping', 'an answer for another identifier')
  return mapping
}
