import { cutMiddle } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { Blame, FailedModule } from './blame.ts'
import type { Diagnostic } from './diagnostic.ts'

/** A fault that only an operator can remove. */
export type Fault =
  | 'credentials'
  | 'permission'
  | 'network'
  | 'registry'
  | 'module'
  | 'throttled'
  | 'quota'
  | 'backend'
  | 'disk'

/**
 * Patterns for the summary and detail of one error, with each run of blanks reduced to one; wordings of the engines and
 * of the SDKs of their providers. Wordings that a mistake in the code may also cause are left out, because another
 * attempt costs less than giving up too early.
 */
export const PATTERNS: Record<
  Exclude<Fault, 'permission' | 'registry' | 'module' | 'network' | 'backend'>,
  readonly RegExp[]
> = {
  credentials: [
    // AWS
    /\bno valid credential sources?\b/i,
    /\bExpiredToken(Exception)?\b|security token included in the request is expired|\bprovided token has expired\b/i,
    /\bInvalidClientTokenId\b|\bUnrecognizedClientException\b|\bInvalidAccessKeyId\b/i,
    /security token included in the request is invalid/i,
    /\bAuthFailure: AWS was not able to validate\b|failed to refresh cached credentials/i,
    /\bSSO (session|token) (has|is|was) (expired|invalid)|refresh cached SSO token failed/i,
    // Azure
    /\bunable to build authorizer\b|could not configure \w+ authorizer|\bAADSTS\d{4,}\b/i,
    /\b(Invalid|Expired)AuthenticationToken\b|please run 'az login'|obtain subscription\([^)]*\) from Azure CLI/i,
    /\bcould not acquire access token\b|\w+Credential(: | authentication )failed/i,
    // Google Cloud
    /\bcould not find default credentials\b|attempted to load application default credentials/i,
    /\boauth2: cannot fetch token\b|\boauth2: "?invalid_(grant|client)\b|\binvalid_rapt\b/i,
    /request had invalid authentication credentials/i,
    // Oracle Cloud
    /\bdid not find a proper configuration for\b|\b401-NotAuthenticated\b/i,
    /\bcan not create client, bad configuration\b/i,
    // Kubernetes
    /^Unauthorized\b|the server has asked for the client to provide credentials/i,
    /invalid configuration: no configuration has been provided/i,
  ],
  throttled: [
    /\b(Throttl(ing(Exception)?|ed)|RequestLimitExceeded|TooManyRequests(Exception)?|SlowDown)\b/,
    /\b(RATE_LIMIT_EXCEEDED|rateLimitExceeded)\b/,
    /\bRate exceeded\b|\b(StatusCode: ?|Error |HTTP )429\b|client rate limiter Wait returned an error/i,
  ],
  quota: [
    /\b(VcpuLimitExceeded|InstanceLimitExceeded|AddressLimitExceeded|VpcLimitExceeded)\b/,
    /\b(ServiceQuotaExceededException|QuotaExceeded|QUOTA_EXCEEDED)\b/,
    /\bresults in exceeding approved \w+ .*quota|\bQuota '[^']+' exceeded|\bexceeded quota:/i,
    /\b400-(LimitExceeded|QuotaExceeded)\b/,
  ],
  disk: [/\bno space left on device\b|\bdisk quota exceeded\b|\bread-only file system\b|\bcannot allocate memory\b/i],
}

/** Failures to connect to any address. */
export const UNREACHABLE: readonly RegExp[] = [
  /\bno such host\b|\bserver misbehaving\b|\btemporary failure in name resolution\b/i,
  /\bconnection refused\b|\bconnection reset by peer\b|\bnetwork is unreachable\b|\bno route to host\b/i,
  /\bi\/o timeout\b|\bTLS handshake timeout\b|\bClient\.Timeout exceeded\b|\bcontext deadline exceeded\b/i,
  // A connection that the server closes during a call, as Go words it: `Get "https://…": EOF`.
  /": (unexpected )?EOF\b/,
  /\bproxyconnect tcp\b|\bcertificate signed by unknown authority\b/i,
  /\b50[234] (Bad Gateway|Service Unavailable|Gateway Time-?out)\b/i,
]

/** Hosts that code cannot influence; other unreachable hosts may result from a wrong region or address. */
const GLOBAL_HOSTS: readonly RegExp[] = [
  /\b((sts|iam)\.amazonaws\.com|login\.microsoftonline\.com|management\.azure\.com|graph\.microsoft\.com)\b/i,
  /\b(oauth2\.googleapis\.com|(cloudresourcemanager|compute|storage|iam|www)\.googleapis\.com)\b/i,
  /\b(metadata\.google\.internal|registry\.terraform\.io|registry\.opentofu\.org|169\.254\.169\.254)\b/i,
]

/**
 * Calls of a cluster's API server. If the session left provider settings alone, the address comes from the operator. A
 * provider without any address calls `http://localhost`, which code can fix.
 */
const CLUSTER_CALLS: readonly RegExp[] = [
  /\b(Get|Post|Put|Patch|Delete) "https:\/\/[^"\s/]+\/(?:[^"\s]+\/)?(apis?|openapi|version)\b[^"\s]*"/,
]

/** Failed downloads of providers. */
const REGISTRY: readonly RegExp[] = [
  /^(failed to query available provider packages|failed to install provider|failed to resolve provider packages)/i,
]

/** Modules that could not be fetched, from wherever. */
const MODULE: readonly RegExp[] = [
  /^(failed to download module|error accessing remote module registry|failed to retrieve module)\b/i,
  /^module not found\b.* cannot be found in the module registry\b/i,
]

/** Failures of git and SSH to connect to a host. */
const GIT_UNREACHABLE: readonly RegExp[] = [
  ...UNREACHABLE,
  /\bcould not resolve host|\bfailed to connect to\b|\bcouldn't connect to server\b|\boperation timed out\b/i,
  /\bconnection (timed out|closed)\b|\bSSL certificate problem\b|\bserver certificate verification failed\b/i,
]

/** Refused sign-ins. Hosts of repositories answer the same for what does not exist. */
const GIT_DENIED: readonly RegExp[] = [
  /\bauthentication failed\b|\bcould not read (username|password)\b|\bpermission denied\b|\baccess denied\b/i,
  /\brepository not found\b|\brepository '[^']*' not found\b|\bcould not read from remote repository\b/i,
  /\b(returned error|bad response code|status code):? 40[134]\b|\bhost key verification failed\b/i,
]

/** Conditions that the code sets, with a message of its author. Source: `checkTypeSummaries` of the engines. */
const CONDITION =
  /^((Resource|Module output value) (pre|post)condition failed|Check block assertion failed|Invalid value for variable)$/i

/** Operations on the state, whatever the failure. */
const BACKEND: readonly RegExp[] = [
  /^(failed to get existing workspaces|error loading state|failed to load state|error refreshing state)/i,
  /^(error configuring (the )?(\w+ )?backend|error inspecting states|failed to (save|upload|retrieve) state)/i,
  /^(error acquiring the state lock|unable to (list|access) objects? in S3 bucket)/i,
  // The second half of the error about a missing bucket, which the engine prints separately.
  /^operation error S3: ListObjectsV2\b/,
]

/** Refused or missing state stores, within errors that `BACKEND` matches. */
const BACKEND_REFUSED: readonly RegExp[] = [
  /\bAccessDenied\b|\bAccess Denied\b|\bAuthorization(PermissionMismatch|Failure)\b|\bForbidden\b|\b403\b/i,
  /\bAuthorizationHeaderMalformed\b|\bSignatureDoesNotMatch\b/,
  /\bNoSuchBucket\b|S3 bucket .* does not exist|\bcontainer .*(not found|does not exist)/i,
  /\bStatusCode: ?(0|301|401|403|404|50\d)\b/i,
]

/** Refused engine credentials. */
export const DENIED: readonly RegExp[] = [
  /\bAccessDenied(Exception)?\b|\bUnauthorizedOperation\b|\bAuthorizationFailed\b|\bPERMISSION_DENIED\b/i,
  /\bis not authorized to perform\b|\bdoes not have authorization to perform\b|\bforbidden: User\b/i,
  /\bNotAuthorizedOrNotFound\b|\bStatusCode: ?403\b|\bError 403\b/i,
]

/** The providers that each cloud cannot be planned without. */
const OWN_PROVIDERS: Record<Cloud, RegExp> = {
  aws: /^hashicorp\/aws$/,
  azure: /^(hashicorp\/(azurerm|azuread)|azure\/azapi)$/i,
  gcp: /^hashicorp\/google(-beta)?$/,
  oci: /^(oracle|hashicorp)\/oci$/,
  kubernetes: /^hashicorp\/(kubernetes|helm)$/,
}

const ADVICE: Record<Exclude<Fault, 'module'>, string> = {
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

/** The cloud of the session, and what its change may have caused, which must be corrected in the code. */
interface Circumstances {
  blame: Blame
  cloud: Cloud
}

/** Longest quoted error, in characters. */
const MAX_QUOTED = 300

/** Explains why no code change can help; null unless every error is an environment fault. */
export function explainUnmendable(diagnostics: readonly Diagnostic[], at: Circumstances): string | null {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const faults = errors.map((error) => faultOf(error, at))
  const [first] = errors
  const [fault] = faults
  if (!first || !fault || faults.some((each) => each === null)) return null
  const advice = fault === 'module' ? adviseOnModule(first) : ADVICE[fault]
  return `No change of the code can mend this. ${advice} The engine said: ${quoteError(first)}`
}

function faultOf(diagnostic: Diagnostic, at: Circumstances): Fault | null {
  const { blame, cloud } = at
  if (CONDITION.test(diagnostic.summary)) return null
  const text = `${diagnostic.summary} ${diagnostic.detail}`.replaceAll(/\s+/g, ' ')
  if (matches(PATTERNS.disk, text)) return 'disk'
  if (matches(REGISTRY, text)) return matches(UNREACHABLE, text) && isNeeded(text, at) ? 'registry' : null
  if (matches(MODULE, text)) return blame.introducesModule(moduleIn(diagnostic)) ? null : 'module'
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
 * Reports whether code cannot avoid a missing provider. One that the session introduced can be removed again, also the
 * cloud's own, unless there was no code before it that shows another way. An unnamed provider is needed if the session
 * left provider settings alone.
 */
function isNeeded(text: string, { blame, cloud }: Circumstances): boolean {
  const provider = providerIn(text)
  if (provider === undefined) return !blame.settings
  if (!blame.introduces(provider)) return true
  return OWN_PROVIDERS[cloud].test(provider) && !blame.hadObjects
}

const providerIn = (text: string): string | undefined =>
  /\b(?:provider|installing) ((?:[\w.-]+\/)?[\w.-]+\/[\w-]+)\b/.exec(text)?.[1]

/** Returns the provider that could not be installed, such as `hashicorp/random`; null for any other error. */
export function missingProvider({ summary, detail }: Pick<Diagnostic, 'summary' | 'detail'>): string | null {
  const text = `${summary} ${detail}`.replaceAll(/\s+/g, ' ')
  return matches(REGISTRY, text) ? (providerIn(text) ?? null) : null
}

/** Reports whether an error concerns a whole provider: a single denied resource may be a mistake in the code. */
const concernsProvider = ({ address, context }: Diagnostic) =>
  address === null ? (context?.startsWith('provider ') ?? false) : /(^|\.)provider\[/.test(address)

const quoteError = ({ summary, detail }: Diagnostic) =>
  cutMiddle(withoutLogins(`${summary}: ${detail}`).replaceAll(/\s+/g, ' ').replace(/:\s*$/, ''), MAX_QUOTED)

/** Removes users and passwords from addresses. */
const withoutLogins = (text: string) => text.replaceAll(/\/\/[^/@\s"']+@/g, '//')

function moduleIn({ detail }: Diagnostic): FailedModule {
  const text = detail.replaceAll(/\s+/g, ' ')
  const [, name = '', place = ''] = /\bmodule "([^"]*)" \(([^)]*)\)/i.exec(text) ?? []
  const outer = /(?:^|\/)\.terraform\/modules\/([\w-]+)/.exec(place)?.[1]
  const address = /\b(?:source code from|from) "?([^\s"]+?)"?[:.]? /.exec(`${text} `)?.[1] ?? ''
  return { name: outer ?? name, place, address }
}

function adviseOnModule(diagnostic: Diagnostic): string {
  const { name, place, address } = moduleIn(diagnostic)
  const what = `The engine cannot fetch the module "${name}"${place && ` (${place})`}${address && ` from ${withoutLogins(address)}`}`
  const text = `${diagnostic.summary} ${diagnostic.detail}`.replaceAll(/\s+/g, ' ')
  if (matches(GIT_UNREACHABLE, text))
    return `${what}: the host is not reached. See to the network of the iac service, then send the request again.`
  if (matches(GIT_DENIED, text))
    return (
      `${what}: it does not exist, or the iac service may not read it. Give the service credentials for the host ` +
      '(IAC_MODULE_CREDENTIALS), or correct the source, then send the request again.'
    )
  return `${what}. The session did not write its source: correct that in the repository, then send the request again.`
}
