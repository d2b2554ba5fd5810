import { bodyPromises } from '../promises/bodies.ts'
import { healthPromises } from '../promises/health.ts'
import { policyFor } from '../promises/policy.ts'
import { tokenPromises } from '../promises/token.ts'
import { transportPromises } from '../promises/transport.ts'
import { type Check, check, type Options } from '../types.ts'
import { authzRolePromises } from './authz-roles.ts'

const NO_ADMIN = 'needs a caller with the role admin: name one with --admin'

/** Returns the promises of `contracts/authz.v1.yaml`. The suite cannot judge whether a decision is right. */
export function authzSuite(options: Options): Check[] {
  const { contract, token, admin } = options
  const operation = contract.operation
  const caller: Record<string, string> = admin === null ? {} : { 'x-user-id': admin }
  const decision = policyFor(operation('check'), [200, 502], { tokenFirst: false })
  const assign = policyFor(operation('assign'), [204, 404], {
    call: { headers: caller, path: { user_id: 'conformance-target' } },
    tokenFirst: false,
    blocked: admin === null ? NO_ADMIN : null,
  })
  const others = ['me', 'roles', 'users', 'revoke'].map((id) =>
    policyFor(operation(id), [200, 204], { call: { headers: caller } }),
  )

  return [
    ...healthPromises(contract),
    ...tokenPromises([decision, assign, ...others], token),
    ...bodyPromises(decision),
    check('check.decision', 'A decision, granted or denied, is answered with 200', async (tester) => {
      for (const json of [
        { cloud: 'aws', project: 'p' },
        { user_id: null, cloud: 'no-such-cloud', project: 'https://git.example.com/team/app', environment: null },
        { user_id: 'nobody@example.com', cloud: 'gcp', project: 'x'.repeat(256), environment: 'prod' },
        { user_id: 'x'.repeat(1024), cloud: 'c'.repeat(32), project: '漢'.repeat(256), environment: 'e'.repeat(32) },
      ]) {
        const made = await tester.ask(decision.operation, { json })
        if (made.status === 502) tester.skip('the backend of the service is not usable: it answered 502')
        if (!tester.expectStatus(made, 200)) continue
        tester.expectBody(made, (json) => typeof json.authorized === 'boolean', 'authorized is not true or false')
      }
    }),
    ...bodyPromises(assign),
    ...authzRolePromises(options, NO_ADMIN),
    ...transportPromises(contract.operations),
  ]
}
