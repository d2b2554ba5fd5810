import * as v from 'valibot'
import { badGateway } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import type { Masker } from '../../base/masking.ts'
import type { Cloud } from '../../base/vocabulary.ts'

/** A resource of a scope; `kind` is the cloud's word, null when the identifier does not tell. */
interface ListedResource {
  kind: string | null
  resource_id: string
}

/** The listing of an import preview: each resource of the scope once, by kind and identifier. */
export interface ScopeInventory {
  /** Version of this document's format. */
  version: 1
  provider: Cloud
  scope_id: string
  /** The request, which selects nothing here. */
  request: string
  counts: { managed: number; unmanaged: number; left_out: number }
  /** Resources in the state. */
  managed: ListedResource[]
  /** Resources that can be imported. */
  unmanaged: ListedResource[]
  /** Resources that are neither managed nor importable, with reasons. */
  left_out: (ListedResource & { reason: string })[]
}

const HIDDEN = 'Its identifier holds a sensitive value and is hidden here, so it cannot be chosen by its identifier.'

/**
 * Sorts the resources of a scope into managed, importable and left out. Identifiers are masked; one that masking
 * changes cannot be chosen and is left out.
 * @param found result of comparing scope and state: `ids` to import, and `withheld` with reasons
 */
export function takeInventory(
  place: Pick<ScopeInventory, 'provider' | 'scope_id' | 'request'>,
  found: { scope: readonly string[]; ids: readonly string[]; withheld: readonly Excluded[] },
  masker: Masker,
): ScopeInventory {
  const { provider, scope_id, request } = place
  const listed = (id: string): ListedResource => {
    const resourceId = masker.text(id)
    return { kind: resourceKind(provider, resourceId), resource_id: resourceId }
  }
  const isHidden = (id: string) => masker.text(id) !== id
  const identity = identityOf(provider)
  const others = new Set([...found.ids, ...found.withheld.map(({ resource_id }) => resource_id)].map(identity))
  const managed = firstSpellings(found.scope, identity, others).map(listed).sort(byKind)
  const unmanaged = found.ids
    .filter((id) => !isHidden(id))
    .map(listed)
    .sort(byKind)
  const hidden = found.ids.filter(isHidden).map((id) => ({ ...listed(id), reason: HIDDEN }))
  const withheld = found.withheld.map(({ resource_id, details }) => ({ ...listed(resource_id), reason: details }))
  const leftOut = [...withheld, ...hidden].sort(byKind)
  return {
    version: 1,
    provider,
    scope_id: masker.text(scope_id),
    request: masker.text(request),
    counts: { managed: managed.length, unmanaged: unmanaged.length, left_out: leftOut.length },
    managed,
    unmanaged,
    left_out: leftOut,
  }
}

/** Returns the identifiers that are not among `others`, each in its first spelling, without blank ones. */
function firstSpellings(
  ids: readonly string[],
  identity: (id: string) => string,
  others: ReadonlySet<string>,
): string[] {
  const found = new Map<string, string>()
  for (const id of ids) found.set(identity(id), found.get(identity(id)) ?? id)
  return [...found].filter(([key, id]) => id.trim() !== '' && !others.has(key)).map(([, id]) => id)
}

/** Compares by kind, null last, then by identifier, in code-point order. */
const byKind = (a: ListedResource, b: ListedResource) =>
  Number(a.kind === null) - Number(b.kind === null) ||
  compare(a.kind ?? '', b.kind ?? '') ||
  compare(a.resource_id, b.resource_id)

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Functions that return the kind of an identifier, or null when it does not tell. */
const KINDS: Record<Cloud, (id: string) => string | null> = {
  /** Turns `arn:<partition>:<service>:<region>:<account>:<type>/<name>` into `<service>:<type>`; a bucket has no type. */
  aws: (id) => {
    const [, service, resource = ''] = /^arn:[^:]*:([^:]+):[^:]*:[^:]*:(.*)$/s.exec(id) ?? []
    if (!service) return null
    const type = /^([a-z][a-z0-9-]*)[:/]/i.exec(resource)?.[1]
    return type ? `${service}:${type}` : service
  },
  /** Turns `…/providers/<namespace>/<type>/<name>/<type>/<name>` into `<namespace>/<type>/<type>`. */
  azure: (id) => {
    const parts = id.split('/')
    const provider = parts.findLastIndex((part) => part.toLowerCase() === 'providers')
    if (provider === -1) {
      if (/^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+$/i.test(id)) return 'Microsoft.Resources/resourceGroups'
      return /^\/subscriptions\/[^/]+$/i.test(id) ? 'Microsoft.Resources/subscriptions' : null
    }
    const [namespace, ...rest] = parts.slice(provider + 1)
    const types = rest.filter((_, index) => index % 2 === 0)
    return namespace && types.length > 0 ? [namespace, ...types].join('/') : null
  },
  /** Turns `projects/<project>/zones/<zone>/instances/<name>` into `instances`; IAM bindings are a kind of their own. */
  gcp: (id) => (BINDING.test(id) ? 'IAM binding' : id.split('/').at(-2) || null),
  /** Turns `ocid1.<type>.<realm>.…` into `<type>`. */
  oci: (id) => /^ocid\d+\.([^.]+)\./.exec(id)?.[1] ?? null,
  /** Turns `apiVersion=apps/v1,kind=Deployment,…` into `apps/v1/Deployment`. */
  kubernetes: (id) => {
    const [, version, kind] = /^apiVersion=([^,]+),kind=([^,]+),/.exec(id) ?? []
    return version && kind ? `${version}/${kind}` : null
  },
}

/** Returns the cloud's kind of a resource from its identifier; null when it does not tell. */
export const resourceKind = (provider: Cloud, id: string): string | null => KINDS[provider](id)

/** An identifier that is not imported, with the reason. */
export interface Excluded {
  resource_id: string
  details: string
}

export interface Unmanaged {
  /** Importable identifiers, in code-point order. */
  ids: string[]
  /** Unmanaged identifiers that must not be imported. */
  withheld: Excluded[]
}

export const EXCEPTED = 'On the import exception list.'
const UNUSABLE = 'Cannot be given to the engine as an identifier.'

/** Finds identifiers in a scope that the state lacks, in code-point order, each in its first spelling. */
export function findUnmanaged(
  lists: { scope: readonly string[]; state: readonly string[]; exceptions: readonly string[] },
  identity: (id: string) => string,
): Unmanaged {
  const managed = new Set(lists.state.map(identity))
  const excepted = new Set(lists.exceptions.map(identity))
  const result: Unmanaged = { ids: [], withheld: [] }
  for (const id of firstSpellings(lists.scope, identity, managed).sort(compare)) {
    if (excepted.has(identity(id))) result.withheld.push({ resource_id: id, details: EXCEPTED })
    else if (!isArgument(id)) result.withheld.push({ resource_id: id, details: UNUSABLE })
    else result.ids.push(id)
  }
  return result
}

const BULLET = /^\s*[-*+]\s+(\S.*)$/

/** Reads identifiers from a markdown list: in backticks with a remark, or the whole line, which may contain blanks. */
export const importExceptions = (markdown: string): string[] =>
  markdown.split(/\r?\n/).flatMap((line) => {
    const text = BULLET.exec(line)?.[1]?.trim()
    if (text === undefined) return []
    const id = /^`([^`]+)`/.exec(text)?.[1]?.trim() ?? text
    return id === '' ? [] : [id]
  })

/**
 * Returns a function that maps all spellings of an identifier to one text. Letter case matters except on Azure. Google
 * Cloud IAM bindings have blanks in an import (`<project> <role> <member>`) and slashes in the state.
 */
export function identityOf(provider: Cloud): (id: string) => string {
  if (provider === 'azure') return (id) => id.toLowerCase()
  if (provider === 'gcp') return (id) => (BINDING.test(id) ? id.replaceAll(' ', '/') : id)
  return (id) => id
}

/** The form of an IAM binding in an import. */
const BINDING = /^[^ ]+ [^ ]*roles\/[^ ]+ [^ ]+$/

/**
 * Reads a list of identifiers from the iac service, a JSON array of texts. Errors: `PlatformError` 502 for other text.
 * @param what name of the list in the error, for example `scope`
 */
export function parseIdentifiers(text: string, what: string): string[] {
  const parsed = v.safeParse(v.array(v.string()), parseJson(text))
  if (!parsed.success)
    throw badGateway(`iac service returned an unexpected response: the ${what} identifiers are no JSON list of texts.`)
  return parsed.output
}

/** Longest argument that the iac service accepts, in characters. */
const MAX_LENGTH = 4096

/** Reports whether a text is safe as an engine argument: one line, not blank, no option, not too long. */
export const isArgument = (text: string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  !text.startsWith('-') &&
  !/\p{Cc}/u.test(text) &&
  text.isWellFormed()
