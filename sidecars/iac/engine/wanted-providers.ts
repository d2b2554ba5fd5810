import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseHcl } from '../../../src/hcl/parser.ts'
import { attributeOf, textOf } from '../../../src/hcl/read.ts'
import type { HclBody } from '../../../src/hcl/tree.ts'
import { readPlain } from '../limits/workspace.ts'
import { PLATFORM } from './find.ts'

const MAX_BYTES = 1024 * 1024
const MAX_FILES = 200
const MAX_TOKENS = 100_000
const LOCK_FILE = '.terraform.lock.hcl'
/** Blocks whose type begins with the name of its provider. */
const TYPED: ReadonlySet<string> = new Set(['resource', 'data', 'ephemeral'])
const SOURCE = /^(?:([a-z0-9.-]+(?::\d+)?)\/)?([a-z0-9_-]+)\/([a-z0-9_-]+)$/i

/** A provider that the code of a root names, or its lock file. */
interface Wanted {
  /** `host/namespace/type`, in lower case. */
  source: string
  /** Null where the lock file does not name it. */
  version: string | null
}

/**
 * Lists the providers of a root that the cache does not hold for this machine, as far as their own files tell: what
 * modules need is known to the engine alone. A version counts only where the lock file fixes it.
 * @param registry the host of sources that name none
 */
export async function missingProviders(workspace: string, cache: string, registry: string): Promise<string[]> {
  const wanted = await wantedProviders(workspace, registry)
  const missing = await Promise.all(
    wanted.map(async ({ source, version }) => {
      const versions = version === null ? await namesAt(join(cache, source)) : [version]
      const held = await Promise.all(versions.map((each) => namesAt(join(cache, source, each))))
      return held.some((platforms) => platforms.includes(PLATFORM)) ? [] : [source]
    }),
  )
  return missing.flat()
}

const namesAt = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}

async function wantedProviders(workspace: string, registry: string): Promise<Wanted[]> {
  const names = (await namesAt(workspace)).filter((name) => /\.(?:tf|tofu)$/.test(name))
  const bodies = await Promise.all(
    names.slice(0, MAX_FILES).map(async (name) => parse(await readText(join(workspace, name)))),
  )
  const locked = new Map(
    lockedIn(await readText(join(workspace, LOCK_FILE))).map(({ source, version }) => [source, version] as const),
  )
  const required = new Map<string, string>(bodies.flatMap((body) => requiredIn(body)))
  const named = [...new Set(bodies.flatMap(namesIn))].filter((name) => !required.has(name) && name !== 'terraform')
  const sources = [...required.values(), ...named.map((name) => `hashicorp/${name}`)].flatMap((source) => {
    const [match, host = registry, namespace, type] = SOURCE.exec(source) ?? []
    return match === undefined ? [] : [`${host}/${namespace}/${type}`.toLowerCase()]
  })
  return [...new Set([...sources, ...locked.keys()])].map((source) => ({ source, version: locked.get(source) ?? null }))
}

const readText = async (path: string): Promise<string> =>
  (await readPlain(path, MAX_BYTES).catch(() => null))?.toString('utf8') ?? ''

const parse = (text: string): HclBody => parseHcl(text, { maxTokens: MAX_TOKENS }).body

/** Lists the sources that a body requires, by the names that it has for them. */
const requiredIn = (body: HclBody): [string, string][] =>
  body.blocks
    .filter(({ type }) => type === 'terraform')
    .flatMap((block) => block.body.blocks.filter(({ type }) => type === 'required_providers'))
    .flatMap((block) => block.body.attributes)
    .map<[string, string]>(({ name, value }) => {
      const source = value.kind === 'object' ? value.entries.find(({ key }) => key === 'source')?.value : undefined
      return [name, source?.kind === 'string' ? source.value : `hashicorp/${name}`]
    })

/** Lists the names of providers of blocks. An argument that names another one is looked up as it is written. */
const namesIn = (body: HclBody): string[] =>
  body.blocks.flatMap(({ type, labels: [label = ''], body: inner }) => {
    if (type === 'provider') return [label]
    if (!TYPED.has(type) || attributeOf(inner, 'provider')) return []
    return [label.split('_', 1)[0] ?? '']
  })

interface Locked {
  source: string
  version: string
}

const lockedIn = (text: string): Locked[] =>
  parse(text).blocks.flatMap(({ type, labels: [source = ''], body }) => {
    const version = textOf(body, 'version')
    return type === 'provider' && version !== null && isName(source) && isName(version) ? [{ source, version }] : []
  })

/** The text of a lock file becomes part of a path. */
const isName = (text: string): boolean =>
  /^[a-z0-9._:+-]+(?:\/[a-z0-9._:+-]+)*$/i.test(text) && !/(?:^|\/)\.\.?(?:\/|$)/.test(text)
