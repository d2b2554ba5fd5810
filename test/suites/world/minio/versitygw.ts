import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type Service, startService } from '../tools/service.ts'
import { REGION, ROOT } from './server.ts'

/**
 * Starts versitygw on a folder of its own, with versions.
 * @param options.flags before the name of the backend
 */
export async function startVersitygw(options: { host?: string; flags?: (port: number) => string[] } = {}) {
  const { host = '127.0.0.1', flags = () => [] } = options
  const folder = await mkdtemp(join(tmpdir(), 'versitygw-'))
  const [objects, versions] = [join(folder, 'objects'), join(folder, 'versions')]
  await mkdir(objects)
  await mkdir(versions)
  const port = await freePort()
  const url = `http://${host}:${port}`
  let service: Service
  const start = async () => {
    service = await startService(
      process.env.VERSITYGW ?? 'versitygw',
      [
        ...['--quiet', '--access', ROOT.access_key, '--secret', ROOT.secret_key, '--region', REGION],
        ...['--port', `${host}:${port}`, ...flags(port)],
        ...['posix', '--versioning-dir', versions, objects],
      ],
      {
        env: { HOME: folder },
        ready: async () => {
          const answer = await fetch(url)
          if (answer.status !== 403) throw new Error(`answers ${answer.status}`)
        },
      },
    )
  }
  await start()
  return {
    url,
    port,
    service: () => service,
    start,
    close: async () => {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
