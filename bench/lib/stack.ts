import { rm } from 'node:fs/promises'
import { Agent, type ClientRequest, request } from 'node:http'
import { withTemporaryFolder } from '../../dev/files.ts'
import { startPostgres } from '../../dev/postgres.ts'
import { type Stack, type StackOptions, startStack } from '../../dev/stack/start-stack.ts'
import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { residentMegabytes } from './blocking.ts'

export const startBenchStack = (
  folder: string,
  { env = {}, ...options }: Partial<Pick<StackOptions, 'before_core' | 'scripted_model' | 'env'>> = {},
): Promise<Stack> =>
  startStack({ folder, env: { ...process.env, PLATFORM_PORT: undefined, ...env }, embedded: true, ...options })

/**
 * Waits for work that uses the stack. A stack stops as a whole when one of its processes ends; the error then names that
 * process with its last lines, instead of the connection that the work has lost.
 */
export async function whileRunning<T>(stack: Stack, work: () => Promise<T>): Promise<T> {
  const died = stack.failed.then((text): never => {
    throw new Error(text)
  })
  died.catch(() => {})
  try {
    return await Promise.race([work(), died])
  } catch (error) {
    if (stack.isStopping()) await died
    throw error
  }
}

/** Runs `work` with a new stack and a pool of its database. */
export const withStack = <T>(work: (stack: Stack, sql: Sql) => Promise<T>): Promise<T> =>
  withTemporaryFolder(async (folder) => {
    const stack = await startBenchStack(folder)
    const sql = connect(stack.addresses.databaseUrl ?? '')
    try {
      return await whileRunning(stack, () => work(stack, sql))
    } finally {
      await sql.end({ timeout: 1 })
      await stack.stop()
    }
  })

export const withPostgres = <T>(work: (url: string) => Promise<T>): Promise<T> =>
  withTemporaryFolder(async (folder) => {
    const server = await startPostgres({ data_dir: folder })
    try {
      return await work(server.url)
    } finally {
      await server.stop()
      // Another folder than the temporary one where the user of the server cannot enter that.
      await rm(server.data_dir, { recursive: true, force: true })
    }
  })

/** Reads the resident memory of a process of the stack in MB. */
export const memoryOf = (stack: Stack, name: string): number =>
  residentMegabytes(stack.children.find((child) => child.name === name)?.pid ?? 0)

const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
const OPENED_AT_ONCE = 100

/** Opens event streams and passes their text to `onText`. Resolves once each has received something. */
export async function openStreams(urls: readonly string[], onText: (text: string) => void): Promise<() => void> {
  const calls: ClientRequest[] = []
  const open = (url: string) =>
    new Promise<void>((resolve, reject) => {
      const call = request(url, { agent }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`))
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          resolve()
          onText(text)
        })
        response.on('error', () => {})
      })
      call.on('error', reject)
      call.end()
      calls.push(call)
    })
  for (let start = 0; start < urls.length; start += OPENED_AT_ONCE)
    await Promise.all(urls.slice(start, start + OPENED_AT_ONCE).map(open))
  return () => {
    for (const call of calls) call.destroy()
  }
}
