import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Hono } from 'hono'
import { z } from 'zod'
import { BODIES, ROUTES } from '../../../../sidecars/iac/app.ts'
import { ADDITIONS, type JobKind } from '../../../../sidecars/iac/types.ts'
import { problemResponse, readBody, requireBearer } from '../../../../sidecars/shared/http.ts'
import { type Handler, TOKEN } from './serve.ts'

type Json = Record<string, unknown>

/** The faults that the fake can have. By default it has none. */
export interface Ways {
  /** Returns the name under which a workspace queues. */
  queueOf(path: string, real: string): string
  /** Returns a job in the form that pollers see. */
  shown(job: Json): Json
  /** Stores the end of a job; `set` shows a change to pollers. */
  finish(job: Json, end: Json, set: (change: Json) => void): Promise<void> | void
  location(job_id: string): string | null
  kindOf(kind: JobKind): string
  unknown(job_id: string): Response
  /** True if a queue runs its newest job first. */
  lifo: boolean
  /** Milliseconds that a command takes. */
  ms: number
  /** True if optional jobs are offered. */
  additions: boolean
}
const RIGHT: Ways = {
  queueOf: (_, real) => real,
  shown: (job) => job,
  finish: (_, end, set) => set(end),
  location: (job_id) => `/v1/jobs/${job_id}`,
  kindOf: (kind) => kind,
  unknown: (job_id) => problemResponse(404, `Unknown or expired job: ${job_id}`),
  lifo: false,
  ms: 20,
  additions: false,
}

/** Creates an in-memory implementation of the iac sidecar's contract without an engine; commands end after a moment. */
export function fakeIac(wrong: Partial<Ways> = {}): Handler {
  const ways = { ...RIGHT, ...wrong }
  const jobs = new Map<string, Json>()
  const queues = new Map<string, (() => Promise<void>)[]>()
  const app = new Hono()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.notFound(() => problemResponse(404, 'Not Found'))
  app.use('/v1/*', requireBearer(TOKEN))

  const drain = async (name: string, queue: (() => Promise<void>)[]) => {
    for (;;) {
      const next = ways.lifo && queue.length > 1 ? queue.pop() : queue.shift()
      if (!next) break
      await next()
    }
    queues.delete(name)
  }
  const enqueue = (name: string, run: () => Promise<void>) => {
    const queue = queues.get(name)
    if (queue) return void queue.push(run)
    const started = [run]
    queues.set(name, started)
    void drain(name, started)
  }
  const run = async (id: string, kind: JobKind, workspace: string) => {
    const set = (change: Json) => void jobs.set(id, { ...jobs.get(id), ...change })
    set({ status: 'running', started_at: now() })
    await wait(ways.ms)
    const result = await resultOf(kind, workspace)
    await ways.finish(jobs.get(id) ?? {}, { status: 'succeeded', finished_at: now(), result }, set)
  }

  for (const kind of Object.keys(ROUTES) as JobKind[]) {
    if (!ways.additions && ADDITIONS.some((addition) => addition === kind)) continue
    app.post(ROUTES[kind], async (c) => {
      const body = await readBody(c, BODIES[kind], { maxBytes: 8 * 1024 * 1024 })
      if (!body.ok) return body.response
      const { workspace_path } = body.value
      const real = await folderAt(workspace_path)
      if (real === null)
        return problemResponse(404, `workspace_path does not exist or is not a directory: ${workspace_path}`)
      const job_id = crypto.randomUUID()
      jobs.set(job_id, {
        job_id,
        kind: ways.kindOf(kind),
        status: 'queued',
        created_at: now(),
        started_at: null,
        finished_at: null,
        result: null,
        error: null,
      })
      enqueue(ways.queueOf(workspace_path, real), () => run(job_id, kind, real))
      const location = ways.location(job_id)
      return c.json({ job_id, status: 'queued' }, 202, location === null ? {} : { location })
    })
  }
  app.get('/v1/jobs/:job_id', (c) => {
    const id = c.req.param('job_id')
    if (!z.uuid().safeParse(id).success)
      return problemResponse(422, 'Request validation failed', 'path.job_id: must be a UUID')
    const job = jobs.get(id)
    return job ? c.json(ways.shown(job)) : ways.unknown(id)
  })
  return (request) => app.fetch(request)
}

const now = () => new Date().toISOString()

async function folderAt(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : null
  } catch {
    return null
  }
}

/** Returns the result of a command. Commands that need an engine fail, as they do with a wrong configuration. */
async function resultOf(kind: JobKind, workspace: string): Promise<Json> {
  const code = await readFile(join(workspace, 'main.tf'), 'utf8').catch(() => '')
  const fine = kind === 'validate' && !code.endsWith('{\n')
  return fine
    ? { exit_code: 0, stdout: 'Success!', stderr: '' }
    : { exit_code: 1, stdout: '', stderr: 'Error: the fake has no engine' }
}
