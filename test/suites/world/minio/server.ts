import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreUnderTest } from '../../../dev/object-store/contract/client.ts'
import { freePort, type Service, startService } from '../tools/service.ts'

export const ROOT = { access_key: 'owner-of-the-store', secret_key: 'secret-key-of-the-store' }
export const REGION = 'us-east-1'
export const ORIGIN = 'http://localhost:5173'

export interface Minio extends StoreUnderTest {
  /** The process, for signals. A restart replaces it. */
  service(): Service
  /** Starts it again after it was killed. */
  start(): Promise<void>
}

/**
 * Starts MinIO on a disk of its own, as a deployment does: one drive, one region, one origin of web pages.
 * @param options.data_dir default: a temporary folder, which `close` removes
 */
export async function startMinio(
  options: { data_dir?: string; host?: string; env?: Record<string, string> } = {},
): Promise<Minio> {
  const folder = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'minio-')))
  const port = await freePort()
  const { host = '127.0.0.1' } = options
  const url = `http://${host}:${port}`
  let service: Service
  const start = async () => {
    service = await startService(
      process.env.MINIO ?? 'minio',
      ['server', '--quiet', '--address', `${host}:${port}`, folder],
      {
        env: {
          HOME: folder,
          MINIO_ROOT_USER: ROOT.access_key,
          MINIO_ROOT_PASSWORD: ROOT.secret_key,
          MINIO_SITE_REGION: REGION,
          MINIO_API_CORS_ALLOW_ORIGIN: ORIGIN,
          MINIO_BROWSER: 'off',
          MINIO_UPDATE: 'off',
          ...options.env,
        },
        ready: async () => {
          const answer = await fetch(`${url}/minio/health/ready`)
          if (!answer.ok) throw new Error(`answers ${answer.status}`)
        },
      },
    )
  }
  await start()
  return {
    ...ROOT,
    url,
    origin: ORIGIN,
    service: () => service,
    start,
    restart: async () => {
      await service.stop()
      await start()
      return url
    },
    close: async () => {
      await service.stop()
      if (options.data_dir === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}
