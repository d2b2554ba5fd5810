import { provideEngine } from '../../../dev/engine/provide.ts'

/** Provides an engine as a process of its own, with the key in `TEST_PUBLIC_KEY`, and prints its folder. */
const folder = await provideEngine({ env: process.env, output: process.stderr, publicKey: process.env.TEST_PUBLIC_KEY })
console.log(folder)
