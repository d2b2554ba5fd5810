import { describe, expect, it } from 'vitest'
import { awsImportId } from '../../../src/plan/imports/aws-import-id.ts'

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
