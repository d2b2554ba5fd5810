import assert from 'node:assert/strict'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createTokenVerifier } from '../../../src/access/verify-token.ts'
import { oidcConfig } from '../../helpers/oidc-config.ts'

/**
 * Run by each runtime. Exits with 0 if tokens signed with Ed25519 are accepted under both names, and those of ML-DSA
 * are accepted, or refused as not supported where the runtime cannot sign with it.
 */
const oidc = oidcConfig()
for (const alg of ['EdDSA', 'Ed25519', 'ML-DSA-44']) {
  const pair = await generateKeyPair(alg, { extractable: true }).catch(() => null)
  if (!pair) {
    assert.equal(alg, 'ML-DSA-44', `${alg} is supported`)
    continue
  }
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'key', alg }
  const verify = createTokenVerifier(oidc, {
    fetch: async (input) =>
      Response.json(String(input).endsWith('/keys') ? { keys: [jwk] } : { jwks_uri: `${oidc.issuer_url}/keys` }),
    now: () => new Date(),
  })
  const token = (sub: string) =>
    new SignJWT({ iss: oidc.issuer_url, sub, aud: 'core' })
      .setExpirationTime('5m')
      .setProtectedHeader({ alg, kid: 'key' })
      .sign(pair.privateKey)
  assert.equal((await verify(await token('ada'))).sub, 'ada', alg)
  const [header, , signature] = (await token('ada')).split('.')
  const [, payload] = (await token('mallory')).split('.')
  await assert.rejects(verify([header, payload, signature].join('.')), /signature does not match/, alg)
  console.log(`${alg}: accepted`)
}
process.exit(0)
