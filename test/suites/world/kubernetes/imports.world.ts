import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineArguments } from '../../../../sidecars/iac/engine/command.ts'
import { stateResourceIds } from '../../../../sidecars/iac/jobs/execute.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { writeEngineConfig } from '../tools/providers.ts'
import { startCluster } from './cluster.ts'
import { idOf, makeObjects, OBJECTS } from './objects.ts'

const run = promisify(execFile)
const cluster = startOnce(startCluster)
let folder = ''

const CASES = OBJECTS.flatMap((object) =>
  ['manifest', ...object.types].map((type) => ({ type: `kubernetes_${type}`, id: idOf(object), object })),
).map((entry, index) => ({ ...entry, address: `${entry.type}.n${index}` }))
const REQUIRED =
  'terraform {\n  required_providers {\n    kubernetes = {\n      source = "hashicorp/kubernetes"\n    }\n  }\n}\n'

const engine = async (...args: string[]) => {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    ...cluster.env(),
    TF_CLI_CONFIG_FILE: join(folder, 'engine.tfrc'),
  }
  return (await run('terraform', args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })).stdout
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-imports-'))
  await writeEngineConfig(process.env.WORLD_MIRROR ?? '', { folder } as Parameters<typeof writeEngineConfig>[1])
  const blocks = CASES.map(({ address }) => `resource "${address.replace('.', '" "')}" {\n}\n`)
  await writeFile(join(folder, 'main.tf'), `${REQUIRED}\n${blocks.join('\n')}`)
  await engine('init', '-no-color', '-input=false')
  await makeObjects(cluster)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Imports as the sidecar does, into a state of its own; what that state manages by the sidecar's reading. */
async function imported(address: string, id: string): Promise<string[]> {
  const request = { workspace_path: folder, scope_id: 's', engine_provider: 'kubernetes', address, resource_id: id }
  const args = engineArguments('import', request as never, '') ?? []
  const state = join(folder, `${crypto.randomUUID()}.tfstate`)
  await engine(...args.slice(0, -2), `-state=${state}`, '-lock=false', ...args.slice(-2))
  return stateResourceIds(await readFile(state, 'utf8')) ?? []
}

describe('an identifier of the inventory', () => {
  it.concurrent.for(CASES)('$id is imported as $type, and the state is read as managing it', async (entry, context) => {
    context.expect(await imported(entry.address, entry.id)).toContain(entry.id)
  })

  it('of another kind is refused by the provider, whose namesake is not taken in', async () => {
    const { address } = CASES.find(({ type }) => type === 'kubernetes_deployment_v1') ?? { address: '' }
    const service = 'apiVersion=v1,kind=Service,namespace=shop,name=web'
    await expect(imported(address, service)).rejects.toThrow(/Unexpected ID format/)
    const config = CASES.find(({ type }) => type === 'kubernetes_storage_class_v1') ?? { address: '' }
    await expect(imported(config.address, service)).rejects.toThrow(/Cannot import non-existent|not found|Unexpected/i)
  })
})
