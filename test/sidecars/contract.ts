import { expect } from 'vitest'
import { type ContractName, readContract as readDocument } from '../../contracts/conformance/document.ts'
import { findFaults } from '../../contracts/conformance/schema/schema.ts'
import { findUndocumented } from '../../contracts/conformance/tester.ts'

// biome-ignore lint/suspicious/noExplicitAny: a parsed document is walked by its keys
type Json = any

interface App {
  request(path: string, init: RequestInit): Response | Promise<Response>
}
interface Ask {
  path?: string
  body?: unknown
  headers?: Record<string, string>
}

/** A sidecar contract with the checks of tests. */
export type Contract = Awaited<ReturnType<typeof readContract>>

/** Reads `contracts/<name>.v1.yaml`. Fails if it is no valid OpenAPI or an example does not fit its schema. */
export async function readContract(name: ContractName) {
  const { operations } = await readDocument(name)
  for (const { body, answers } of operations) {
    const answered = Object.values(answers).flatMap(({ content }) => Object.values(content ?? {}))
    for (const { schema, examples } of [...(body ? [body] : []), ...answered])
      for (const example of examples) expect(findFaults(schema, example)).toEqual([])
  }
  const find = (method: string, path: string) => {
    const found = operations.find((each) => each.method === method && each.path === path)
    if (!found) throw new Error(`the contract has no ${method} ${path}`)
    return found
  }
  return {
    /**
     * Sends JSON, or a text or bytes as they are, and checks status, content type, required headers and body of the
     * answer against the operation. `path` is for an operation whose own path has parameters.
     */
    async ask(service: App, method: string, template: string, { path = template, body, headers: own }: Ask = {}) {
      const raw = typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body)
      const sent = { headers: { 'content-type': 'application/json', ...own }, body: raw }
      const response = await service.request(path, { method, ...(body === undefined ? { headers: own ?? {} } : sent) })
      const { status, headers } = response
      const text = await response.text()
      const json: Json = text === '' ? undefined : JSON.parse(text)
      const answer = { request: '', path: template, status, headers, text, json }
      expect(findUndocumented(find(method, template), answer)).toEqual([])
      return { status, headers, body: json }
    },
    /** All operations as `METHOD /path`. */
    operations: operations.map(({ method, path }) => `${method} ${path}`).sort(),
    examplesOf: (method: string, path: string): unknown[] => find(method, path).body?.examples ?? [],
  }
}
