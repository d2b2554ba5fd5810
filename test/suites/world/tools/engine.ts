import { dirname } from 'node:path'
import type { Tools } from '../part.ts'
import { buildGo } from './go.ts'

/** The newest release, which is the engine that the checks run with unless they say otherwise. */
export const OPENTOFU = '1.12.6'

/** Folder of `tofu`, built from its Go module, whose checksum Go verifies. */
export async function installOpenTofu(tools: Tools): Promise<string> {
  const tofu = await buildGo(
    {
      name: 'tofu',
      version: OPENTOFU,
      source: { module: 'github.com/opentofu/opentofu', version: `v${OPENTOFU}` },
      package: './cmd/tofu',
      ldflags: '-X github.com/opentofu/opentofu/version.dev=no',
    },
    tools,
  )
  return dirname(tofu)
}
