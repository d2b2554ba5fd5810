import { fileURLToPath } from 'node:url'

const folder = (name: string) => fileURLToPath(new URL(`../samples/${name}`, import.meta.url))

/** The repositories of a fresh sample host: only built-in resources, so that an engine needs no network. */
export const SAMPLES = ['web-platform', 'data-platform', 'network-baseline', 'legacy-accounts'].map((name) => ({
  owner: 'samples',
  name,
  content: { folder: folder(name) },
}))
