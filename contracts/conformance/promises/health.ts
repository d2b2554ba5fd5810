import type { Contract } from '../document.ts'
import type { Promised } from '../types.ts'

/** Returns the promises about `/healthz`, which every sidecar has. */
export function healthPromises(contract: Contract): Promised[] {
  const health = contract.operations.find(({ path }) => path === '/healthz')
  if (!health) throw new Error('the contract has no /healthz')
  return [
    {
      id: 'health.alive',
      promise: '`GET /healthz` answers 200 {"status": "ok"}',
      run: async (tester) => {
        const made = await tester.ask(health)
        tester.expect(made.status === 200, `answered ${made.status}`, made)
        tester.expect(JSON.stringify(made.json) === '{"status":"ok"}', 'the body is another one', made)
      },
    },
    {
      id: 'health.open',
      promise: '`GET /healthz` needs no token and minds none',
      run: async (tester) => {
        for (const authorization of [null, 'Bearer wrong', 'Basic dXNlcjpwYXNz', '']) {
          const made = await tester.ask(health, { authorization })
          tester.expect(made.status === 200, `answered ${made.status}`, made)
        }
      },
    },
  ]
}
