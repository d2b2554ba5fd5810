import { installAzurite } from '../../azurite/start.ts'
import { type Part, Unavailable } from '../part.ts'
import { buildGo } from '../tools/go.ts'

const FAKE_GCS = '1.56.1'

/** State backends of other clouds and services, whose states a session finds and adopts. */
export const part: Part = {
  name: 'backends',
  about: 'states in gcs, azurerm and remote: found, adopted, and what is said when they cannot be read',
  ci: false,
  install: async (tools) => {
    const gcs = await buildGo(
      {
        name: 'fake-gcs-server',
        version: FAKE_GCS,
        source: { module: 'github.com/fsouza/fake-gcs-server', version: `v${FAKE_GCS}` },
        package: '.',
      },
      tools,
    )
    const azurite = await installAzurite().catch((error: unknown) => {
      throw new Unavailable(`azurite cannot be installed: ${error}`)
    })
    return { version: `fake-gcs-server ${FAKE_GCS}, Azurite`, env: { WORLD_FAKE_GCS: gcs, WORLD_AZURITE: azurite } }
  },
}
