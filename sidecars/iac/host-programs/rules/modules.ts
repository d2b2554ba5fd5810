import { blocksOf, type ConfigNode, type ConfigTree, entriesNamed, entriesOf, stringsOf } from '../config-tree.ts'
import { type Findings, reaching } from '../findings.ts'
import { addressReach, addressWhy, localFolder, type Place, pathReach } from './place.ts'

/** Finds module and provider sources that are local and leave the repository, or that lead to this machine. */
export function findSources({ root }: ConfigTree, place: Place): { findings: Findings; modules: string[] } {
  const findings: Findings = []
  const modules: string[] = []
  for (const { line, value } of moduleSources(root)) {
    const source = value.kind === 'string' ? value.value.trim() : ''
    const reach = value.kind === 'string' ? sourceReach(value, place) : NOT_LITERAL
    if (reach !== null) findings.push({ line, construct: `module source "${source}"`, reach })
    else if (value.kind === 'string' && value.whole && localFolder(source, place.folder) !== null) modules.push(source)
  }
  for (const { key, line, value } of providerSources(root)) {
    const text = value.kind === 'string' ? value.value : ''
    const host = text.split('/').length === 3 ? text.slice(0, text.indexOf('/')) : ''
    const reach = host === '' ? null : addressReach(host, place, 'host')
    findings.push(...reaching(line, `source "${text}" of provider ${key}`, addressWhy(reach)))
  }
  return { findings, modules }
}

const NOT_LITERAL = 'the source is not written literally, so it cannot be judged: write it as text'

/** Finds the sources of `module` blocks, in test files those inside `run`. */
function moduleSources(root: ConfigNode): { line: number; value: ConfigNode }[] {
  const bodies = [
    ...blocksOf(root, 'module', 1).map(({ body }) => body),
    ...blocksOf(root, 'run', 1).flatMap(({ body }) => blocksOf(body, 'module', 0).map((module) => module.body)),
  ]
  return bodies.flatMap((body) => entriesNamed(body, 'source'))
}

const providerSources = (root: ConfigNode) =>
  blocksOf(root, 'terraform', 0)
    .flatMap(({ body }) => entriesNamed(body, 'required_providers'))
    .flatMap(({ value }) => entriesOf(value))
    .flatMap(({ key, line, value }) =>
      entriesNamed(value, 'source').flatMap(({ value: source }) =>
        [...stringsOf(source)].map((text) => ({ key, line, value: { kind: 'string' as const, ...text } })),
      ),
    )

const FORCED = /^([A-Za-z0-9]+)::/
/** Ways to fetch a module from another machine that the check understands. */
const GETTERS = ['git', 'http', 'https', 's3', 'gcs', 'oci']
const SCHEMES = ['git', 'ssh', 'git+ssh', 'http', 'https', 'oci', 's3', 'gcs']
/** The beginning of a source that fixes its host, whatever follows. */
const NAMES_ITS_HOST =
  /^(?![./])(?:[A-Za-z0-9]+::)*(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]+[/?#]|[^@/\s]+@[^:/\s]+:|[^:/\s]+\/)/i
const SCP = /^(?:[^@/\s]+@)([^:/\s]+):/

/** Returns the target of a source beyond the repository; null for one inside and for a public host. */
function sourceReach(node: ConfigNode & { kind: 'string' }, place: Place): string | null {
  let source = node.value.trim()
  if (source === '') return node.whole ? null : NOT_LITERAL
  // OpenTofu inserts variables into a source before it reads the module: the text before them must fix the target.
  const open = node.whole || NAMES_ITS_HOST.test(source) ? null : NOT_LITERAL
  if (localFolder(source, place.folder) !== null)
    return pathReach({ ...node, value: source.replaceAll('\\', '/') }, place, place.folder) ?? open
  if (open !== null) return open
  for (let forced = FORCED.exec(source); forced; forced = FORCED.exec(source)) {
    const getter = (forced[1] ?? '').toLowerCase()
    if (!GETTERS.includes(getter))
      return `modules are not fetched with ${getter}, which would read files or run a program of this machine`
    source = source.slice(forced[0].length)
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme !== undefined && !SCHEMES.includes(scheme))
    return `modules are not fetched from ${scheme}: addresses, which would read files or run a program of this machine`
  if (scheme === undefined && /^(?:[/~\\.]|file:|[A-Za-z]:[\\/])/i.test(source))
    return 'the path is one of this machine: name a module of the repository as ./name or ../name'
  if (/(?:^|\/\/)(?:[^?]*\/)?\.\.(?:[/?]|$)/.test(source.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')))
    return 'the path inside of the source climbs out of what is fetched'
  const host = scheme === undefined ? (SCP.exec(source)?.[1] ?? registryHost(source)) : source
  return host === null ? null : addressWhy(addressReach(host, place, scheme === undefined ? 'host' : 'url'))
}

/** Returns the host of `host/namespace/name/provider`, or the beginning of any other form, such as `github.com/…`. */
const registryHost = (source: string): string | null => {
  const [first = '', ...rest] = source.split('/')
  return rest.length >= 3 || first.includes('.') || first.includes(':') ? first : null
}
