import { bad, type Case, fine } from '../support.ts'

const HOST = 'https://token.actions.githubusercontent.com'
const POOL = 'principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci'
const provider = (make: typeof bad, name: string, attribute_condition: string | null, more: object = {}) =>
  make('gcp.iam.open-token-trust', name, 'google_iam_workload_identity_pool_provider', {
    attribute_condition,
    attribute_mapping: { 'google.subject': 'assertion.sub', 'attribute.owner': 'assertion.repository_owner' },
    oidc: [{ issuer_uri: HOST }],
    ...more,
  })
const project = (make: typeof bad, rule: string, name: string, role: string, more: object = {}) =>
  make(`gcp.iam.${rule}`, name, 'google_project_iam_member', { role, member: 'group:a@example.com', ...more })

const google: Case[] = [
  provider(bad, 'no condition', null),
  provider(bad, 'a condition that says nothing', 'true'),
  provider(bad, 'a branch of any repository', "assertion.ref == 'refs/heads/main'"),
  provider(bad, 'all but one owner', "assertion.repository_owner != 'evil'"),
  provider(bad, 'not one owner', "!(assertion.repository_owner == 'evil')"),
  provider(bad, 'every subject', "assertion.sub.startsWith('repo:')"),
  provider(bad, 'owners whose names begin so', "assertion.repository.startsWith('acme')"),
  provider(fine, 'the repositories of an owner', "assertion.repository.startsWith('acme/')"),
  provider(bad, 'an owner, or a branch', "assertion.repository_owner == 'acme' || assertion.ref == 'refs/heads/main'"),
  provider(bad, 'every project of GitLab', '', { oidc: [{ issuer_uri: 'https://gitlab.com/' }] }),
  provider(fine, 'an owner', "assertion.repository_owner == 'acme'"),
  provider(fine, 'the number of the owner in a pool', 'assertion.repository_owner_id == "583231"'),
  provider(fine, 'an owner by an attribute', "attribute.owner == 'acme' && assertion.ref == 'refs/heads/main'"),
  provider(fine, 'several repositories', "assertion.repository in ['acme/web', 'acme/api']"),
  provider(fine, 'a repository by its subject', "assertion.sub.startsWith('repo:acme/web:')"),
  provider(fine, 'the other way round', "'acme' == assertion['repository_owner']"),
  provider(fine, 'an own issuer', null, { oidc: [{ issuer_uri: 'https://login.example.com' }] }),
  provider(fine, 'an account of AWS', null, { oidc: [], aws: [{ account_id: '111122223333' }] }),
  {
    ...provider(fine, 'a condition that is known later', null),
    after_unknown: { attribute_condition: true },
  },
  ...(['*', 'repo:*', 'repo:acme*'] as const).map((subject) => ({
    ...provider(bad, `a comparison with ${subject}`, `assertion.sub == '${subject}'`),
    rule: 'gcp.iam.literal-token-pattern',
  })),
  {
    ...provider(fine, 'a comparison with a whole subject', "assertion.sub == 'repo:acme/web:ref:refs/heads/main'"),
    rule: 'gcp.iam.literal-token-pattern',
  },
  project(bad, 'whole-pool', 'everything of a pool', 'roles/viewer', { member: `${POOL}/*` }),
  project(bad, 'whole-pool', 'every value of an attribute', 'roles/viewer', {
    member: `${POOL}/attribute.repository/*`,
  }),
  bad('gcp.iam.whole-pool', 'a service account', 'google_service_account_iam_binding', {
    role: 'roles/iam.workloadIdentityUser',
    members: ['user:a@example.com', `${POOL}/*`],
  }),
  project(fine, 'whole-pool', 'a repository', 'roles/viewer', { member: `${POOL}/attribute.repository/acme/web` }),
  project(bad, 'project-impersonation', 'policies of service accounts', 'roles/iam.serviceAccountAdmin'),
  project(bad, 'policy-admin', 'the policy of the project', 'roles/resourcemanager.projectIamAdmin'),
  project(bad, 'policy-admin', 'security', 'roles/iam.securityAdmin'),
  project(fine, 'policy-admin', 'some roles only', 'roles/resourcemanager.projectIamAdmin', {
    condition: [
      {
        title: 'x',
        expression: "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly(['roles/viewer'])",
      },
    ],
  }),
  project(fine, 'policy-admin', 'reading', 'roles/iam.securityReviewer'),
  bad('gcp.iam.escalation-role', 'the policy of the project', 'google_project_iam_custom_role', {
    permissions: ['compute.instances.list', 'resourcemanager.projects.setIamPolicy'],
  }),
  bad('gcp.iam.escalation-role', 'every service account', 'google_organization_iam_custom_role', {
    permissions: ['iam.serviceAccounts.actAs'],
  }),
  fine('gcp.iam.escalation-role', 'reading', 'google_project_iam_custom_role', {
    permissions: ['resourcemanager.projects.getIamPolicy', 'pubsub.topics.setIamPolicy'],
  }),
]

const credential = (make: typeof bad, width: 'open' | 'wide', name: string, values: object, flexible = false) =>
  make(
    `azure.iam.${width}-token-trust`,
    name,
    `azuread_application_${flexible ? 'flexible_' : ''}federated_identity_credential`,
    { issuer: HOST, ...values },
  )
const matches = (pattern: string, more = '') => ({
  claims_matching_expression: `claims['sub'] matches '${pattern}'${more}`,
})
const assigned = (make: typeof bad, rule: string, name: string, role: string, more: object = {}) =>
  make(`azure.iam.${rule}`, name, 'azurerm_role_assignment', {
    role_definition_name: role,
    scope: '/subscriptions/0000',
    ...more,
  })
const role = (make: typeof bad, name: string, actions: string[], not_actions: string[] = []) =>
  make('azure.iam.escalation-role', name, 'azurerm_role_definition', { permissions: [{ actions, not_actions }] })

const azure: Case[] = [
  credential(bad, 'open', 'every repository', matches('repo:*'), true),
  credential(bad, 'open', 'owners whose names begin so', matches('repo:acme*'), true),
  credential(bad, 'open', 'a branch of any repository', matches('*:ref:refs/heads/main'), true),
  credential(fine, 'open', 'a repository', matches('repo:acme/web:*'), true),
  credential(
    fine,
    'open',
    'a workflow of a repository',
    matches('repo:*', " and claims['job_workflow_ref'] matches 'acme/ci/*'"),
    true,
  ),
  credential(fine, 'open', 'an own issuer', { ...matches('*'), issuer: 'https://login.example.com' }, true),
  credential(fine, 'open', 'a pattern that is compared literally', { subject: 'repo:*' }),
  credential(bad, 'wide', 'a pattern that is compared literally', { subject: 'repo:*' }),
  credential(bad, 'wide', 'every repository of an organization', matches('repo:acme/*'), true),
  credential(fine, 'wide', 'an environment', { subject: 'repo:acme/web:environment:production' }),
  fine('azure.iam.wide-token-trust', 'a service account', 'azurerm_federated_identity_credential', {
    issuer: 'https://eu.oic.prod-aks.azure.com/0/1/',
    subject: 'system:serviceaccount:web:web',
  }),
  assigned(bad, 'broad-owner', 'who gives roles', 'Role Based Access Control Administrator'),
  assigned(fine, 'broad-owner', 'who gives some roles', 'Role Based Access Control Administrator', {
    condition: '@Request[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {0}',
  }),
  role(bad, 'assignments', ['Microsoft.Authorization/roleAssignments/write']),
  role(bad, 'all of authorization', ['Microsoft.Compute/*', 'Microsoft.Authorization/*']),
  role(bad, 'every write', ['*/write']),
  role(fine, 'reading', ['Microsoft.Authorization/*/read']),
  role(fine, 'that is taken away', ['Microsoft.Authorization/*'], ['Microsoft.Authorization/*/Write']),
  bad('azure.iam.directory-admin', 'all of it', 'azuread_directory_role_assignment', {
    role_id: '62E90394-69f5-4237-9190-012177145e10',
  }),
  fine('azure.iam.directory-admin', 'reading', 'azuread_directory_role_assignment', {
    role_id: '88d8e3e3-8f55-4a1e-953a-9b9898b8876b',
  }),
]

const rule = (make: typeof bad, id: string, name: string, values: object, type = 'kubernetes_cluster_role') =>
  make(`kubernetes.rbac.${id}`, name, type, {
    rule: [{ api_groups: ['apps'], resources: ['deployments'], verbs: ['get'], ...values }],
  })
const core = { api_groups: [''] }
const awsAuth = (make: typeof bad, name: string, group: string, called = 'aws-auth') =>
  make('kubernetes.rbac.masters-group', name, 'kubernetes_config_map', {
    metadata: [{ name: called, namespace: 'kube-system' }],
    data: { mapRoles: `- rolearn: arn:aws:iam::1:role/a\n  groups:\n  - ${group}\n` },
  })

const kubernetes: Case[] = [
  rule(bad, 'wildcard-field', 'verbs', { verbs: ['*'] }),
  rule(bad, 'wildcard-field', 'resources', { resources: ['*'] }, 'kubernetes_role'),
  rule(bad, 'wildcard-field', 'groups', { api_groups: ['*'] }, 'kubernetes_role_v1'),
  rule(fine, 'wildcard-field', 'a slash between stars', { resources: ['*/*'] }),
  rule(fine, 'wildcard-field', 'that is reported as everything', { api_groups: ['*'], resources: ['*'], verbs: ['*'] }),
  rule(fine, 'wildcard-field', 'none', {}),
  rule(bad, 'wildcard-cluster-role', 'all of the core group', { ...core, resources: ['*'], verbs: ['*'] }),
  rule(fine, 'wildcard-cluster-role', 'all of another group', { resources: ['*'], verbs: ['*'] }),
  rule(bad, 'pod-access', 'commands', { ...core, resources: ['pods/exec'], verbs: ['create'] }),
  rule(bad, 'pod-access', 'the node', { ...core, resources: ['nodes/proxy'] }),
  rule(bad, 'pod-access', 'tokens', { ...core, resources: ['serviceaccounts/token'], verbs: ['create'] }),
  rule(fine, 'pod-access', 'pods', { ...core, resources: ['pods', 'pods/log'] }),
  rule(fine, 'pod-access', 'one pod', {
    ...core,
    resources: ['pods/exec'],
    verbs: ['create'],
    resource_names: ['db-0'],
  }),
  awsAuth(bad, 'the group', 'system:masters'),
  awsAuth(fine, 'another group', 'web:deployers'),
  awsAuth(fine, 'another map', 'system:masters', 'notes'),
]

const statement = (make: typeof bad, name: string, text: string, id = 'any-user') =>
  make(`oci.iam.${id}`, name, 'oci_identity_policy', { statements: [text] })

const oracle: Case[] = [
  statement(
    bad,
    'where something is touched',
    "Allow any-user to read buckets in tenancy where target.bucket.name = 'a'",
  ),
  statement(
    bad,
    'where it is not one user',
    "Allow any-user to read buckets in tenancy where request.user.name != 'a'",
  ),
  statement(
    bad,
    'where one of two says nothing',
    "Allow any-user to read buckets in tenancy where any {request.principal.type = 'cluster', target.bucket.name = 'a'}",
  ),
  statement(
    fine,
    'where it is a workload',
    "Allow any-user to read buckets in tenancy where all {request.principal.type = 'workload', target.bucket.name = 'a'}",
  ),
  statement(
    fine,
    'where it is from a network',
    "Allow any-user to read buckets in tenancy where request.networkSource.name = 'office'",
  ),
  statement(bad, 'policies', 'Allow group Deployers to manage policies in tenancy', 'escalation'),
  statement(bad, 'groups', 'allow group deployers to manage groups in tenancy', 'escalation'),
  statement(fine, 'in a compartment', 'Allow group Deployers to manage policies in compartment web', 'escalation'),
  statement(
    fine,
    'but for the administrators',
    "Allow group Deployers to manage groups in tenancy where target.group.name != 'Administrators'",
    'escalation',
  ),
]

export const elsewhereCases: Case[] = [...google, ...azure, ...kubernetes, ...oracle]
