import { createApp } from '../../../../routes/app.ts'
import { createAuthzApp } from '../../../../sidecars/authz/main.ts'
import type { RoleStore } from '../../../../sidecars/authz/role-store.ts'
import { createMappingApp } from '../../../../sidecars/mapping/main.ts'
import { createDeliveries } from '../../../../sidecars/notifications/deliveries.ts'
import { createNotificationsApp } from '../../../../sidecars/notifications/main.ts'
import type { Fetch } from '../../../../src/base/http.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { recordSavedPlan } from '../../../../src/rounds/transitions.ts'
import { serve } from '../../../../src/runtime/serve.ts'
import { createTestCore, type TestCore } from '../../../helpers/core.ts'
import { createIssuer } from '../../../helpers/issuer.ts'
import { createUser, openSession, runRound, SAVED_PLAN } from '../../../helpers/sessions.ts'
import { type Outside, prWriter, startOutside } from '../../../routes/outside.ts'

const ISSUER = 'https://issuer.example.org'
const TOKEN = 'token-of-the-sidecars'
const EXAMPLE = '/acme/infrastructure.git'
const HOURS_4 = 4 * 3_600
const WORK_MS = 250

export interface RunningCore {
  url: string
  /** Values of the header Authorization by who sends them; null sends none. */
  callers: Record<string, string | null>
  known: { sessions: string[]; users: number[] }
  /** Lines of the log with level `error` since the last call. */
  faults(): Record<string, unknown>[]
  close(): Promise<void>
}

/**
 * A core that listens, with users of every role, sessions in every state, the bundled sidecars behind it and a git host
 * of this machine, so that what is answered with 5xx is its own fault. A worker that knows no engine ends rounds.
 */
export async function startCore(): Promise<RunningCore> {
  const outside = await startOutside()
  const issuer = await createIssuer(ISSUER)
  const sidecars = createSidecars()
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    if (url.origin === ISSUER)
      return Response.json(
        url.pathname === '/keys' ? { keys: issuer.keys } : { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
      )
    // The repository that the examples of the description name.
    if (url.origin === 'https://github.com' && url.pathname.startsWith(EXAMPLE)) {
      const target = new URL(
        new URL(outside.repository).pathname + url.pathname.slice(EXAMPLE.length) + url.search,
        outside.host.url,
      )
      const authorization = `Basic ${btoa('bot:token-of-the-bot')}`
      return globalThis.fetch(target, { ...init, headers: { ...Object.fromEntries(request.headers), authorization } })
    }
    const sidecar = sidecars[url.hostname]
    return sidecar ? await sidecar.fetch(request) : await globalThis.fetch(input, init)
  }
  const core = await createTestCore({ yaml: yamlOf(outside), env: { T: TOKEN }, context: { fetch, llm: prWriter() } })
  const callers: RunningCore['callers'] = { nobody: null, garbage: 'Bearer x.y.z' }
  const known = { sessions: [] as string[], users: [] as number[] }
  for (const [name, roles] of Object.entries(ROLES)) {
    const user = await createUser(core.context.sql, name, roles)
    known.users.push(user.id)
    known.sessions.push(...(await sessionsOf(core, outside, user.id)))
    const exp = Math.floor(Date.now() / 1000) + HOURS_4
    callers[name] = `Bearer ${await issuer.token(name, { exp, email: user.email })}`
  }
  const app = createApp(core.context)
  const server = await serve((request, peer) => app.fetch(request, { peer }), { port: 0, hostname: '127.0.0.1' })
  const worker = startWorker(core)
  return {
    url: server.url,
    callers,
    known,
    faults: () => core.log.splice(0).filter(({ level, error }) => level === 'error' && !isRefusedByAuthz(error)),
    close: async () => {
      await worker.stop()
      await server.close(1_000)
      await core.close()
      await outside.close()
    },
  }
}

/** The contract gives the texts that the sidecar is asked about no bounds in the core, so it may refuse them. */
const isRefusedByAuthz = (error: unknown): boolean =>
  (error as { message?: string } | undefined)?.message === 'authz service returned an unexpected response: HTTP 422'

const ROLES = {
  developer: { operation_role: 'developer' },
  devops: { operation_role: 'devops' },
  viewer: { panel_role: 'viewer' },
  editor: { panel_role: 'editor' },
  admin: { operation_role: 'devops', panel_role: 'admin' },
} as const

const yamlOf = (outside: Outside) => `
${outside.yaml}
oidc: { issuer_url: "${ISSUER}", client_id: core }
orchestration: { max_session_events_iteration: 1 }
services:
  mapping: { enabled: true, endpoint: "http://mapping.test", token_env: T }
  authz: { enabled: true, endpoint: "http://authz.test", token_env: T }
  notifications: { enabled: true, endpoint: "http://notifications.test", token_env: T }
`

function createSidecars(): Record<string, { fetch(request: Request): Response | Promise<Response> }> {
  const common = { token: TOKEN, log: silentLogger }
  const store: RoleStore = { read: async () => new Map(), change: async () => {} }
  return {
    'mapping.test': createMappingApp({ ...common, catalogue: null, strict: false }),
    'authz.test': createAuthzApp({ ...common, permissive: true, store }),
    'notifications.test': createNotificationsApp({
      ...common,
      deliveries: createDeliveries({ deliver: async () => {} }),
    }),
  }
}

/** One that waits, one that ran and has a branch, one that failed and one in another mode. */
async function sessionsOf(core: TestCore, outside: Outside, user_id: number): Promise<string[]> {
  const { context } = core
  const place = { repo_uri: outside.repository }
  const ran = await outside.ranSession(context, user_id)
  const waits = await openSession(context, user_id, place)
  const failed = await openSession(context, user_id, { ...place, query: 'A %_\\ list', iac_path: 'live' })
  const drift = await openSession(context, user_id, { ...place, mode: 'drift' })
  await (await runRound(context, failed)).finish('failed', 'runner failed: x')
  return [ran, waits, failed, drift]
}

/** Ends the rounds that requests begin, some with a seal, so that sessions come into every state. */
function startWorker(core: TestCore): { stop(): Promise<void> } {
  let isStopped = false
  let turn = 0
  const work = async () => {
    const waiting = await core.database.sql<{ uuid: string }[]>`
      SELECT uuid FROM sessions WHERE in_flight ORDER BY random() LIMIT 20`
    for (const { uuid } of waiting) {
      // A request may cancel the round meanwhile.
      const run = await runRound(core.context, uuid).catch(() => null)
      if (!run) continue
      turn += 1
      if (turn % 3 === 0) await recordSavedPlan(core.database.sql, run.round, SAVED_PLAN).catch(() => {})
      await run.finish(turn % 5 === 0 ? 'failed' : 'completed', 'x', [{ user: 'q', assistant: 'a' }]).catch(() => {})
    }
  }
  const loop = (async () => {
    while (!isStopped) {
      await work()
      await new Promise((resolve) => setTimeout(resolve, WORK_MS))
    }
  })()
  return {
    stop: async () => {
      isStopped = true
      await loop
    },
  }
}
