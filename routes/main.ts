import { tuneNode } from '../src/runtime/node-tuning.ts'

// Only modules that are imported after this line profit, so all others are imported by `start.ts`.
tuneNode()
await (await import('./start.ts')).start()
