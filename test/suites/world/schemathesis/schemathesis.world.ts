import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBundled, startReceiver } from '../../../../contracts/conformance/bundled.ts'
import type { ContractName } from '../../../../contracts/conformance/document.ts'
import { ENDPOINTS } from '../../../../routes/endpoints.ts'
import { configOf } from './config.ts'
import { type RunningCore, startCore } from './core.ts'
import { runSchemathesis, SEED, type Target } from './run.ts'

const HOUR_MS = 3_600_000
const CONTRACTS = join(import.meta.dirname, '../../../../contracts')
const IN_CI = process.env.WORLD_CI === 'true'
/** Requests in all; the shares below add up to 1. */
const ALL = IN_CI ? 5_000 : 50_000
let sent = 0

/**
 * Tests a target with ever further seeds until its share is spent, at least once.
 * @param share of all requests, 0 to 1
 */
async function spend(name: string, share: number, target: Target, options: { phases?: string } = {}): Promise<void> {
  let cases = 0
  for (let round = 0; cases < ALL * share; round++) {
    const seed = SEED + round
    const left = ALL * share - cases
    // Beyond the systematic requests, which are the same each time, every further run generates more.
    const examples = Math.max(5, Math.min(400, Math.round(left / target.operations)))
    const phases = options.phases ?? (round > 0 ? 'fuzzing,stateful' : undefined)
    const found = await runSchemathesis(target, { seed, examples, ...(phases ? { phases } : {}) })
    cases += found.cases
    if (found.report !== '') {
      console.log(`${name}, WORLD_SEED=${seed}\n${found.report}`)
      expect.fail(`${name} does not answer as described, WORLD_SEED=${seed}; see above`)
    }
  }
  sent += cases
  console.log(`${name}: ${cases} requests, seed ${SEED}`)
}

describe('the sidecars answer as their contracts say', () => {
  const TOKEN = 'Schemathesis-token-7f3a'
  let folder: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'schemathesis-sidecars-'))
    await mkdir(join(folder, 'workspace'))
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  })

  const environments = (): Record<ContractName, Record<string, string>> => ({
    authz: {
      PLATFORM_AUTHZ_TOKEN: TOKEN,
      PLATFORM_AUTHZ_ROLE_STORE: join(folder, 'roles.json'),
      PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL: 'root@example.com',
    },
    mapping: { PLATFORM_MAPPING_TOKEN: TOKEN },
    notifications: { PLATFORM_NOTIFICATIONS_TOKEN: TOKEN, CHAT_WEBHOOK_URL: receiver.url },
    iac: {
      PLATFORM_IAC_TOKEN: TOKEN,
      IAC_DATA_DIR: join(folder, 'iac'),
      PLATFORM_PIN_KEY: '',
      // All jobs are for one workspace, and a full queue answers 503.
      IAC_MAX_QUEUED: '10000',
    },
  })
  const CASES: [string, ContractName, number, number, Record<string, string>][] = [
    ['authz as its administrator', 'authz', 7, 0.08, { 'X-User-Id': 'root@example.com' }],
    ['authz as nobody', 'authz', 7, 0.02, {}],
    ['mapping', 'mapping', 2, 0.04, {}],
    ['notifications', 'notifications', 2, 0.06, {}],
    ['iac', 'iac', 16, 0.15, {}],
  ]
  it.each(CASES)(
    '%s',
    async (name, contract, operations, share, headers) => {
      const service = await startBundled(contract, environments()[contract])
      try {
        await spend(name, share, {
          description: join(CONTRACTS, `${contract}.v1.yaml`),
          url: service.url,
          headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
          operations,
          // DELETE stops a job, whose result stays available for an hour.
          without: contract === 'iac' ? ['use_after_free'] : [],
          config:
            contract === 'iac'
              ? configOf({ workspaces: [join(folder, 'workspace')] }, ['fmt', 'plan', 'cancel', 'job', 'output'])
              : '',
        })
      } finally {
        await service.close()
      }
    },
    HOUR_MS,
  )
})

describe('the core answers as its description says', () => {
  let core: RunningCore
  beforeAll(async () => {
    core = await startCore()
  })
  afterAll(() => core?.close())

  const CALLERS: [string, number][] = [
    ['admin', 0.25],
    ['devops', 0.1],
    ['editor', 0.1],
    ['developer', 0.1],
    ['viewer', 0.06],
    ['nobody', 0.02],
    ['garbage', 0.02],
  ]
  it.each(CALLERS)(
    'as %s',
    async (name, share) => {
      const authorization = core.callers[name]
      const target: Target = {
        description: `${core.url}/api/openapi.json`,
        url: `${core.url}/api`,
        headers: authorization ? { Authorization: authorization } : {},
        operations: ENDPOINTS.length,
        config: configOf(
          core.known,
          ENDPOINTS.map(({ route }) => route.operationId ?? ''),
        ),
      }
      // Systematic requests are the same for all callers: in the short run the others send generated ones alone.
      await spend(`core as ${name}`, share, target, IN_CI && name !== 'admin' ? { phases: 'fuzzing' } : {})
      expect(core.faults()).toEqual([])
    },
    HOUR_MS,
  )
})

it('as many requests as promised', () => {
  console.log(`${sent} requests in all, WORLD_SEED=${SEED}`)
  expect(sent).toBeGreaterThanOrEqual(ALL)
})
