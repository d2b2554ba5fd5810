import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BEDROCK, KEYS } from './clients/bedrock.ts'
import { OPENING } from './conversation.ts'
import { interceptor, ourClient } from './exchange.ts'
import { type Loose, sdk } from './sdks.ts'

const serve = interceptor()

/** The hash that the signer of AWS asks for. */
class Sha256 {
  private readonly hash
  constructor(secret?: Uint8Array | string) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }
  update(data: Uint8Array | string): void {
    this.hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.hash.digest()
  }
}

describe('our signature is that of the signer of AWS, made of the same headers', () => {
  it.each(
    BEDROCK.filter(({ ours }) => !ours.credentials).map((one) => [one.ours.model, one] as const),
  )('%s', async (_model, { ours, called }) => {
    const [sent] = serve({ body: called })
    expect(sent).toBeUndefined()
    const requests = serve({ body: called })
    await ourClient(ours).complete({ role: 'main', messages: OPENING })
    const request: Loose = requests[0]
    const authorization: string = request.headers.get('authorization')
    const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
    expect(names).toContain('x-amz-date')
    const { hostname, pathname } = new URL(request.url)
    const values = { ...Object.fromEntries(request.headers), host: hostname }
    const stamp: string = request.headers.get('x-amz-date')
    const time = stamp.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z')
    const signer = new (sdk('@smithy/signature-v4').SignatureV4)({
      service: 'bedrock',
      region: 'eu-central-1',
      credentials: KEYS,
      sha256: Sha256,
      applyChecksum: false,
    })
    const signed = await signer.sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname,
        path: pathname,
        query: {},
        headers: Object.fromEntries(names.map((name) => [name, (values as Loose)[name]])),
        body: request.text,
      },
      { signingDate: new Date(time) },
    )
    expect(/Signature=(\w+)/.exec(authorization)?.[1]).toBe(/Signature=(\w+)/.exec(signed.headers.authorization)?.[1])
  })
})
