import { createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { expect, onTestFinished } from 'vitest'
import type { Inventory, InventoryRequest } from '../../../../sidecars/iac/inventory/request.ts'
import { interceptRequests } from '../../../helpers/intercept.ts'
import { inventoryRequest } from './request.ts'

export const fixture = (name: string): string => join(import.meta.dirname, 'fixtures', name)
/** Key and certificate of a client, in PEM, made for these tests. */
export const CLIENT_PEM: string = await readFile(fixture('client.pem'), 'utf8')
export const CERTIFICATE = new X509Certificate(CLIENT_PEM.slice(CLIENT_PEM.indexOf('-----BEGIN CERTIFICATE')))
export const PRIVATE_PEM: string = CLIENT_PEM.slice(0, CLIENT_PEM.indexOf('-----BEGIN CERTIFICATE'))
export const PUBLIC_KEY = createPublicKey(PRIVATE_PEM)

export interface Call {
  url: URL
  method: string
  headers: Headers
  text: string
  form: URLSearchParams
  json: () => Record<string, unknown>
}
export type Reply = unknown | ((call: Call, count: number) => unknown)

/** Provides a world with only those clouds that a test adds. */
export function outsideWorld() {
  const server = interceptRequests()
  /** Answers at this address, whatever the query, with JSON or with a response. Returns the calls. */
  return function at(address: string, reply: Reply): Call[] {
    const calls: Call[] = []
    const pattern = new RegExp(`^${address.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(\\?.*)?$`)
    server.use(
      http.all(pattern, async ({ request }) => {
        const text = await request.text()
        const call: Call = {
          url: new URL(request.url),
          method: request.method,
          headers: request.headers,
          text,
          form: new URLSearchParams(text),
          json: () => JSON.parse(text),
        }
        calls.push(call)
        const answer: unknown = typeof reply === 'function' ? reply(call, calls.length) : reply
        return answer instanceof Response ? answer.clone() : HttpResponse.json(Object(answer))
      }),
    )
    return calls
  }
}

export const refused = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  typeof body === 'string'
    ? new HttpResponse(body, { status, headers })
    : HttpResponse.json(Object(body), { status, headers })
export const unreachable = (): Response => HttpResponse.error()

/** Returns the result of a discovery, and everything that was shown or logged. */
export async function outcome(
  inventory: Inventory,
  scope: string,
  env: Record<string, string | undefined>,
  more: Partial<InventoryRequest> = {},
) {
  const request = inventoryRequest(scope, env, more)
  const { ids, error } = await inventory(request).then(
    (found) => ({ ids: found, error: '' }),
    (thrown: Error) => ({ ids: [], error: thrown.name === 'Error' ? String(thrown.stack) : thrown.message }),
  )
  return { ids, error, shown: [...request.lines, error].join('\n') }
}

/** Expects this very text, or one of this form. */
export function expectText(text: string, expected: string | RegExp): void {
  if (typeof expected === 'string') expect(text).toBe(expected)
  else expect(text).toMatch(expected)
}

/** Makes a folder with these files that is removed after the test. */
export async function folderWith(files: Record<string, string>): Promise<(name: string) => string> {
  const folder = await mkdtemp(join(tmpdir(), 'inventory-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  for (const [name, text] of Object.entries(files)) await writeFile(path(name), text)
  return path
}
