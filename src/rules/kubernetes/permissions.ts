import type { Rule, Subject, View } from '../rule.ts'
import { blocksOf, textOf, textsOf } from '../view.ts'
import { typesOfKinds } from './manifest.ts'

const CLUSTER_BINDINGS = typesOfKinds('cluster_role_binding')
const BINDINGS = [...CLUSTER_BINDINGS, ...typesOfKinds('role_binding')]
const CLUSTER_ROLES = typesOfKinds('cluster_role')

const roleOf = (subject: Subject) => textOf(blocksOf(subject, 'role_ref')[0] ?? subject, 'name')
const bindsTo = (subject: Subject, pattern: RegExp) =>
  blocksOf(subject, 'subject').some((who) => pattern.test(textOf(who, 'name') ?? ''))

/** Roles that every cluster grants to callers without a login. */
const PUBLIC_ROLES = new Set(['system:public-info-viewer', 'system:discovery', 'system:basic-user'])
const ANONYMOUS = /^system:(anonymous|unauthenticated)$/
const WHOLE_CLUSTER = /^system:(authenticated|serviceaccounts)$/
const hasAny = (rule: View, key: string, ...wanted: string[]) =>
  textsOf(rule, key).some((value) => wanted.includes(value))
const coversEverything = (rule: View) => ['api_groups', 'resources', 'verbs'].every((key) => hasAny(rule, key, '*'))

export const kubernetesPermissionRules: Rule[] = [
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
    id: 'kubernetes.rbac.cluster-admin',
    title: 'Administrator of the cluster',
    reason: 'The subject can do everything in every namespace and read every secret.',
    fix: 'Bind a role with the resources and verbs that are needed.',
    severity: 'error',
    types: CLUSTER_BINDINGS,
    message: 'Binds cluster-admin for the whole cluster.',
    isBrokenBy: (subject) => roleOf(subject) === 'cluster-admin',
  },
  {
    id: 'kubernetes.rbac.namespace-admin',
    title: 'Administrator of a namespace',
    reason: 'The subject can do everything in the namespace, secrets included.',
    fix: 'Bind a role with the resources and verbs that are needed.',
    severity: 'warning',
    types: typesOfKinds('role_binding'),
    message: 'Binds cluster-admin in a namespace.',
    isBrokenBy: (subject) => roleOf(subject) === 'cluster-admin',
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
    id: 'kubernetes.rbac.escalation',
    title: 'Role that can give itself more',
    reason: 'With escalate, bind or impersonate a subject reaches permissions that it was not given.',
    fix: 'Leave these verbs to the administrators of the cluster.',
    severity: 'warning',
    types: CLUSTER_ROLES,
    message: 'A rule allows escalate, bind or impersonate.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'rule').some((rule) => hasAny(rule, 'verbs', 'escalate', 'bind', 'impersonate')),
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
