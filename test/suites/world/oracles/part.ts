import { join } from 'node:path'
import type { Part } from '../part.ts'
import { installPackages } from '../tools/npm-folder.ts'

/** The official clients of the model providers, beside which our wire forms must say and read the same. */
export const part: Part = {
  name: 'oracles',
  about: "requests, answers, errors and streams of models as the providers' own clients write and read them",
  ci: true,
  install: async (tools) => {
    const { folder, versions } = await installPackages('oracles', join(import.meta.dirname, '../../oracles'), tools)
    const version = Object.entries(versions).map(([name, pinned]) => `${name} ${pinned}`)
    return { version: version.join(', '), env: { ORACLES: folder } }
  },
}
