import { randomUUID } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'
import { reasonOf, SettingsError } from '../../shared/settings.ts'
import { runEngine, stopLeftover } from '../engine/process.ts'
import { readTail } from '../output/files.ts'
import type { IacSettings } from '../settings.ts'
import { hostEntries, proxyEntries, RESOLVER } from './egress.ts'
import { type Executor, NO_ACCESS } from './executor.ts'
import { FOR_NETWORK, FOR_ROOT, FOR_SANDBOX, findHelpers, knowsOption } from './helpers.ts'
import { createLocalSandbox, type SandboxParts } from './local-sandbox.ts'
import { CommandNetworks } from './network.ts'
import { openControlGroups } from './resources.ts'

/** The user who runs the engines of a root service. The id is unused and owns no file. */
const ENGINE_USER = { uid: 60_990, gid: 60_990 }

export interface ExecutorOptions {
  settings: IacSettings
  binary: string
  env: Readonly<Record<string, string | undefined>>
  log: Logger
}

/** Opens and tests the executor that `IAC_SANDBOX` requests. Errors: `SettingsError` when the machine lacks it. */
export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  const { settings, log } = options
  if (settings.sandbox === 'none') {
    log.warn('engines run without a sandbox, because IAC_SANDBOX is none: code of repositories can read this machine')
    return plainExecutor(settings)
  }
  try {
    const executor = await openSandbox(options)
    log.info('engines run in a sandbox', { ...executor.boundary })
    return executor
  } catch (error) {
    const reason = reasonOf(error)
    if (settings.sandbox !== 'auto') throw new SettingsError(`IAC_SANDBOX is ${settings.sandbox}, but ${reason}`)
    log.warn('engines run without a sandbox: code of repositories can read this machine', { reason })
    return plainExecutor(settings)
  }
}

/** Creates an executor that runs engines as the user of the service, with nothing between them and the machine. */
export function plainExecutor({ stopGraceSeconds }: Pick<IacSettings, 'stopGraceSeconds'>): Executor {
  return {
    boundary: { sandbox: 'none', network: 'host', limits: 'none' },
    run: (command) =>
      runEngine(command, { command: [command.binary, ...command.args], env: command.env, isBoxed: false }),
    stopLeftover: (leader) => stopLeftover(leader, stopGraceSeconds * 1000),
    close: async () => {},
  }
}

async function openSandbox(options: ExecutorOptions): Promise<Executor> {
  const { settings, binary, env, log } = options
  if (process.platform !== 'linux') throw new Error('bubblewrap exists on Linux only')
  const { helpers, missing } = await findHelpers(env.PATH ?? '')
  const isRoot = process.getuid?.() === 0
  const lacking = missing([...FOR_SANDBOX, ...(isRoot ? FOR_ROOT : [])])
  if (lacking.length > 0) throw new Error(`these packages are not installed: ${lacking.join(', ')}`)
  const folder = join(settings.dataDir, 'sandbox')
  // The data folder above is closed to others. The engine's user of a root service reaches these another way.
  for (const path of [folder, join(folder, 'jobs'), join(folder, 'engine')])
    await mkdir(path, { recursive: true, mode: 0o711 })
  await removeOld(join(folder, 'jobs'))
  const parts: SandboxParts = {
    helpers,
    folder,
    engine: await copyEngine(binary, join(folder, 'engine')),
    engineName: basename(binary),
    homeOfService: env.HOME ?? '',
    runAs: isRoot ? ENGINE_USER : null,
    canDisableUserNamespaces: await knowsOption(helpers.bwrap, '--disable-userns'),
    groups: await openControlGroups(),
    network: null,
    limits: {
      memoryBytes: settings.maxMemoryBytes,
      processes: settings.maxProcesses,
      fileBytes: settings.maxWorkspaceBytes || Number.MAX_SAFE_INTEGER,
    },
    graceMs: settings.stopGraceSeconds * 1000,
  }
  parts.network = await openNetwork(options, parts, missing([...FOR_NETWORK]), isRoot)
  await writeEtc(join(folder, 'etc'), parts.network !== null)
  const reason = await testSandbox(parts, log)
  if (reason === null) return createLocalSandbox(parts)
  parts.network?.close()
  throw new Error(`a command in the sandbox failed: ${reason}`)
}

/** Opens the network; null if isolation is neither possible nor required. */
async function openNetwork(
  { settings, env, log }: ExecutorOptions,
  { helpers }: SandboxParts,
  lacking: readonly string[],
  isRoot: boolean,
): Promise<CommandNetworks | null> {
  const entries = [
    ...settings.egressAllow,
    ...(settings.offline ? hostEntries(settings.offlineHosts) : proxyEntries(env)),
  ]
  const network = new CommandNetworks(helpers, { entries, isRoot })
  try {
    if (lacking.length > 0) throw new Error(`these packages are not installed: ${lacking.join(', ')}`)
    await network.open()
    return network
  } catch (error) {
    network.close()
    const reason = reasonOf(error)
    if (settings.sandbox === 'required') throw new Error(`the network of engines cannot be kept apart: ${reason}`)
    log.warn('engines share the network of this machine: they reach its loopback and private networks', { reason })
    return null
  }
}

/**
 * Copies the engine as executable but not readable: the kernel then hides the program's environment in `/proc`, even
 * from itself, so that no configuration can read its credentials. A script must stay readable and is not copied.
 */
async function copyEngine(binary: string, folder: string): Promise<string> {
  if (!(await isElf(binary))) return binary
  const { size, mtimeMs } = await stat(binary)
  const copy = join(folder, `${basename(binary)}-${size}-${Math.round(mtimeMs)}`)
  const known = await stat(copy).catch(() => null)
  if (known?.size === size) return copy
  await rm(copy, { force: true })
  const temporary = `${copy}.${process.pid}.tmp`
  await copyFile(binary, temporary)
  await chmod(temporary, 0o111)
  await rename(temporary, copy)
  return copy
}

async function isElf(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.toString('latin1') === '\x7fELF'
  } finally {
    await handle.close()
  }
}

/** Writes the engine's `/etc`, which replaces the machine's own. */
async function writeEtc(folder: string, isolated: boolean): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const resolver = await readFile('/etc/resolv.conf', 'utf8').catch(() => '')
  const others = resolver.split('\n').filter((line) => /^\s*(search|domain)\b/.test(line))
  const files = {
    passwd: 'engine:x:1000:1000:engine:/home/engine:/bin/sh\n',
    group: 'engine:x:1000:\n',
    hosts: await readFile('/etc/hosts', 'utf8').catch(() => '127.0.0.1 localhost\n'),
    'resolv.conf': isolated ? [`nameserver ${RESOLVER}`, ...others, ''].join('\n') : resolver,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o644 })
}

/** Removes the remains of an earlier process, unless one of its commands may still be saving its state. */
async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name))
    if (Date.now() - mtimeMs > 3_600_000) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** Runs the engine's version command inside; returns the reason of a failure, else null. */
async function testSandbox(parts: SandboxParts, log: Logger): Promise<string | null> {
  const folder = await mkdtemp(join(parts.folder, 'test-'))
  const workspace = join(folder, 'workspace')
  await chmod(folder, 0o711)
  await mkdir(workspace)
  const output = { stdout: join(folder, 'stdout'), stderr: join(folder, 'stderr') }
  try {
    const exitCode = await createLocalSandbox(parts).run(
      {
        name: randomUUID(),
        binary: parts.engine,
        args: ['version'],
        cwd: workspace,
        env: { CHECKPOINT_DISABLE: '1' },
        ...output,
        timeoutMs: 30_000,
        graceMs: 0,
        maxBytes: 1024 * 1024,
        maxDiskBytes: 0,
        savesState: false,
        reachesNetwork: true,
        signal: new AbortController().signal,
        onStarted: () => {},
      },
      NO_ACCESS,
    )
    const said = (await readTail(output.stderr, 500)).trim()
    return exitCode === 0 ? null : said || `it ended with exit code ${exitCode}`
  } catch (error) {
    log.debug('the test of the sandbox failed', { error })
    return reasonOf(error)
  } finally {
    parts.network?.closeIdle()
    await rm(folder, { recursive: true, force: true })
  }
}
