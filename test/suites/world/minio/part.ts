import type { Part } from '../part.ts'
import { buildGo } from '../tools/go.ts'

const VERSION = '2026-02-12'
const COMMIT = '7aac2a2c5b7c'
const NAMES = 'github.com/minio/minio/cmd'

/** The object store that deployments bring along. */
export const part: Part = {
  name: 'minio',
  about: 'MinIO as the bundled store: presigned URLs, conditional writes, temporary keys, engine state with its lock',
  ci: true,
  install: async (tools) => {
    const program = await buildGo(
      {
        name: 'minio',
        version: VERSION,
        source: { module: 'github.com/minio/minio', version: `v0.0.0-20260212201848-${COMMIT}` },
        package: '.',
        ldflags: [
          `-X ${NAMES}.Version=2026-02-12T20:18:48Z`,
          `-X ${NAMES}.ReleaseTag=DEVELOPMENT.2026-02-12T20-18-48Z`,
          `-X ${NAMES}.CommitID=${COMMIT}`,
          `-X ${NAMES}.ShortCommitID=${COMMIT}`,
        ].join(' '),
        minutes: 40,
      },
      tools,
    )
    return { version: `MinIO ${VERSION} (${COMMIT})`, env: { MINIO: program } }
  },
}
