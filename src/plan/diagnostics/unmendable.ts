import { cutMiddle } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { Diagnostic } from './diagnostic.ts'
import {
  BACKEND,
  BACKEND_REFUSED,
  CLUSTER_CALLS,
  DENIED,
  type Fault,
  GLOBAL_HOSTS,
  PATTERNS,
  REGISTRY,
  UNREACHABLE,
} from './environment-patterns.ts'

/** The providers without which nothing of a cloud can be planned. */
const OWN_PROVIDERS: Record<Cloud, RegExp> = {
  aws: /^hashicorp\/aws$/,
  azure: /^(hashicorp\/(azurerm|azuread)|azure\/azapi)$/i,
  gcp: /^hashicorp\/google(-beta)?$/,
  oci: /^(oracle|hashicorp)\/oci$/,
  kubernetes: /^hashicorp\/(kubernetes|helm)$/,
}

const ADVICE: Record<Fault, string> = {
  credentials:
    'The engine has no valid credentials. ' +
    'Renew those of the iac service or of the provider, then send the request again.',
  permission: 'The credentials of the engine are refused. Give them access to the scope, then send the request again.',
  network:
    'The engine cannot reach a service that it needs. ' +
    'See to the network of the iac service, then send the request again.',
  registry:
    'The engine cannot download a provider. ' +
    'See to the network of the iac service or to its mirror, then send the request again.',
  throttled: 'The cloud limits the rate of calls at present. Send the request again later.',
  quota: 'A quota of the cloud is used up. Raise it or free something, then send the request again.',
  backend: 'The engine state cannot be read. See to its store and the access to it, then send the request again.',
  disk: 'The iac service is out of disk or memory. Make room, then send the request again.',
}

/** Longest quotation of an error, in characters. */
const MAX_QUOTED = 300

/**
 * Explains to user and operator why no change of the code can help; null when a change might. Every error has to be a
 * fault of the environment: beside an error of the code, such a fault may be a consequence of it.
 */
export function explainUnmendable(
  diagnostics: readonly Diagnostic[],
  { blame, cloud }: { blame: Blame; cloud: Cloud },
): string | null {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const faults = errors.map((error) => faultOf(error, { blame, cloud }))
  const [first] = errors
  const [fault] = faults
  if (!first || !fault || faults.some((each) => each === null)) return null
  return `No change of the code can mend this. ${ADVICE[fault]} The engine said: ${quoteError(first)}`
}

function faultOf(diagnostic: Diagnostic, { blame, cloud }: { blame: Blame; cloud: Cloud }): Fault | null {
  const text = `${diagnostic.summary} ${diagnostic.detail}`.replaceAll(/\s+/g, ' ')
  if (matches(PATTERNS.disk, text)) return 'disk'
  if (matches(REGISTRY, text)) return matches(UNREACHABLE, text) && isNeeded(text, { blame, cloud }) ? 'registry' : null
  if (matches(PATTERNS.throttled, text)) return 'throttled'
  if (matches(PATTERNS.quota, text)) return 'quota'
  if (blame.settings) return null
  if (matches(BACKEND, text))
    return matches([...UNREACHABLE, ...BACKEND_REFUSED], text) || hasCredentialFault(text) ? 'backend' : null
  if (hasCredentialFault(text)) return 'credentials'
  const hosts = cloud === 'kubernetes' ? [...GLOBAL_HOSTS, ...CLUSTER_CALLS] : GLOBAL_HOSTS
  if (matches(UNREACHABLE, text) && matches(hosts, text)) return 'network'
  return matches(DENIED, text) && concernsProvider(diagnostic) ? 'permission' : null
}

const hasCredentialFault = (text: string) => matches(PATTERNS.credentials, text)
const matches = (patterns: readonly RegExp[], text: string) => patterns.some((pattern) => pattern.test(text))

/**
 * Reports whether a missing provider cannot be avoided by a change of the code. One that the session itself introduced
 * can be removed again, unless it is the provider of the cloud. When the error names no provider, it counts as needed
 * as long as the session left all settings of providers alone.
 */
function isNeeded(text: string, { blame, cloud }: { blame: Blame; cloud: Cloud }): boolean {
  const provider = /\bprovider ([\w.-]+(?:\/[\w-]+){1,2})\b/.exec(text)?.[1]
  if (provider === undefined) return !blame.settings
  return OWN_PROVIDERS[cloud].test(provider) || !blame.introduces(provider)
}

/**
 * Reports whether an error concerns a provider as a whole. When a cloud refuses access to a single resource, the code
 * may be at fault: it may name a resource that belongs to somebody else.
 */
const concernsProvider = ({ address, context }: Diagnostic) =>
  address === null ? (context?.startsWith('provider ') ?? false) : /(^|\.)provider\[/.test(address)

const quoteError = ({ summary, detail }: Diagnostic) =>
  cutMiddle(`${summary}: ${detail}`.replaceAll(/\s+/g, ' ').replace(/:\s*$/, ''), MAX_QUOTED)

/**
 * What the session's own change may have caused. Where the change touched what an error is about, the code has to be
 * corrected, even if the error otherwise looks like a fault of the environment.
 */
interface Blame {
  /** The change touches settings of a provider or of a backend. */
  settings: boolean
  /** True if the change introduces this provider, for example `hashicorp/random`. */
  introduces(provider: string): boolean
}

/** A changed line of a diff, with its sign, that sets how a provider or a backend connects and signs in. */
const SETTINGS: readonly RegExp[] = [
  /^.?\s*(provider\s+"|provider\s*=|backend\s+"|cloud\s*\{|required_providers\b|provider_meta\b)/,
  /^.?\s*(assume_role\w*\b|profile\s*=|shared_\w+_files\s*=|access_key\s*=|secret_key\s*=|token\s*=)/,
  /^.?\s*(credentials\s*=|impersonate_\w+\s*=|client_(id|secret)\w*\s*=|tenant_id\s*=|subscription_id\s*=)/,
  /^.?\s*(use_(cli|msi|oidc|aks_\w+)\s*=|config_(path|paths|context)\w*\s*=|auth\s*=|endpoints?\b|skip_\w+\s*=)/,
]
/** An added or removed line of a diff; the lines `+++ b/file` and `--- a/file` are none. */
const CHANGED = /^[+-](?![+-]{2} )/

/**
 * Reads from a diff what the session may be to blame for.
 * @param diff unified diff of the session, with the whole text of new files
 */
export function blameOf(diff: string): Blame {
  const lines = diff.split('\n')
  const changed = lines.filter((line) => CHANGED.test(line))
  const near = lines.some((line) => /^ \s*(provider|backend)\s+"/.test(line))
  const added = changed.filter((line) => line.startsWith('+')).join('\n')
  return {
    settings: near || changed.some((line) => matches(SETTINGS, line)),
    introduces: (provider) => {
      const name = /^[\w-]+$/.exec(provider.split('/').at(-1) ?? '')?.[0]
      if (name === undefined) return false
      return new RegExp(`"${name}_|/${name}"|provider\\s+"${name}"|^\\+\\s*${name}\\s*=\\s*\\{`, 'm').test(added)
    },
  }
}
