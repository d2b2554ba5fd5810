import type { Operation } from '../document.ts'
import type { Call, Exchange, Tester } from '../types.ts'

/** Facts about an operation that its contract document does not state. */
export interface Policy {
  operation: Operation
  /** Statuses which mean that the request itself was understood. The first one is the expected one. */
  understood: readonly number[]
  /** The request without its body. */
  call: Call
  /** Changes a generated body so that it does no harm, for example into one that names a folder of the suite. */
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

/** Sends a request with a body. When an optional operation is not offered, the promise is skipped. */
export async function askWith(tester: Tester, policy: Policy, call: Call): Promise<Exchange> {
  if (policy.operation.optional && !(await isOffered(tester, policy.operation)))
    tester.skip('optional, and this implementation does not offer it')
  return tester.ask(policy.operation, { ...policy.call, ...call })
}

const offers = new WeakMap<Tester['options'], Map<string, boolean>>()

/**
 * Reports whether an optional operation is offered. It is found out once in a run, with a body that no implementation can
 * accept, so that nothing happens.
 */
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
