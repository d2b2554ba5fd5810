import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBundled, startReceiver } from '../../../contracts/conformance/bundled.ts'
import { type ContractName, readContract } from '../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../contracts/conformance/options.ts'
import { runConformance } from '../../../contracts/conformance/run.ts'
import type { Options } from '../../../contracts/conformance/types.ts'
import type { Runtime } from './install.ts'

const TOKEN = 'token-of-the-sidecar'
const ADMIN = 'root@example.com'

/** The bundled sidecars. Each keeps its contract on every runtime. */
export const SIDECARS: readonly (readonly [name: string, run: (runtime: Runtime) => Promise<void>])[] = [
  [
    'authz sidecar conforms',
    (runtime) =>
      inFolder((folder) => {
        const store = { PLATFORM_AUTHZ_ROLE_STORE: join(folder, 'roles.json'), PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL: ADMIN }
        return conforms(runtime, 'authz', { PLATFORM_AUTHZ_TOKEN: TOKEN, ...store }, { admin: ADMIN })
      }),
  ],
  ['mapping sidecar conforms', (runtime) => conforms(runtime, 'mapping', { PLATFORM_MAPPING_TOKEN: TOKEN })],
  [
    'notifications sidecar conforms',
    async (runtime) => {
      const receiver = await startReceiver()
      const env = { PLATFORM_NOTIFICATIONS_TOKEN: TOKEN, CHAT_WEBHOOK_URL: receiver.url }
      await conforms(runtime, 'notifications', env).finally(() => receiver.close())
    },
  ],
  [
    'iac sidecar conforms',
    (runtime) =>
      inFolder((folder) => {
        const env = { PLATFORM_IAC_TOKEN: TOKEN, IAC_DATA_DIR: join(folder, 'iac') }
        return conforms(runtime, 'iac', env, { workspace: folder })
      }),
  ],
  [
    'a sidecar without a token listens on loopback',
    // One that listened on all addresses would not name this one when it is ready.
    async (runtime) =>
      (await startBundled('mapping', { PLATFORM_MAPPING_TOKEN: '', PLATFORM_HOST: '' }, runtime)).close(),
  ],
]

async function conforms(
  runtime: Runtime,
  contract: ContractName,
  env: Record<string, string>,
  options: Partial<Options> = {},
) {
  const service = await startBundled(contract, env, runtime)
  try {
    const document = await readContract(contract)
    const settings = { ...DEFAULTS, contract: document, url: service.url, seed: 1, token: TOKEN, ...options }
    const outcome = await runConformance(settings)
    const broken = outcome.promises.filter(({ outcome: how }) => how === 'broken')
    if (!outcome.conformant || outcome.passed === 0)
      throw new Error(
        broken.map(({ id, findings }) => `${id}: ${findings[0]?.why ?? ''}`).join('\n    ') || 'nothing was checked',
      )
  } finally {
    await service.close()
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'runtime-sidecar-'))
  await work(folder).finally(() => rm(folder, { recursive: true, force: true }))
}
