import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withTemporaryFolder } from '../../dev/files.ts'
import type { JsonObject } from '../../src/base/json.ts'

const run = promisify(execFile)
const LIMIT_MS = 60_000

let lookup: Promise<boolean> | null = null

/** True if `opa` is on PATH. It is looked up once. */
export function hasOpa(): Promise<boolean> {
  lookup ??= run('opa', ['version'], { timeout: LIMIT_MS }).then(
    () => true,
    () => false,
  )
  return lookup
}

/**
 * Checks a plan with a policy and returns the rules that are `false`, which the data set counts as violated. Policies
 * are in version 0 of the language unless they import version 1.
 */
export const checkPolicy = (rego: string, plan: JsonObject, signal: AbortSignal): Promise<string[]> =>
  withTemporaryFolder(async (folder) => {
    const [policyFile, planFile] = [join(folder, 'policy.rego'), join(folder, 'plan.json')]
    await writeFile(policyFile, rego)
    await writeFile(planFile, JSON.stringify(plan), { mode: 0o600 })
    const form = /^\s*import\s+rego\.v1\b/m.test(rego) ? '--v1-compatible' : '--v0-compatible'
    const args = ['eval', form, '--format', 'json', '--input', planFile, '--data', policyFile, 'data']
    try {
      const { stdout } = await run('opa', args, { timeout: LIMIT_MS, signal, maxBuffer: 64 * 1024 * 1024 })
      return findFalseRules(stdout)
    } catch (error) {
      signal.throwIfAborted()
      const reason = error instanceof Error ? error.message.slice(0, 300) : 'unknown error'
      return [`the policy could not be evaluated: ${reason}`]
    }
  })

/** Finds the paths of `false` in the answer of `opa eval`. */
export function findFalseRules(answer: string): string[] {
  const document = JSON.parse(answer) as { result?: { expressions?: { value?: unknown }[] }[] }
  const value = document.result?.[0]?.expressions?.[0]?.value
  if (value === undefined) return ['the policy has no result']
  return pathsOfFalse(value, []).map((path) => `the policy is not met: ${path}`)
}

function pathsOfFalse(value: unknown, path: readonly string[]): string[] {
  if (value === false) return [path.join('.')]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => pathsOfFalse(item, [...path, key]))
}
