import { readFile } from 'node:fs/promises'
import { retryAfter } from '../../../src/base/http.ts'

/** Variables with which git writes the headers of its exchanges to a file, without credentials and contents. */
export const traceTo = (file: string): Record<string, string> => ({
  GIT_TRACE_CURL: file,
  GIT_TRACE_CURL_NO_DATA: '1',
  GIT_TRACE_REDACT: '1',
})

/** Reads from such a file what the host said in its last answer: where to go, and how many milliseconds to wait. */
export async function readLastAnswer(file: string): Promise<{ location: string | null; waitMs: number | null }> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const received = lines.flatMap((line) => /<= Recv header: (.*)$/.exec(line)?.[1]?.trim() ?? [])
  const headers = new Headers()
  for (const line of received.slice(received.findLastIndex((text) => text.startsWith('HTTP/')) + 1)) {
    const [, name, value] = /^(location|retry-after): *(.*)$/i.exec(line) ?? []
    if (name !== undefined && value !== undefined) headers.set(name, value)
  }
  return { location: headers.get('location'), waitMs: retryAfter(headers) }
}
