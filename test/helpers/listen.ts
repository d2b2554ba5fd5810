import type { Running } from '../../src/runtime/serve.ts'
import { serve } from '../../src/runtime/serve.ts'
import type { TestCore } from './core.ts'

/** Serves the core on a real port of this machine. */
export const listen = (app: Pick<TestCore['app'], 'fetch'>): Promise<Running> =>
  serve((request, peer) => app.fetch(request, { peer }), { port: 0, hostname: '127.0.0.1' })
