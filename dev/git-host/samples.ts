import { fileURLToPath } from 'node:url'

const folder = (name: string) => fileURLToPath(new URL(`../samples/${name}`, import.meta.url))

/** The repositories of a new sample host. They use built-in resources only, so that an engine needs no network. */
export const SAMPLES = ['web-platform', 'data-platform', 'network-baseline', 'legacy-accounts'].map((name) => ({
  owner: 'samples',
  name,
  content: { folder: folder(name) },
}))
