import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { startOnce } from '../helpers/start-once.ts'
import { startIdentityProvider } from './provider.ts'

/** The configurations of the page, by heading. */
const page = readFileSync('docs/sign-in.md', 'utf8')
const configurations = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', parse(/^```yaml\n(.*?)^```/ms.exec(section)?.[1] ?? '').oidc]),
)

interface Token {
  /** The client that asks for the token; that of the configuration when absent. */
  client?: string
  /** Claims and header parameters that differ from those of the good token. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** The other token of the same sign-in: identity for access, access for identity. */
  other?: true
}

interface Issuer {
  /** Which token callers present. */
  kind: 'access' | 'identity'
  alg?: string
  /** Claims of the good token, without those that the server sets itself: times, and `iss` where it is its address. */
  claims: Record<string, unknown>
  header?: Record<string, unknown>
  /** The user that the core makes of the good token. */
  user: { email: string | null; display_name?: string }
  /** Tokens that are refused, with the reason. */
  refused: Record<string, [Token, string]>
}

const AUDIENCE = 'audience is not accepted'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const SECOND_TENANT = 'a1b2c3d4-1111-4222-8333-444455556666'
const FOREIGN_TENANT = '99999999-1111-4222-8333-444455556666'
const ENTRA = '6731de76-14a6-49ae-97bc-6eba6914391e'
const ENTRA_GROUP = '7d2c7c5e-5f0f-4b4f-9f43-0c1f6d0a1a11'
const OVERAGE = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example/x' } } }
const jwt = { typ: 'JWT' }
const untyped = { typ: undefined }

/** Tokens as the issuers document them. */
const ISSUERS: Record<string, Issuer> = {
  Keycloak: {
    kind: 'access',
    alg: 'EdDSA',
    header: jwt,
    claims: {
      aud: ['api://platform', 'account'],
      typ: 'Bearer',
      azp: 'platform-web',
      client_id: undefined,
      realm_access: { roles: ['offline_access', 'platform-user'] },
      resource_access: { account: { roles: ['view-profile'] } },
      scope: 'openid profile email',
      ...{ email_verified: true, name: 'Ada', preferred_username: 'ada', email: 'ada@example.org' },
    },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'the audience of every client': [{ claims: { aud: 'account' } }, AUDIENCE],
      'another realm': [{ claims: { iss: 'https://login.example.com/realms/other' } }, 'issuer is not accepted'],
      'no role of the realm': [
        { claims: { realm_access: { roles: ['offline_access'] } } },
        'claim realm_access.roles is not accepted',
      ],
      'a role of a client instead': [
        { claims: { realm_access: undefined, resource_access: { main: { roles: ['platform-user'] } } } },
        'claim realm_access.roles is missing',
      ],
      'an identity token': [{ other: true }, AUDIENCE],
    },
  },
  'Entra, one directory': {
    kind: 'access',
    alg: 'RS256',
    header: jwt,
    claims: {
      aud: ENTRA,
      client_id: undefined,
      scope: undefined,
      ...{ azp: ENTRA, azpacr: '0', scp: 'use read', ver: '2.0', tid: TENANT, oid: 'b1', name: 'Ada' },
      groups: ['00000000-aaaa-4bbb-8ccc-000000000000', ENTRA_GROUP],
      preferred_username: 'ada@example.org',
    },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'another API': [{ claims: { aud: '00000003-0000-0000-c000-000000000000' } }, AUDIENCE],
      'another directory': [
        { claims: { iss: `https://login.microsoftonline.com/${FOREIGN_TENANT}/v2.0`, tid: FOREIGN_TENANT } },
        'issuer is not accepted',
      ],
      'an application without a user': [{ claims: { scp: undefined, roles: ['use'] } }, 'claim scp is missing'],
      'a scope that only begins alike': [{ claims: { scp: 'user read' } }, 'claim scp is not accepted'],
      'another group': [
        { claims: { groups: ['00000000-aaaa-4bbb-8ccc-000000000000'] } },
        'claim groups is not accepted',
      ],
      'too many groups': [{ claims: { groups: undefined, ...OVERAGE } }, 'claim groups is left out of the token'],
      'groups that are left out of a fragment': [
        { claims: { groups: undefined, hasgroups: true } },
        'claim groups is left out of the token',
      ],
      'an identity token': [{ other: true }, 'claim scp is missing'],
    },
  },
  'Entra, v1.0 tokens': {
    kind: 'access',
    alg: 'RS256',
    header: { typ: 'JWT', x5t: 'i6lGk3FZzxRcUb2C3nEQ7syHJlY' },
    claims: {
      aud: `api://${ENTRA}`,
      iss: `https://sts.windows.net/${TENANT}/`,
      client_id: undefined,
      scope: undefined,
      ...{ appid: ENTRA, appidacr: '0', scp: 'use', ver: '1.0', tid: TENANT, oid: 'b1', name: 'Ada' },
      ...{ upn: 'ada@example.org', unique_name: 'ada@example.org' },
    },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'another directory': [
        { claims: { iss: `https://sts.windows.net/${FOREIGN_TENANT}/` } },
        'issuer is not accepted',
      ],
      'the issuer of v2.0': [
        { claims: { iss: `https://login.microsoftonline.com/${TENANT}/v2.0` } },
        'issuer is not accepted',
      ],
      'another application': [{ claims: { appid: FOREIGN_TENANT } }, 'client is not accepted'],
      'another API': [{ claims: { aud: 'https://graph.microsoft.com' } }, AUDIENCE],
      'an identity token': [{ other: true }, 'issuer is not accepted'],
    },
  },
  'Entra, several directories': {
    kind: 'access',
    alg: 'RS256',
    header: jwt,
    claims: {
      aud: ENTRA,
      iss: `https://login.microsoftonline.com/${SECOND_TENANT}/v2.0`,
      client_id: undefined,
      ...{ azp: ENTRA, scp: 'use', ver: '2.0', tid: SECOND_TENANT, oid: 'b1' },
      ...{ email: 'ada@example.org', xms_edov: true, preferred_username: 'ada@other.example' },
    },
    user: { email: 'ada@example.org' },
    refused: {
      'a directory that is not listed': [
        { claims: { iss: `https://login.microsoftonline.com/${FOREIGN_TENANT}/v2.0`, tid: FOREIGN_TENANT } },
        'issuer is not accepted',
      ],
      'the address without a directory': [
        { claims: { iss: 'https://login.microsoftonline.com/organizations/v2.0' } },
        'issuer is not accepted',
      ],
      'the placeholder': [
        { claims: { iss: 'https://login.microsoftonline.com/{tenantid}/v2.0' } },
        'issuer is not accepted',
      ],
      'another API': [{ claims: { aud: `api://${FOREIGN_TENANT}` } }, AUDIENCE],
    },
  },
  'Okta, custom authorization server': {
    kind: 'access',
    alg: 'RS256',
    header: untyped,
    claims: {
      aud: 'api://default',
      client_id: undefined,
      scope: undefined,
      sub: 'ada@example.org',
      ...{ ver: 1, cid: '0oab8eb55Kb9jdMIr5d6', uid: '00uid4BxXw6I6TV4m0g3', scp: ['openid', 'profile'] },
      groups: ['Everyone', 'platform-users'],
    },
    user: { email: 'ada@example.org' },
    refused: {
      'another client of the server': [{ claims: { cid: '0oaother' } }, 'client is not accepted'],
      'a client without a user': [{ claims: { uid: undefined } }, 'claim uid is missing'],
      'another server of the org': [
        { claims: { iss: 'https://example.okta.com/oauth2/aus1', aud: 'api://default' } },
        'issuer is not accepted',
      ],
      'another audience': [{ claims: { aud: 'https://example.okta.com' } }, AUDIENCE],
      'no group': [{ claims: { groups: [] } }, 'claim groups is not accepted'],
      'an identity token': [{ other: true }, 'claim uid is missing'],
    },
  },
  'Okta, org authorization server': {
    kind: 'identity',
    claims: { email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['platform-users'] },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'the access token, which is for Okta': [
        { other: true, header: { typ: 'application/okta-internal-at+jwt' } },
        'token type is not accepted',
      ],
      'an access token of before that type': [{ other: true, header: untyped }, AUDIENCE],
      'another client': [{ client: 'another-client' }, AUDIENCE],
      'no groups': [{ claims: { groups: undefined } }, 'claim groups is missing'],
    },
  },
  Auth0: {
    kind: 'access',
    alg: 'RS256',
    claims: {
      aud: ['https://platform.example.com/api', 'https://example.eu.auth0.com/userinfo'],
      client_id: 'K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja',
      sub: 'auth0|6553da60a54af58e29493993',
      'https://platform.example.com/email': 'ada@example.org',
      'https://platform.example.com/email_verified': true,
      'https://platform.example.com/roles': ['platform-user'],
    },
    user: { email: 'ada@example.org' },
    refused: {
      'a token for user information alone': [{ claims: { aud: 'https://example.eu.auth0.com/userinfo' } }, AUDIENCE],
      'another API': [{ claims: { aud: ['https://other.example.com/api'] } }, AUDIENCE],
      'an identity token': [{ other: true }, 'token type is not accepted'],
      'the type of identity tokens': [{ header: jwt }, 'token type is not accepted'],
      'roles inside of an object that the name would lead to': [
        {
          claims: {
            'https://platform.example.com/roles': undefined,
            'https://platform': { 'example.com/roles': ['platform-user'] },
          },
        },
        'claim https://platform.example.com/roles is missing',
      ],
    },
  },
  Cognito: {
    kind: 'access',
    alg: 'RS256',
    header: untyped,
    claims: {
      aud: undefined,
      client_id: '1example23456789',
      'cognito:groups': ['platform-users'],
      ...{ token_use: 'access', event_id: 'e1', origin_jti: 'o1', version: 2, username: 'ada@example.org' },
    },
    user: { email: 'ada@example.org' },
    refused: {
      'another client of the pool': [{ claims: { client_id: 'another' } }, 'client is not accepted'],
      'neither client nor audience': [{ claims: { client_id: undefined } }, 'claim client_id is missing'],
      'a client as a list': [{ claims: { client_id: ['1example23456789'] } }, 'client is not accepted'],
      'another resource beside the client': [{ claims: { aud: 'https://other.example.com' } }, AUDIENCE],
      'an identity token': [{ other: true, claims: { token_use: 'id' } }, 'claim client_id is missing'],
      'another use': [{ claims: { token_use: 'id' } }, 'claim token_use is not accepted'],
      'another pool': [
        { claims: { iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_other' } },
        'issuer is not accepted',
      ],
    },
  },
  Google: {
    kind: 'identity',
    claims: { email: 'ada@example.com', email_verified: true, hd: 'example.com', name: 'Ada' },
    user: { email: 'ada@example.com', display_name: 'Ada' },
    refused: {
      'a private account': [{ claims: { hd: undefined, email: 'ada@gmail.example' } }, 'claim hd is missing'],
      'another domain': [{ claims: { hd: 'example.com.evil.example' } }, 'claim hd is not accepted'],
      'another client': [{ client: 'another-client' }, AUDIENCE],
    },
  },
  GitLab: {
    kind: 'identity',
    claims: { email: 'ada@example.org', email_verified: true, groups_direct: ['acme', 'acme/platform'] },
    user: { email: 'ada@example.org' },
    refused: {
      'another group': [
        { claims: { groups_direct: ['acme', 'acme/platform-other'] } },
        'claim groups_direct is not accepted',
      ],
      'groups as from the user information': [
        { claims: { groups_direct: undefined, groups: ['acme/platform'] } },
        'claim groups_direct is missing',
      ],
      'another client': [{ client: 'another-client' }, AUDIENCE],
    },
  },
  Dex: {
    kind: 'identity',
    claims: { email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['acme:platform'] },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'another client': [{ client: 'another-client' }, AUDIENCE],
      'a group of another organisation': [{ claims: { groups: ['other:platform'] } }, 'claim groups is not accepted'],
    },
  },
  'AD FS': {
    kind: 'access',
    alg: 'RS256',
    header: { typ: 'JWT', x5t: 'i6lGk3FZzxRcUb2C3nEQ7syHJlY' },
    claims: {
      aud: 'api://platform',
      iss: 'http://adfs.example.com/adfs/services/trust',
      sub: undefined,
      client_id: undefined,
      ...{ apptype: 'Public', appid: '5b1f2c9e-9d6b-4b60-8d0a-2f6f0f6f1c11', authmethod: 'urn:x', ver: '1.0' },
      ...{ upn: 'ada@example.org', group: 'S-1-5-21-3623811015-3361044348-30300820-1013' },
    },
    user: { email: 'ada@example.org' },
    refused: {
      'the issuer of the discovery document': [
        { claims: { iss: 'https://adfs.example.com/adfs' } },
        'issuer is not accepted',
      ],
      'another server': [{ claims: { iss: 'http://adfs.example.org/adfs/services/trust' } }, 'issuer is not accepted'],
      'another application': [{ claims: { appid: 'other' } }, 'client is not accepted'],
      'the information about users': [{ claims: { aud: 'urn:microsoft:userinfo' } }, AUDIENCE],
      'no name': [{ claims: { upn: undefined, sub: 'ada' } }, 'claim upn is missing'],
      'a group that begins alike': [
        { claims: { group: 'S-1-5-21-3623811015-3361044348-30300820-10130' } },
        'claim group is not accepted',
      ],
    },
  },
  Zitadel: {
    kind: 'access',
    alg: 'RS256',
    header: jwt,
    claims: {
      aud: ['289651234567890123', '289650987654321098'],
      client_id: '289651234567890123',
      'urn:zitadel:iam:org:project:roles': { 'platform-user': { '2891': 'acme.zitadel.cloud' } },
    },
    user: { email: null },
    refused: {
      'another application of the project': [{ claims: { client_id: '289651111111111111' } }, 'client is not accepted'],
      'another project': [{ claims: { aud: ['289651234567890123'] } }, AUDIENCE],
      'another role': [
        { claims: { 'urn:zitadel:iam:org:project:roles': { viewer: { 'platform-user': 'acme.zitadel.cloud' } } } },
        'claim urn:zitadel:iam:org:project:roles is not accepted',
      ],
      'an identity token': [{ other: true }, 'claim client_id is missing'],
    },
  },
  Authentik: {
    kind: 'access',
    alg: 'Ed25519',
    header: jwt,
    claims: {
      aud: '8rK2mQ5vX1platform',
      azp: '8rK2mQ5vX1platform',
      client_id: undefined,
      ...{ uid: 'u1', acr: 'goauthentik.io/providers/oauth2/default', groups: ['authentik Admins', 'platform-users'] },
      ...{ email: 'ada@example.org', email_verified: true, name: 'Ada', preferred_username: 'ada' },
    },
    user: { email: 'ada@example.org', display_name: 'Ada' },
    refused: {
      'another application': [{ claims: { aud: 'other', azp: 'other' } }, 'client is not accepted'],
      'another client for this one': [{ claims: { azp: 'other' } }, 'client is not accepted'],
      'no group': [{ claims: { groups: undefined } }, 'claim groups is missing'],
    },
  },
  PingOne: {
    kind: 'access',
    alg: 'RS256',
    claims: {
      aud: ['api://platform'],
      client_id: '5b1f2c9e-9d6b-4b60-8d0a-2f6f0f6f1c11',
      ...{ sid: 's1', acr: 'Single_Factor', groups: ['platform-users'], email: 'ada@example.org' },
    },
    user: { email: 'ada@example.org' },
    refused: {
      "PingOne's own interface": [{ claims: { aud: ['https://api.pingone.eu'] } }, AUDIENCE],
      'an identity token': [{ other: true }, AUDIENCE],
      'another group': [{ claims: { groups: ['others'] } }, 'claim groups is not accepted'],
    },
  },
  PingFederate: {
    kind: 'access',
    alg: 'RS256',
    header: untyped,
    claims: { aud: undefined, client_id: 'platform-web', groups: ['platform-users'], email: 'ada@example.org' },
    user: { email: 'ada@example.org' },
    refused: {
      'another client': [{ claims: { client_id: 'other' } }, 'client is not accepted'],
      'an audience of another': [{ claims: { aud: 'https://other.example.com' } }, AUDIENCE],
      'an identity token': [{ other: true }, 'claim client_id is missing'],
    },
  },
}

const clients = ['another-client', ...[...configurations.values()].map(({ client_id }) => String(client_id))]
const provider = startOnce(() => startIdentityProvider([...new Set(clients)]))
const core = startOnce(createTestCore)

it('every issuer of the page is tried, and every tried one is there', () => {
  expect([...configurations.keys()]).toEqual(Object.keys(ISSUERS))
  for (const name of configurations.keys()) {
    const [first = ''] = name.split(',')
    expect(page).toMatch(new RegExp(`^\\| ${first}`, 'm'))
  }
})

describe.each(Object.entries(ISSUERS))('%s', (name, issuer) => {
  const oidc = configurations.get(name)
  const client = String(oidc?.client_id)
  const app = (): Promise<TestCore['app']> =>
    core.another({ yaml: stringify({ oidc: { ...oidc, issuer_url: provider.url } }) })

  const mint = async ({ client: other_client, claims, header, other }: Token): Promise<string> => {
    const isIdentity = (issuer.kind === 'identity') !== (other === true)
    const subject = `ada of ${name}`
    provider.minting.alg = issuer.alg ?? 'RS256'
    provider.minting.header = { ...issuer.header, ...header }
    const given = { ...issuer.claims, ...claims }
    provider.minting.claims = issuer.kind === 'access' ? given : {}
    provider.accounts.set(subject, issuer.kind === 'identity' ? JSON.parse(JSON.stringify(given)) : { ...claims })
    const { id_token, access_token } = await provider.logIn(subject, other_client ?? client)
    return isIdentity ? id_token : access_token
  }
  const me = async (token: string) => {
    const answer = await (await app()).request('/api/v1/users/me', { headers: { authorization: `Bearer ${token}` } })
    return [answer.status, await answer.json()]
  }

  it('lets its users in', async () => {
    const [status, user] = await me(await mint({}))
    expect([status, user]).toEqual([200, expect.objectContaining({ ...issuer.user, operation_role: 'developer' })])
  })

  it.each(Object.entries(issuer.refused))('refuses %s', async (_, [token, reason]) => {
    expect(await me(await mint(token))).toEqual([401, { detail: `Token validation failed: ${reason}` }])
  })
})
