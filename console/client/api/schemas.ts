import type { z } from '@hono/zod-openapi'
import type { AuditPage } from '../../../routes/schemas/audit.ts'
import type { GenerateRequest, ImportRequest } from '../../../routes/schemas/iac-request.ts'
import type { PlanDocument } from '../../../routes/schemas/plan-document.ts'
import type { Activity, Output } from '../../../routes/schemas/round-event.ts'
import type { SealVerification } from '../../../routes/schemas/seal.ts'
import type { SessionAggregate, SessionId, SessionPage } from '../../../routes/schemas/session.ts'
import type { AdminUser, UserPage, User as UserSchema } from '../../../routes/schemas/user.ts'
import type { SessionTotals } from '../../../routes/v1/admin/sessions/summary.get.ts'
import type { LockState } from '../../../routes/v1/admin/sessions/toggle-lock.patch.ts'
import type { Decision } from '../../../routes/v1/auth/authorize.post.ts'
import type { AuthConfig } from '../../../routes/v1/auth/config.get.ts'
import type { MappingAnswer } from '../../../routes/v1/mapping/resolve.post.ts'
import type { Delivery, NotificationRequest } from '../../../routes/v1/notifications/send.post.ts'
import type { Roots } from '../../../routes/v1/repository/parse.post.ts'
import type { PullRequest } from '../../../routes/v1/repository/pr.put.ts'

/** The components of the API's description, by name. A test compares this table with `/api/openapi.json`. */
export interface Components {
  AdminUser: z.output<typeof AdminUser>
  AuditPage: z.output<typeof AuditPage>
  AuthConfig: z.output<typeof AuthConfig>
  Decision: z.output<typeof Decision>
  Delivery: z.output<typeof Delivery>
  LockState: z.output<typeof LockState>
  MappingAnswer: z.output<typeof MappingAnswer>
  PullRequest: z.output<typeof PullRequest>
  Roots: z.output<typeof Roots>
  SealVerification: z.output<typeof SealVerification>
  SessionAggregate: z.output<typeof SessionAggregate>
  SessionId: z.output<typeof SessionId>
  SessionPage: z.output<typeof SessionPage>
  SessionTotals: z.output<typeof SessionTotals>
  User: z.output<typeof UserSchema>
  UserPage: z.output<typeof UserPage>
}

export type Session = Components['SessionAggregate']
export type SessionSummary = Components['SessionPage']['items'][number]
export type Round = Session['rounds'][number]
export type Status = Session['current_status']
export type Cloud = Session['provider']
export type Seal = NonNullable<Session['seal']>
export type AttemptResult = Round['attempts'][number]
export type User = Components['User']
/** An event of the activity stream. */
export type ActivityEvent = z.output<typeof Activity>
export type OutputEvent = z.output<typeof Output>
/** The plan as data. */
export type { PlanDocument }
export type PlannedResource = PlanDocument['resources'][number]
export type Action = PlannedResource['action']
export type Finding = PlannedResource['findings'][number]
export type Severity = Finding['severity']

/** The body of a request for a round. `is_partial`, `preview` and `resource_ids` apply to drift and import only. */
export type GenerateBody = z.input<typeof GenerateRequest>
export type RoundBody = z.input<typeof ImportRequest>
export type NotificationBody = z.input<typeof NotificationRequest>
