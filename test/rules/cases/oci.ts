import { bad, type Case, deleted, fine } from '../support.ts'

const policy = (make: typeof bad, rule: string, name: string, statement: string) =>
  make(`oci.iam.${rule}`, name, 'oci_identity_policy', { statements: [statement] })

export const ociCases: Case[] = [
  policy(bad, 'any-user', 'everything', 'Allow any-user to manage all-resources in tenancy'),
  policy(bad, 'any-user', 'in any letter case and spacing', '  ALLOW  any-user   TO read buckets in tenancy'),
  policy(
    fine,
    'any-user',
    'on a condition',
    "Allow any-user to use fn-invocation in compartment a where request.principal.type = 'ApiGateway'",
  ),
  policy(fine, 'any-user', 'a group', 'Allow group Readers to read buckets in tenancy'),
  fine('oci.iam.any-user', 'unknown', 'oci_identity_policy', {}, { after_unknown: { statements: true } }),
  policy(bad, 'manage-all-in-tenancy', 'a group', 'Allow group Admins to manage all-resources in tenancy'),
  policy(
    fine,
    'manage-all-in-tenancy',
    'a compartment',
    'Allow group Admins to manage all-resources in compartment dev',
  ),
  policy(fine, 'manage-all-in-tenancy', 'reading', 'Allow group Audit to read all-resources in tenancy'),
  policy(
    bad,
    'manage-all-in-compartment',
    'a compartment',
    'Allow group Dev to manage all-resources in compartment dev',
  ),
  policy(fine, 'manage-all-in-compartment', 'a family', 'Allow group Dev to manage object-family in compartment dev'),
  bad('oci.iam.long-lived-key', 'a key', 'oci_identity_customer_secret_key', { user_id: 'ocid1.user.x' }),
  fine('oci.iam.long-lived-key', 'deleted', 'oci_identity_customer_secret_key', null, deleted()),
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
  bad('oci.evidence.removed', 'deleted', 'oci_logging_log', null, deleted()),
  fine('oci.evidence.removed', 'made', 'oci_logging_log', {}),
  bad(
    'oci.evidence.shortened',
    'to a month',
    'oci_logging_log',
    { retention_duration: 30 },
    { actions: ['update'], before: { retention_duration: 365 } },
  ),
  fine('oci.evidence.shortened', 'made so', 'oci_logging_log', { retention_duration: 30 }),
  bad('oci.transit.plain-volume', 'machine', 'oci_core_instance', {}),
  bad('oci.transit.plain-volume', 'nodes', 'oci_containerengine_node_pool', { node_config_details: [{ size: 1 }] }),
  fine('oci.transit.plain-volume', 'on', 'oci_core_instance', {
    launch_options: [{ is_pv_encryption_in_transit_enabled: true }],
  }),
  fine('oci.transit.plain-volume', 'on by the other argument', 'oci_core_instance', {
    is_pv_encryption_in_transit_enabled: true,
  }),
  bad('oci.compute.old-metadata', 'by default', 'oci_core_instance', {}),
  fine('oci.compute.old-metadata', 'off', 'oci_core_instance', {
    instance_options: [{ are_legacy_imds_endpoints_disabled: true }],
  }),
]
