import { tuneNode } from '../src/runtime/node-tuning.ts'

// The tuning has an effect only on modules that are loaded after it, so `start.ts` imports all others.
tuneNode()
await (await import('./start.ts')).start()
