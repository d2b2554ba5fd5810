import { isJsonObject } from '../../base/json.ts'
import { jsonOf } from '../policy-document.ts'
import type { Rule, Subject } from '../rule.ts'
import { blocksOf, jsonAt, textOf, textsOf, viewOf } from '../view.ts'

/** A role and its members. */
interface Grant {
  role: string
  members: string[]
}

/** Returns the grants of a `*_iam_member`, `*_iam_binding` or `*_iam_policy`; none for most other types. */
export function grantsOf(subject: Subject): Grant[] {
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
export const STORAGE_GRANTS = forms('google_storage_bucket', 'google_storage_managed_folder')
export const DATASET_GRANTS = forms('google_bigquery_dataset', 'google_bigquery_table')
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

const EVERYONE = new Set(['allUsers', 'allAuthenticatedUsers'])
/** Reports whether a grant is for everyone, or everyone with a Google account. */
export const isPublic = ({ members }: Grant) => members.some((member) => EVERYONE.has(member))
const INVOKERS = new Set(['roles/run.invoker', 'roles/cloudfunctions.invoker'])

const grantsRole =
  (...roles: string[]) =>
  (subject: Subject): string[] =>
    roles.filter((role) => grantsOf(subject).some((grant) => grant.role === role)).map((role) => `Grants ${role}.`)

export const gcpPermissionRules: Rule[] = [
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
    id: 'gcp.iam.project-impersonation',
    title: 'Impersonation of every service account',
    reason: 'On a project these roles cover all its service accounts, also the powerful ones.',
    fix: 'Grant the role on the one service account.',
    severity: 'warning',
    types: PROJECT_AND_ABOVE,
    check: grantsRole(
      'roles/iam.serviceAccountTokenCreator',
      'roles/iam.serviceAccountUser',
      'roles/iam.serviceAccountKeyAdmin',
    ),
  },
  {
    id: 'gcp.iam.service-account-key',
    title: 'Long-lived key of a service account',
    reason: 'The key lasts for years, and its private part stands in the state of the engine.',
    fix: 'Use workload identity or impersonation.',
    severity: 'warning',
    types: ['google_service_account_key'],
    message: 'Creates a key of a service account.',
    isBrokenBy: () => true,
  },
  {
    id: 'gcp.iam.default-account-full-scope',
    title: 'Machine with the default account and all scopes',
    reason: 'The default service account is often an editor of the project; every process on the machine is one too.',
    fix: 'Give the machine a service account of its own.',
    severity: 'warning',
    types: ['google_compute_instance', 'google_compute_instance_template', 'google_compute_region_instance_template'],
    message: 'The default service account is used with the scope cloud-platform.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'service_account').some(
        (account) =>
          /-compute@developer\.gserviceaccount\.com$/.test(textOf(account, 'email') ?? '') &&
          textsOf(account, 'scopes').some(
            (scope) => scope === 'cloud-platform' || scope.endsWith('/auth/cloud-platform'),
          ),
      ),
  },
]
