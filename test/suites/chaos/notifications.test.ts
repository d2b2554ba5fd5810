import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { listen, type Running } from '../../../dev/server.ts'
import { modes } from '../../../pipeline/modes/index.ts'
import { runRound } from '../../../pipeline/run-round.ts'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Context } from '../../../src/context.ts'
import { notifyRunFailure } from '../../../src/notifications/notify.ts'
import { findSession } from '../../../src/sessions/find.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { findings, GATES, goodRound, MAIN } from '../modes/scripts.ts'
import { startStack } from '../modes/stack.ts'

const stack = startOnce(startStack)
let running: Running | null = null
afterEach(async () => {
  await running?.close()
  running = null
})

interface Sidecar {
  endpoint: string
  /** Kinds, in the order of their arrival. */
  kinds: string[]
  /** Requests whose caller gave up. */
  given_up: Promise<void>
}

/** A notifications sidecar that treats every request the same. */
async function sidecar(treat: (response: ServerResponse) => void): Promise<Sidecar> {
  const kinds: string[] = []
  let giveUp = () => {}
  const given_up = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const server = createServer(async (request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) giveUp()
    })
    kinds.push(JSON.parse(await textOf(request)).kind)
    treat(response)
  })
  running = await listen(server)
  return { endpoint: running.url, kinds, given_up }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Runs one round to its end, with the notifications that a worker sends; what it left and what its log says. */
async function ended(endpoint: string, changes: Record<string, Script>) {
  const lines: { message: string; level: string }[] = []
  const base = stack.context(scriptedLlm(goodRound(changes)), { orchestration: GATES })
  const { services } = base.config
  const notifications = {
    ...services.notifications,
    enabled: true,
    endpoint,
    token: 'token-of-notifications',
    timeout: 1,
  }
  const context: Context = {
    ...base,
    log: createLogger({ write: (line) => lines.push(JSON.parse(line)) }),
    config: { ...base.config, services: { ...services, notifications } },
  }
  const { id } = await createUser(context.sql, crypto.randomUUID())
  const uuid = await openSession(context, id, {
    repo_uri: await stack.repository({ 'main.tf': MAIN }),
    query: 'Add a second greeting',
  })
  const [round] = await context.sql<{ id: number }[]>`
    SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE uuid = ${uuid}`
  await runRound(context, round?.id ?? 0, modes, new AbortController().signal, {
    openWorkspace: (claim, options) => openWorkspace(context.config, claim, options),
    notifyFailure: (session, facts) => notifyRunFailure(context, session, facts),
  })
  const statuses = await context.sql<
    { status: string }[]
  >`SELECT status FROM statuses WHERE round_id = ${round?.id ?? 0} ORDER BY created_at, id`
  const session = await findSession(context.sql, uuid)
  return {
    last: statuses.slice(-2).map(({ status }) => status),
    in_flight: session?.in_flight,
    is_blocked: session?.is_blocked,
    warned: lines
      .filter(({ level, message }) => level === 'warn' && message.startsWith('Failed to send'))
      .map(({ message }) => message),
  }
}

const LOCKED = { report_compliance_findings: findings('critical') }
const FAILED = { requests_filter: { error: new Error('the model is gone') } }
const locked = { last: ['report', 'completed'], in_flight: false, is_blocked: true }
const failed = { last: ['filtering', 'failed'], in_flight: false, is_blocked: false }
const unsent = (kind: string) => [`Failed to send '${kind}' notification`]

const answering = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

describe('rounds end the same', () => {
  it('with a notifications sidecar that takes everything', async () => {
    const { endpoint, kinds } = await sidecar(answering(202, { delivery_id: 'd-1' }))
    expect(await ended(endpoint, LOCKED)).toEqual({ ...locked, warned: [] })
    expect(await ended(endpoint, FAILED)).toEqual({ ...failed, warned: [] })
    expect(kinds).toEqual(['iac.compliance.failed', 'system.exception.failure'])
  })

  it.each([403, 503])('with one that answers %i: it is asked once', async (status) => {
    const { endpoint, kinds } = await sidecar(answering(status, { code: 'Refused', message: 'no' }))
    expect(await ended(endpoint, LOCKED)).toEqual({ ...locked, warned: unsent('iac.compliance.failed') })
    expect(await ended(endpoint, FAILED)).toEqual({ ...failed, warned: unsent('system.exception.failure') })
    expect(kinds).toEqual(['iac.compliance.failed', 'system.exception.failure'])
  })

  it('with one that never answers: it is given up when its timeout is over', async () => {
    const { endpoint, kinds, given_up } = await sidecar(() => {})
    expect(await ended(endpoint, LOCKED)).toEqual({ ...locked, warned: unsent('iac.compliance.failed') })
    await given_up
    expect(await ended(endpoint, FAILED)).toEqual({ ...failed, warned: unsent('system.exception.failure') })
    expect(kinds).toEqual(['iac.compliance.failed', 'system.exception.failure'])
  })

  it('with one that answers drop by drop', async () => {
    const { endpoint } = await sidecar((response) => {
      response.writeHead(202, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 100)
      response.once('close', () => clearInterval(drip))
    })
    expect(await ended(endpoint, FAILED)).toEqual({ ...failed, warned: unsent('system.exception.failure') })
  })

  it('with none at the address', async () => {
    const { endpoint } = await sidecar(() => {})
    await running?.close()
    running = null
    expect(await ended(endpoint, LOCKED)).toEqual({ ...locked, warned: unsent('iac.compliance.failed') })
    expect(await ended(endpoint, FAILED)).toEqual({ ...failed, warned: unsent('system.exception.failure') })
  })
})
