import { Hono } from 'hono'
import { ENDPOINTS } from '../routes/endpoints.ts'
import type { AppEnv } from '../routes/env.ts'
import { onError } from '../routes/error-handler.ts'
import { validate } from '../routes/validation/validate.ts'
import { createAuthzApp } from '../sidecars/authz/main.ts'
import { openRoleStore } from '../sidecars/authz/role-store.ts'
import { createDeliveries } from '../sidecars/notifications/deliveries.ts'
import { createNotificationsApp } from '../sidecars/notifications/main.ts'
import { silentLogger } from '../src/base/log.ts'
import { findRootModules } from '../src/repository/root-modules.ts'
import { HOSTILE_BODIES } from '../test/helpers/hostile-json.ts'
import { HOSTILE_PACKS, LARGE_REPOSITORY } from '../test/repository/pack/hostile-packs.ts'
import { remoteOf } from '../test/repository/pack/remote-of.ts'
import { gitContext } from '../test/repository/support.ts'
import { type Blocking, measureBlocking } from './lib/blocking.ts'
import type { Figure, Section } from './lib/report.ts'

/** Longest time in ms for which the event loop may be blocked. */
const AIM_MS = 50

/** Measures the longest time for which hostile bodies and packs block the event loop of this process. */
export async function benchHostile(options: { runs: number }): Promise<Section> {
  const idle = await measureBlocking(() => new Promise((resolve) => setTimeout(resolve, 500)))
  const figures: Figure[] = [{ name: 'nothing to do: longest delay of the loop', value: idle.delay_ms, unit: 'ms' }]
  for (const target of targets()) figures.push(...(await benchBodies(target, options.runs)))
  for (const hostile of [...HOSTILE_PACKS, LARGE_REPOSITORY]) figures.push(...(await benchPack(hostile, options.runs)))
  return {
    title: 'Hostile bodies and packs (the longest time for which they hold the event loop)',
    figures,
    notes: [
      'Busy is the processor time of the thread between two turns of the loop; delay has its waits for a processor too.',
      'Where there are several runs, each figure is the smallest of them.',
    ],
  }
}

interface Target {
  name: string
  path: string
  method: string
  bytes: number
  app: Pick<Hono<AppEnv>, 'request'>
}

/** Lists the routes with a body, one for each limit, of core and sidecars. Only reading and validating is run. */
function targets(): Target[] {
  const app = new Hono<AppEnv>().onError(onError)
  app.use(async (c, next) => {
    c.set('log', silentLogger)
    await next()
  })
  app.post('/bare', async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)))
  const found: Target[] = []
  for (const { route, maxBodyBytes } of ENDPOINTS.filter(({ route }) => route.request?.body)) {
    app.on(route.method, route.path, async (c) => c.json(Object.keys(await validate(route, c, maxBodyBytes))))
    if (/iac\/drift|notifications|mapping/.test(route.path))
      found.push({ name: route.path, path: route.path, method: route.method, bytes: maxBodyBytes, app })
  }
  const [token, log] = ['', silentLogger]
  const deliveries = createDeliveries({ deliver: async () => {} })
  const notifications = createNotificationsApp({ token, deliveries, log })
  const authz = createAuthzApp({ token, permissive: true, store: openRoleStore('/nonexistent/roles.json'), log })
  const largest = Math.max(...found.map(({ bytes }) => bytes))
  return [
    { name: 'bare route', path: '/bare', method: 'post', bytes: largest, app },
    ...found,
    { name: 'authz /v1/check', path: '/v1/check', method: 'post', bytes: 64 * 1024, app: authz },
    {
      name: 'notifications /v1/notify',
      path: '/v1/notify',
      method: 'post',
      bytes: 2 * 1024 * 1024,
      app: notifications,
    },
  ]
}

/** Runs all shapes against one route. The figure is that of the worst one, which is named. */
async function benchBodies({ name, path, method, bytes, app }: Target, runs: number): Promise<Figure[]> {
  let worst = { shape: '', busy_ms: 0, delay_ms: 0 }
  for (const shape of HOSTILE_BODIES) {
    const body = new TextEncoder().encode(shape.write(bytes))
    const headers = { 'content-type': 'application/json' }
    const found = await best(runs, async () => {
      await (await app.request(path, { method: method.toUpperCase(), body, headers })).arrayBuffer()
    })
    if (found.busy_ms > worst.busy_ms) worst = { shape: shape.name, ...found }
  }
  const label = `${name}, ${bytes / 1024} KiB, worst shape (${worst.shape})`
  return [
    { name: `${label}: busy`, value: worst.busy_ms, unit: 'ms', aim: AIM_MS },
    { name: `${label}: delay`, value: worst.delay_ms, unit: 'ms' },
  ]
}

async function benchPack({ name, build }: (typeof HOSTILE_PACKS)[number], runs: number): Promise<Figure[]> {
  const built = build()
  const context = gitContext({ allow_private_hosts: ['127.0.0.1'] }, { fetch: remoteOf(built) })
  // Attacks may be read or refused. This counts the cost of either.
  const found = await best(runs, () => findRootModules(context, 'https://127.0.0.1/a/b').catch(() => []))
  const label = `pack of ${Math.ceil(built.pack.length / 1e5) / 10} MB, ${name}`
  return [
    { name: `${label}: busy`, value: found.busy_ms, unit: 'ms', aim: AIM_MS },
    { name: `${label}: delay`, value: found.delay_ms, unit: 'ms' },
    { name: `${label}: memory`, value: Math.max(0, found.memory_mb), unit: 'MB' },
  ]
}

/** Returns the smallest figure of each kind over some runs, because other processes of the machine only add to them. */
async function best(runs: number, work: () => Promise<unknown>): Promise<Blocking> {
  const all: Blocking[] = []
  for (let run = 0; run < runs; run++) all.push(await measureBlocking(work))
  const least = (key: keyof Blocking) => Math.min(...all.map((each) => each[key]))
  return {
    delay_ms: least('delay_ms'),
    busy_ms: least('busy_ms'),
    memory_mb: Math.max(...all.map(({ memory_mb }) => memory_mb)),
  }
}
