import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { listen } from '../../../dev/server.ts'
import { readAzureCredentials, readAzureEnvironment } from '../../../sidecars/iac/inventory/azure/credentials.ts'
import { readGcpAccess } from '../../../sidecars/iac/inventory/gcp/credentials.ts'
import type { InventoryRequest } from '../../../sidecars/iac/inventory/request.ts'
import { createLogger } from '../../../src/base/log.ts'

/**
 * Gets a token of Azure and one of GCP by the vendors' libraries from a server on this machine. Prints one line of JSON
 * a library: the token, and milliseconds and MiB of memory that its first one took.
 */
const server = createServer((incoming, answer) => {
  answer.setHeader('content-type', 'application/json')
  const origin = `http://${incoming.headers.host}`
  const body = incoming.url?.startsWith('/metadata/')
    ? { authentication: { loginEndpoint: origin, audiences: [origin] }, resourceManager: origin }
    : { access_token: `token of ${incoming.url}`.replaceAll(' ', '_'), token_type: 'Bearer', expires_in: 3600 }
  incoming.resume().on('end', () => answer.end(JSON.stringify(body)))
})
const { url: origin } = await listen(server)

const requestWith = (env: InventoryRequest['env']): InventoryRequest => ({
  scopeId: '',
  env,
  fetch: (...call) => fetch(...call),
  signal: new AbortController().signal,
  log: createLogger({ level: 'error', write: () => undefined }),
  now: () => new Date(),
})

const azure = requestWith({
  ARM_METADATA_HOSTNAME: origin,
  ARM_TENANT_ID: 'tenant',
  ARM_CLIENT_ID: 'client',
  ARM_CLIENT_SECRET: 'secret',
})
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const gcp = requestWith({
  GOOGLE_CREDENTIALS: JSON.stringify({
    type: 'service_account',
    client_email: 'ci@web-prod-1.iam.gserviceaccount.com',
    private_key: key,
    token_uri: `${origin}/google`,
  }),
})

const first: Record<string, () => Promise<string>> = {
  azure: async () => (await (await readAzureCredentials(azure, await readAzureEnvironment(azure)))()).value,
  gcp: async () => (await (await readGcpAccess(gcp)).headers()).authorization ?? '',
}
await (await fetch(`${origin}/warm`)).text()
for (const [name, obtain] of Object.entries(first)) {
  if (process.argv[2] && process.argv[2] !== name) continue
  const [rss, start] = [process.memoryUsage().rss, performance.now()]
  const token = await obtain()
  const mib = Math.round((process.memoryUsage().rss - rss) / 1024 / 1024)
  console.log(JSON.stringify({ name, token, ms: Math.round(performance.now() - start), mib }))
}
process.exit(0)
