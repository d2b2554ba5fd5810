import { type FileHandle, open } from 'node:fs/promises'
import type { JobRecord } from '../types.ts'
import type { OutputFiles } from './files.ts'

const CHUNK = 256 * 1024

/** Answers with the job object. Streams the output from disk, so that a huge plan needs no memory. */
export async function answerWithJob(
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
