import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.aws.amazon.com'
const RDS = `${DOCS}/AmazonRDS/latest`
const EC2 = `${DOCS}/AWSEC2/latest/APIReference`
const BLOCKED = 'aws_s3_bucket_public_access_block,aws_s3_account_public_access_block'
const EVERYONE = '*/groups/global/AllUsers,*/groups/global/AuthenticatedUsers'

export const awsExposureTable: Rule[] = tableRules(
  'aws',
  `
[PUBLIC_ACL]
${DOCS}/AmazonS3/latest/userguide/acl-overview.html
aws_s3_bucket,aws_s3_bucket_acl,aws_s3_object,aws_s3_bucket_object,aws_s3_object_copy acl public-read,public-read-write,authenticated-read
aws_s3_bucket_acl access_control_policy.grant.grantee.uri ${EVERYONE}
aws_s3_bucket,aws_s3_object_copy grant.uri ${EVERYONE}

[PUBLIC_DATABASE]
${RDS}/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html
aws_db_instance,aws_rds_cluster_instance,aws_docdb_cluster_instance,aws_neptune_cluster_instance publicly_accessible true
aws_redshift_cluster,aws_redshiftserverless_workgroup,aws_dms_replication_instance,aws_mq_broker publicly_accessible true
aws_rds_shard_group,aws_lightsail_database,aws_timestreaminfluxdb_db_instance,aws_timestreaminfluxdb_db_cluster publicly_accessible true
${DOCS}/neptune-analytics/latest/userguide/gettingStarted-connecting.html
aws_neptunegraph_graph public_connectivity true

[PUBLIC_BROKERS]
${DOCS}/msk/latest/developerguide/public-access.html
aws_msk_cluster broker_node_group_info.connectivity_info.public_access.type SERVICE_PROVIDED_EIPS

[PUBLIC_MACHINE]
${DOCS}/vpc/latest/userguide/vpc-ip-addressing.html
aws_instance,aws_spot_instance_request,aws_launch_configuration associate_public_ip_address true
aws_launch_template network_interfaces.associate_public_ip_address true
aws_subnet,aws_default_subnet map_public_ip_on_launch true
aws_eip instance set
aws_ecs_service,aws_ecs_task_set network_configuration.assign_public_ip true
aws_cloudwatch_event_target ecs_target.network_configuration.assign_public_ip true
aws_scheduler_schedule target.ecs_parameters.network_configuration.assign_public_ip true
aws_batch_job_definition container_properties.networkConfiguration.assignPublicIp ENABLED

[PUBLIC_ENDPOINT]
${DOCS}/transfer/latest/userguide/create-server-in-vpc.html
aws_transfer_server endpoint_type PUBLIC|unset
${DOCS}/mwaa/latest/userguide/configuring-networking.html
aws_mwaa_environment webserver_access_mode PUBLIC_ONLY
${DOCS}/sagemaker/latest/dg/appendix-notebook-and-internet-access.html
aws_sagemaker_notebook_instance direct_internet_access Enabled|unset
${DOCS}/vpc/latest/privatelink/create-endpoint-service.html
aws_vpc_endpoint_service acceptance_required false
aws_vpc_endpoint_service allowed_principals \\*
aws_vpc_endpoint_service_allowed_principal principal_arn \\*
${DOCS}/vpc/latest/tgw/tgw-transit-gateways.html
aws_ec2_transit_gateway auto_accept_shared_attachments enable
${DOCS}/emr/latest/ManagementGuide/emr-block-public-access.html
aws_emr_block_public_access_configuration block_public_security_group_rules false
${DOCS}/opensearch-service/latest/developerguide/vpc.html
aws_opensearch_domain,aws_elasticsearch_domain vpc_options.subnet_ids unset
${DOCS}/opensearch-service/latest/developerguide/serverless-network.html
aws_opensearchserverless_security_policy policy.AllowFromPublic true if type=network
${DOCS}/vpc/latest/userguide/managed-prefix-lists.html
aws_ec2_managed_prefix_list entry.cidr open
aws_ec2_managed_prefix_list_entry cidr open
${DOCS}/workspaces/latest/adminguide/amazon-workspaces-ip-access-control-groups.html
aws_workspaces_ip_group rules.source open
${DOCS}/codebuild/latest/userguide/public-builds.html
aws_codebuild_project project_visibility PUBLIC_READ

[OPEN_CLUSTER]
${DOCS}/eks/latest/userguide/cluster-endpoint.html
aws_eks_cluster vpc_config.public_access_cidrs open|unset if vpc_config.endpoint_public_access!=false

[CLUSTER_ADDRESS]
${DOCS}/eks/latest/userguide/cluster-endpoint.html
aws_eks_cluster vpc_config.endpoint_public_access true|unset if vpc_config.public_access_cidrs vpc_config.public_access_cidrs!=0.0.0.0/0,::/0

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

${DOCS}/AmazonS3/latest/userguide/multi-region-access-point-block-public-access.html
${['block_public_acls', 'block_public_policy', 'ignore_public_acls', 'restrict_public_buckets']
  .map((key) => `aws_s3control_multi_region_access_point details.public_access_block.${key} false`)
  .join('\n')}
${DOCS}/ebs/latest/userguide/block-public-access-snapshots.html
aws_ebs_snapshot_block_public_access,aws_ec2_image_block_public_access state unblocked
${DOCS}/systems-manager/latest/userguide/documents-ssm-sharing.html
aws_ssm_service_setting setting_value Enable if setting_id=*/ssm/documents/console/public-sharing-permission

[SHARED]
${RDS}/UserGuide/USER_ShareSnapshot.html
aws_db_snapshot,aws_db_cluster_snapshot shared_accounts all
${EC2}/API_ModifyImageAttribute.html
aws_ami_launch_permission group all
aws_imagebuilder_distribution_configuration distribution.ami_distribution_configuration.launch_permission.user_groups all
${DOCS}/systems-manager/latest/userguide/documents-ssm-sharing.html
aws_ssm_document permissions.account_ids all

[SHARED_OUTSIDE]
${EC2}/API_ModifyImageAttribute.html
aws_ami_launch_permission account_id set
aws_ami_launch_permission organization_arn set
aws_ami_launch_permission organizational_unit_arn set
aws_imagebuilder_distribution_configuration distribution.ami_distribution_configuration.launch_permission.user_ids set
${EC2}/API_ModifySnapshotAttribute.html
aws_snapshot_create_volume_permission account_id set
aws_dlm_lifecycle_policy policy_details.schedule.share_rule.target_accounts set
${RDS}/UserGuide/USER_ShareSnapshot.html
aws_db_snapshot,aws_db_cluster_snapshot shared_accounts not:all
${DOCS}/systems-manager/latest/userguide/documents-ssm-sharing.html
aws_ssm_document permissions.account_ids not:all
${DOCS}/ram/latest/userguide/working-with-sharing.html
aws_ram_resource_share allow_external_principals true
`,
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

    CLUSTER_ADDRESS: {
      name: 'network.cluster-address',
      title: 'Kubernetes API with a public address',
      reason: 'The API can be reached from outside by the networks that the code names.',
      fix: 'Set endpoint_public_access to false where everyone who uses the API is inside of the network.',
      severity: 'info',
      says: 'admits named networks from outside',
    },
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
      reason: 'The block is what stops a public policy, access list or permission that slips in later.',
      fix: 'Leave the block on; of a bucket or an account, all four switches.',
      severity: 'warning',
      says: 'leaves the block off',
    },
    SHARED: {
      name: 'storage.public-snapshot',
      title: 'Snapshot or image shared with everyone',
      reason: 'Every AWS account can copy the data in it.',
      fix: 'Share with named accounts only.',
      severity: 'error',
      says: 'shares it with every account',
    },
    SHARED_OUTSIDE: {
      name: 'storage.shared-outside',
      title: 'Shared with another account',
      reason: 'What the other account copies stays there, whatever happens here.',
      fix: 'Check that the account is one of yours or of a partner, and end what is no longer used.',
      severity: 'info',
      told: 'once',
      says: 'shares it with another account',
    },
  },
)
