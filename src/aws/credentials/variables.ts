import { type ChainLink, credentialFault } from './types.ts'

/** `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for temporary keys, `AWS_SESSION_TOKEN`. */
export const fromVariables: ChainLink = async ({ aws }) => {
  const { access_key, secret_key, session_token } = aws
  if (access_key === '' && secret_key === '') return null
  if (secret_key === '') throw credentialFault('AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY')
  if (access_key === '') throw credentialFault('AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID')
  return { access_key, secret_key, session_token: session_token || undefined }
}
