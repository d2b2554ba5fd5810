import type { Cloud } from '../../base/vocabulary.ts'
import { readHcl } from '../../hcl/read.ts'
import type { HclValue } from '../../hcl/tree.ts'
import { folderOf, resolveFolder } from '../../plan/code/modules.ts'
import { bodiesOf, isCode, isJsonCode, moduleSources, parseObject } from './declared-blocks.ts'
import type { RepositoryFile } from './repository.ts'

/** Providers of each cloud, by the first word of their types. */
const CLOUD_PROVIDERS: Record<Cloud, readonly string[]> = {
  aws: ['aws', 'awscc'],
  azure: ['azurerm', 'azuread', 'azapi'],
  gcp: ['google'],
  oci: ['oci'],
  kubernetes: ['kubernetes', 'helm', 'kubectl'],
}
/** Words for a cloud, in addition to the names of its providers. */
const CLOUD_WORDS: Record<Cloud, readonly string[]> = {
  aws: ['amazon'],
  azure: ['azure'],
  gcp: ['gcp'],
  oci: ['oracle'],
  kubernetes: ['k8s'],
}
const KNOWN: readonly string[] = Object.values(CLOUD_PROVIDERS).flat()

/** Words in template names that do not identify a cloud, such as queue. */
const GENERIC = new Set(
  (
    'access account allocation analytics app application autonomous autoscaler backup balancer binding block ' +
    'bucket bus cache claim cloud cluster compute config container cron daemon data database deployment disk ' +
    'dns endpoint file firewall flexible function functions gateway group groups horizontal identity ingress ' +
    'insights instance internet job key keys link list load log logs machine managed manager map memory ' +
    'namespace nat network object of persistent pod policy postgres private project public queue redis ' +
    'resource role route router run secret secrets security server service set sql state stateful storage ' +
    'subnet subnetwork table topic user vault virtual volume web webapp workspace zone'
  ).split(' '),
)

interface InPlay {
  cloud: Cloud
  files: readonly RepositoryFile[]
  /** The words of the request, in any language. */
  request: string
  /** Names of the templates of the cloud, for example `sqs_queue`. */
  templates: readonly string[]
}

/**
 * Returns the providers that a request can be about: those in the code or the request, and those of the cloud when the
 * request names it or one of its services, or when those in the code are unknown. Providers are named by the first word
 * of their types, for example `aws`.
 */
export function providersInPlay({ cloud, files, request, templates }: InPlay): Set<string> {
  const used = readProviders(files)
  const words = new Set(request.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
  const named = KNOWN.filter((provider) => words.has(provider))
  const services = templates.flatMap((name) => name.split('_')).filter((word) => !GENERIC.has(word))
  const namesCloud = [...CLOUD_WORDS[cloud], ...services].some((word) => words.has(word))
  const cloudCounts = namesCloud || used.isUnsure || used.providers.size === 0
  return new Set([...used.providers, ...named, ...(cloudCounts ? CLOUD_PROVIDERS[cloud] : [])])
}

/** Returns the providers whose types a text names; null when it names none. */
export function typedProviders(text: string): string[] | null {
  const providers = KNOWN.filter((provider) => new RegExp(`(?<![\\w-])${provider}_\\w`).test(text))
  return providers.length > 0 ? providers : null
}

export const providersOfCloud = (cloud: Cloud): readonly string[] => CLOUD_PROVIDERS[cloud]

interface UsedProviders {
  providers: Set<string>
  /** True if some code was not read, or calls a module whose providers are unknown. */
  isUnsure: boolean
}

function readProviders(files: readonly RepositoryFile[]): UsedProviders {
  const providers = new Set<string>()
  let isUnsure = false
  for (const file of files.filter(({ path }) => isCode(path))) {
    if (file.text === null) isUnsure = true
    for (const provider of declaredProviders(file)) providers.add(provider.replace(/-beta$/, ''))
    for (const source of moduleSources(file)) {
      const provider = providerOfModule(file.path, source)
      if (provider === null) isUnsure = true
      else if (provider !== '') providers.add(provider)
    }
  }
  return { providers, isUnsure }
}

/** Returns the providers of the blocks in a file. Blocks that read the state of another root have none. */
function declaredProviders({ path, blocks, text }: RepositoryFile): string[] {
  const types = blocks.flatMap((block) => /^(?:resource|data (?!terraform_)) ?([a-z0-9]+)_/.exec(block)?.[1] ?? [])
  if (text === null) return types
  if (isJsonCode(path)) {
    const code = parseObject(text)
    const required = bodiesOf(code.terraform).flatMap((body) => bodiesOf(body.required_providers))
    return [...types, ...[...bodiesOf(code.provider), ...required].flatMap((body) => Object.keys(body))]
  }
  const { blocks: top } = readHcl(text).body
  const required = top
    .filter(({ type }) => type === 'terraform')
    .flatMap(({ body }) => body.blocks.filter(({ type }) => type === 'required_providers'))
    .flatMap(({ body }) => body.attributes)
  return [
    ...types,
    ...top.flatMap(({ type, labels }) => (type === 'provider' ? labels : [])),
    ...required.flatMap(({ name, value }) => [name, ...sourceOf(value)]),
  ]
}

/** Returns the last part of the source in an entry of `required_providers`. */
function sourceOf(value: HclValue): string[] {
  const source = value.kind === 'object' ? value.entries.find(({ key }) => key === 'source')?.value : undefined
  return source?.kind === 'string' && source.value.includes('/') ? source.value.split('/').slice(-1) : []
}

/** Returns the provider in a registry address; empty for a local module, whose files are read; else null. */
function providerOfModule(path: string, source: string): string | null {
  if (/^\.{1,2}\//.test(source)) return resolveFolder(folderOf(path), source) === null ? null : ''
  return /^(?:[\w.-]+\.[a-z]+\/)?[\w-]+\/[\w-]+\/([a-z0-9-]+)(?:\/\/.*)?$/.exec(source)?.[1] ?? null
}
