import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseJsonTree, TooManyTokens } from '../../../src/hcl/json.ts'
import { MAX_TOKENS } from '../../../src/hcl/read.ts'
import {
  type ConfigFile,
  isWithin,
  listConfigFiles,
  readLimited,
  readPlanSnapshot,
  type SnapshotFile,
} from './config-files.ts'
import { blocksOf, type ConfigNode, type ConfigTree, entriesNamed, entriesOf, parseHclTree } from './config-tree.ts'
import {
  type FileScan,
  type Finding,
  inMib,
  LIMITS,
  type ProgramKind,
  type Refusal,
  refuseFindings,
  refuseTooLarge,
  refuseUnreadable,
  type Sizes,
  TooLarge,
} from './findings.ts'
import { type KnownScans, keyOfScan } from './known-scans.ts'
import { readActed, runsWith } from './plan-changes.ts'
import { findBackends, findProviders, judgeBackend } from './rules/connections.ts'
import { findFiles } from './rules/files.ts'
import { findSources } from './rules/modules.ts'
import { localFolder, type Place } from './rules/place.ts'
import { findPrograms } from './rules/programs.ts'

/** The input of an inspection, as plain data for another thread. All paths are absolute. */
export interface Inspection {
  /** The place of the files in the workspace itself. */
  place: Place
  dataFolder: string
  /** SHA-256 of the override file that the worker wrote; null for none. */
  overrideSha256: string | null
  /** The plan whose copy of the configuration is inspected as well; null for none. */
  planFile: string | null
  /** True if the engine may read a broken file, to report its errors. */
  toleratesBroken: boolean
  /** True if the engine reads test files. */
  tests: boolean
  /** True if the engine uses the backend that an earlier `init` has recorded. */
  usesSavedBackend: boolean
  /** True if the recorded backend is the repository's and not that of the override file. */
  migrates: boolean
  /** The operator's own settings for the backend, in the engine's syntax; empty for none. */
  backendConfig: string
  /** True if the engine runs in a sandbox, where known credential programs are harmless. */
  sandboxed: boolean
  /** The kinds of programs that the operator allows this repository. */
  allowed: readonly ProgramKind[]
  /** `host/path`; undefined when it is not known. */
  repository: string | undefined
  /** True if the job runs the provisioners of what it creates and destroys. */
  applies: boolean
}

/**
 * Returns why the configuration is refused; null to accept it. Errors: `TooLarge` beyond `sizes`.
 * @param sizes what is scanned at most; files of which `known` has the scan do not count, except towards `LIMITS`
 * @param known gets the new scans
 */
export async function inspect(inspection: Inspection, sizes: Sizes, known: KnownScans): Promise<Refusal | null> {
  const inspector = new Inspector(inspection, sizes, known)
  try {
    return await inspector.run()
  } catch (error) {
    if (!(error instanceof TooLarge) || sizes.totalBytes < LIMITS.totalBytes) throw error
    return refuseTooLarge(error.file, error.limit)
  }
}

const LARGE_FILE = `${inMib(LIMITS.fileBytes)} of one file`
const LARGE_CONFIGURATION = `${inMib(LIMITS.totalBytes)} of configuration in all`

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Words that make the engine act while it only reads, also in a file that is broken elsewhere. */
const ACTS_WHEN_READ = /\b(?:backend|cloud|encryption|module|run)\b|\\u/i

/** Files whose blocks replace those of others, so that the platform's file may not be the last. */
const OVERRIDE_FILE = /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/

class Inspector {
  readonly #given: Inspection
  readonly #sizes: Sizes
  readonly #known: KnownScans
  readonly #findings: Finding[] = []
  #broken: string | null = null
  #bytes = 0
  /** Bytes of the files whose scan was not known. */
  #newBytes = 0
  #files = 0
  #tokens = 0
  #hasOverride = false
  /** True if the platform's file replaces every other backend of the root; null until it was read. */
  #overridesBackend: boolean | null = null

  constructor(given: Inspection, sizes: Sizes, known: KnownScans) {
    this.#given = given
    this.#sizes = sizes
    this.#known = known
  }

  async run(): Promise<Refusal | null> {
    const { planFile, place } = this.#given
    const snapshot = planFile === null ? null : await readPlanSnapshot(planFile, relative(place.workspace, planFile))
    for (const { folder, ...file } of snapshot ?? [])
      await this.#scan({ ...file, folder: resolve(place.workspace, folder), isTest: false })
    if (snapshot === null) await this.#scanFolders()
    if (this.#given.usesSavedBackend) await this.#judgeSavedBackend()
    const needsActed = this.#given.applies && this.#findings.length > 0 && snapshot !== null && planFile !== null
    const acted = needsActed ? await readActed(planFile) : null
    const refused = this.#findings.filter((finding) => !this.#isHarmless(finding, acted))
    if (refused.length > 0) return refuseFindings(refused, this.#given.repository)
    return this.#broken === null ? null : refuseUnreadable(this.#broken)
  }

  /**
   * Reports whether a job runs nothing of a finding.
   * @param acted the resources that an apply creates or destroys; null when they are unknown
   */
  #isHarmless({ file, kind, known, construct, owner, module }: Finding, acted: ReadonlySet<string> | null): boolean {
    const { sandboxed, applies, allowed } = this.#given
    if (kind !== undefined && allowed.includes(kind)) return true
    if (known === true && sandboxed) return true
    if (kind === 'provisioner') return !applies || (acted !== null && !runsWith(acted, module, owner))
    const isReplaced = this.#overridesBackend === true && !OVERRIDE_FILE.test(basename(file))
    return isReplaced && (construct === 'cloud' || construct.startsWith('backend "'))
  }

  /** Scans the root, every installed module, and every module that one of them names by a local path. */
  async #scanFolders(): Promise<void> {
    const { tests, place } = this.#given
    const { workspace, boundary } = place
    const folders = [workspace, ...(tests ? [join(workspace, 'tests')] : []), ...(await this.#readInstalledModules())]
    const seen = new Set<string>()
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const real = await realpath(folder).catch(() => null)
      if (real === null || seen.has(real)) continue
      seen.add(real)
      if (seen.size > LIMITS.modules) throw new TooLarge(relative(workspace, real), `${LIMITS.modules} modules`)
      if (!isWithin(boundary, real)) {
        const reach = 'it lies outside of the repository'
        this.#findings.push({ file: relative(workspace, folder), line: 0, construct: 'a module', reach })
        continue
      }
      const testFolder = tests && (real === workspace || real === join(workspace, 'tests'))
      const { files, findings } = await listConfigFiles(real, { workspace, boundary, tests: testFolder })
      this.#findings.push(...findings.slice(0, LIMITS.files))
      for (const file of files) folders.push(...(await this.#scanFile(file, real)))
    }
  }

  async #scanFile({ name, path, isTest }: ConfigFile, folder: string): Promise<string[]> {
    const { workspace } = this.#given.place
    if (++this.#files > LIMITS.files) throw new TooLarge(name, `${LIMITS.files} files of configuration`)
    const content = await readLimited(path, name, LIMITS.fileBytes, LARGE_FILE)
    if (content === null) return []
    // A test calls modules by paths relative to the root, wherever the file of the test lies.
    return this.#scan({ name, content, folder: isTest ? workspace : folder, isTest })
  }

  /** Scans one file and returns the folders of the local modules that it calls. */
  async #scan(file: Omit<SnapshotFile, 'module'> & { module?: string; isTest: boolean }): Promise<string[]> {
    const { name, content, folder, module, isTest } = file
    const { place, toleratesBroken } = this.#given
    this.#bytes += content.length
    if (this.#bytes > LIMITS.totalBytes) throw new TooLarge(name, LARGE_CONFIGURATION)
    const isOwnOverride = folder === place.workspace && sha256(content) === this.#given.overrideSha256
    this.#hasOverride ||= isOwnOverride
    const scan = this.#scanText(name, content, { ...place, folder, isOwnOverride })
    if (isOwnOverride) this.#overridesBackend ??= scan.setsBackend
    // OpenTofu reads this file instead of the platform's.
    if (basename(name) === place.overrideFilename.replace(/\.tf$/, '.tofu')) this.#overridesBackend = false
    const findings = isTest ? scan.findings.filter(({ construct }) => construct.startsWith('module ')) : scan.findings
    this.#findings.push(...findings.slice(0, 1000).map((finding) => ({ file: name, module, ...finding })))
    if (!scan.complete && (!toleratesBroken || ACTS_WHEN_READ.test(content))) this.#broken ??= name
    await setImmediate()
    return scan.modules.flatMap((source) => localFolder(source, folder) ?? [])
  }

  #scanText(name: string, content: string, place: Place): FileScan {
    const form = name.endsWith('.json') ? 'json' : 'hcl'
    const key = keyOfScan(content, form, place)
    const known = key === null ? undefined : this.#known.get(key)
    if (known === undefined) {
      this.#newBytes += content.length
      if (content.length > this.#sizes.fileBytes) throw new TooLarge(name, LARGE_FILE)
      if (this.#newBytes > this.#sizes.totalBytes) throw new TooLarge(name, LARGE_CONFIGURATION)
    }
    try {
      const scan = known ?? (form === 'json' ? scanJson(content, place) : scanHcl(content, place))
      if (key !== null && known === undefined) this.#known.add(key, scan)
      this.#tokens += scan.tokens
      if (this.#tokens > LIMITS.tokens) throw new TooLarge(name, `${LIMITS.tokens} words and marks in all`)
      return scan
    } catch (error) {
      if (error instanceof TooManyTokens) throw new TooLarge(name, `${MAX_TOKENS} words and marks of one file`)
      throw error
    }
  }

  /** Reads the folders of all installed modules, local ones included, from the engine's manifest. */
  async #readInstalledModules(): Promise<string[]> {
    const { place, dataFolder } = this.#given
    const { workspace, boundary } = place
    const root = await this.#readData(join(dataFolder, 'modules', 'modules.json'), this.#sizes.manifestBytes)
    const modules = entriesNamed(root, 'Modules').flatMap(({ value }) => (value.kind === 'array' ? value.items : []))
    if (modules.length > LIMITS.modules)
      throw new TooLarge('.terraform/modules/modules.json', `${LIMITS.modules} modules`)
    const folders: string[] = []
    for (const { line, value } of modules.flatMap((module) => entriesNamed(module, 'Dir'))) {
      if (value.kind !== 'string') continue
      const folder = resolve(workspace, value.value)
      if (isWithin(boundary, folder)) folders.push(folder)
      else
        this.#findings.push({
          file: relative(workspace, join(dataFolder, 'modules', 'modules.json')),
          line,
          construct: `Dir "${value.value}"`,
          reach: 'the manifest names a folder outside of the repository as a module',
        })
    }
    return folders
  }

  /** Checks the backend in the data folder: the engine uses it instead of the one in the configuration. */
  async #judgeSavedBackend(): Promise<void> {
    const { dataFolder } = this.#given
    const place = { ...this.#given.place, isOwnOverride: this.#hasOverride && !this.#given.migrates }
    const path = join(dataFolder, 'terraform.tfstate')
    const root = await this.#readData(path, this.#sizes.manifestBytes)
    const allowed = await this.#readOperatorKeys()
    for (const { line, value } of entriesNamed(root, 'backend')) {
      const type = entriesNamed(value, 'type').map((entry) => (entry.value.kind === 'string' ? entry.value.value : ''))
      const config = entriesNamed(value, 'config').map((entry) => entry.value)
      const construct = `saved backend "${type.at(-1) ?? ''}"`
      const saved = { construct, type: type.at(-1) ?? '', line, config: { kind: 'array' as const, items: config } }
      const found = judgeBackend(saved, place)
      const foreign = found.filter((finding) => !allowed.some((key) => finding.construct.endsWith(` with ${key}`)))
      this.#findings.push(...foreign.map((finding) => ({ file: relative(place.workspace, path), ...finding })))
    }
  }

  /** Reads the backend arguments that the operator sets, which the engine records as well. */
  async #readOperatorKeys(): Promise<string[]> {
    const { backendConfig } = this.#given
    const pair = /^([a-z0-9_]+)=/.exec(backendConfig)
    if (pair) return [pair[1] ?? '']
    if (backendConfig === '' || !isAbsolute(backendConfig)) return []
    const text = await readLimited(backendConfig, basename(backendConfig), LIMITS.lockBytes, inMib(LIMITS.lockBytes))
    const { root } = parseHclTree(text ?? '', MAX_TOKENS)
    return entriesOf(root).flatMap(({ key, value }) => [key ?? '', ...entriesOf(value).map((entry) => entry.key ?? '')])
  }

  /** Reads a document in the engine's data folder. */
  async #readData(path: string, maxBytes: number): Promise<ConfigNode> {
    const name = relative(this.#given.place.workspace, path)
    const text = await readLimited(path, name, maxBytes, `${inMib(LIMITS.manifestBytes)} of it`)
    if (text === null) return { kind: 'computed' }
    try {
      return parseJsonTree(text, MAX_TOKENS, false).root
    } catch (error) {
      if (error instanceof TooManyTokens) throw new TooLarge(name, `${MAX_TOKENS} words and marks of it`)
      throw error
    }
  }
}

/** Returns the addresses of the providers that a lock file names. */
export const lockedProviders = (text: string): { source: string; line: number }[] =>
  blocksOf(parseHclTree(text, MAX_TOKENS).root, 'provider', 1).map(({ labels, line }) => ({
    source: labels[0] ?? '',
    line,
  }))

/** Scans a file in the native form of the language. Errors: `TooManyTokens`. */
export const scanHcl = (source: string, place: Place, maxTokens = MAX_TOKENS): FileScan =>
  judge(parseHclTree(source, maxTokens), place, 'hcl')

/** Scans a file in the JSON form of the language. Errors: `TooManyTokens`. */
export const scanJson = (source: string, place: Place, maxTokens = MAX_TOKENS): FileScan =>
  judge(parseJsonTree(source, maxTokens), place, 'json')

function judge(tree: ConfigTree, place: Place, form: 'hcl' | 'json'): FileScan {
  const sources = findSources(tree, place)
  return {
    findings: [
      ...findPrograms(tree, form),
      ...findBackends(tree, place),
      ...findProviders(tree, place),
      ...findFiles(tree, place),
      ...sources.findings,
    ],
    modules: sources.modules,
    setsBackend: blocksOf(tree.root, 'terraform', 0).some(({ body }) => entriesNamed(body, 'backend').length > 0),
    complete: tree.complete,
    tokens: tree.tokens,
  }
}
