import { AwsClient } from 'aws4fetch'

export interface Keys {
  access_key: string
  secret_key: string
  session_token?: string
}

/** Keys that moto takes without a look at them, of its only account. */
export const ANY_KEYS: Keys = { access_key: 'AKIAWORLD', secret_key: 'world' }
export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'

/** Calls of an operator beside the platform, signed by another library's rules than ours. Errors: the answer's text. */
export function callsOf(url: string, keys: Keys = ANY_KEYS) {
  const send = async (service: string, path: string, init: RequestInit) => {
    const client = new AwsClient({
      accessKeyId: keys.access_key,
      secretAccessKey: keys.secret_key,
      sessionToken: keys.session_token,
      service,
      region: REGION,
      retries: 0,
    })
    const response = await client.fetch(`${url}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} of ${service}: ${text.slice(0, 500)}`)
    return text
  }
  return {
    /** Query protocol: EC2, IAM, STS, SNS, RDS and others. Answers XML. */
    query: (service: string, version: string, action: string, fields: Record<string, string> = {}) =>
      send(service, '/', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ Action: action, Version: version, ...fields }).toString(),
      }),
    /** JSON protocol: DynamoDB, SQS, KMS, tagging and others. */
    json: async (service: string, target: string, body: object, version = '1.1'): Promise<Record<string, unknown>> => {
      const text = await send(service, '/', {
        method: 'POST',
        headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': target },
        body: JSON.stringify(body),
      })
      return text === '' ? {} : JSON.parse(text)
    },
    /** REST: S3 and others. */
    rest: (service: string, method: string, path: string, body?: string) => send(service, path, { method, body }),
  }
}

/** Text of the first element of this name. */
export const element = (xml: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
