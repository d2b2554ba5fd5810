import type * as v from 'valibot'
import type { IacServiceConfig } from '../../../config/types.ts'
import { delay, type Fetch, OutboundError, type OutboundRequest, type OutboundResponse, send } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { transportFault, unexpectedAnswer } from '../ask.ts'
import {
  AnnouncementSchema,
  EngineSchema,
  type IacClient,
  type IacJobKind,
  readBody,
  SubmittedSchema,
} from './contract.ts'
import { createOffers, createOptionalCalls, withoutUnknown } from './optional.ts'
import { type IacAccess, waitForJob } from './wait-for-job.ts'

const ROUTES: Record<IacJobKind, string> = {
  init: '/v1/init',
  validate: '/v1/validate',
  plan: '/v1/plan',
  show: '/v1/show',
  apply: '/v1/apply',
  import: '/v1/import',
  state_resource_ids: '/v1/import/state-resource-ids',
  state_summary: '/v1/state-summary',
  state_rm: '/v1/state-rm',
  scope_resource_ids: '/v1/import/scope-resource-ids',
}
/** Jobs that change infrastructure or state. They are submitted only once, so that no change is repeated. */
const ONCE_ONLY: readonly IacJobKind[] = ['apply', 'import', 'state_rm']
const RECONNECT_WAITS_MS = [250, 500, 1000, 2000]
const NOT_OFFERED = [404, 405, 501]

/** Creates a client of the iac contract. See `IacClient` for its errors. */
export function createIacClient(config: IacServiceConfig, deps: { fetch: Fetch; log: Logger }): IacClient {
  const { log } = deps
  const call = (path: string, request: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
    send(deps.fetch, {
      timeoutMs: config.timeout * 1000,
      ...request,
      url: `${config.endpoint}${path}`,
      headers: { authorization: `Bearer ${config.token}`, ...request.headers },
    })

  const offers = createOffers({ config, log, call })
  const submit: IacClient['submit'] = async (kind, body, signal) => {
    const waits = ONCE_ONLY.includes(kind) ? [] : RECONNECT_WAITS_MS
    const response = await retryWhileUnreachable(
      async () =>
        call(ROUTES[kind], { method: 'POST', json: await withoutUnknown(kind, body, offers, signal), signal }),
      waits,
      signal,
    ).catch((error) => {
      throw transportFault('iac', error)
    })
    const answer = readBody(SubmittedSchema, response, 202)
    if (answer) return answer.job_id
    throw unexpectedAnswer('iac', `HTTP ${response.status} to ${kind}`, response.text().slice(0, 2000))
  }

  const wait: IacClient['wait'] = (jobId, options = {}) => waitForJob({ config, log, call }, jobId, options)

  return {
    ...createOptionalCalls({ config, log, call }, offers),
    submit,
    wait,
    async run(kind, body, options = {}) {
      const { signal, onSubmitted } = options
      const submitAndRecord = async () => {
        const jobId = await submit(kind, body, signal)
        await onSubmitted?.(jobId)
        return jobId
      }
      const resubmit = ONCE_ONLY.includes(kind) ? undefined : submitAndRecord
      return wait(await submitAndRecord(), { signal, resubmit })
    },
    async healthy(signal) {
      const response = await call('/healthz', { signal }).catch(() => null)
      return response?.status === 200
    },
    engine: (signal) => askForEngine(call, EngineSchema, signal),
    offers: async (addition, signal) =>
      (await askForEngine(call, AnnouncementSchema, signal))?.additions.includes(addition) ?? false,
  }
}

/** Reads a part of the service's description of itself; null when it does not offer that. */
async function askForEngine<S extends v.GenericSchema>(
  call: IacAccess['call'],
  schema: S,
  signal?: AbortSignal,
): Promise<v.InferOutput<S> | null> {
  const response = await call('/v1/engine', { signal }).catch((error) => {
    throw transportFault('iac', error)
  })
  if (NOT_OFFERED.includes(response.status)) return null
  const answer = readBody(schema, response)
  if (answer === null) throw unexpectedAnswer('iac', `HTTP ${response.status} to the question for its engine`)
  return answer
}

/** Repeats a call while the service refuses connections. One that timed out is not repeated: it may have arrived. */
async function retryWhileUnreachable<T>(
  attempt: () => Promise<T>,
  waits: readonly number[],
  signal?: AbortSignal,
): Promise<T> {
  for (const wait of waits) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof OutboundError) || error.kind !== 'network') throw error
      await delay(wait, signal)
    }
  }
  return attempt()
}
