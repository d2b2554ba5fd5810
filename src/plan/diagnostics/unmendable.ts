import { cutMiddle } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { Diagnostic } from './diagnostic.ts'
import {
  BACKEND,
  BACKEND_REFUSED,
  DENIED,
  type Fault,
  GLOBAL_HOSTS,
  PATTERNS,
  REGISTRY,
  UNREACHABLE,
} from './environment-patterns.ts'

/** Providers without which a cloud cannot be planned at all. */
const OWN_PROVIDERS: Record<Cloud, RegExp> = {
  aws: /^hashicorp\/aws$/,
  azure: /^(hashicorp\/(azurerm|azuread)|azure\/azapi)$/i,
  gcp: /^hashicorp\/google(-beta)?$/,
  oci: /^(oracle|hashicorp)\/oci$/,
  kubernetes: /^hashicorp\/(kubernetes|helm)$/,
}

const ADVICE: Record<Fault, string> = {
  credentials:
    'The engine has no valid credentials. Renew those of the iac service or of the provider, then send the request again.',
  permission: 'The credentials of the engine are refused. Give them access to the scope, then send the request again.',
  network:
    'The engine cannot reach a service that it needs. See to the network of the iac service, then send the request again.',
  registry:
    'The engine cannot download a provider. See to the network of the iac service or to its mirror, then send the request again.',
  throttled: 'The cloud limits the rate of calls at present. Send the request again later.',
  quota: 'A quota of the cloud is used up. Raise it or free something, then send the request again.',
  backend: 'The engine state cannot be read. See to its store and the access to it, then send the request again.',
  disk: 'The iac service is out of disk or memory. Make room, then send the request again.',
}

const MAX_QUOTED = 300

/**
 * Why no change of the code can help, as a text for user and operator; null when one might. Every error has to be
 * such a fault, since a fault beside errors of the code may be their consequence.
 */
export function unmendable(
  diagnostics: readonly Diagnostic[],
  { blame, cloud }: { blame: Blame; cloud: Cloud },
): string | null {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const faults = errors.map((error) => faultOf(error, { blame, cloud }))
  const [first] = errors
  const [fault] = faults
  if (!first || !fault || faults.some((each) => each === null)) return null
  return `No change of the code can mend this. ${ADVICE[fault]} The engine said: ${quoted(first)}`
}

function faultOf(one: Diagnostic, { blame, cloud }: { blame: Blame; cloud: Cloud }): Fault | null {
  const text = `${one.summary} ${one.detail}`.replaceAll(/\s+/g, ' ')
  if (matches(PATTERNS.disk, text)) return 'disk'
  if (REGISTRY.test(text)) return UNREACHABLE.test(text) && isNeeded(text, { blame, cloud }) ? 'registry' : null
  if (matches(PATTERNS.throttled, text)) return 'throttled'
  if (matches(PATTERNS.quota, text)) return 'quota'
  if (blame.settings) return null
  if (BACKEND.test(text))
    return UNREACHABLE.test(text) || BACKEND_REFUSED.test(text) || hasCredentialFault(text) ? 'backend' : null
  if (hasCredentialFault(text)) return 'credentials'
  if (UNREACHABLE.test(text) && GLOBAL_HOSTS.test(text)) return 'network'
  return DENIED.test(text) && concernsProvider(one) ? 'permission' : null
}

const hasCredentialFault = (text: string) => matches(PATTERNS.credentials, text)
const matches = (patterns: readonly RegExp[], text: string) => patterns.some((pattern) => pattern.test(text))

/** A provider that the session itself brought in can be done without, unless it is that of the cloud. */
function isNeeded(text: string, { blame, cloud }: { blame: Blame; cloud: Cloud }): boolean {
  const provider = /\bprovider ([\w.-]+(?:\/[\w-]+){1,2})\b/.exec(text)?.[1]
  if (provider === undefined) return !blame.settings
  return OWN_PROVIDERS[cloud].test(provider) || !blame.introduces(provider)
}

/** A refusal of one resource may be the code's: it names what it should not. */
const concernsProvider = ({ address, context }: Diagnostic) =>
  address === null ? (context?.startsWith('provider ') ?? false) : /(^|\.)provider\[/.test(address)

const quoted = ({ summary, detail }: Diagnostic) =>
  cutMiddle(`${summary}: ${detail}`.replaceAll(/\s+/g, ' ').replace(/:\s*$/, ''), MAX_QUOTED)

/**
 * What the session's own change may have caused. An error that would else be the environment's stays with the
 * code where the code touched what the error is about.
 */
interface Blame {
  /** The change touches settings of a provider or backend. */
  settings: boolean
  /** The change brings in this provider, for example `hashicorp/random`. */
  introduces(provider: string): boolean
}

const SETTINGS =
  /^.?\s*(provider\s+"|provider\s*=|backend\s+"|cloud\s*\{|required_providers\b|provider_meta\b|assume_role\w*\b|profile\s*=|shared_\w+_files\s*=|access_key\s*=|secret_key\s*=|token\s*=|credentials\s*=|impersonate_\w+\s*=|client_(id|secret)\w*\s*=|tenant_id\s*=|subscription_id\s*=|use_(cli|msi|oidc|aks_\w+)\s*=|config_(path|paths|context)\w*\s*=|auth\s*=|endpoints?\b|skip_\w+\s*=)/
const CHANGED = /^[+-](?![+-]{2} )/

/** @param diff unified diff of the session, text of new files included */
export function blameOf(diff: string): Blame {
  const lines = diff.split('\n')
  const changed = lines.filter((line) => CHANGED.test(line))
  const near = lines.some((line) => /^ \s*(provider|backend)\s+"/.test(line))
  const added = changed.filter((line) => line.startsWith('+')).join('\n')
  return {
    settings: near || changed.some((line) => SETTINGS.test(line)),
    introduces: (provider) => {
      const name = /^[\w-]+$/.exec(provider.split('/').at(-1) ?? '')?.[0]
      if (name === undefined) return false
      return new RegExp(`"${name}_|/${name}"|provider\\s+"${name}"|^\\+\\s*${name}\\s*=\\s*\\{`, 'm').test(added)
    },
  }
}
