import { bad, type Case, fine } from '../support.ts'

const policy = (...statements: string[]) => ({ statements })

export const ociCases: Case[] = [
  bad(
    'oci.iam.any-user',
    'everything',
    'oci_identity_policy',
    policy('Allow any-user to manage all-resources in tenancy'),
  ),
  bad(
    'oci.iam.any-user',
    'in any letter case and spacing',
    'oci_identity_policy',
    policy('  ALLOW  any-user   TO read buckets in tenancy'),
  ),
  fine(
    'oci.iam.any-user',
    'on a condition',
    'oci_identity_policy',
    policy("Allow any-user to use fn-invocation in compartment a where request.principal.type = 'ApiGateway'"),
  ),
  fine('oci.iam.any-user', 'a group', 'oci_identity_policy', policy('Allow group Readers to read buckets in tenancy')),
  fine('oci.iam.any-user', 'unknown', 'oci_identity_policy', {}, { after_unknown: { statements: true } }),
  bad(
    'oci.iam.manage-all-in-tenancy',
    'a group',
    'oci_identity_policy',
    policy('Allow group Admins to manage all-resources in tenancy'),
  ),
  fine(
    'oci.iam.manage-all-in-tenancy',
    'a compartment',
    'oci_identity_policy',
    policy('Allow group Admins to manage all-resources in compartment dev'),
  ),
  fine(
    'oci.iam.manage-all-in-tenancy',
    'reading',
    'oci_identity_policy',
    policy('Allow group Audit to read all-resources in tenancy'),
  ),
  bad(
    'oci.iam.manage-all-in-compartment',
    'a compartment',
    'oci_identity_policy',
    policy('Allow group Dev to manage all-resources in compartment dev'),
  ),
  fine(
    'oci.iam.manage-all-in-compartment',
    'a family',
    'oci_identity_policy',
    policy('Allow group Dev to manage object-family in compartment dev'),
  ),
  bad('oci.iam.long-lived-key', 'a key', 'oci_identity_customer_secret_key', { display_name: 'ci' }),
  fine('oci.iam.long-lived-key', 'deleted', 'oci_identity_customer_secret_key', null, {
    actions: ['delete'],
    before: {},
  }),
  bad('oci.storage.public-bucket', 'reading', 'oci_objectstorage_bucket', { access_type: 'ObjectRead' }),
  bad('oci.storage.public-bucket', 'without the list', 'oci_objectstorage_bucket', {
    access_type: 'ObjectReadWithoutList',
  }),
  fine('oci.storage.public-bucket', 'private', 'oci_objectstorage_bucket', { access_type: 'NoPublicAccess' }),
  bad('oci.storage.broad-preauthenticated-request', 'all', 'oci_objectstorage_preauthrequest', {
    access_type: 'AnyObjectReadWrite',
  }),
  fine('oci.storage.broad-preauthenticated-request', 'one', 'oci_objectstorage_preauthrequest', {
    access_type: 'ObjectRead',
  }),
  bad('oci.database.open-access-list', 'everyone', 'oci_database_autonomous_database', {
    whitelisted_ips: ['0.0.0.0/0'],
  }),
  fine('oci.database.open-access-list', 'an office', 'oci_database_autonomous_database', {
    whitelisted_ips: ['198.51.100.0/24'],
  }),
  bad('oci.network.public-cluster-endpoint', 'public', 'oci_containerengine_cluster', {
    endpoint_config: [{ is_public_ip_enabled: true }],
  }),
  fine('oci.network.public-cluster-endpoint', 'private', 'oci_containerengine_cluster', {
    endpoint_config: [{ is_public_ip_enabled: false }],
  }),
]
