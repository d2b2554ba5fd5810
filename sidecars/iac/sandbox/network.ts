import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { childrenOf, signalProcess } from '../../../src/runtime/process-identity.ts'
import { allowedRules, closedRules, type EgressEntry, isLoopback, isName, RESOLVER } from './egress.ts'
import type { Helpers } from './helpers.ts'

/** The PATH of engines, and for `sleep` of the process that holds the namespace. */
export const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'
/** Milliseconds after which names of the allow-list are resolved again. */
const NAMES_FRESH_MS = 30_000
/** Seconds for which an engine that is saving its state keeps its network after the death of the service. */
const OUTLIVES_SECONDS = 60

interface NetworkOptions {
  /** Targets beside public addresses. */
  entries: readonly EgressEntry[]
  isRoot: boolean
}

/** Milliseconds for which a namespace waits for the next command of its workspace. */
const IDLE_MS = 10_000
/** Namespaces that wait at the same time. Each is a process of some megabytes. */
const MAX_IDLE = 4

/** The network of one command. */
interface TakenNetwork {
  /** The command line prefix that enters it. */
  prefix: string[]
  /** Opens the network of a later command; called when this one runs, so that it does not wait for that. */
  openNext(): void
  /**
   * Gives the network back after the command.
   * @param isEmpty true if every process of the command has ended, so that its workspace may use the network again
   */
  end(isEmpty: boolean): void
}

/**
 * The network namespaces of engine commands. Commands that run at the same time, and those of different workspaces, have
 * one each, because commands that share one reach what the others listen on. The commands of a workspace follow one
 * another and may take the same, which costs a tenth of opening one. One is always open ahead, so that no command waits.
 */
export class CommandNetworks {
  readonly #create: () => NetworkNamespace
  readonly #used = new Set<NetworkNamespace>()
  /** Those that wait for the next command of a workspace, by its path; the oldest first. */
  readonly #idle = new Map<string, { network: NetworkNamespace; limit: NodeJS.Timeout }>()
  #spare: NetworkNamespace
  #isClosed = false

  constructor(helpers: Helpers, options: NetworkOptions) {
    this.#create = () => new NetworkNamespace(helpers, options)
    this.#spare = this.#create()
  }

  /** Opens the first namespace. Errors: plain ones with a reason. */
  async open(): Promise<void> {
    await this.#spare.enter()
  }

  /**
   * Takes a namespace for one command. Errors: plain ones with a reason.
   * @param command its workspace; `savesState`: true keeps the network for a minute after the death of the service
   */
  async take({ cwd, savesState }: { cwd: string; savesState: boolean }): Promise<TakenNetwork> {
    const network = this.#takeIdle(cwd) ?? this.#takeSpare()
    this.#used.add(network)
    const end = (isEmpty: boolean) => {
      this.#used.delete(network)
      if (!isEmpty || this.#isClosed) return network.close()
      network.outlive(0)
      this.#keep(cwd, network)
    }
    try {
      const prefix = await network.enter()
      if (savesState) network.outlive(OUTLIVES_SECONDS)
      return { prefix, openNext: () => this.#openSpare(), end }
    } catch (error) {
      end(false)
      throw error
    }
  }

  #takeIdle(workspace: string): NetworkNamespace | null {
    const found = this.#idle.get(workspace)
    if (!found) return null
    clearTimeout(found.limit)
    this.#idle.delete(workspace)
    return found.network
  }

  #takeSpare(): NetworkNamespace {
    const network = this.#spare
    this.#spare = this.#create()
    return network
  }

  #keep(workspace: string, network: NetworkNamespace): void {
    const drop = (path: string) => this.#takeIdle(path)?.close()
    drop(workspace)
    this.#idle.set(workspace, { network, limit: setTimeout(() => drop(workspace), IDLE_MS).unref() })
    const [oldest = ''] = this.#idle.keys()
    if (this.#idle.size > MAX_IDLE) drop(oldest)
  }

  #openSpare(): void {
    // A failure shows again when a command takes this one, which then tries once more.
    if (!this.#isClosed) void this.#spare.enter().catch(() => {})
  }

  /** Ends the namespaces that wait for the next command of a workspace. */
  closeIdle(): void {
    for (const workspace of [...this.#idle.keys()]) this.#takeIdle(workspace)?.close()
  }

  /** Ends all namespaces. Engines in them lose their network. */
  close(): void {
    this.#isClosed = true
    this.closeIdle()
    for (const network of [this.#spare, ...this.#used]) network.close()
  }
}

/** A network namespace: the internet without this machine and private networks, except allowed ones. */
class NetworkNamespace {
  readonly #helpers: Helpers
  readonly #entries: readonly EgressEntry[]
  readonly #isRoot: boolean
  #pasta: ChildProcess | null = null
  #holder = 0
  #opening: Promise<void> | null = null
  #allowed: string[] = []
  #namesAt = 0

  constructor(helpers: Helpers, options: NetworkOptions) {
    this.#helpers = helpers
    this.#entries = options.entries
    this.#isRoot = options.isRoot
  }

  /** Returns the command line prefix that enters the namespace. Errors: plain ones with a reason. */
  async enter(): Promise<string[]> {
    this.#opening ??= this.#open().catch((error) => {
      this.close()
      throw error
    })
    await this.#opening
    await this.#refreshNames()
    return [...this.#enterNamespace(), '--']
  }

  /** Keeps the namespace open for some seconds after the death of the service. */
  outlive(seconds: number): void {
    this.#pasta?.stdin?.write(`${seconds}\n`)
  }

  /** Ends the namespace. Engines in it lose their network. */
  close(): void {
    const pasta = this.#pasta
    const holder = this.#holder
    this.#forget(pasta)
    pasta?.stdin?.destroy()
    pasta?.kill('SIGKILL')
    if (holder > 0) signalProcess(holder, 'SIGKILL')
  }

  /** Enters the user namespace of pasta as well, as a service that is not root has to. */
  #enterNamespace(): string[] {
    const of = (kind: string) => `/proc/${this.#holder}/ns/${kind}`
    const user = this.#isRoot ? [] : [`--user=${of('user')}`, '--preserve-credentials']
    return [this.#helpers.nsenter, ...user, `--net=${of('net')}`]
  }

  async #open(): Promise<void> {
    const ports = this.#entries.filter(({ target }) => isLoopback(target)).map(({ port }) => port)
    const forwarded = ports.length > 0 ? [...new Set(ports)].join(',') : 'none'
    const closed = ['-t', 'none', '-u', 'none', '-U', 'none', '--no-map-gw']
    const user = this.#isRoot ? ['--runas', '0'] : []
    // This process holds the namespace open. It ends after the service, whose end closes its input: at once, or after
    // the last number of seconds that it has read.
    const holder = [this.#helpers.sh, '-c', 'echo open; s=0; while read -r n; do s=$n; done; exec sleep "$s"']
    const network = ['--config-net', ...closed, '-T', forwarded, '--dns-forward', RESOLVER]
    const pasta = spawn(this.#helpers.pasta, ['--quiet', '--foreground', ...network, ...user, '--', ...holder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: { PATH: SYSTEM_PATH },
    })
    this.#pasta = pasta
    pasta.stdin.on('error', () => {})
    const opened = await firstLine(pasta)
    pasta.once('exit', () => this.#forget(pasta))
    const [child] = childrenOf(pasta.pid ?? 0)
    if (!opened || child === undefined) throw new Error('the network namespace did not open')
    this.#holder = child
    this.#allowed = []
    await this.#allow(closedRules().map((rule) => `rule add ${rule}`))
  }

  #forget(pasta: ChildProcess | null): void {
    if (this.#pasta !== pasta) return
    this.#pasta = null
    // The number may soon be that of another process.
    this.#holder = 0
    this.#opening = null
  }

  async #refreshNames(): Promise<void> {
    const hasNames = this.#entries.some(({ target }) => !isLoopback(target) && isName(target))
    if (hasNames && performance.now() - this.#namesAt > NAMES_FRESH_MS) await this.#allow()
  }

  /**
   * Opens the current addresses of the entries, and closes the earlier ones.
   * @param first lines to carry out before
   */
  async #allow(first: readonly string[] = []): Promise<void> {
    const rules = await allowedRules(this.#entries)
    const added = rules.filter((rule) => !this.#allowed.includes(rule)).map((rule) => `rule add ${rule}`)
    const removed = this.#allowed.filter((rule) => !rules.includes(rule)).map((rule) => `rule del ${rule}`)
    await this.#changeRules([...first, ...added, ...removed])
    this.#allowed = rules
    this.#namesAt = performance.now()
  }

  async #changeRules(lines: readonly string[]): Promise<void> {
    const { v4 = [], v6 = [] } = Object.groupBy(lines, (line) =>
      (line.split(' ')[3] ?? '').includes(':') ? 'v6' : 'v4',
    )
    const interfaces = await readFile('/proc/net/if_inet6', 'utf8').catch(() => '')
    const batches = [v4, interfaces === '' ? [] : v6].map((rules) => rules.map((line) => `${line}\n`).join(''))
    if (batches.every((batch) => batch === '')) return
    const [file = '', ...args] = [...this.#enterNamespace(), '--', this.#helpers.sh, '-c', RULES, this.#helpers.ip]
    const child = spawn(file, [...args, ...batches], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000 })
    const errors: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    const [code] = await once(child, 'close')
    if (code !== 0)
      throw new Error(`the rules of the network could not be set: ${Buffer.concat(errors).toString().trim()}`)
  }
}

/** Carries out the lines of both families, which one call of `ip` does not do. Starting a process costs most here. */
const RULES =
  'set -e; [ -z "$1" ] || printf %s "$1" | "$0" -4 -batch -; [ -z "$2" ] || printf %s "$2" | "$0" -6 -batch -'

/** Reports whether the process printed a line before its end. */
async function firstLine(child: ChildProcess): Promise<boolean> {
  const errors: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk))
  const failed = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', () => resolve(lastWords(errors)))
    setTimeout(() => resolve('it took too long'), 10_000).unref()
  })
  const outcome = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data').then(() => true), failed])
  if (typeof outcome === 'string') throw new Error(`pasta could not open a network namespace: ${outcome}`)
  return outcome
}

/** Returns the last two lines of errors, without complaints of pasta about a missing system log. */
const lastWords = (errors: readonly Buffer[]): string =>
  Buffer.concat(errors)
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '' && !/syslog|ping_group_range/.test(line))
    .slice(-2)
    .join('; ') || 'it ended without a reason'
