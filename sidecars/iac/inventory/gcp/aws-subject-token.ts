import { awsCredentials, awsRegion } from '../aws/client.ts'
import type { InventoryRequest } from '../types.ts'

/**
 * The proof of an AWS identity: a signed request that Google's token service sends to AWS. The keys are those of the
 * platform's own AWS chain; the addresses for keys that a credential file names are never asked.
 */
export async function awsSubjectToken(
  request: InventoryRequest,
  file: { audience: string; subject_token_type: string; token_url: string },
): Promise<string> {
  const region = awsRegion(request)
  const { access_key, secret_key, session_token } = await awsCredentials(request, region)()
  const { AwsClient } = await import('google-auth-library')
  const client = new AwsClient({
    type: 'external_account',
    audience: file.audience,
    subject_token_type: file.subject_token_type,
    token_url: file.token_url,
    aws_security_credentials_supplier: {
      getAwsRegion: async () => region,
      getAwsSecurityCredentials: async () => ({
        accessKeyId: access_key,
        secretAccessKey: secret_key,
        ...(session_token ? { token: session_token } : {}),
      }),
    },
  })
  return client.retrieveSubjectToken()
}
