import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.aws.amazon.com'

/** Makes the rows of what attaches a managed policy of AWS; its address has no account. */
function attached(...names: string[]): string {
  const arns = names.map((name) => `arn:*:iam::aws:policy/${name}`).join(',')
  const attachments = ['role', 'user', 'group'].map((kind) => `aws_iam_${kind}_policy_attachment`)
  return `
${attachments.join(',')},aws_iam_policy_attachment policy_arn ${arns}
aws_iam_role_policy_attachments_exclusive policy_arns ${arns}
aws_iam_role managed_policy_arns ${arns}
aws_ssoadmin_managed_policy_attachment managed_policy_arn ${arns}`
}

export const awsAccessTable: Rule[] = tableRules(
  'aws',
  `
[FUNCTION_URL]
${DOCS}/lambda/latest/dg/urls-auth.html
aws_lambda_function_url authorization_type NONE
aws_lambda_permission function_url_auth_type NONE if principal=\\*

[ADMIN_ATTACHMENT]
${DOCS}/aws-managed-policy/latest/reference/AdministratorAccess.html
${attached('AdministratorAccess')}

[BROAD_ATTACHMENT]
${DOCS}/aws-managed-policy/latest/reference/PowerUserAccess.html
${attached('PowerUserAccess', 'IAMFullAccess')}

[ACCESS_KEY]
${DOCS}/IAM/latest/UserGuide/id_credentials_access-keys.html
aws_iam_access_key user set if status!=Inactive

[SERVICE_WITHOUT_SOURCE]
${DOCS}/lambda/latest/dg/permissions-function-services.html
aws_lambda_permission principal *.amazonaws.com if !source_arn !source_account !principal_org_id

[NO_SIGN_IN]
${DOCS}/apigateway/latest/developerguide/apigateway-control-access-to-api.html
aws_api_gateway_method authorization NONE if http_method!=OPTIONS api_key_required!=true
aws_apigatewayv2_route authorization_type NONE|unset if route_key=*/*,$connect,$default route_key!=OPTIONS* api_key_required!=true
${DOCS}/cognito/latest/developerguide/identity-pools.html
aws_cognito_identity_pool allow_unauthenticated_identities true
${DOCS}/msk/latest/developerguide/security.html
aws_msk_cluster client_authentication.unauthenticated true
${DOCS}/apigateway/latest/developerguide/http-api-develop.html
aws_apigatewayv2_api target set if protocol_type=HTTP
${DOCS}/appsync/latest/devguide/security-authz.html
aws_appsync_graphql_api authentication_type API_KEY
aws_appsync_graphql_api additional_authentication_provider?.authentication_type API_KEY
${DOCS}/opensearch-service/latest/developerguide/fgac.html
aws_opensearch_domain advanced_security_options.anonymous_auth_enabled true
${DOCS}/memorydb/latest/devguide/clusters.acls.html
aws_memorydb_cluster acl_name open-access
${DOCS}/vpc-lattice/latest/ug/auth-policies.html
aws_vpclattice_service,aws_vpclattice_service_network auth_type NONE|unset

[METADATA]
${DOCS}/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
aws_instance,aws_spot_instance_request,aws_launch_template,aws_launch_configuration metadata_options.http_tokens optional|unset if metadata_options.http_endpoint!=disabled
${DOCS}/sagemaker/latest/dg/nbi-imds.html
aws_sagemaker_notebook_instance instance_metadata_service_configuration.minimum_instance_metadata_service_version 1|unset

[PRIVILEGED]
${DOCS}/AmazonECS/latest/developerguide/task_definition_parameters.html
aws_ecs_task_definition container_definitions.privileged true
aws_ecs_task_definition pid_mode host
${DOCS}/batch/latest/APIReference/API_ContainerProperties.html
aws_batch_job_definition container_properties.privileged true
`,
  {
    FUNCTION_URL: {
      name: 'compute.public-function-url',
      title: 'Function URL without authorization',
      reason: 'Anyone who knows the address runs the function.',
      fix: 'Use AWS_IAM, or put a gateway with authorization in front of it.',
      severity: 'warning',
      says: 'asks for no authorization',
    },
    ADMIN_ATTACHMENT: {
      name: 'iam.admin-attachment',
      title: 'AdministratorAccess attached',
      reason: 'The managed policy allows every action on every resource.',
      fix: 'Attach a policy with the actions and resources that the identity needs.',
      severity: 'error',
      says: 'attaches AdministratorAccess',
    },
    BROAD_ATTACHMENT: {
      name: 'iam.broad-attachment',
      title: 'Very broad managed policy attached',
      reason: 'PowerUserAccess and IAMFullAccess lead to administration of the account in one step.',
      fix: 'Attach a policy with the actions and resources that the identity needs.',
      severity: 'warning',
      says: 'attaches a very broad policy',
    },
    ACCESS_KEY: {
      name: 'iam.access-key',
      title: 'Long-lived access key',
      reason: 'The key never expires, and its secret stands in the state of the engine.',
      fix: 'Let workloads assume a role; people sign in through the identity provider.',
      severity: 'warning',
      says: 'gets a key that does not expire',
    },
    SERVICE_WITHOUT_SOURCE: {
      name: 'iam.service-without-source',
      title: 'Function that a service may invoke for every customer',
      reason: 'The service also acts for resources in other accounts, whose owners so invoke the function.',
      fix: 'Set source_arn or source_account.',
      severity: 'warning',
      says: 'names a service without the account for which it acts',
    },

    METADATA: {
      name: 'compute.metadata-without-token',
      title: 'Metadata service without a token',
      reason: 'A flaw in any program of the machine that fetches addresses gives away the credentials of its role.',
      fix: 'Set http_tokens to required.',
      severity: 'warning',
      says: 'admits requests without a token',
    },
  },
)
