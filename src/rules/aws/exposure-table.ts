import { OPEN_CLUSTER, PUBLIC_ENDPOINT, PUBLIC_MACHINE } from '../classes.ts'
import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.aws.amazon.com'
const RDS = `${DOCS}/AmazonRDS/latest`
const EC2 = `${DOCS}/AWSEC2/latest/APIReference`
const BLOCKED = 'aws_s3_bucket_public_access_block,aws_s3_account_public_access_block'
const EVERYONE = '*/groups/global/AllUsers,*/groups/global/AuthenticatedUsers'

export const awsExposureTable: Rule[] = tableRules(
  'aws',
  {
    PUBLIC_ACL: {
      name: 'storage.public-bucket-acl',
      title: 'Public access list of a bucket',
      reason: 'Anyone on the internet, or with any AWS account, can read or even write the objects.',
      fix: 'Use the private access list and name readers in a bucket policy.',
      severity: 'error',
      says: 'opens it to everyone',
    },
    PUBLIC_DATABASE: {
      name: 'database.public-instance',
      title: 'Database with a public address',
      reason: 'The database can be reached from the internet as soon as its security group allows it.',
      fix: 'Set publicly_accessible to false and reach it from inside the network.',
      severity: 'error',
      says: 'is true',
    },
    PUBLIC_BROKERS: {
      name: 'database.public-brokers',
      title: 'Kafka brokers with public addresses',
      reason: 'Brokers with public addresses are reachable from the internet.',
      fix: 'Leave public access disabled and connect from inside the network.',
      severity: 'error',
      says: 'gives the brokers public addresses',
    },
    PUBLIC_MACHINE,
    PUBLIC_ENDPOINT,
    OPEN_CLUSTER,
    NODE_SSH: {
      name: 'network.open-node-ssh',
      title: 'SSH of cluster nodes open to the internet',
      reason: 'With a key and without security groups the service opens port 22 of every node to all addresses.',
      fix: 'Name source_security_group_ids, or leave the key out.',
      severity: 'error',
      says: 'is not set, and port 22 is open to all addresses',
    },
    PUBLIC_BLOCK: {
      name: 'storage.public-access-allowed',
      title: 'Block of public access switched off',
      reason: 'The block is what stops a public policy or access list that slips in later.',
      fix: 'Set all four switches to true.',
      severity: 'warning',
      says: 'is not true',
    },
    SHARED: {
      name: 'storage.public-snapshot',
      title: 'Snapshot or image shared with everyone',
      reason: 'Every AWS account can copy the data in it.',
      fix: 'Share with named accounts only.',
      severity: 'error',
      says: 'shares it with every account',
    },
  },
  `
[PUBLIC_ACL]
${DOCS}/AmazonS3/latest/userguide/acl-overview.html
aws_s3_bucket,aws_s3_bucket_acl,aws_s3_object,aws_s3_bucket_object acl public-read,public-read-write,authenticated-read
aws_s3_bucket_acl access_control_policy.grant.grantee.uri ${EVERYONE}
aws_s3_bucket grant.uri ${EVERYONE}

[PUBLIC_DATABASE]
${RDS}/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html
aws_db_instance,aws_rds_cluster_instance,aws_docdb_cluster_instance,aws_neptune_cluster_instance publicly_accessible true
aws_redshift_cluster,aws_redshiftserverless_workgroup,aws_dms_replication_instance,aws_mq_broker publicly_accessible true

[PUBLIC_BROKERS]
${DOCS}/msk/latest/developerguide/public-access.html
aws_msk_cluster broker_node_group_info.connectivity_info.public_access.type SERVICE_PROVIDED_EIPS

[PUBLIC_MACHINE]
${DOCS}/vpc/latest/userguide/vpc-ip-addressing.html
aws_instance,aws_spot_instance_request,aws_launch_configuration associate_public_ip_address true
aws_launch_template network_interfaces.associate_public_ip_address true
aws_subnet,aws_default_subnet map_public_ip_on_launch true
aws_ecs_service network_configuration.assign_public_ip true

[PUBLIC_ENDPOINT]
${DOCS}/transfer/latest/userguide/create-server-in-vpc.html
aws_transfer_server endpoint_type PUBLIC|unset
${DOCS}/mwaa/latest/userguide/configuring-networking.html
aws_mwaa_environment webserver_access_mode PUBLIC_ONLY
${DOCS}/sagemaker/latest/dg/appendix-notebook-and-internet-access.html
aws_sagemaker_notebook_instance direct_internet_access Enabled|unset
${DOCS}/vpc/latest/privatelink/create-endpoint-service.html
aws_vpc_endpoint_service acceptance_required false
${DOCS}/vpc/latest/tgw/tgw-transit-gateways.html
aws_ec2_transit_gateway auto_accept_shared_attachments enable
${DOCS}/emr/latest/ManagementGuide/emr-block-public-access.html
aws_emr_block_public_access_configuration block_public_security_group_rules false
${DOCS}/opensearch-service/latest/developerguide/vpc.html
aws_opensearch_domain,aws_elasticsearch_domain vpc_options.subnet_ids unset

[OPEN_CLUSTER]
${DOCS}/eks/latest/userguide/cluster-endpoint.html
aws_eks_cluster vpc_config.public_access_cidrs open|unset if vpc_config.endpoint_public_access!=false

[NODE_SSH]
${DOCS}/eks/latest/APIReference/API_RemoteAccessConfig.html
aws_eks_node_group remote_access.source_security_group_ids unset-inside if remote_access.ec2_ssh_key

[PUBLIC_BLOCK]
${DOCS}/AmazonS3/latest/API/API_PublicAccessBlockConfiguration.html
${BLOCKED} block_public_acls false|unset
${BLOCKED} block_public_policy false|unset
${BLOCKED} ignore_public_acls false|unset
${BLOCKED} restrict_public_buckets false|unset
aws_s3_access_point public_access_block_configuration.block_public_acls false
aws_s3_access_point public_access_block_configuration.block_public_policy false
aws_s3_access_point public_access_block_configuration.ignore_public_acls false
aws_s3_access_point public_access_block_configuration.restrict_public_buckets false

[SHARED]
${RDS}/UserGuide/USER_ShareSnapshot.html
aws_db_snapshot,aws_db_cluster_snapshot shared_accounts all
${EC2}/API_ModifyImageAttribute.html
aws_ami_launch_permission group all
${DOCS}/systems-manager/latest/userguide/documents-ssm-sharing.html
aws_ssm_document permissions.account_ids all
`,
)
