import type { Tools } from '../part.ts'
import { installPython } from '../tools/python.ts'
import { freePort, type Service, startService } from '../tools/service.ts'

const READY_SECONDS = 120

/** The version of the server that plays AWS. */
export const MOTO = '5.2.5'

/** @returns the folder of `moto_server`. Errors: `Unavailable` */
export const installMoto = (tools: Tools): Promise<string> =>
  installPython(`moto-${MOTO}`, [`moto[server]==${MOTO}`], tools)

/** A server that plays AWS, empty, on the loopback address. */
export interface Moto {
  url: string
  service: Service
}

/**
 * @param programs folder of `moto_server`
 * @param openCalls how many calls are answered before each call needs a valid signature and a permission; without it
 * none does
 */
export async function startMoto(programs: string, home: string, openCalls?: number): Promise<Moto> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = await startService(`${programs}/moto_server`, ['-H', '127.0.0.1', '-p', String(port)], {
    env: {
      PATH: `${programs}:${process.env.PATH}`,
      HOME: home,
      ...(openCalls !== undefined && { INITIAL_NO_AUTH_ACTION_COUNT: String(openCalls) }),
    },
    ready: async () => {
      await fetch(`${url}/moto-api/data.json`).then((response) => response.arrayBuffer())
    },
    seconds: READY_SECONDS,
  })
  return { url, service }
}
