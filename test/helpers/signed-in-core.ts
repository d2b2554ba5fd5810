import { createTestCore, type TestCore } from './core.ts'
import { interceptRequests } from './intercept.ts'
import { createIssuer, type Issuer } from './issuer.ts'
import { startOnce } from './start-once.ts'

export interface SignedInCore extends TestCore {
  issuer: Issuer
  /** Calls the core with a token of this subject. */
  as(subject: string, method: string, path: string, json?: unknown, claims?: object): Promise<Response>
}

/** Provides a core with an identity provider. Other requests of the core fail. */
export function provideSignedInCore(yaml = ''): SignedInCore {
  const server = interceptRequests()
  return startOnce(async () => {
    const issuer = await createIssuer()
    server.use(...issuer.handlers)
    const core = await createTestCore({ yaml: `oidc: { issuer_url: "${issuer.url}", client_id: core }\n${yaml}` })
    const as: SignedInCore['as'] = async (subject, method, path, json, claims = {}) =>
      core.call(method, path, { json, token: await issuer.token(subject, { ...claims }) })
    return { ...core, issuer, as }
  })
}
