import type { RequestListener } from 'node:http'

/** What the engine asks of the service behind `remote`, for one workspace of an organization `acme`. */
export function stateService(options: { token: string; workspace: string; state: string }): RequestListener {
  const { token, workspace, state } = options
  const host = 'app.terraform.io'
  let isLocked = false
  const described = () => ({
    id: 'ws-1',
    type: 'workspaces',
    attributes: {
      ...{ name: workspace, locked: isLocked, operations: false, 'execution-mode': 'local' },
      ...{ 'terraform-version': '1.11.4', 'resource-count': 1 },
      permissions: {
        ...{ 'can-update': true, 'can-destroy': true, 'can-queue-run': true, 'can-read-settings': true },
        ...{ 'can-lock': true, 'can-unlock': true, 'can-read-state-versions': true, 'can-create-state-versions': true },
      },
    },
    relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
  })
  const version = () => ({
    id: 'sv-1',
    type: 'state-versions',
    attributes: { serial: 7, status: 'finalized', 'hosted-state-download-url': `https://${host}/state` },
  })
  const entitlements = { id: 'acme', type: 'entitlement-sets', attributes: { 'state-storage': true, operations: true } }
  return ({ url = '', method, headers }, response) => {
    const path = url.replace(/\?.*/, '')
    const answer = (status: number, body?: object | string) =>
      response
        .writeHead(status, {
          'content-type': path.startsWith('/api') ? 'application/vnd.api+json' : 'application/json',
          'tfp-api-version': '2.6',
        })
        .end(typeof body === 'object' ? JSON.stringify(body) : body)
    if (path === '/.well-known/terraform.json')
      return answer(200, Object.fromEntries(['tfe.v2', 'tfe.v2.1', 'tfe.v2.2', 'state.v2'].map((n) => [n, '/api/v2/'])))
    if (path === '/api/v2/ping') return answer(204)
    if (path === '/state') return answer(200, state)
    if (headers.authorization !== `Bearer ${token}`)
      return answer(401, { errors: [{ status: '401', title: 'unauthorized' }] })
    const lock = /\/actions\/(lock|unlock)$/.exec(path)?.[1]
    if (lock && method === 'POST') {
      isLocked = lock === 'lock'
      return answer(200, { data: described() })
    }
    if (path === '/api/v2/organizations/acme/entitlement-set') return answer(200, { data: entitlements })
    if (path === '/api/v2/organizations/acme/workspaces')
      return answer(200, {
        data: [described()],
        meta: { pagination: { 'current-page': 1, 'total-pages': 1, 'total-count': 1 } },
      })
    if (path === `/api/v2/organizations/acme/workspaces/${workspace}` || path === '/api/v2/workspaces/ws-1')
      return answer(200, { data: described() })
    if (path === '/api/v2/workspaces/ws-1/current-state-version') return answer(200, { data: version() })
    return answer(404, { errors: [{ status: '404', title: 'not found' }] })
  }
}
