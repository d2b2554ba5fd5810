import type { Source } from '../source.ts'

type Variables = Pick<Source, 'variable'>

/** The values of the variables that lead to AWS credentials; unset ones are empty. */
export type AwsVariables = ReturnType<typeof readAws>

/** Reads the variables of the credential chain, which have the same names as in the AWS tools. */
export function readAws(source: Variables) {
  const value = source.variable
  return {
    access_key: value('AWS_ACCESS_KEY_ID'),
    secret_key: value('AWS_SECRET_ACCESS_KEY'),
    session_token: value('AWS_SESSION_TOKEN'),
    web_identity_token_file: value('AWS_WEB_IDENTITY_TOKEN_FILE'),
    role_arn: value('AWS_ROLE_ARN'),
    role_session_name: value('AWS_ROLE_SESSION_NAME'),
    /** If empty, the profile `default` is used where it exists. */
    profile: value('AWS_PROFILE'),
    /** Paths of the shared files, by default in the home folder; empty without a home folder. */
    credentials_file: value('AWS_SHARED_CREDENTIALS_FILE') || belowHome(source, 'credentials'),
    config_file: value('AWS_CONFIG_FILE') || belowHome(source, 'config'),
    container_relative_uri: value('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'),
    container_full_uri: value('AWS_CONTAINER_CREDENTIALS_FULL_URI'),
    container_token: value('AWS_CONTAINER_AUTHORIZATION_TOKEN'),
    container_token_file: value('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'),
    metadata_disabled: value('AWS_EC2_METADATA_DISABLED').toLowerCase() === 'true',
    /** Base URL without trailing slash. */
    metadata_endpoint: metadataEndpoint(source),
  }
}

function belowHome(source: Variables, name: string): string {
  const home = source.variable('HOME') || source.variable('USERPROFILE')
  return home === '' ? '' : `${home}/.aws/${name}`
}

function metadataEndpoint(source: Variables): string {
  const endpoint = source.variable('AWS_EC2_METADATA_SERVICE_ENDPOINT').replace(/\/+$/, '')
  if (endpoint !== '') return endpoint
  const usesIpv6 = source.variable('AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE').toLowerCase() === 'ipv6'
  return usesIpv6 ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254'
}
