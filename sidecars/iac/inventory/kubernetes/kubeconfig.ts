import { dirname, isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import { InventoryError } from '../types.ts'

const text = v.nullish(v.string(), '')
const flag = v.nullish(v.boolean(), false)
const unknown = v.nullish(v.unknown())

const execSchema = v.object({
  apiVersion: text,
  command: text,
  args: v.nullish(v.array(v.string()), []),
  env: v.nullish(v.array(v.object({ name: v.string(), value: text })), []),
  interactiveMode: text,
  provideClusterInfo: flag,
})
const contextSchema = v.object({ cluster: text, user: text, namespace: text })
const clusterSchema = v.object({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
  extensions: v.nullish(v.array(v.object({ name: v.string(), extension: unknown })), []),
})
const userSchema = v.object({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  exec: v.nullish(execSchema),
  'auth-provider': unknown,
  as: unknown,
})
const configSchema = v.object({
  'current-context': text,
  contexts: v.nullish(v.array(v.object({ name: v.string(), context: contextSchema })), []),
  clusters: v.nullish(v.array(v.object({ name: v.string(), cluster: clusterSchema })), []),
  users: v.nullish(v.array(v.object({ name: v.string(), user: v.nullish(userSchema, {}) })), []),
})

export type ClusterEntry = v.InferOutput<typeof clusterSchema>
export type ExecEntry = v.InferOutput<typeof execSchema>
export type UserEntry = v.InferOutput<typeof userSchema>

export type Kubeconfig = ReturnType<typeof parseKubeconfig>

const FILE_KEYS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/** Parses one file and makes its paths absolute. Errors: `InventoryError` without content. */
export function parseKubeconfig(content: string, path: string) {
  const parsed = v.safeParse(configSchema, parseYaml(content))
  if (!parsed.success) throw new InventoryError(`a kubeconfig is not valid${placeText(v.getDotPath(parsed.issues[0]))}`)
  const { contexts, clusters, users } = parsed.output
  const folder = dirname(path)
  return {
    current: parsed.output['current-context'],
    contexts: byName(contexts, ({ context }) => context),
    clusters: byName(clusters, ({ cluster }) => resolvePaths(cluster, folder)),
    users: byName(users, ({ user }) => resolveCommand(resolvePaths(user, folder), folder)),
  }
}

/** Indexes entries by name. Refuses duplicates within a file as ambiguous. */
function byName<Entry extends { name: string }, T>(
  entries: readonly Entry[],
  read: (entry: Entry) => T,
): Map<string, T> {
  const found = new Map(entries.map((entry) => [entry.name, read(entry)]))
  if (found.size < entries.length) throw new InventoryError('a kubeconfig has two entries of the same name')
  return found
}

/** Merges files. Of entries with the same name, and of current contexts, the first counts. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(pick: (file: Kubeconfig) => Map<string, T>) =>
    new Map(files.toReversed().flatMap((file) => [...pick(file)]))
  return {
    current: files.find(({ current }) => current !== '')?.current ?? '',
    contexts: merged(({ contexts }) => contexts),
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
  }
}

function parseYaml(content: string): unknown {
  try {
    return parse(content, { maxAliasCount: 100 }) ?? {}
  } catch (error) {
    throw new InventoryError('a kubeconfig is not YAML', { cause: error })
  }
}

const placeText = (path: string | null) => (path ? `, at ${path.slice(0, 100)}` : '')

function resolvePaths<T extends object>(entry: T, folder: string): T {
  const paths = Object.entries(entry).filter(
    ([key, value]) => FILE_KEYS.includes(key) && typeof value === 'string' && value !== '',
  )
  return {
    ...entry,
    ...Object.fromEntries(paths.map(([key, path]) => [key, isAbsolute(path) ? path : join(folder, path)])),
  }
}

/** Resolves the path of a program; one without a folder is found on PATH. */
const resolveCommand = (user: UserEntry, folder: string): UserEntry =>
  user.exec?.command.includes('/') && !isAbsolute(user.exec.command)
    ? { ...user, exec: { ...user.exec, command: join(folder, user.exec.command) } }
    : user
