import { isJsonObject } from '../../base/json.ts'
import { jsonOf } from '../policies/document.ts'
import { type Audience, conditionAudience } from '../policies/tokens.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksAt, blocksOf, isAbsent, isUnknown, jsonAt, textOf, textsOf, viewOf } from '../view.ts'

/** A role and its members. */
interface Grant {
  role: string
  members: string[]
}

/** Returns the grants of a `*_iam_member`, `*_iam_binding` or `*_iam_policy`; none for most other types. */
function grantsOf(subject: Subject): Grant[] {
  const policy = jsonOf(jsonAt(subject, 'policy_data'))
  if (isJsonObject(policy))
    return blocksOf(viewOf(policy), 'bindings').map((binding) => ({
      role: textOf(binding, 'role') ?? '',
      members: textsOf(binding, 'members'),
    }))
  const role = textOf(subject, 'role')
  return role === null ? [] : [{ role, members: [...textsOf(subject, 'member'), ...textsOf(subject, 'members')] }]
}

/** Returns the three types that grant roles on a resource. */
const forms = (...resources: string[]) =>
  resources.flatMap((name) => ['member', 'binding', 'policy'].map((form) => `${name}_iam_${form}`))

const PROJECT_AND_ABOVE = forms('google_project', 'google_folder', 'google_organization')
/** Services that may be public on purpose. */
const SERVICES = forms(
  'google_cloud_run_service',
  'google_cloud_run_v2_service',
  'google_cloudfunctions_function',
  'google_cloudfunctions2_function',
)
const STORAGE_GRANTS = forms('google_storage_bucket', 'google_storage_managed_folder')
const DATASET_GRANTS = forms('google_bigquery_dataset', 'google_bigquery_table')
const OTHERS = forms(
  'google_artifact_registry_repository',
  'google_pubsub_topic',
  'google_pubsub_subscription',
  'google_kms_crypto_key',
  'google_kms_key_ring',
  'google_secret_manager_secret',
  'google_service_account',
  'google_compute_instance',
  'google_compute_image',
  'google_compute_disk',
  'google_spanner_database',
  'google_spanner_instance',
  'google_bigtable_instance',
  'google_bigtable_table',
  'google_dataproc_cluster',
  'google_source_repo_repository',
  'google_container_registry',
  'google_healthcare_dataset',
)

const isEveryone = (entity: string | null) => /(^|:)(allUsers|allAuthenticatedUsers)$/.test(entity ?? '')
/** Reports whether a grant is for everyone, or everyone with a Google account. */
const isPublic = ({ members }: Grant) => members.some(isEveryone)
const INVOKERS = new Set(['roles/run.invoker', 'roles/cloudfunctions.invoker'])

const grantsRole =
  (...roles: string[]) =>
  (subject: Subject): string[] =>
    roles.filter((role) => grantsOf(subject).some((grant) => grant.role === role)).map((role) => `Grants ${role}.`)

/** Roles that change the policy of a project, or of all above it, and so lead to every other role. */
const POLICY_ROLES = [
  'roles/iam.securityAdmin',
  'roles/resourcemanager.projectIamAdmin',
  'roles/resourcemanager.folderIamAdmin',
  'roles/resourcemanager.folderAdmin',
  'roles/resourcemanager.organizationAdmin',
]

/** Roles that act as service accounts of a project; the last ones run code as an account of choice. */
const IMPERSONATIONS = [
  'roles/iam.serviceAccountTokenCreator',
  'roles/iam.serviceAccountOpenIdTokenCreator',
  'roles/iam.serviceAccountUser',
  'roles/iam.serviceAccountKeyAdmin',
  'roles/iam.serviceAccountAdmin',
  'roles/iam.workloadIdentityUser',
  'roles/cloudbuild.builds.editor',
  'roles/dataflow.admin',
  'roles/dataflow.developer',
  'roles/deploymentmanager.editor',
]

/** Accounts that Google makes for its services; only they are meant to have the role of a service agent. */
const AGENT = /^serviceAccount:(service-\d+@|\d+@(cloudservices|cloudbuild)\.|[^@]+@(appspot|gcp-sa-))/

/** Lists roles of service agents that others get. */
const agentRoles = (subject: Subject): string[] =>
  grantsOf(subject)
    .filter(({ role, members }) => /^roles\/.+\.serviceAgent$/.test(role) && members.some((each) => !AGENT.test(each)))
    .map(({ role }) => `Grants ${role} to another than the agent of the service.`)

/** Roles that administer one service, with the permissions on it. */
const ADMIN = /^roles\/(?!iam\.|resourcemanager\.).+(\.admin|Admin)$/
const isWorkload = (member: string) =>
  /^serviceAccount:[^@]+@[^.]+\.iam\.gserviceaccount\.com$/.test(member) && !AGENT.test(member)

/** Everything in a pool of identities, or every value of an attribute. */
const WHOLE_POOL =
  /^principalSet:\/\/iam\.googleapis\.com\/.*\/workloadIdentityPools\/[^/]+\/(\*|attribute\.[^/]+\/\*)$/

/** Permissions of a custom role that give others, or act as another identity. */
const ESCALATIONS =
  /^(resourcemanager\.(projects|folders|organizations)\.setIamPolicy|iam\.serviceAccounts\.(actAs|getAccessToken|getOpenIdToken|implicitDelegation|setIamPolicy|signBlob|signJwt)|iam\.serviceAccountKeys\.create|iam\.roles\.update)$/

/** Returns whose tokens a provider of an identity pool admits; null for issuers of one customer. */
function poolAudience(subject: Subject): Audience | null {
  if (isUnknown(subject, 'attribute_condition')) return null
  const mapping = jsonAt(subject, 'attribute_mapping')
  const claims = new Map(
    isJsonObject(mapping)
      ? Object.entries(mapping).map(([name, claim]): [string, string] => [name, String(claim)])
      : [],
  )
  const condition = textOf(subject, 'attribute_condition') ?? ''
  const audiences = blocksOf(subject, 'oidc').map((oidc) =>
    conditionAudience(textOf(oidc, 'issuer_uri') ?? '', condition, claims),
  )
  return audiences.find((audience) => audience !== null) ?? null
}

const PUBLIC_ACL = /^(publicRead|publicReadWrite|authenticatedRead)$/
const ENTITIES = [
  'google_storage_bucket_access_control',
  'google_storage_object_access_control',
  'google_storage_default_object_access_control',
]
const LISTS = ['google_storage_bucket_acl', 'google_storage_object_acl', 'google_storage_default_object_acl']

/** Who gets which role, and whose tokens are trusted. */
export const gcpRoleRules: Rule[] = [
  {
    id: 'gcp.iam.public-project',
    title: 'Role on a project, folder or organization for everyone',
    reason: 'Everyone, or everyone with a Google account, gets the role on everything inside.',
    fix: 'Name the members.',
    severity: 'critical',
    types: PROJECT_AND_ABOVE,
    message: 'Grants a role to everyone.',
    isBrokenBy: (subject) => grantsOf(subject).some(isPublic),
  },
  {
    id: 'gcp.iam.public-member',
    title: 'Role on a resource for everyone',
    reason: 'Everyone, or everyone with a Google account, can use the resource.',
    fix: 'Name the members.',
    severity: 'error',
    types: [...OTHERS, ...SERVICES],
    message: 'Grants a role to everyone.',
    isBrokenBy: (subject) =>
      grantsOf(subject).some(
        (grant) => isPublic(grant) && !(SERVICES.includes(subject.type) && INVOKERS.has(grant.role)),
      ),
  },
  {
    id: 'gcp.iam.public-service',
    title: 'Service that anyone may call',
    reason: 'The service has to tell callers apart by itself.',
    fix:
      'Name the invokers, or put a load balancer with authentication in front, ' +
      'unless the service is meant for everyone.',
    severity: 'warning',
    types: SERVICES,
    message: 'Everyone may invoke the service.',
    isBrokenBy: (subject) => grantsOf(subject).some((grant) => isPublic(grant) && INVOKERS.has(grant.role)),
  },
  {
    id: 'gcp.iam.project-owner',
    title: 'Owner of a project or more',
    reason: 'The member can do everything and give every permission to others.',
    fix: 'Grant the predefined roles that are needed.',
    severity: 'error',
    types: PROJECT_AND_ABOVE,
    check: grantsRole('roles/owner'),
  },
  {
    id: 'gcp.iam.project-editor',
    title: 'Editor of a project or more',
    reason: 'The member can change and delete nearly everything of the project.',
    fix: 'Grant the predefined roles that are needed.',
    severity: 'warning',
    types: PROJECT_AND_ABOVE,
    check: grantsRole('roles/editor'),
  },
  {
    id: 'gcp.iam.project-viewer',
    title: 'Viewer of a project or more',
    reason: 'The member can read the settings, and much of the data, of everything in the project.',
    fix: 'Grant the predefined roles that are needed.',
    severity: 'info',
    types: PROJECT_AND_ABOVE,
    check: grantsRole('roles/viewer'),
  },
  {
    id: 'gcp.iam.project-impersonation',
    title: 'Impersonation of every service account',
    reason: 'On a project these roles cover all its service accounts, also the powerful ones.',
    fix: 'Grant the role on the one service account.',
    severity: 'warning',
    types: PROJECT_AND_ABOVE,
    check: (subject) => [...grantsRole(...IMPERSONATIONS)(subject), ...agentRoles(subject)],
  },
  {
    id: 'gcp.iam.service-admin',
    title: 'Service account that administers a service of the project',
    reason: 'The workload can change and delete everything of the service, and give permissions on it.',
    fix: 'Grant a role without administration, or this one on the resource that needs it.',
    severity: 'warning',
    types: PROJECT_AND_ABOVE,
    check: (subject) =>
      grantsOf(subject)
        .filter(({ role, members }) => ADMIN.test(role) && members.some((each) => isWorkload(each)))
        .map(({ role }) => `Grants ${role} to a service account.`),
  },
  {
    id: 'gcp.iam.policy-admin',
    title: 'Role that gives every other role',
    reason: 'Whoever may change the policy of a project or more is its owner in one step.',
    fix: 'Grant the role on the one resource, or let a condition limit the roles that can be given.',
    severity: 'warning',
    types: PROJECT_AND_ABOVE,
    check: (subject) => (isAbsent(subject, 'condition') ? grantsRole(...POLICY_ROLES)(subject) : []),
  },
  {
    id: 'gcp.iam.open-token-trust',
    title: 'Pool for the tokens of every customer of an issuer',
    reason:
      'GitHub, GitLab and others sign tokens for everyone: without a condition anyone becomes an identity of the pool.',
    fix: 'Compare the owner in attribute_condition, for example assertion.repository_owner_id.',
    severity: 'error',
    types: ['google_iam_workload_identity_pool_provider'],
    message: 'No condition says whose tokens of the issuer are admitted.',
    isBrokenBy: (subject) => poolAudience(subject) === 'everyone',
  },
  {
    id: 'gcp.iam.literal-token-pattern',
    title: 'Pattern of a subject that fits nothing',
    reason: 'A comparison takes * literally; written as a pattern it would admit every customer of the issuer.',
    fix: 'Compare the owner in attribute_condition, for example assertion.repository_owner_id.',
    severity: 'warning',
    types: ['google_iam_workload_identity_pool_provider'],
    message: 'The condition compares a subject with a pattern.',
    isBrokenBy: (subject) => poolAudience(subject) === 'nobody',
  },
  {
    id: 'gcp.iam.whole-pool',
    title: 'Role for a whole pool of identities',
    reason: 'Every workload whose token the pool admits gets the role.',
    fix: 'Name the subject or the value of an attribute in the member.',
    severity: 'warning',
    types: [...PROJECT_AND_ABOVE, ...STORAGE_GRANTS, ...DATASET_GRANTS, ...OTHERS, ...SERVICES],
    message: 'A member is every identity of a pool.',
    isBrokenBy: (subject) => grantsOf(subject).some(({ members }) => members.some((member) => WHOLE_POOL.test(member))),
  },
  {
    id: 'gcp.iam.default-account-full-scope',
    title: 'Machine with the default account and all scopes',
    reason: 'The default service account is often an editor of the project; every process on the machine is one too.',
    fix: 'Give the machine a service account of its own.',
    severity: 'warning',
    types: [
      'google_compute_instance',
      'google_compute_instance_from_template',
      'google_compute_instance_template',
      'google_compute_region_instance_template',
    ],
    message: 'The default service account is used with the scope cloud-platform.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'service_account').some(
        (account) =>
          (isAbsent(account, 'email') ||
            /-compute@developer\.gserviceaccount\.com$/.test(textOf(account, 'email') ?? '')) &&
          textsOf(account, 'scopes').some(
            (scope) => scope === 'cloud-platform' || scope.endsWith('/auth/cloud-platform'),
          ),
      ),
  },
  {
    id: 'gcp.iam.escalation-role',
    title: 'Custom role that leads to other permissions',
    reason: 'With it a member changes policies, or acts as a service account with more permissions.',
    fix: 'Leave these permissions out, and grant predefined roles on the one service account.',
    severity: 'warning',
    types: ['google_project_iam_custom_role', 'google_organization_iam_custom_role'],
    check: (subject) =>
      textsOf(subject, 'permissions')
        .filter((permission) => ESCALATIONS.test(permission))
        .map((permission) => `The role has ${permission}.`),
  },
  {
    id: 'gcp.storage.public-bucket',
    title: 'Bucket for everyone',
    reason: 'Everyone, or everyone with a Google account, can read or even write the objects.',
    fix: 'Name the members, and set public_access_prevention to enforced.',
    severity: 'error',
    types: [...STORAGE_GRANTS, ...ENTITIES, ...LISTS, 'google_storage_bucket_object'],
    message: 'The objects are open to everyone.',
    isBrokenBy: (subject) =>
      grantsOf(subject).some(isPublic) ||
      [...textsOf(subject, 'role_entity'), ...textsOf(subject, 'entity')].some(isEveryone) ||
      PUBLIC_ACL.test(textOf(subject, 'predefined_acl') ?? ''),
  },
  {
    id: 'gcp.database.public-dataset',
    title: 'Dataset for everyone',
    reason: 'Everyone with a Google account can query the data.',
    fix: 'Name the members.',
    severity: 'error',
    types: [...DATASET_GRANTS, 'google_bigquery_dataset', 'google_bigquery_dataset_access'],
    message: 'The data is open to everyone.',
    isBrokenBy: (subject) =>
      grantsOf(subject).some(isPublic) ||
      blocksAt(subject, subject.type === 'google_bigquery_dataset' ? 'access' : '').some((entry) =>
        ['special_group', 'iam_member'].some((key) => isEveryone(textOf(entry, key))),
      ),
  },
]
