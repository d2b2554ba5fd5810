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

/** The providers that each cloud cannot be planned without. */
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

/** Longest quoted error, in characters. */
const MAX_QUOTED = 300

/** Explains why no code change can help; null unless every error is an environment fault. */
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
 * Reports whether code cannot avoid a missing provider. A provider that the session introduced can be removed again,
 * unless it is the cloud's own. An unnamed provider is needed if the session left provider settings alone.
 */
function isNeeded(text: string, { blame, cloud }: { blame: Blame; cloud: Cloud }): boolean {
  const provider = /\bprovider ([\w.-]+(?:\/[\w-]+){1,2})\b/.exec(text)?.[1]
  if (provider === undefined) return !blame.settings
  return OWN_PROVIDERS[cloud].test(provider) || !blame.introduces(provider)
}

/** Reports whether an error concerns a whole provider: a single denied resource may be a mistake in the code. */
const concernsProvider = ({ address, context }: Diagnostic) =>
  address === null ? (context?.startsWith('provider ') ?? false) : /(^|\.)provider\[/.test(address)

const quoteError = ({ summary, detail }: Diagnostic) =>
  cutMiddle(`${summary}: ${detail}`.replaceAll(/\s+/g, ' ').replace(/:\s*$/, ''), MAX_QUOTED)

/** The errors that the session's change may have caused; these must be corrected in the code. */
interface Blame {
  /** True if the change touches settings of a provider or backend. */
  settings: boolean
  /** True if the change introduces this provider, for example `hashicorp/random`. */
  introduces(provider: string): boolean
}

/** Changed diff lines, with their signs, that set how a provider or backend connects and signs in. */
const SETTINGS: readonly RegExp[] = [
  /^.?\s*(provider\s+"|provider\s*=|backend\s+"|cloud\s*\{|required_providers\b|provider_meta\b)/,
  /^.?\s*(assume_role\w*\b|profile\s*=|shared_\w+_files\s*=|access_key\s*=|secret_key\s*=|token\s*=)/,
  /^.?\s*(credentials\s*=|impersonate_\w+\s*=|client_(id|secret)\w*\s*=|tenant_id\s*=|subscription_id\s*=)/,
  /^.?\s*(use_(cli|msi|oidc|aks_\w+)\s*=|config_(path|paths|context)\w*\s*=|auth\s*=|endpoints?\b|skip_\w+\s*=)/,
]
/** An added or removed line of a diff, but not `+++ b/file` or `--- a/file`. */
const CHANGED = /^[+-](?![+-]{2} )/

/** Reads the session's possible faults from its unified diff, with the whole text of new files. */
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
