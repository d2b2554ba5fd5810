import { readNamedFile } from './read-named-file.ts'
import { assumeWithToken } from './sts.ts'
import { type ChainLink, credentialFault } from './types.ts'

/** A token in a file, as clusters mount it for a service account; read anew at each renewal. */
export const fromWebIdentity: ChainLink = async (tools) => {
  const { web_identity_token_file, role_arn, role_session_name } = tools.aws
  if (web_identity_token_file === '') return null
  if (role_arn === '') throw credentialFault('AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN')
  const what = 'the file that AWS_WEB_IDENTITY_TOKEN_FILE names'
  const token = await readNamedFile(tools, web_identity_token_file, what)
  if (token === '') throw credentialFault(`${what} is missing or empty`)
  return assumeWithToken(tools, { arn: role_arn, session_name: role_session_name }, token)
}
