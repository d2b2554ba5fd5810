/** A fault that only an operator can remove. */
export type Fault = 'credentials' | 'permission' | 'network' | 'registry' | 'throttled' | 'quota' | 'backend' | 'disk'

/**
 * Patterns for the summary and detail of one error, with each run of blanks reduced to one; wordings of the engines and
 * of the SDKs of their providers. Wordings that a mistake in the code may also cause are left out, because another
 * attempt costs less than giving up too early.
 */
export const PATTERNS: Record<Exclude<Fault, 'permission' | 'registry' | 'network' | 'backend'>, readonly RegExp[]> = {
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
    /\b(Throttling(Exception|ed)?|RequestLimitExceeded|TooManyRequests(Exception)?|SlowDown)\b/,
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
export const GLOBAL_HOSTS: readonly RegExp[] = [
  /\b((sts|iam)\.amazonaws\.com|login\.microsoftonline\.com|management\.azure\.com|graph\.microsoft\.com)\b/i,
  /\b(oauth2\.googleapis\.com|(cloudresourcemanager|compute|storage|iam|www)\.googleapis\.com)\b/i,
  /\b(metadata\.google\.internal|registry\.terraform\.io|registry\.opentofu\.org|169\.254\.169\.254)\b/i,
]

/**
 * Calls of a cluster's API server. If the session left provider settings alone, the address comes from the operator. A
 * provider without any address calls `http://localhost`, which code can fix.
 */
export const CLUSTER_CALLS: readonly RegExp[] = [
  /\b(Get|Post|Put|Patch|Delete) "https:\/\/[^"\s/]+\/(?:[^"\s]+\/)?(apis?|openapi|version)\b[^"\s]*"/,
]

/** Failed downloads of providers. */
export const REGISTRY: readonly RegExp[] = [
  /^(failed to query available provider packages|failed to install provider|failed to resolve provider packages)/i,
]

/** Operations on the state, whatever the failure. */
export const BACKEND: readonly RegExp[] = [
  /^(failed to get existing workspaces|error loading state|failed to load state|error refreshing state)/i,
  /^(error configuring (the )?(\w+ )?backend|error inspecting states|failed to (save|upload|retrieve) state)/i,
  /^(error acquiring the state lock|unable to (list|access) objects? in S3 bucket)/i,
  // The second half of the error about a missing bucket, which the engine prints separately.
  /^operation error S3: ListObjectsV2\b/,
]

/** Refused or missing state stores, within errors that `BACKEND` matches. */
export const BACKEND_REFUSED: readonly RegExp[] = [
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
