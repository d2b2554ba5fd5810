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

/**
 * Asks the authorization sidecar. A denial is a result. Throws 502 and 504, beginning with `authz service`.
 * @param check the body of `POST /v1/check`; `user_id` is the e-mail, or the subject of the token without one
 */
export const checkAccess = (
  service: ServiceConfig,
  fetcher: Fetch,
  check: { user_id: string; cloud: string; project: string; environment?: string },
) =>
  ask(fetcher, {
    name: 'authz',
    service,
    path: '/v1/check',
    json: check,
    timeoutMs: TIMEOUT_MS,
    answer: DecisionSchema,
  })
