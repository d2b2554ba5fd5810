import { tuneNode } from '../src/runtime/node-tuning.ts'

// The tuning affects only modules that are loaded after it, so `start.ts` imports all others.
tuneNode()
await (await import('./start.ts')).start()
