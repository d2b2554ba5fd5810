import type { Contract } from '../document.ts'
import { type Check, check } from '../types.ts'

/** Returns the promises about `/healthz`, which every sidecar has. */
export function healthPromises(contract: Contract): Check[] {
  const health = contract.operations.find(({ path }) => path === '/healthz')
  if (!health) throw new Error('the contract has no /healthz')
  return [
    check('health.alive', '`GET /healthz` answers 200 {"status": "ok"}', async (tester) => {
      const made = await tester.ask(health)
      tester.expectStatus(made, 200)
      tester.expect(JSON.stringify(made.json) === '{"status":"ok"}', 'the body is another one', made)
    }),
    check('health.open', '`GET /healthz` needs no token and minds none', async (tester) => {
      for (const authorization of [null, 'Bearer wrong', 'Basic dXNlcjpwYXNz', '']) {
        const made = await tester.ask(health, { authorization })
        tester.expectStatus(made, 200)
      }
    }),
  ]
}
