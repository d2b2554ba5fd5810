import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractName } from './document.ts'
import { exchange } from './http/exchange.ts'
import { authzSuite } from './suites/authz.ts'
import { iacSuite } from './suites/iac/suite.ts'
import { mappingSuite } from './suites/mapping.ts'
import { notificationsSuite } from './suites/notifications.ts'
import { createRun } from './tester.ts'
import { type Check, NoAnswer, type Options, type Result, UsageError } from './types.ts'

export type Outcome = ReturnType<typeof outcomeOf>

const SUITES: Record<ContractName, (options: Options) => Check[]> = {
  authz: authzSuite,
  iac: iacSuite,
  mapping: mappingSuite,
  notifications: notificationsSuite,
}

/** Checks all promises one by one, in temporary workspaces. Errors: `UsageError` if unreachable or token refused. */
export async function runConformance(
  options: Options,
  progress: (done: number, all: number, id: string) => void = () => {},
): Promise<Outcome> {
  assertWanted(options)
  await assertReachable(options)
  const folder = await ownFolder(options.workspace)
  try {
    const run = createRun({ ...options, workspace: folder })
    const promises = SUITES[options.contract.name]({ ...options, workspace: folder }).filter(({ id }) =>
      isWanted(options, id),
    )
    const results: Result[] = []
    for (const [index, promised] of promises.entries()) {
      progress(index + 1, promises.length, promised.id)
      results.push(await run.check(promised))
    }
    for (const operation of options.contract.operations) results.push(run.answers(operation))
    return outcomeOf(options, results)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function ownFolder(parent: string): Promise<string> {
  try {
    await mkdir(parent, { recursive: true })
    return await mkdtemp(join(await realpath(parent), 'conformance-'))
  } catch {
    throw new UsageError(`no folder can be made in ${parent}`)
  }
}

async function assertReachable(options: Options): Promise<void> {
  try {
    await exchange(options, 'GET', '/healthz', {})
    const asked = options.contract.operations.find(({ body, secured }) => body && secured)
    if (!asked) return
    const { status } = await exchange(options, asked.method, asked.path.replace(/\{\w+\}/g, 'conformance'), {
      raw: '{}',
    })
    if (status !== 401) return
    throw new UsageError(
      options.token === null ? 'the service asks for a token: give it with --token' : 'the service refuses the token',
    )
  } catch (error) {
    if (error instanceof NoAnswer) throw new UsageError(`${options.url} cannot be reached: ${error.message}`)
    throw error
  }
}

function outcomeOf({ contract, url, seed }: Options, promises: Result[]) {
  const count = (outcome: Result['outcome']) => promises.filter((each) => each.outcome === outcome).length
  const broken = count('broken')
  return {
    contract: contract.name,
    version: contract.version,
    url,
    seed,
    conformant: broken === 0,
    passed: count('passed'),
    broken,
    skipped: count('skipped'),
    promises,
  }
}

const isWanted = ({ only }: Options, id: string) => only.length === 0 || only.some((prefix) => id.startsWith(prefix))

function assertWanted(options: Options): void {
  const ids = SUITES[options.contract.name](options).map(({ id }) => id)
  const nothing = options.only.find(
    (prefix) => !prefix.endsWith('.answers') && !ids.some((id) => id.startsWith(prefix)),
  )
  if (nothing !== undefined) throw new UsageError(`no promise begins with ${nothing}`)
}
