import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, textOf, textsOf } from '../view.ts'
import { CLUSTER_BINDINGS, CLUSTER_ROLES, typesOfKinds } from './types.ts'

const BINDINGS = [...CLUSTER_BINDINGS, ...typesOfKinds('role_binding')]

const roleOf = (subject: Subject) => textOf(blocksOf(subject, 'role_ref')[0] ?? subject, 'name')
const bindsTo = (subject: Subject, pattern: RegExp) =>
  blocksOf(subject, 'subject').some((who) => pattern.test(textOf(who, 'name') ?? ''))

/** Roles that every cluster grants to callers without a login. */
const PUBLIC_ROLES = new Set(['system:public-info-viewer', 'system:discovery', 'system:basic-user'])
const ANONYMOUS = /^system:(anonymous|unauthenticated)$/
const WHOLE_CLUSTER = /^system:(authenticated|serviceaccounts)$/
const hasAny = (rule: View, key: string, ...wanted: string[]) =>
  textsOf(rule, key).some((value) => wanted.includes(value))
/** Resources by which one gets into a pod. */
const ENTRANCES = ['pods/exec', 'pods/attach', 'pods/ephemeralcontainers', 'pods/*', 'nodes/proxy', 'nodes/*']
/** The core group holds secrets, pods and tokens, so that all of it leads to all of the cluster. */
const coversEverything = (rule: View) =>
  hasAny(rule, 'api_groups', '*', '') && ['resources', 'verbs'].every((key) => hasAny(rule, key, '*'))

/** What roles allow, and whom bindings give them. */
export const kubernetesRoleRules: Rule[] = [
  {
    id: 'kubernetes.rbac.anonymous-subject',
    title: 'Permission for callers without a login',
    reason: 'Whoever reaches the API of the cluster gets the permission.',
    fix: 'Bind the role to named users, groups or service accounts.',
    severity: 'critical',
    types: BINDINGS,
    message: 'A subject is everyone without a login.',
    isBrokenBy: (subject) => bindsTo(subject, ANONYMOUS) && !PUBLIC_ROLES.has(roleOf(subject) ?? ''),
  },
  {
    id: 'kubernetes.rbac.whole-cluster-subject',
    title: 'Permission for everyone in the cluster',
    reason: 'Every user or every pod of the cluster gets the permission.',
    fix: 'Bind the role to the service accounts that need it.',
    severity: 'warning',
    types: CLUSTER_BINDINGS,
    message: 'A subject is every user or every service account.',
    isBrokenBy: (subject) => bindsTo(subject, WHOLE_CLUSTER) && !PUBLIC_ROLES.has(roleOf(subject) ?? ''),
  },
  {
    id: 'kubernetes.rbac.wildcard-cluster-role',
    title: 'Role with everything on everything',
    reason: 'The role is cluster-admin by another name.',
    fix: 'List API groups, resources and verbs.',
    severity: 'error',
    types: CLUSTER_ROLES,
    message: 'A rule allows every verb on every resource.',
    isBrokenBy: (subject) => blocksOf(subject, 'rule').some(coversEverything),
  },
  {
    id: 'kubernetes.rbac.wildcard-role',
    title: 'Role with everything in a namespace',
    reason: 'The role covers secrets, and what is added later.',
    fix: 'List API groups, resources and verbs.',
    severity: 'warning',
    types: typesOfKinds('role'),
    message: 'A rule allows every verb on every resource of the namespace.',
    isBrokenBy: (subject) => blocksOf(subject, 'rule').some(coversEverything),
  },
  {
    id: 'kubernetes.rbac.wildcard-field',
    title: 'Role with a wildcard in one field',
    reason: 'The role covers resources, groups or verbs that come later, and more of the present ones than it needs.',
    fix: 'List API groups, resources and verbs.',
    severity: 'warning',
    types: [...CLUSTER_ROLES, ...typesOfKinds('role')],
    check: (subject) =>
      ['api_groups', 'resources', 'verbs', 'non_resource_urls']
        .filter((key) => blocksOf(subject, 'rule').some((rule) => !coversEverything(rule) && hasAny(rule, key, '*')))
        .map((key) => `A rule has * in ${key}.`),
  },
  {
    id: 'kubernetes.rbac.pod-access',
    title: 'Role that enters every pod',
    reason:
      'A process in a pod, or a token of its service account, gives the permissions of the pod, in every namespace.',
    fix: 'Use a role in the namespace.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule enters pods, reaches them through their node, or makes tokens of service accounts.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some(
        (rule) =>
          !coversEverything(rule) &&
          textsOf(rule, 'resource_names').length === 0 &&
          ((hasAny(rule, 'resources', ...ENTRANCES) &&
            hasAny(rule, 'verbs', '*', 'create', 'get', 'update', 'patch')) ||
            (hasAny(rule, 'resources', 'serviceaccounts/token') && hasAny(rule, 'verbs', '*', 'create'))),
      ),
  },
  {
    id: 'kubernetes.rbac.masters-group',
    title: 'Identities of AWS as administrators of the cluster',
    reason: 'The group system:masters may do everything, and no role or binding can take that away.',
    fix: 'Map them to a group of your own, and bind the role that it needs.',
    severity: 'warning',
    types: [...typesOfKinds('config_map'), 'kubernetes_config_map_v1_data'],
    message: 'The map of identities names system:masters.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'metadata').some((metadata) => textOf(metadata, 'name') === 'aws-auth') &&
      blocksOf(subject, 'data').some((data) =>
        ['mapRoles', 'mapUsers'].some((key) => /\bsystem:masters\b/.test(textOf(data, key) ?? '')),
      ),
  },
  {
    id: 'kubernetes.rbac.all-secrets',
    title: 'Role that reads every secret',
    reason: 'Secrets of every namespace, tokens of service accounts included, can be read.',
    fix: 'Use a role in the namespace, and name the secrets.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule reads the secrets of every namespace.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some(
        (rule) =>
          hasAny(rule, 'resources', 'secrets') &&
          hasAny(rule, 'verbs', '*', 'get', 'list', 'watch') &&
          textsOf(rule, 'resource_names').length === 0,
      ),
  },
]
