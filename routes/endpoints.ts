import type { Endpoint } from './endpoint.ts'
import { getAuthConfig } from './v1/auth/config.get.ts'
import { subscribe } from './v1/events/subscribe.get.ts'
import { postGenerate } from './v1/iac/generate.post.ts'
import { postParse } from './v1/repository/parse.post.ts'
import { putPullRequest } from './v1/repository/pr.put.ts'
import { getSession } from './v1/sessions/detail.get.ts'
import { getSessionList } from './v1/sessions/list.get.ts'
import { getMe } from './v1/users/me.get.ts'

/** Every route of the API, in the order of its description. */
export const ENDPOINTS: readonly Endpoint[] = [
  getAuthConfig,
  getMe,
  postGenerate,
  subscribe,
  getSessionList,
  getSession,
  postParse,
  putPullRequest,
]
