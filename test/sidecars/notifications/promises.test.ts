import { expect, it } from 'vitest'
import { createDeliveries } from '../../../sidecars/notifications/deliveries.ts'
import { createNotificationsApp } from '../../../sidecars/notifications/main.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { brokenOf, judged, TOKEN } from '../../contracts/conformance/fakes/serve.ts'

it('keeps the promises of its contract', async () => {
  const deliveries = createDeliveries({ deliver: async () => {} })
  const service = createNotificationsApp({ token: TOKEN, deliveries, log: silentLogger })
  expect(brokenOf(await judged('notifications', service.fetch))).toEqual([])
})
