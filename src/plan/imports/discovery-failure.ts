import { cutMiddle } from '../../base/text.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import { DENIED, PATTERNS } from '../diagnostics/unmendable.ts'

/** Usual causes of a failed listing; the first whose words match counts. */
const CAUSES = ['scope', 'region', 'inventory', 'credentials', 'permission'] as const
type Cause = (typeof CAUSES)[number]

/** Words of the clouds, the engine and the iac service for each cause. */
const WORDS: Record<Cause, readonly RegExp[]> = {
  scope: [
    /\bcredentials belong to account \S+, not\b/i,
    /\bis not (a|an) (Azure subscription|GCP project|OCI compartment) id\b/i,
    /\b(SubscriptionNotFound|InvalidSubscriptionId)\b|\bproject\b.{0,80}\b(not found|does not exist)\b/i,
  ],
  region: [
    /\bmissing ?region\b|\b(invalid|unknown|unsupported)( \w+)? region\b|\bno region\b/i,
    /\bregion\b.{0,60}\b(not set|not configured|not specified|required|missing|empty|must be (set|specified))\b/i,
    /\b\w+_REGION\b.{0,20}\b(not set|does not name)\b|\bregion is not an identifier\b/i,
  ],
  inventory: [/\bis not enabled for account\b|\bSERVICE_DISABLED\b|\bhas not been used in project\b/i],
  credentials: [
    ...PATTERNS.credentials,
    /\bno (valid )?\w+ credentials\b|\bcredentials\b.{0,40}\b(expired|missing|not found|not configured|invalid)\b/i,
    /\b401\b|\bUnauthenticated\b|\bUnauthorized\b|\btoken (has|is) expired\b/i,
  ],
  permission: [...DENIED, /\b403\b|\bAccess ?Denied\b|\bforbidden\b|\bnot authori[sz]ed\b|\bpermissions? denied\b/i],
}

/** Advice for each cause; see "Inventory of a scope" in `docs/sidecars.md`. */
const ADVICE: Record<Cloud, Partial<Record<Cause, string>>> = {
  aws: {
    scope: 'Send the number of the account that the credentials of the iac service belong to as scope_id.',
    region: 'Set AWS_REGION or AWS_DEFAULT_REGION for the iac service.',
    inventory: 'Switch on Resource Explorer in the account, with an aggregator index and a default view.',
    credentials:
      'Give the iac service valid credentials of the account: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, ' +
      'AWS_PROFILE, or AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN.',
    permission:
      'Allow the credentials of the iac service the actions ListIndexes, GetDefaultView and Search of ' +
      'resource-explorer-2.',
  },
  azure: {
    scope: 'Send the id of a subscription that the identity of the iac service can read as scope_id.',
    credentials:
      'Give the iac service ARM_TENANT_ID and ARM_CLIENT_ID with ARM_CLIENT_SECRET or a certificate, or set ' +
      'ARM_USE_OIDC or ARM_USE_MSI.',
    permission: 'Give the identity of the iac service the role Reader on the subscription.',
  },
  gcp: {
    scope: 'Send the id of a project that the account of the iac service can read as scope_id.',
    inventory: 'Switch on the Cloud Asset API in the project.',
    credentials:
      'Give the iac service GOOGLE_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_OAUTH_ACCESS_TOKEN with valid ' +
      'credentials.',
    permission:
      'Give the account of the iac service roles/cloudasset.viewer and roles/browser on the project, and ' +
      'resourcemanager.projects.getIamPolicy.',
  },
  oci: {
    scope: 'Send the OCID of a compartment or of the tenancy as scope_id.',
    region: 'Set OCI_REGION or TF_VAR_region for the iac service, for example to eu-frankfurt-1.',
    credentials:
      'Give the iac service OCI_TENANCY_OCID, OCI_USER_OCID, OCI_FINGERPRINT and OCI_PRIVATE_KEY, or a profile that ' +
      'OCI_CONFIG_FILE names.',
    permission: 'Allow the user of the iac service to inspect all-resources in the compartment.',
  },
  kubernetes: {
    credentials: 'Set KUBE_CONFIG_PATH, or KUBE_HOST with KUBE_TOKEN, for the iac service.',
    permission: 'Give the account of the iac service the verb list on all resources of the cluster.',
  },
}

/** Advice for failures of the state, which the engine reads before it lists the scope. */
const ENGINE_ADVICE: Partial<Record<Cause, string>> = {
  credentials: 'See to the credentials of the iac service and to those of the store of the engine state.',
  permission: 'Give the iac service access to the store of the engine state.',
}

/** Longest quoted message, in characters. */
const MAX_WORDS = 1_000
/** A path on the iac service's machine; Azure identifiers begin with a slash too, but not with these directories. */
const HOST_PATH =
  /(?<![\w.:/-])\/(?:app|data|etc|home|mnt|opt|private|root|run|srv|tmp|usr|var|work|Users)(?:\/[\w.@+-]+)+/g

/**
 * Explains why the scope could not be compared with the state, with advice for usual causes.
 * @param failure.attempted the failed action, without a period
 * @param failure.words message of the cloud or the engine, masked
 * @param failure.byEngine true if the engine failed before the cloud was called
 */
export function explainDiscoveryFailure(failure: {
  attempted: string
  words: string
  cloud: Cloud
  byEngine: boolean
}): string {
  const { attempted, words, cloud, byEngine } = failure
  const said = cutMiddle(
    words.trim().replaceAll(HOST_PATH, (path) => `…/${path.split('/').at(-1)}`),
    MAX_WORDS,
  )
  const line = said.replaceAll(/\s+/g, ' ')
  const cause = CAUSES.find((each) => WORDS[each].some((pattern) => pattern.test(line)))
  const advice = cause && ((byEngine ? ENGINE_ADVICE[cause] : undefined) ?? ADVICE[cloud][cause])
  return `${attempted}: ${said}${advice === undefined ? '' : `${/[.!?]$/.test(said) ? '' : '.'} ${advice}`}`
}
