import type { Context } from 'hono'
import type { Cloud, Operation } from '../../../src/base/vocabulary.ts'
import { assertReachable } from '../../../src/repository/head.ts'
import { acceptFirstRound, acceptRound } from '../../../src/sessions/accept.ts'
import { requireOwnSession } from '../../access.ts'
import type { AppEnv } from '../../env.ts'

/** A validated request of one of the routes generate, drift and import, which share their body. */
export interface ScheduleRequest {
  q: string
  repo_uri?: string
  scope_id?: string
  engine_providers?: Cloud
  iac_path?: string
  session_id?: string
  mode: Operation
  is_partial: boolean
}

/**
 * Opens a session with its first round, or adds a round to a session; answers the uuid of the session.
 * Errors: 404 and 403 for a session that is continued; 400 when the repository cannot be reached.
 */
export async function schedule(c: Context<AppEnv>, request: ScheduleRequest): Promise<string> {
  const { platform, user } = c.var
  const { q: query, mode, is_partial, repo_uri, scope_id, engine_providers, session_id } = request
  if (session_id !== undefined) {
    const session = await requireOwnSession(c, session_id)
    await acceptRound(platform, { session_uuid: session.uuid, mode, query, is_partial })
    return session.uuid
  }
  if (repo_uri === undefined || scope_id === undefined || engine_providers === undefined)
    throw new Error('a first call without its keys passed validation')
  await assertReachable(platform, repo_uri, c.req.raw.signal)
  const sessionUuid = await acceptFirstRound(platform, {
    user_id: user.id,
    repo_uri,
    scope_id,
    provider: engine_providers,
    iac_path: request.iac_path ?? null,
    query,
    mode,
    is_partial,
  })
  c.set('log', c.var.log.with({ session_id: sessionUuid }))
  return sessionUuid
}
