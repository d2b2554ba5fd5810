import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { probePort } from '../../../dev/stack/ports.ts'
import { type Stack, startStack } from '../../../dev/stack/start-stack.ts'
import { endsWithin } from '../../../src/base/time.ts'
import type { TargetName } from './bases.ts'
import { inImage, type Mounts, type OpenImage } from './container.ts'
import { ROOT } from './tools.ts'

const run = promisify(execFile)
type Images = Readonly<Record<TargetName, OpenImage>>

/** Of the demo: changes of a plan as code, a drift that is mended, and an apply of the reviewed plan. */
const MODES = ['generate', 'partial-drift', 'apply']
/** The group of all processes. */
const GROUP = 10_000

/** The platform of the images, and what they were started with. */
export interface Running {
  stack: Stack
  folder: string
  /** Variables that the launcher gave to the core. */
  core: Readonly<Record<string, string>>
}

/** Starts the embedded stack with core, worker and iac service from their images. */
export async function startFromImages(images: Images, folder: string): Promise<Running> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  let core: Record<string, string> = {}
  const mounts: Record<'core' | 'worker' | 'iac', Mounts> = {
    core: { read: [folder], write: [] },
    worker: { read: [folder], write: ['workspaces', 'git', 'home'].map((name) => join(folder, name)) },
    iac: { read: [], write: ['workspaces', 'iac'].map((name) => join(folder, name)) },
  }
  const stack = await startStack({
    folder,
    env: {},
    embedded: true,
    signal: AbortSignal.timeout(120_000),
    launch: async (name, own) => {
      const image = images[name]
      const [uid = 0] = image.config.User.split(':').map(Number)
      // What belongs to one process in a deployment too; /workspaces is the worker's and open to the group.
      for (const path of mounts[name].write) {
        await mkdir(path, { recursive: true })
        const isShared = path.endsWith('/workspaces')
        await chown(path, isShared ? 10_002 : uid, GROUP)
        await chmod(path, isShared ? 0o2770 : 0o700)
      }
      await chmod(join(folder, 'platform.yaml'), 0o644)
      const env = Object.fromEntries(
        Object.entries(own.env).filter(
          (entry): entry is [string, string] => entry[1] !== undefined && !/^(PATH|NODE_COMPILE_CACHE)$/.test(entry[0]),
        ),
      )
      if (name === 'worker') env.PLATFORM_METRICS_PORT = String(await probePort())
      if (name === 'core') core = env
      return inImage(image, { env, mounts: mounts[name] })
    },
  })
  return { stack, folder, core }
}

/** Runs the demo through the running images. Returns what each mode came to. */
export async function demoPasses({ stack, folder }: Running): Promise<string> {
  assert.equal(stack.engine.sandbox, 'bubblewrap', 'engines run without their sandbox')
  const said: string[] = []
  for (const mode of MODES) {
    const args = ['dev/demo.ts', '--embedded', '--json', '--mode', mode, '--data', folder]
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, maxBuffer: 1e8 }).catch((error) => {
      throw new Error(`the demo failed:\n${error.stdout}\n${error.stderr}`)
    })
    const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    assert.ok(result.ok && result.status === 'completed', `${mode} ended as ${result.status}`)
    said.push(`${mode} ${Math.round(result.duration_s)} s`)
  }
  return said.join(', ')
}

/** Runs the health check of an image beside a process that is well, and beside none. */
export async function healthIsChecked(image: OpenImage, env: Record<string, string>): Promise<void> {
  const probe = async (variables: Record<string, string>) => {
    const [, ...program] = image.config.Healthcheck.Test
    const started = await inImage(image, { program, env: variables })
    return run(started.command, started.args, { env: started.env }).then(
      () => 0,
      (error) => error.code,
    )
  }
  assert.equal(await probe(env), 0, `${image.name}: the health check of a process that is well`)
  const free = String(await probePort())
  assert.equal(await probe({ PLATFORM_PORT: free, PLATFORM_METRICS_PORT: free }), 1, `${image.name}: without a process`)
}

/** Stops core and worker, then the iac service. Each has to end by itself and with code 0. */
export async function stopsInOrder({ stack }: Running): Promise<string> {
  const order: string[] = []
  const ended = stack.children.map(async ({ name, ended: end }) => {
    const how = await end
    order.push(name)
    return `${name} ${how}`
  })
  await stack.stop()
  const all = await Promise.all(ended)
  assert.deepEqual(
    all.filter((text) => !text.endsWith('ended with exit code 0')),
    [],
  )
  assert.equal(order.at(-1), 'iac')
  return order.join(', ')
}

/** Starts another process of an image, waits until `url` answers, checks its health and stops it with SIGTERM. */
export async function serves(
  image: OpenImage,
  options: { args?: readonly string[]; env: Record<string, string>; path: string; mounts?: Mounts },
): Promise<string> {
  const port = String(await probePort())
  const env = { ...options.env, PLATFORM_HOST: '127.0.0.1', PLATFORM_PORT: port }
  const started = await inImage(image, { ...options, env })
  const began = performance.now()
  const child = spawn(started.command, started.args, { env: started.env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<string>((resolve) => child.once('close', (code, signal) => resolve(`${code ?? signal}`)))
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => lines.push(line))
  try {
    for (const limit = Date.now() + 60_000; ; await sleep(50)) {
      const answer = await fetch(`http://127.0.0.1:${port}${options.path}`).catch(() => null)
      await answer?.body?.cancel()
      if (answer?.ok) break
      assert.ok(
        Date.now() < limit && child.exitCode === null,
        `${image.name} is not ready\n${lines.slice(-15).join('\n')}`,
      )
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    await healthIsChecked(image, env)
    child.kill('SIGTERM')
    assert.ok(await endsWithin(15_000, ended), `${image.name} does not stop`)
    assert.equal(await ended, '0', `${image.name} ended with ${await ended}\n${lines.slice(-15).join('\n')}`)
    return `ready after ${seconds} s, stopped with code 0`
  } finally {
    child.kill('SIGKILL')
  }
}
