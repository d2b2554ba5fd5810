import { tuneNode } from '../src/runtime/node-tuning.ts'

// Only modules that are imported after this line benefit, so `start.ts` imports all others.
tuneNode()
await (await import('./start.ts')).start()
