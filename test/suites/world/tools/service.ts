import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A counterpart that runs. */
export interface Service {
  process: ChildProcess
  /** The output so far, both streams. */
  output(): string
  /** Ends it: politely first, then for good. */
  stop(): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
}

interface Options {
  cwd?: string
  env?: Record<string, string>
  /** Asked again and again until it does not throw. */
  ready(): Promise<unknown>
  seconds?: number
}

const POLITE_MS = 10_000
const AGAIN_MS = 100

/**
 * Starts a program and waits until it is ready.
 * @throws Error with what it wrote, when it ends or does not become ready in time
 */
export async function startService(
  program: string,
  args: string[],
  { cwd, env, ready, seconds = 60 }: Options,
): Promise<Service> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      written = (written + chunk).slice(-1_000_000)
    })
  const ended = once(child, 'exit').catch(() => [])
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const kill = async (signal: NodeJS.Signals) => {
    if (!hasEnded()) child.kill(signal)
    await ended
  }
  const stop = async () => {
    if (hasEnded()) return
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(POLITE_MS, undefined, { ref: false })])
    await kill('SIGKILL')
  }
  const until = performance.now() + seconds * 1_000
  for (;;) {
    if (hasEnded()) throw new Error(`${program} ended\n${written}`)
    try {
      await ready()
      return { process: child, output: () => written, stop, kill }
    } catch (error) {
      if (performance.now() > until) {
        await stop()
        throw new Error(`${program} is not ready after ${seconds} s (${error})\n${written}`)
      }
      await sleep(AGAIN_MS)
    }
  }
}

/** A port of the loopback address that nobody uses now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
