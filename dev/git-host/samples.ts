import { fileURLToPath } from 'node:url'

const folder = (name: string) => fileURLToPath(new URL(`../samples/${name}`, import.meta.url))

/** The repositories of a fresh sample host: only built-in resources, so that an engine needs no network. */
export const SAMPLES = [
  { owner: 'samples', name: 'web-platform', content: { folder: folder('web-platform') } },
  { owner: 'samples', name: 'data-platform', content: { folder: folder('data-platform') } },
]
