import type { Part } from '../part.ts'
import { buildGo } from '../tools/go.ts'

const VERSION = '2026-02-12'
const COMMIT = '7aac2a2c5b7c'
const NAMES = 'github.com/minio/minio/cmd'

const VERSITYGW = '1.8.0'

/** The object store that deployments bring along, and another server of its kind. */
export const part: Part = {
  name: 'minio',
  about:
    'MinIO as the bundled store: presigned URLs, conditional writes, temporary keys, engine state with its lock. MinIO ' +
    'and versitygw with another clock, another host, object lock, or too much to do',
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
    const source = { module: 'github.com/versity/versitygw', version: `v${VERSITYGW}` }
    const second = await buildGo(
      { name: 'versitygw', version: VERSITYGW, source, package: './cmd/versitygw', minutes: 20 },
      tools,
    )
    return {
      version: `MinIO ${VERSION} (${COMMIT}), versitygw ${VERSITYGW}`,
      env: { MINIO: program, VERSITYGW: second },
    }
  },
}
