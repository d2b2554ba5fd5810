import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StorageConfig } from '../../../config/types.ts'
import { listen } from '../../../dev/server.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import { createFetch } from '../../../src/runtime/fetch.ts'
import { storageConfig, TEXT } from './config.ts'

/** Builds the store as the processes do. */
function storeAt(port: number, limits: Pick<StorageConfig, 'connect_timeout' | 'read_timeout' | 'max_attempts'>) {
  const attempts: unknown[] = []
  const limited = createFetch(limits.read_timeout * 1000, limits.connect_timeout * 1000)
  const store = createObjectStore(storageConfig({ endpoint_url: `http://127.0.0.1:${port}`, ...limits }), {
    fetch: async (input, init) =>
      limited(input, init).catch((error: unknown) => {
        attempts.push(error instanceof Error && error.cause instanceof Error ? error.cause.name : error)
        throw error
      }),
    log: silentLogger,
    backoffMs: 1,
  })
  return { store, attempts }
}

const unreachable = { status: 503, message: 'The object store cannot be reached.' }

/** Opens a port whose process accepts no connection and whose queue is full, so further ones wait. */
async function blackHole(): Promise<number> {
  // The only thread blocks after it has written its port, so that it never accepts a connection.
  const script = `const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => {
    require('fs').writeSync(1, String(s.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
  const child: ChildProcess = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = child.stdout ? await once(child.stdout, 'data') : []
  const port = Number(String(line).trim())
  await fill(port)
  return port
}

/**
 * Opens far more connections than the queue of one holds, before all others. The system handles them in order, so the
 * queue is full once the first one has an answer.
 */
async function fill(port: number): Promise<void> {
  const sockets = Array.from({ length: 16 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }
  await Promise.race(sockets.map((socket) => once(socket, 'connect')))
}

async function hanging(): Promise<number> {
  const { port, close } = await listen(createServer(() => {}))
  onTestFinished(close)
  return port
}

// The other limit of each case is never reached, so only the tested one can end it.
describe('limits of an attempt', () => {
  it('a store that takes no connection is given up after connect_timeout, max_attempts times', async () => {
    const { store, attempts } = storeAt(await blackHole(), { connect_timeout: 0.2, read_timeout: 600, max_attempts: 3 })
    await expect(store.put('k', 'x', TEXT)).rejects.toMatchObject(unreachable)
    expect(attempts).toEqual(['ConnectTimeoutError', 'ConnectTimeoutError', 'ConnectTimeoutError'])
  })

  it('a store that never answers is given up after read_timeout, max_attempts times', async () => {
    const { store, attempts } = storeAt(await hanging(), { connect_timeout: 600, read_timeout: 0.1, max_attempts: 2 })
    await expect(store.get('k')).rejects.toMatchObject(unreachable)
    expect(attempts).toEqual(['HeadersTimeoutError', 'HeadersTimeoutError'])
  })
})
