import type { z } from '@hono/zod-openapi'
import type { PlanDocument } from '../../../routes/schemas/plan-document.ts'

/** The components of the API's description, by name. A test compares this table with `/api/openapi.json`. */
export interface Components {
  AdminUser: z.output<typeof import('../../../routes/schemas/user.ts').AdminUser>
  AuditPage: z.output<typeof import('../../../routes/schemas/audit.ts').AuditPage>
  AuthConfig: z.output<typeof import('../../../routes/v1/auth/config.get.ts').AuthConfig>
  Decision: z.output<typeof import('../../../routes/v1/auth/authorize.post.ts').Decision>
  Delivery: z.output<typeof import('../../../routes/v1/notifications/send.post.ts').Delivery>
  LockState: z.output<typeof import('../../../routes/v1/admin/sessions/toggle-lock.patch.ts').LockState>
  MappingAnswer: z.output<typeof import('../../../routes/v1/mapping/resolve.post.ts').MappingAnswer>
  PullRequest: z.output<typeof import('../../../routes/v1/repository/pr.put.ts').PullRequest>
  Roots: z.output<typeof import('../../../routes/v1/repository/parse.post.ts').Roots>
  SealVerification: z.output<typeof import('../../../routes/schemas/seal.ts').SealVerification>
  SessionAggregate: z.output<typeof import('../../../routes/schemas/session.ts').SessionAggregate>
  SessionId: z.output<typeof import('../../../routes/schemas/session.ts').SessionId>
  SessionPage: z.output<typeof import('../../../routes/schemas/session.ts').SessionPage>
  SessionTotals: z.output<typeof import('../../../routes/v1/admin/sessions/summary.get.ts').SessionTotals>
  User: z.output<typeof import('../../../routes/schemas/user.ts').User>
  UserPage: z.output<typeof import('../../../routes/schemas/user.ts').UserPage>
}

export type Session = Components['SessionAggregate']
export type SessionSummary = Components['SessionPage']['items'][number]
export type Round = Session['rounds'][number]
export type Status = Session['current_status']
export type Cloud = Session['provider']
export type Seal = NonNullable<Session['seal']>
export type AttemptResult = Round['attempts'][number]
export type User = Components['User']
export type { ActivityEvent, OutputEvent } from '../../../routes/sse-answers.ts'
/** The plan as data. */
export type { PlanDocument }
export type PlannedResource = PlanDocument['resources'][number]
export type Action = PlannedResource['action']
export type Finding = PlannedResource['findings'][number]
export type Severity = Finding['severity']

/** The body of a request for a round. `is_partial`, `preview` and `resource_ids` apply to drift and import only. */
export type GenerateBody = z.input<typeof import('../../../routes/schemas/iac-request.ts').GenerateRequest>
export type RoundBody = z.input<typeof import('../../../routes/schemas/iac-request.ts').ImportRequest>
export type NotificationBody = z.input<
  typeof import('../../../routes/v1/notifications/send.post.ts').NotificationRequest
>
