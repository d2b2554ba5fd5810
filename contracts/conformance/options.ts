import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { CONTRACTS, type ContractName, readContract } from './document.ts'
import { type Options, UsageError } from './types.ts'

export const USAGE = `Usage: npm run conformance -- <${CONTRACTS.join('|')}> <url> [options]

Checks a running service against its contract, over HTTP only.

  --token T        bearer token of the service; default CONFORMANCE_TOKEN
  --json           one JSON object instead of the report
  --seed N         repeats the generated bodies of an earlier run
  --only A,B       only the promises whose ids begin so
  --workspace DIR  iac: folder that the service sees under the same path; default the temporary folder
  --admin ID       authz: a user that holds the role admin
  --identifier I   mapping: an identifier that the service knows
  --help

The notifications suite really sends notifications, some of them long: point the service at a channel for tests.
The authz suite leaves records of users named conformance-*; the iac suite runs the engine on configurations of its own.

Exit code: 0 conformant, 1 broken promises, 2 wrong usage or service not reachable.`

const FLAGS = {
  token: { type: 'string' },
  json: { type: 'boolean' },
  seed: { type: 'string' },
  only: { type: 'string' },
  workspace: { type: 'string' },
  admin: { type: 'string' },
  identifier: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export const DEFAULTS = {
  token: null,
  workspace: tmpdir(),
  admin: null,
  identifier: null,
  only: [],
  exchangeMs: 20_000,
  jobMs: 120_000,
} satisfies Partial<Options>

/** Reads the command line; null when only the help is wanted. Errors: `UsageError`. */
export async function readOptions(
  args: string[],
  env: Record<string, string | undefined>,
): Promise<{ options: Options; json: boolean } | null> {
  const { values, positionals } = parsed(args)
  if (values.help) return null
  const [name, url, ...rest] = positionals
  if (!isContract(name))
    throw new UsageError(name === undefined ? 'no contract is named' : `there is no contract '${name}'`)
  if (url === undefined || rest.length > 0) throw new UsageError('exactly one address is needed')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`'${url}' is no http or https address`)
  const token = (values.token ?? env.CONFORMANCE_TOKEN ?? '').trim()
  if (/[^\x21-\x7e]/.test(token)) throw new UsageError('a token has no spaces and no characters beyond ASCII')
  const options: Options = {
    ...DEFAULTS,
    contract: await readContract(name),
    url: url.replace(/\/+$/, ''),
    token: token === '' ? null : token,
    seed: seedOf(values.seed),
    workspace: values.workspace ?? DEFAULTS.workspace,
    admin: values.admin ?? null,
    identifier: values.identifier ?? null,
    only: (values.only ?? '').split(',').filter((each) => each !== ''),
  }
  return { options, json: values.json ?? false }
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: FLAGS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
}

const isContract = (name: string | undefined): name is ContractName => CONTRACTS.some((each) => each === name)

function seedOf(text: string | undefined): number {
  if (text === undefined) return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const seed = Number(text)
  if (!/^\d+$/.test(text) || seed > 0xffff_ffff)
    throw new UsageError(`--seed must be a whole number from 0 to ${0xffff_ffff}`)
  return seed
}
