import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { listen } from '../../../../dev/server.ts'
import { codeFlow } from '../../../access/provider.ts'
import { createTestCore, type TestCore } from '../../../helpers/core.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { startOnce } from '../../../helpers/start-once.ts'

const CLIENT_ID = 'platform-web'
const REDIRECT_URI = 'https://console.example.org/console/signed-in'
/** The person of Dex's own connector for tests. */
const KILGORE = { email: 'kilgore@kilgore.trout', display_name: 'Kilgore Trout', group: 'authors' }

/** Starts Dex in memory, with its connector that lets everybody in as the same person, and two public clients. */
async function startDex() {
  const free = await listen(createServer())
  await free.close()
  const url = `${free.url}/dex`
  const folder = await mkdtemp(join(tmpdir(), 'dex-'))
  const clients = [CLIENT_ID, 'another-client'].map((id) => ({
    ...{ id, name: id, public: true },
    redirectURIs: [REDIRECT_URI],
  }))
  const config = {
    issuer: url,
    storage: { type: 'memory' },
    web: { http: new URL(url).host },
    oauth2: { skipApprovalScreen: true },
    staticClients: clients,
    connectors: [{ type: 'mockCallback', id: 'mock', name: 'Example' }],
  }
  await writeFile(join(folder, 'config.yaml'), stringify(config))
  const child = spawn(process.env.DEX ?? '', ['serve', join(folder, 'config.yaml')], { stdio: 'ignore' })
  await eventually(async () => {
    expect((await fetch(`${url}/.well-known/openid-configuration`)).status).toBe(200)
  })
  return {
    url,
    close: async () => {
      child.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe.skipIf(process.env.DEX === undefined)('tokens of Dex', () => {
  const dex = startOnce(startDex)
  const core = startOnce(createTestCore)
  const logIn = (client_id = CLIENT_ID) =>
    codeFlow(dex.url, { subject: '', client_id, redirect_uri: REDIRECT_URI, scope: 'openid profile email groups' })
  /** A core with the configuration of the page, for this address and this group. */
  async function configured(group: string): Promise<TestCore['app']> {
    const page = await readFile('docs/sign-in.md', 'utf8')
    const { oidc } = parse(/^### Dex\n.*?^```yaml\n(.*?)^```/ms.exec(page)?.[1] ?? '')
    const required_claims = [{ claim: oidc.required_claims[0].claim, values: [group] }]
    return core.another({ yaml: stringify({ oidc: { ...oidc, issuer_url: dex.url, required_claims } }) })
  }
  const me = async (app: TestCore['app'], token: string) => {
    const answer = await app.request('/api/v1/users/me', { headers: { authorization: `Bearer ${token}` } })
    return [answer.status, await answer.json()]
  }

  it('of both kinds let their user in, with e-mail and group', async () => {
    const app = await configured(KILGORE.group)
    const { id_token, access_token } = await logIn()
    const { email, display_name } = KILGORE
    for (const token of [id_token, access_token]) {
      expect(decodeJwt(token)).toMatchObject({ iss: dex.url, aud: CLIENT_ID, groups: [KILGORE.group] })
      expect(await me(app, token)).toEqual([200, expect.objectContaining({ email, display_name })])
    }
  })

  it('of another client or without the group are refused', async () => {
    const app = await configured(KILGORE.group)
    const { id_token, access_token } = await logIn('another-client')
    for (const token of [id_token, access_token])
      expect(await me(app, token)).toEqual([401, { detail: 'Token validation failed: audience is not accepted' }])
    const other = await configured('acme:platform')
    expect(await me(other, (await logIn()).id_token)).toEqual([
      401,
      { detail: 'Token validation failed: claim groups is not accepted' },
    ])
  })
})
