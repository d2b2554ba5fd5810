/** What an operator has to see to; no change of the code does. */
export type Fault = 'credentials' | 'permission' | 'network' | 'registry' | 'throttled' | 'quota' | 'backend' | 'disk'

/**
 * Matched against summary and detail of one error, blanks collapsed. Sources: the wording of the engines and of the
 * SDKs that their providers print. In doubt a wording is not listed: the code gets another attempt.
 */
export const PATTERNS: Record<Exclude<Fault, 'permission' | 'registry' | 'network' | 'backend'>, readonly RegExp[]> = {
  credentials: [
    // aws
    /\bno valid credential sources?\b/i,
    /\bExpiredToken(Exception)?\b|security token included in the request is expired|\bprovided token has expired\b/i,
    /\bInvalidClientTokenId\b|\bUnrecognizedClientException\b|\bInvalidAccessKeyId\b|security token included in the request is invalid/i,
    /\bAuthFailure: AWS was not able to validate\b|failed to refresh cached credentials/i,
    /\bSSO (session|token) (has|is|was) (expired|invalid)|refresh cached SSO token failed/i,
    // azure
    /\bunable to build authorizer\b|could not configure \w+ authorizer|\bAADSTS\d{4,}\b/i,
    /\b(Invalid|Expired)AuthenticationToken\b|please run 'az login'|obtain subscription\([^)]*\) from Azure CLI/i,
    /\bcould not acquire access token\b|\w+Credential(: | authentication )failed/i,
    // gcp
    /\bcould not find default credentials\b|attempted to load application default credentials/i,
    /\boauth2: cannot fetch token\b|\boauth2: "?invalid_(grant|client)\b|request had invalid authentication credentials|\binvalid_rapt\b/i,
    // oci
    /\bdid not find a proper configuration for\b|\b401-NotAuthenticated\b|\bcan not create client, bad configuration\b/i,
    // kubernetes
    /^Unauthorized\b|the server has asked for the client to provide credentials|invalid configuration: no configuration has been provided/i,
  ],
  throttled: [
    /\b(Throttling(Exception|ed)?|RequestLimitExceeded|TooManyRequests(Exception)?|SlowDown|RATE_LIMIT_EXCEEDED|rateLimitExceeded)\b/,
    /\bRate exceeded\b|\b(StatusCode: ?|Error |HTTP )429\b|client rate limiter Wait returned an error/i,
  ],
  quota: [
    /\b(VcpuLimitExceeded|InstanceLimitExceeded|AddressLimitExceeded|VpcLimitExceeded|ServiceQuotaExceededException|QuotaExceeded|QUOTA_EXCEEDED)\b/,
    /\bresults in exceeding approved \w+ .*quota|\bQuota '[^']+' exceeded|\bexceeded quota:/i,
    /\b400-(LimitExceeded|QuotaExceeded)\b/,
  ],
  disk: [/\bno space left on device\b|\bdisk quota exceeded\b|\bread-only file system\b|\bcannot allocate memory\b/i],
}

/** A connection that did not come about, whatever its address. */
export const UNREACHABLE =
  /\bno such host\b|\bconnection refused\b|\bconnection reset by peer\b|\bi\/o timeout\b|\bnetwork is unreachable\b|\bno route to host\b|\bTLS handshake timeout\b|\bserver misbehaving\b|\btemporary failure in name resolution\b|\bproxyconnect tcp\b|\bcertificate signed by unknown authority\b|\bClient\.Timeout exceeded\b|\bcontext deadline exceeded\b|\b50[234] (Bad Gateway|Service Unavailable|Gateway Time-?out)\b/i

/** Hosts that no code of a user chooses; a wrong region or a cluster's address in the code looks alike else. */
export const GLOBAL_HOSTS =
  /\b(sts\.amazonaws\.com|iam\.amazonaws\.com|login\.microsoftonline\.com|management\.azure\.com|graph\.microsoft\.com|oauth2\.googleapis\.com|(cloudresourcemanager|compute|storage|iam|www)\.googleapis\.com|metadata\.google\.internal|registry\.terraform\.io|registry\.opentofu\.org|169\.254\.169\.254)\b/i

export const REGISTRY =
  /^(failed to query available provider packages|failed to install provider|failed to resolve provider packages)/i
export const BACKEND =
  /^(failed to get existing workspaces|error loading state|failed to load state|error refreshing state|error configuring (the )?(\w+ )?backend|error inspecting states|failed to (save|upload|retrieve) state|error acquiring the state lock|unable to (list|access) objects? in S3 bucket)/i
export const BACKEND_REFUSED =
  /\bAccessDenied\b|\bAccess Denied\b|\bNoSuchBucket\b|S3 bucket .* does not exist|\bStatusCode: ?(0|301|401|403|404|50\d)\b|\bcontainer .*(not found|does not exist)|\bAuthorization(PermissionMismatch|Failure)\b|\bForbidden\b|\b403\b/i
export const DENIED =
  /\bAccessDenied(Exception)?\b|\bUnauthorizedOperation\b|\bAuthorizationFailed\b|\bPERMISSION_DENIED\b|\bis not authorized to perform\b|\bdoes not have authorization to perform\b|\bNotAuthorizedOrNotFound\b|\bforbidden: User\b|\bStatusCode: ?403\b|\bError 403\b/i
