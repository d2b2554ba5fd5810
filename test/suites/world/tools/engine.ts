import { dirname } from 'node:path'
import { OPENTOFU } from '../../../../dev/engine/release.ts'
import type { Tools } from '../part.ts'
import { buildGo } from './go.ts'

export { OPENTOFU }

/** Folder of `tofu` in the newest release, built from its Go module, whose checksum Go verifies. */
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
