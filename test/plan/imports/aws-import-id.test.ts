import { describe, expect, it } from 'vitest'
import { awsImportId } from '../../../src/plan/imports/aws-import-forms.ts'

const arn = (service: string, resource: string, region = 'eu-central-1') =>
  `arn:aws:${service}:${region}:123456789012:${resource}`

describe('awsImportId', () => {
  it.each([
    ['aws_instance.web', arn('ec2', 'instance/i-0abc'), 'i-0abc'],
    ['module.net["a.b"].aws_vpc.main[0]', arn('ec2', 'vpc/vpc-1'), 'vpc-1'],
    ['aws_security_group.a["x[1].y"]', arn('ec2', 'security-group/sg-1'), 'sg-1'],
    ['aws_eip.a', arn('ec2', 'elastic-ip/eipalloc-1'), 'eipalloc-1'],
    ['aws_s3_bucket.logs', 'arn:aws:s3:::my.logs', 'my.logs'],
    ['aws_iam_role.deploy', 'arn:aws:iam::123456789012:role/team/path/deploy', 'deploy'],
    ['aws_kms_key.k', arn('kms', 'key/0f0f-1'), '0f0f-1'],
    ['aws_sqs_queue.q', arn('sqs', 'orders.fifo'), 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo'],
    ['aws_sqs_queue.q', 'arn:aws-cn:sqs:cn-north-1:1:q', 'https://sqs.cn-north-1.amazonaws.com.cn/1/q'],
    ['aws_lambda_function.f', arn('lambda', 'function:resize'), 'resize@eu-central-1'],
    ['aws_dynamodb_table.t', arn('dynamodb', 'table/orders'), 'orders@eu-central-1'],
    ['aws_db_instance.d', arn('rds', 'db:main'), 'main@eu-central-1'],
    ['aws_ecr_repository.r', arn('ecr', 'repository/team/app'), 'team/app@eu-central-1'],
    ['aws_cloudwatch_log_group.l', arn('logs', 'log-group:/aws/lambda/resize:*'), '/aws/lambda/resize@eu-central-1'],
    ['aws_kms_alias.a', arn('kms', 'alias/main'), 'alias/main@eu-central-1'],
  ])('%s takes %s as %s', (address, id, expected) => {
    expect(awsImportId(address, id)).toBe(expected)
  })

  it.each([
    ['aws_lambda_function.f', arn('lambda', 'function:resize'), 'resize'],
    ['aws_cloudwatch_log_group.l', arn('logs', 'log-group:/aws/lambda/resize:*'), '/aws/lambda/resize'],
    ['aws_kms_alias.a', arn('kms', 'alias/main'), 'alias/main'],
    ['aws_dynamodb_table.t', arn('dynamodb', 'table/orders', 'eu-west-1'), 'orders@eu-west-1'],
    ['aws_lambda_function.f', 'arn:aws:lambda::123456789012:function:resize', null],
    ['aws_ssm_parameter.p', arn('ssm', 'parameter/app/db/url'), '/app/db/url'],
    ['aws_ssm_parameter.p', arn('ssm', 'parameter/plain'), 'plain'],
    ['aws_cloudwatch_event_rule.r', arn('events', 'rule/nightly'), 'nightly'],
    ['aws_cloudwatch_event_rule.r', arn('events', 'rule/bus/nightly'), 'bus/nightly'],
    ['aws_cloudwatch_dashboard.d', 'arn:aws:cloudwatch::123456789012:dashboard/main', 'main'],
    ['aws_autoscaling_group.g', arn('autoscaling', 'autoScalingGroup:0f-1:autoScalingGroupName/a/b'), 'a/b'],
    ['aws_autoscaling_group.g', arn('autoscaling', 'something-else'), null],
    ['aws_launch_configuration.l', arn('autoscaling', 'launchConfiguration:0f-1:launchConfigurationName/web'), 'web'],
    ['aws_cloudwatch_log_group.l', arn('logs', 'log-group:a:*b'), 'a:*b'],
    ['aws_cloudformation_stack.s', arn('cloudformation', 'stack'), null],
    ['aws_keyspaces_keyspace.k', arn('cassandra', '/keyspace/'), null],
    ['aws_ecs_service.s', arn('ecs', 'service/main/web'), 'main/web'],
    ['aws_eks_node_group.n', arn('eks', 'nodegroup/main/workers/0f0f-1'), 'main:workers'],
    ['aws_cloudformation_stack.s', arn('cloudformation', 'stack/net/0f0f-1'), 'net'],
    ['aws_glue_catalog_database.d', arn('glue', 'database/lake'), '123456789012:lake'],
    ['aws_keyspaces_keyspace.k', arn('cassandra', '/keyspace/orders/'), 'orders'],
    ['aws_s3_access_point.p', arn('s3', 'accesspoint/reports'), '123456789012:reports'],
    ['aws_codepipeline.p', arn('codepipeline', 'release'), 'release'],
    ['aws_wafv2_web_acl.w', arn('wafv2', 'regional/webacl/shop/0f-1'), '0f-1/shop/REGIONAL'],
    ['aws_wafv2_web_acl.w', arn('wafv2', 'global/webacl/shop/0f-1', 'us-east-1'), '0f-1/shop/CLOUDFRONT'],
    ['aws_api_gateway_rest_api.a', 'arn:aws:apigateway:eu-central-1::/restapis/a1b2', 'a1b2'],
    ['aws_cognito_user_pool.u', arn('cognito-idp', 'userpool/eu-central-1_aBc'), 'eu-central-1_aBc'],
    ['aws_cognito_identity_pool.u', arn('cognito-identity', 'identitypool/eu-central-1:0f-1'), 'eu-central-1:0f-1'],
    ['aws_rds_cluster_instance.i', arn('rds', 'db:main-1'), 'main-1'],
    ['aws_opensearch_domain.d', arn('es', 'domain/logs'), 'logs'],
    ['aws_mq_broker.b', arn('mq', 'broker:orders:b-0f-1'), 'b-0f-1'],
  ])('%s takes %s as %s, where its provider works in eu-central-1', (address, id, expected) => {
    expect(awsImportId(address, id, 'eu-central-1')).toBe(expected)
  })

  it.each([
    ['aws_lb.main', arn('elasticloadbalancing', 'loadbalancer/app/main/1')],
    ['aws_instance.web', 'i-0abc'],
    ['terraform_data.x', arn('sqs', 'orders')],
    ['aws_lambda_function.f', 'arn:aws:lambda::123456789012:function:resize'],
    ['constructor.x', arn('sqs', 'orders')],
    ['', ''],
  ])('%s with %s is left as it is', (address, id) => {
    expect(awsImportId(address, id)).toBeNull()
  })
})
