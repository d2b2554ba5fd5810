import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.oracle.com/en-us/iaas/Content'

/** Oracle always encrypts volumes; the way between host and volume is plain unless the code asks otherwise. */
export const ociTable: Rule[] = tableRules(
  'oci',
  `
[PUBLIC_BUCKET]
${DOCS}/Object/Tasks/managingbuckets.htm
oci_objectstorage_bucket access_type ObjectRead,ObjectReadWithoutList

[WHOLE_BUCKET_LINK]
${DOCS}/Object/Tasks/usingpreauthenticatedrequests.htm
oci_objectstorage_preauthrequest access_type AnyObject*

[OPEN_DATABASE]
https://docs.oracle.com/en/cloud/paas/autonomous-database/serverless/adbsb/network-access-options.html
oci_database_autonomous_database whitelisted_ips open

[PUBLIC_CLUSTER]
${DOCS}/ContEng/Concepts/contengclustersnodes.htm
oci_containerengine_cluster endpoint_config.is_public_ip_enabled true

[USER_KEY]
${DOCS}/Identity/access/managing-user-credentials.htm
oci_identity_customer_secret_key,oci_identity_auth_token user_id set

[VOLUME_TRAFFIC]
${DOCS}/Block/Concepts/blockvolumeencryption.htm
oci_core_instance launch_options.is_pv_encryption_in_transit_enabled false|unset if !is_pv_encryption_in_transit_enabled
oci_containerengine_node_pool node_config_details.is_pv_encryption_in_transit_enabled false|unset

[METADATA]
${DOCS}/Compute/Tasks/gettingmetadata.htm
oci_core_instance instance_options.are_legacy_imds_endpoints_disabled false|unset
`,
  {
    PUBLIC_BUCKET: {
      name: 'storage.public-bucket',
      title: 'Bucket that anyone can read',
      reason: 'Every object in it can be read by everyone on the internet.',
      fix: 'Set access_type to NoPublicAccess; hand out single objects with pre-authenticated requests that expire.',
      severity: 'error',
      says: 'opens the objects to everyone',
    },
    WHOLE_BUCKET_LINK: {
      name: 'storage.broad-preauthenticated-request',
      title: 'Link to all objects of a bucket',
      reason: 'Whoever has the link reads or writes every object until it expires.',
      fix: 'Make the request for one object, for reading, and for a short time.',
      severity: 'warning',
      says: 'makes a link to every object',
    },
    OPEN_DATABASE: {
      name: 'database.open-access-list',
      title: 'Autonomous database open to the internet',
      reason: 'Anyone can try logins against the database.',
      fix: 'Name the networks in the access list, or use a private endpoint.',
      severity: 'error',
      says: 'admits every address',
    },
    PUBLIC_CLUSTER: {
      name: 'network.public-cluster-endpoint',
      title: 'Kubernetes API with a public address',
      reason: 'Where the security lists allow it, anyone can reach the API of the cluster.',
      fix: 'Set is_public_ip_enabled to false, or narrow the security lists of its subnet.',
      severity: 'warning',
      says: 'is true',
    },
    USER_KEY: {
      name: 'iam.long-lived-key',
      title: 'Long-lived key of a user',
      reason: 'The key never expires, and what belongs to it stands in the state of the engine.',
      fix: 'Use instance or resource principals.',
      severity: 'warning',
      says: 'gets a key that does not expire',
    },
    VOLUME_TRAFFIC: {
      name: 'transit.plain-volume',
      title: 'Traffic between a machine and its volumes without encryption',
      reason: 'The data passes the network of the provider in clear text.',
      fix: 'Set is_pv_encryption_in_transit_enabled to true.',
      severity: 'info',
      told: 'once',
      says: 'leaves traffic between machine and volume plain',
    },
    METADATA: {
      name: 'compute.old-metadata',
      title: 'First version of the metadata service',
      reason: 'A flaw in any program of the machine that fetches addresses gives away what the machine may do.',
      fix: 'Set are_legacy_imds_endpoints_disabled to true.',
      severity: 'warning',
      says: 'admits requests without a header',
    },
  },
)
