import { type FileHandle, open } from 'node:fs/promises'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { problemResponse } from '../../shared/http.ts'
import type { OutputFiles } from '../output/files.ts'
import { OutputFollower } from '../output/follow.ts'
import { readLiveOutput } from '../output/masking.ts'
import type { JobSecrets } from '../output/secrets.ts'
import type { JobRecord } from '../types.ts'
import type { JobService } from './service.ts'
import { isTerminal, type JobStore } from './store.ts'

const INVALID = 'Request validation failed'

const tailBytes = z.coerce.number().int().min(1).max(65_536).default(4096)
const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0)
const offsets = z.object({ stdout_from: offset, stderr_from: offset })

interface Jobs {
  jobs: JobService
  store: JobStore
  secrets: JobSecrets
}

export function addJobRoutes(app: Hono, options: Jobs): void {
  const { jobs, store } = options
  const follower = new OutputFollower()
  app.get(
    '/v1/jobs/:job_id',
    withId(async (c, id) => {
      const wait = preferredWait(c.req.header('prefer'))
      if (wait !== null && jobs.find(id)) await jobs.waitUntilSettled(id, wait * 1000, c.req.raw.signal)
      const record = jobs.find(id)
      return record ? answerWithJob(record, store.output(id), applied(wait)) : unknown(id)
    }),
  )
  app.delete(
    '/v1/jobs/:job_id',
    withId((c, id) => {
      const record = jobs.cancel(id)
      return record ? c.json({ job_id: id, status: record.status }, 202) : unknown(id)
    }),
  )
  app.get(
    '/v1/jobs/:job_id/output',
    withId(async (c, id) => {
      const { stdout_from, stderr_from, tail_bytes } = c.req.query()
      const bytes = tailBytes.safeParse(tail_bytes)
      if (!bytes.success) return problemResponse(422, INVALID, 'query.tail_bytes: must be a number from 1 to 65536')
      if (stdout_from !== undefined || stderr_from !== undefined) return answerFrom(c, id, follower, options)
      const record = jobs.find(id)
      if (!record) return unknown(id)
      const output = await readLiveOutput(store.output(id), options.secrets.of(id), bytes.data)
      return c.json({ job_id: id, status: record.status, ...output })
    }),
  )
}

/** Creates a handler that gets the id in the path in lower case, and refuses one that is no UUID. */
const withId = (handle: (c: Context, id: string) => Response | Promise<Response>) => (c: Context) => {
  const { success, data } = z.uuid().safeParse(c.req.param('job_id'))
  return success ? handle(c, data.toLowerCase()) : problemResponse(422, INVALID, 'path.job_id: must be a UUID')
}

/** Returns the output from two offsets on. Waits for it if requested and the job has not ended. */
async function answerFrom(c: Context, id: string, follower: OutputFollower, options: Jobs): Promise<Response> {
  const { jobs, store, secrets } = options
  const from = offsets.safeParse(c.req.query())
  if (!from.success)
    return problemResponse(
      422,
      INVALID,
      `query.${from.error.issues[0]?.path.join('.')}: must be a number of bytes from 0 to 2^53 - 1`,
    )
  const { stdout_from, stderr_from } = from.data
  const wait = preferredWait(c.req.header('prefer'))
  const { signal } = c.req.raw
  const deadline = performance.now() + (wait ?? 0) * 1000
  for (;;) {
    // The status is read first: the output of an ended job is complete.
    const record = jobs.find(id)
    if (!record) return unknown(id)
    const ended = isTerminal(record)
    const files = store.output(id)
    const [stdout, stderr] = await Promise.all([
      follower.read(files.stdout, secrets.of(id), stdout_from, ended),
      follower.read(files.stderr, secrets.of(id), stderr_from, ended),
    ])
    const left = deadline - performance.now()
    if (ended || stdout.text !== '' || stderr.text !== '' || left <= 0 || signal.aborted || jobs.isStopping)
      return c.json(
        {
          job_id: id,
          status: record.status,
          stdout: stdout.text,
          stderr: stderr.text,
          stdout_next: stdout.next,
          stderr_next: stderr.next,
        },
        200,
        applied(wait),
      )
    // The engine writes to a file, which announces nothing.
    await jobs.waitUntilSettled(id, Math.min(200, left), signal)
  }
}

const unknown = (id: string): Response => problemResponse(404, `Unknown or expired job: ${id}`)

const applied = (wait: number | null): Record<string, string> =>
  wait === null ? {} : { 'preference-applied': `wait=${wait}` }

/** Returns the seconds of `Prefer: wait=N` (RFC 7240), at most 60; null when the header requests no waiting. */
export function preferredWait(header: string | undefined): number | null {
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(header ?? '')?.[1]
  return seconds === undefined ? null : Math.min(Number(seconds), 60)
}

const CHUNK = 256 * 1024

/** Answers with the job object. Streams the output from disk, so that a huge plan needs no memory. */
async function answerWithJob(
  record: JobRecord,
  files: OutputFiles,
  headers: Record<string, string>,
): Promise<Response> {
  const { job_id, kind, status, created_at, started_at, finished_at, exit_code, error } = record
  const shown = { job_id, kind, status, created_at, started_at, finished_at }
  const init = { headers: { 'content-type': 'application/json', ...headers } }
  if (status !== 'succeeded') return new Response(JSON.stringify({ ...shown, result: null, error }), init)
  const stdout = await open(files.stdout)
  const stderr = await open(files.stderr).catch(async (cause) => {
    await stdout.close()
    throw cause
  })
  const head = JSON.stringify(shown).slice(0, -1)
  return new Response(streamOf(resultText(head, exit_code, stdout, stderr)), init)
}

async function* resultText(
  head: string,
  exitCode: number | null,
  stdout: FileHandle,
  stderr: FileHandle,
): AsyncGenerator<string> {
  try {
    yield `${head},"result":{"exit_code":${exitCode ?? 0},"stdout":"`
    yield* jsonCharacters(stdout)
    yield '","stderr":"'
    yield* jsonCharacters(stderr)
    yield '"},"error":null}'
  } finally {
    await Promise.all([stdout.close(), stderr.close()])
  }
}

async function* jsonCharacters(file: FileHandle): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const buffer = Buffer.alloc(CHUNK)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK)
    const text = decoder.decode(buffer.subarray(0, bytesRead), { stream: bytesRead > 0 })
    if (text) yield JSON.stringify(text).slice(1, -1)
    if (bytesRead === 0) return
  }
}

function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  })
}
