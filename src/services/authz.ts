import * as v from 'valibot'
import type { ServiceConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { ask, contractText } from './ask.ts'

/** Not configurable: `services.authz.timeout` is ignored. */
const TIMEOUT_MS = 15_000

/** Body of `POST /v1/check`. */
export interface AccessCheck {
  /** The caller's e-mail; the subject of the token for a caller without one. */
  user_id: string
  cloud: string
  project: string
  environment?: string
}

const DecisionSchema = v.object({
  authorized: v.boolean(),
  portal_url: v.nullish(contractText(0, 2048), null),
  reason: v.nullish(contractText(0, 1024), null),
})
export type AccessDecision = v.InferOutput<typeof DecisionSchema>

/** Asks the authorization sidecar. A denial is a result. Throws 502 and 504, beginning with `authz service`. */
export const checkAccess = (service: ServiceConfig, fetcher: Fetch, check: AccessCheck): Promise<AccessDecision> =>
  ask(fetcher, {
    name: 'authz',
    service,
    path: '/v1/check',
    json: check,
    timeoutMs: TIMEOUT_MS,
    answer: DecisionSchema,
  })
