import { expect } from 'vitest'
import { type ContractName, readContract as readDocument } from '../../contracts/conformance/document.ts'
import { findUndocumented } from '../../contracts/conformance/http/documented.ts'
import { findFaults } from '../../contracts/conformance/schema/schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: a parsed document is walked by its keys
type Json = any

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
    /** All operations as `METHOD /path`. */
    operations: operations.map(({ method, path }) => `${method} ${path}`).sort(),
    examplesOf: (method: string, path: string): unknown[] => find(method, path).body?.examples ?? [],
    /** Checks status, content type, required headers and body of an answer against the operation. Returns the body. */
    async expectDocumented(method: string, path: string, response: Response): Promise<Json> {
      const { status, headers } = response
      const text = await response.text()
      const json: unknown = text === '' ? undefined : JSON.parse(text)
      expect(findUndocumented(find(method, path), { request: '', path, status, headers, text, json })).toEqual([])
      return json
    },
  }
}
