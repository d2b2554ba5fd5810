import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBundled, startReceiver } from './bundled.ts'
import { type ContractName, readContract } from './document.ts'
import { DEFAULTS } from './options.ts'
import { humanReport } from './report.ts'
import { type Outcome, runConformance } from './run.ts'
import type { Options } from './types.ts'

const ADMIN = 'root@example.com'
const TOKEN = 'Conformance-token-7f3a'

interface Round {
  title: string
  contract: ContractName
  env: Record<string, string>
  options?: Partial<Options>
}

/** Starts each bundled sidecar, runs its suite and returns the exit code (`npm run conformance:bundled`). */
async function main(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-bundled-'))
  const receiver = await startReceiver()
  const rounds: Round[] = [
    {
      title: 'authz',
      contract: 'authz',
      env: {
        PLATFORM_AUTHZ_TOKEN: TOKEN,
        PLATFORM_AUTHZ_ROLE_STORE: join(folder, 'roles.json'),
        PLATFORM_AUTHZ_ROOT_ADMIN_EMAIL: ADMIN,
      },
      options: { token: TOKEN, admin: ADMIN },
    },
    { title: 'mapping', contract: 'mapping', env: { PLATFORM_MAPPING_TOKEN: TOKEN }, options: { token: TOKEN } },
    { title: 'mapping without a token', contract: 'mapping', env: {} },
    {
      title: 'notifications',
      contract: 'notifications',
      env: { PLATFORM_NOTIFICATIONS_TOKEN: TOKEN, CHAT_WEBHOOK_URL: receiver.url },
      options: { token: TOKEN },
    },
    {
      title: 'notifications, channel unreachable',
      contract: 'notifications',
      env: { PLATFORM_NOTIFICATIONS_TOKEN: TOKEN, CHAT_WEBHOOK_URL: 'http://127.0.0.1:9/secret-path' },
      options: { token: TOKEN },
    },
    {
      title: 'iac',
      contract: 'iac',
      env: { PLATFORM_IAC_TOKEN: TOKEN, IAC_DATA_DIR: join(folder, 'iac') },
      options: { token: TOKEN, workspace: folder },
    },
  ]
  const outcomes: Outcome[] = []
  try {
    for (const round of rounds) outcomes.push(await runRound(round))
  } finally {
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  }
  return outcomes.every(({ conformant }) => conformant) ? 0 : 1
}

async function runRound({ title, contract, env, options = {} }: Round): Promise<Outcome> {
  const service = await startBundled(contract, env)
  try {
    const outcome = await runConformance({
      ...DEFAULTS,
      contract: await readContract(contract),
      url: service.url,
      seed: 1,
      ...options,
    })
    const seconds = Math.round(performance.now() / 1000)
    if (!outcome.conformant) console.log(humanReport(outcome))
    console.log(
      `${title}: ${outcome.passed} passed, ${outcome.broken} FAILED, ${outcome.skipped} skipped (${seconds} s)`,
    )
    for (const { id, outcome: how, reason } of outcome.promises)
      if (how === 'skipped') console.log(`  skipped ${id}: ${reason}`)
    return outcome
  } finally {
    await service.close()
  }
}

process.exitCode = await main()
