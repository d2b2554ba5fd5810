import { type Running, type ServerAnswer, type ServerRequest, startServer } from '../../../dev/server.ts'

/** Starts a fake on a free port. It answers its own exceptions with status 500. */
export const startFake = (respond: (request: ServerRequest) => Promise<ServerAnswer>): Promise<Running> =>
  startServer({
    maxBodyBytes: 64 * 1024 * 1024,
    respond,
    fail: (error) => ({ status: 500, body: { title: String(error), status: 500 } }),
  })

export const jsonOf = async (request: ServerRequest): Promise<unknown> => JSON.parse(String(await request.body()))
