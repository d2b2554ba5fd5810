import type { Operation } from '../document.ts'
import type { Call, Exchange, Tester } from '../types.ts'

/** Facts about an operation that its contract document does not state. */
export interface Policy {
  operation: Operation
  /** Statuses that mean the request itself was understood; the first is the expected one. */
  understood: readonly number[]
  call: Call
  /** Makes a generated body harmless, for example by naming a folder of the suite. */
  prepare(body: unknown): unknown
  /** True when the token is checked before the body. */
  tokenFirst: boolean
  /** The reason why the operation cannot be checked completely; null when it can. */
  blocked: string | null
}

export const policyFor = (operation: Operation, understood: readonly number[], more: Partial<Policy> = {}): Policy => ({
  operation,
  understood,
  call: {},
  prepare: (body) => body,
  tokenFirst: true,
  blocked: null,
  ...more,
})

const NOT_OFFERED = [404, 405, 501]

/** Sends a request with a body. Skips the promise when an optional operation is not offered. */
export async function askWith(tester: Tester, policy: Policy, call: Call): Promise<Exchange> {
  if (policy.operation.optional && !(await isOffered(tester, policy.operation)))
    tester.skip('optional, and this implementation does not offer it')
  return tester.ask(policy.operation, { ...policy.call, ...call })
}

const offers = new WeakMap<Tester['options'], Map<string, boolean>>()

/** Reports whether an optional operation is offered: asks once per run, with a body that is always refused. */
export async function isOffered(tester: Tester, { id, method, path }: Operation): Promise<boolean> {
  const known = offers.get(tester.options) ?? new Map<string, boolean>()
  offers.set(tester.options, known)
  const before = known.get(id)
  if (before !== undefined) return before
  const { status } = await tester.send(method, path, method === 'GET' ? {} : { raw: '{}' })
  known.set(id, !NOT_OFFERED.includes(status))
  return !NOT_OFFERED.includes(status)
}

export const isRefusal = (status: number): boolean => status >= 400 && status < 500
