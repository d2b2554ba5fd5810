import * as v from 'valibot'
import type { ServiceConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { ask, contractText } from './ask.ts'

/** Not configurable: `services.authz.timeout` is ignored. */
const TIMEOUT_MS = 15_000

const DecisionSchema = v.object({
  authorized: v.boolean(),
  portal_url: v.nullish(contractText(0, 2048), null),
  reason: v.nullish(contractText(0, 1024), null),
})

/** The header of an answer in which a service lists the optional keys of a check that it wants. */
const WANTED = 'x-check-fields'
/** The optional keys that each service has listed in its last answer. */
const wantedBy = new WeakMap<ServiceConfig, Set<string>>()

/**
 * Asks the authorization sidecar. A denial is a result. A decision counts only when it was made with all optional keys
 * that the service wants: one that lists more is asked again with them. Throws 502 and 504, beginning with `authz
 * service`.
 * @param check the body of `POST /v1/check`; `user_id` is the e-mail, or the subject of the token without one
 * @param optional the optional keys; only those that the service lists are sent
 */
export async function checkAccess(
  service: ServiceConfig,
  fetcher: Fetch,
  check: { user_id: string; cloud: string; project: string; environment?: string },
  optional: Record<string, string> = {},
): Promise<v.InferOutput<typeof DecisionSchema>> {
  for (let sent = wantedBy.get(service) ?? new Set(); ; ) {
    const chosen = Object.entries(optional).filter(([key]) => sent.has(key))
    let wanted: string[] = []
    // Until an answer says otherwise the service wants nothing, as after a fault: it may have been replaced.
    wantedBy.delete(service)
    const decision = await ask(fetcher, {
      name: 'authz',
      service,
      path: '/v1/check',
      json: { ...check, ...Object.fromEntries(chosen) },
      timeoutMs: TIMEOUT_MS,
      answer: DecisionSchema,
      onHeaders: (headers) => (wanted = (headers.get(WANTED) ?? '').split(',').map((key) => key.trim())),
    })
    wantedBy.set(service, new Set(wanted))
    if (wanted.every((key) => sent.has(key) || optional[key] === undefined)) return decision
    sent = new Set([...sent, ...wanted])
  }
}
