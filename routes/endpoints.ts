import type { Endpoint } from './endpoint.ts'
import { getAudit } from './v1/admin/audit.get.ts'
import { getAdminSession } from './v1/admin/sessions/detail.get.ts'
import { getAdminSessionList } from './v1/admin/sessions/list.get.ts'
import { getAdminSessionSummary } from './v1/admin/sessions/summary.get.ts'
import { patchToggleLock } from './v1/admin/sessions/toggle-lock.patch.ts'
import { getAdminUserList } from './v1/admin/users/list.get.ts'
import { putRoles } from './v1/admin/users/roles.put.ts'
import { postAuthorize } from './v1/auth/authorize.post.ts'
import { getAuthConfig } from './v1/auth/config.get.ts'
import { getActivity } from './v1/events/activity.get.ts'
import { getOutput } from './v1/events/output.get.ts'
import { subscribe } from './v1/events/subscribe.get.ts'
import { postApply } from './v1/iac/apply.post.ts'
import { postCancel } from './v1/iac/cancel.post.ts'
import { postDrift } from './v1/iac/drift.post.ts'
import { postGenerate } from './v1/iac/generate.post.ts'
import { postImport } from './v1/iac/import.post.ts'
import { postVerifySeal } from './v1/iac/seal/verify.post.ts'
import { postResolve } from './v1/mapping/resolve.post.ts'
import { postNotification } from './v1/notifications/send.post.ts'
import { postParse } from './v1/repository/parse.post.ts'
import { putMerge } from './v1/repository/pr/merge.put.ts'
import { getMergeReadiness } from './v1/repository/pr/readiness.get.ts'
import { putPullRequest } from './v1/repository/pr.put.ts'
import { getSession } from './v1/sessions/detail.get.ts'
import { getSessionList } from './v1/sessions/list.get.ts'
import { getMe } from './v1/users/me.get.ts'
import { getMyUsage } from './v1/users/usage.get.ts'

/** All routes of the API, in the order of the API description. */
export const ENDPOINTS: readonly Endpoint[] = [
  getAuthConfig,
  postAuthorize,
  getMe,
  getMyUsage,
  postGenerate,
  postDrift,
  postApply,
  postImport,
  postVerifySeal,
  postCancel,
  subscribe,
  getActivity,
  getOutput,
  putPullRequest,
  getMergeReadiness,
  putMerge,
  postParse,
  getSessionList,
  getSession,
  getAdminSessionList,
  getAdminSession,
  getAdminSessionSummary,
  patchToggleLock,
  getAdminUserList,
  putRoles,
  getAudit,
  postResolve,
  postNotification,
]
