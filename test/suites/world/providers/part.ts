import { join } from 'node:path'
import type { Part } from '../part.ts'
import { installOpenTofu } from '../tools/engine.ts'
import { installProvider } from '../tools/providers.ts'

/** By name. They come from a registry, or are in the mirror already. */
const VERSIONS: Record<string, string> = {
  archive: '2.8.0',
  http: '3.6.0',
  local: '2.9.0',
  null: '3.3.1',
  random: '3.9.0',
  time: '0.14.0',
  tls: '4.2.1',
}

export const part: Part = {
  name: 'providers',
  about: 'small providers from a mirror: a plan with secrets of their own, by the sidecar that may download nothing',
  ci: true,
  install: async (tools) => {
    const engine = await installOpenTofu(tools)
    for (const [name, version] of Object.entries(VERSIONS)) await installProvider({ name, version }, tools)
    return {
      version: Object.entries(VERSIONS)
        .map((each) => each.join(' '))
        .join(', '),
      env: { PATH: `${engine}:${process.env.PATH}`, WORLD_MIRROR: join(tools.cache, 'providers') },
    }
  },
}
