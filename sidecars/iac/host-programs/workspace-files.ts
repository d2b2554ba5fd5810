import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { listEntries } from '../../../src/runtime/files.ts'
import { isWithin, readLimited } from './config-files.ts'
import { type Finding, inMib, LIMITS, printable, reaching, TooLarge } from './findings.ts'
import { lockedProviders } from './inspect.ts'
import { addressReach, addressWhy, type Place } from './rules/place.ts'

interface ShippedRules {
  place: Place
  dataFolder: string
  /** True if the providers in the data folder come from an `init` of this service. */
  initialised: boolean
}

/** Finds files beside the configuration that the engine would run or obey. */
export async function findShipped(rules: ShippedRules): Promise<Finding[]> {
  const groups = await Promise.all([
    findPlugins(rules),
    findTakenNames(rules),
    findSelectedWorkspace(rules),
    findLockedProviders(rules),
  ])
  return groups.flat()
}

const PLUGIN = /^(?:terraform|tofu)-(?:provider|provisioner)-/i

/** Finds plugins that lie where the engine would run them. Names are compared without case. */
async function findPlugins({ place: { workspace }, dataFolder, initialised }: ShippedRules): Promise<Finding[]> {
  const names = await readdir(workspace).catch(() => [])
  const paths = names.filter((name) => PLUGIN.test(name)).map((name) => join(workspace, name))
  const parents = [
    ...names.filter((name) => /^terraform\.d$/i.test(name)).map((name) => join(workspace, name)),
    dataFolder,
  ]
  for (const parent of parents) {
    const children = await readdir(parent).catch(() => [])
    paths.push(...children.filter((name) => /^plugins$/i.test(name)).map((name) => join(parent, name)))
  }
  if (!initialised) paths.push(...(await findProviderFiles(join(dataFolder, 'providers'))))
  return paths.map((path) => ({
    file: relative(workspace, path),
    line: 0,
    construct: 'a plugin inside the repository',
  }))
}

/** Finds providers that lie in the data folder as files. The engine's own `init` links them to the plugin cache. */
async function findProviderFiles(providers: string): Promise<string[]> {
  const found: string[] = []
  const waiting = [providers]
  let seen = 0
  for (let folder = waiting.pop(); folder !== undefined && found.length < 10; folder = waiting.pop()) {
    if (++seen > 2_000) return [providers]
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) waiting.push(join(folder, entry.name))
      else if (!entry.isSymbolicLink()) found.push(join(folder, entry.name))
    }
  }
  return found
}

/** Names that the engine reads or writes on its own, with their required kinds. */
const ENGINE_FILES = [
  'terraform.tfstate',
  'terraform.tfstate.backup',
  '.terraform.tfstate.lock.info',
  '.terraform.lock.hcl',
  'errored.tfstate',
  'crash.log',
]
const DATA_FILES = ['terraform.tfstate', 'terraform.tfstate.backup', 'environment', 'modules/modules.json']
const FOLDERS = ['terraform.tfstate.d', '.terraform']

async function findTakenNames({ place: { workspace }, dataFolder }: ShippedRules): Promise<Finding[]> {
  const files = [
    ...ENGINE_FILES.map((name) => join(workspace, name)),
    ...DATA_FILES.map((name) => join(dataFolder, name)),
  ]
  const folders = [...FOLDERS.map((name) => join(workspace, name)), dataFolder]
  const check = async (path: string, wanted: 'file' | 'folder'): Promise<Finding[]> => {
    const entry = await lstat(path).catch(() => null)
    if (!entry || (wanted === 'file' ? entry.isFile() : entry.isDirectory())) return []
    const what = entry.isSymbolicLink() ? 'a symbolic link' : `something that is no ${wanted}`
    const reach = 'the engine keeps its own data under this name, and would read or write what stands there'
    return [{ file: relative(workspace, path), line: 0, construct: what, reach }]
  }
  const found = await Promise.all([
    ...files.map((path) => check(path, 'file')),
    ...[...new Set(folders)].map((path) => check(path, 'folder')),
  ])
  return found.flat()
}

/** Finds a selected workspace of the engine, which would make it open another state. */
async function findSelectedWorkspace({ place: { workspace }, dataFolder }: ShippedRules): Promise<Finding[]> {
  const path = join(dataFolder, 'environment')
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  const text = size > 1024 ? 'more than any name' : ((await readLimited(path, 'environment', 1024, '')) ?? '')
  if (['', 'default'].includes(text.trim())) return []
  const reach = 'it selects another workspace of the engine, whose state is not the one of this session'
  return [{ file: relative(workspace, path), line: 1, construct: `"${printable(text.trim())}"`, reach }]
}

/** Finds a lock file that is too large or names a provider that this machine or its network would serve. */
async function findLockedProviders({ place }: ShippedRules): Promise<Finding[]> {
  const file = '.terraform.lock.hcl'
  const path = join(place.workspace, file)
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  if (size > LIMITS.lockBytes)
    return [{ file, line: 0, construct: 'the lock file', reach: `it has more than ${inMib(LIMITS.lockBytes)}` }]
  const text = (await readLimited(path, file, LIMITS.lockBytes, '').catch(() => null)) ?? ''
  return lockedProviders(text).flatMap(({ source, line }) => {
    const reach = addressWhy(addressReach(source.split('/')[0] ?? '', place, 'host'))
    return reaching(line, `provider "${source}"`, reach).map((finding) => ({ file, ...finding }))
  })
}

interface LinkRules {
  workspace: string
  boundary: string
  dataFolder: string
  /** Real paths of the folders that links to installed providers may lead to. */
  providerFolders: readonly string[]
  /** Fires at the time limit of the job. */
  signal: AbortSignal
}

const OUT = 'it is a link that leads out of the repository, so the engine would read or write other files through it'
const DATA = "it is a link in the engine's own folder, so the engine would read or write other files through it"

/**
 * Finds links that the engine must not follow: those that lead out of the boundary, and those in its data folder, apart
 * from the ones to installed providers and inside of downloaded modules. Git's own folder is left out, because no engine
 * reads it. Errors: `TooLarge` for too many entries; the reason of the signal.
 */
export async function findLinks(rules: LinkRules): Promise<Finding[]> {
  const findings: Finding[] = []
  const waiting: Buffer[] = [Buffer.from(rules.workspace)]
  let entries = 0
  for (let folder = waiting.pop(); folder !== undefined && findings.length < 50; folder = waiting.pop()) {
    rules.signal.throwIfAborted()
    const children = await listEntries(folder).catch(() => [])
    entries += children.length
    if (entries > LIMITS.entries) throw new TooLarge('.', `${LIMITS.entries} files and folders of a workspace`)
    for (const { name, kind } of children) {
      const path = Buffer.concat([folder, Buffer.from('/'), name])
      if (kind.isDirectory() && name.toString('latin1') !== '.git') waiting.push(path)
      const reach = kind.isSymbolicLink() ? await judgeLink(path, rules) : null
      const file = relative(rules.workspace, path.toString('utf8'))
      findings.push(...reaching(0, 'a symbolic link', reach).map((finding) => ({ file, ...finding })))
    }
  }
  return findings
}

async function judgeLink(path: Buffer, rules: LinkRules): Promise<string | null> {
  const name = path.toString('utf8')
  const target = await resolveLink(path)
  const { dataFolder } = rules
  if (isWithin(`${dataFolder}/providers`, name))
    return rules.providerFolders.some((folder) => isWithin(folder, target)) ? null : DATA
  if (isWithin(`${dataFolder}/modules`, name)) {
    const [module, ...below] = relative(`${dataFolder}/modules`, name).split('/')
    return below.length > 0 && isWithin(`${dataFolder}/modules/${module}`, target) ? null : DATA
  }
  if (isWithin(dataFolder, name)) return DATA
  return isWithin(rules.boundary, target) ? null : OUT
}

/** Resolves a link. A missing target counts as well, because the engine could write there. */
async function resolveLink(path: Buffer): Promise<string> {
  const real = await realpath(path).catch(() => null)
  if (real !== null) return real
  const text = await readlink(path).catch(() => '/')
  const folder = await realpath(dirname(path.toString('utf8'))).catch(() => '/')
  return resolve(folder, text)
}
