import {
  ApiError,
  type Cloud,
  problemsByField,
  type Roots,
  type RoundBody,
  type Session,
  type SessionSummary,
} from '../../client/api/client.ts'
import type { Example } from '../../client/platform.ts'

import { upperFirst } from '../../ui/words.ts'

/** The form, by the API's names of its fields. */
export interface Fields {
  q: string
  repo_uri: string
  /** The engine root; blank or `.` for the root of the repository. */
  iac_path: string
  engine_providers: string
  scope_id: string
  mode: ModeName
}
/** The fields that the user set. The others follow the known values. */
export type FormInput = Partial<Fields>
export type FieldName = keyof Fields

/** Returns the id of the element of a field. */
export const idOf = (name: FieldName): string => `start-${name}`

/** The name of the scope in each cloud. */
export const SCOPES: Record<string, string> = {
  aws: 'the account',
  azure: 'the subscription',
  gcp: 'the project',
  oci: 'the compartment',
  kubernetes: 'a stable name of the cluster',
} satisfies Record<Cloud, string>

/** Returns the fields that were set, completed with known values. */
export const fillIn = (known: Fields, input: FormInput): Fields => ({
  ...known,
  ...Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
})

/** Returns the repositories of sessions, each once, in the order of the sessions. */
export function repositoriesOf(sessions: readonly SessionSummary[]): string[] {
  return [...new Set(sessions.map(({ workspace }) => workspace.uri))]
}

/** Returns the last session on a repository, and on that engine root if there is one. */
export function lastOn(sessions: readonly SessionSummary[], uri: string, path?: string): SessionSummary | null {
  const on = sessions.filter(({ workspace }) => workspace.uri.toLowerCase() === uri.toLowerCase())
  const root = path === undefined ? undefined : rootOf(path)
  return on.find(({ workspace }) => root !== undefined && (workspace.root_path ?? '') === root) ?? on[0] ?? null
}

/** Returns an engine root as it is sent: blank for the root of the repository. */
export const rootOf = (path: string): string => (path.trim() === '.' ? '' : path.trim())

/** Returns the roots found: by the contents of files, or by their names where the contents show none. */
export const rootsFound = ({ roots, root_modules }: Roots): NonNullable<Roots['root_modules']> =>
  root_modules?.length ? root_modules : roots.map((path) => ({ path, kind: 'root' }))

/** Returns the only root that was found beside examples and tests, as it is sent; null for none and for several. */
export function onlyRoot(found: Roots | undefined): string | null {
  const [first, ...more] = found ? rootsFound(found).filter(({ kind }) => kind === 'root') : []
  return first && more.length === 0 ? rootOf(first.path) : null
}

const TOOLS = {
  terragrunt: 'Terragrunt',
  pulumi: 'Pulumi',
  helm: 'Helm',
  cdktf: 'CDKTF',
  stack: 'Terraform Stacks',
} satisfies Record<Roots['tools'][number], string>

/** Returns what the repository holds that the platform does not run, as a sentence; null for nothing. */
export function foreignCode({ tools }: Roots): string | null {
  const names = new Intl.ListFormat('en').format(tools.map((tool) => TOOLS[tool]))
  return tools.length === 0
    ? null
    : `The repository also has code for ${names}, which the platform does not run. Choose a folder with Terraform or OpenTofu code.`
}

const MAX_PROVIDERS = 6

/** Returns the providers of the code, and what follows when none is of the chosen cloud; null when none are known. */
export function describeProviders({ providers, unread_files }: Roots, cloud: string): string | null {
  if (!providers?.length) return null
  const [shown, more] = [providers.slice(0, MAX_PROVIDERS), providers.length - MAX_PROVIDERS]
  const names = [...shown.map(({ source }) => source), ...(more > 0 ? [`${more} more`] : [])]
  const uses = `The code uses ${new Intl.ListFormat('en').format(names)}`
  if (cloud === '' || unread_files > 0 || providers.some((provider) => provider.cloud === cloud)) return `${uses}.`
  return `${uses}, and no provider of ${cloud}: no compliance rule and no forbidden action of ${cloud} applies to it, only those for every cloud.`
}

/** Returns why roots may be missing, as a sentence; null when all files were read. */
export function whyIncomplete({ root_modules, unread_files }: Roots): string | null {
  const help = 'Enter the folder yourself if it is not listed.'
  if (root_modules === null) return `The roots were found by the names of files only, so some may be missing. ${help}`
  if (unread_files === 0) return null
  return `${unread_files === 1 ? 'One file' : `${unread_files} files`} could not be read, so roots may be missing. ${help}`
}

/** Classifies the address of a repository. One with a password must not leave the browser. */
export function readAddress(text: string): 'none' | 'unfinished' | 'secret' | 'complete' {
  const uri = text.trim()
  if (uri === '') return 'none'
  const parsed = URL.parse(uri)
  if (parsed?.password) return 'secret'
  return parsed?.protocol === 'https:' && parsed.pathname.length > 1 && !/\s/.test(uri) ? 'complete' : 'unfinished'
}

/** Returns the part of the form that may be stored. */
export const withoutSecret = (input: FormInput): FormInput =>
  readAddress(input.repo_uri ?? '') === 'secret' ? { ...input, repo_uri: '' } : input

export const NO_PASSWORD =
  'Leave out the password or token: the platform has its own access and refuses such addresses.'

const isBlank = (text: string) => text.trim() === ''

/** Returns the missing fields. The platform validates the rest. */
export function findMissing(fields: Fields): Partial<Record<FieldName, string>> {
  const missing: Partial<Record<FieldName, string>> = {}
  const mode = modeOf(fields.mode)
  if (isBlank(fields.q) && mode.fallback === null)
    missing.q = mode.operation === 'generate' ? 'Describe the change.' : 'Name the resources.'
  const address = readAddress(fields.repo_uri)
  if (address === 'none') missing.repo_uri = 'Enter the repository of the code.'
  if (address === 'secret') missing.repo_uri = NO_PASSWORD
  if (fields.engine_providers === '') missing.engine_providers = 'Choose the cloud.'
  if (isBlank(fields.scope_id)) missing.scope_id = 'Enter the scope in the cloud.'
  return missing
}

/** Returns the request in the API's form. */
export function toBody(fields: Fields): RoundBody {
  const { operation, is_partial, preview, fallback } = modeOf(fields.mode)
  const path = rootOf(fields.iac_path)
  return {
    q: isBlank(fields.q) && fallback !== null ? fallback : fields.q,
    repo_uri: fields.repo_uri.trim(),
    engine_providers: fields.engine_providers as Cloud,
    scope_id: fields.scope_id.trim(),
    ...(path !== '' && { iac_path: path }),
    ...(operation !== 'generate' && { is_partial, preview }),
  }
}

export const toInput = (example: Example): FormInput => ({
  q: example.text,
  repo_uri: example.repo_uri,
  iac_path: example.iac_path ?? '',
  engine_providers: example.engine_providers,
  scope_id: example.scope_id,
  mode: modeOfExample(example).name,
})

/** Returns the form that sends the last request of a session again, in a new one. */
export function inputOf(session: Session): FormInput {
  const last = session.rounds.findLast((round) => !round.statuses.some(({ status }) => status === 'apply'))
  const mode = MODES.find(
    ({ operation, preview }) => operation === session.operation && preview === (last?.preview ?? false),
  )
  return {
    q: last?.query ?? session.first_query ?? '',
    repo_uri: session.workspace.uri,
    iac_path: session.workspace.root_path ?? '',
    engine_providers: session.provider,
    scope_id: session.scope_id ?? '',
    ...(mode && { mode: mode.name }),
  }
}

const NAMES: readonly string[] = ['q', 'repo_uri', 'iac_path', 'engine_providers', 'scope_id']

/** Returns the errors of a refused request by field, and whether others remain. */
export function readRefusal(error: unknown): { fields: Partial<Record<FieldName, string>>; rest: boolean } {
  const problems = Object.entries(problemsByField(error))
  const known = problems.filter(([name]) => NAMES.includes(name))
  const isAllKnown = error instanceof ApiError && error.problems.length > 0 && known.length === problems.length
  return { fields: Object.fromEntries(known.map(([name, text]) => [name, toSentence(text)])), rest: !isAllKnown }
}

/** Returns a platform rule as a sentence, without its technical words. */
export const toSentence = (text: string): string => upperFirst(text.replaceAll('Value error, ', ''))

/**
 * Returns a mode. Its name begins with its operation; what follows is partial, full or preview.
 * @param fallback the request that is sent for an empty text; null where the text is required
 */
function mode<const Name extends string>(name: Name, title: string, says: string, fallback: string | null = null) {
  const [operation, kind] = name.split('-') as [Example['mode'], string?]
  return { name, operation, is_partial: kind === 'partial', preview: kind === 'preview', title, says, fallback }
}

/** The modes of a first request. Apply is not one of them: it needs a session with a reviewed plan. */
export const MODES = [
  mode(
    'generate',
    'Write the change',
    'Writes code until the plan passes all checks. You review it; nothing is applied.',
  ),
  mode(
    'drift-partial',
    'Remediate what I name',
    'Changes the code of what you name until it matches what really runs.',
  ),
  mode(
    'drift-full',
    'Remediate everything',
    'The same for the whole engine root, regardless of the text.',
    'Bring everything in line with what really runs.',
  ),
  mode('drift-preview', 'Preview', 'Reports the drift. Changes nothing.', 'What differs from what really runs?'),
  mode('import-partial', 'Import what I name', 'Adopts the unmanaged resources that you name into code and state.'),
  mode(
    'import-full',
    'Import everything',
    'The same for the whole scope, regardless of the text.',
    'Import all the infrastructure',
  ),
  mode(
    'import-preview',
    'Preview',
    'Lists the resources of the scope to select from. Changes nothing.',
    'What does nobody manage yet?',
  ),
] as const

export type Mode = (typeof MODES)[number]
export type ModeName = Mode['name']

/** Returns the mode of this name; generate for a name from another version of the console. */
export const modeOf = (name: string): Mode => MODES.find((known) => known.name === name) ?? MODES[0]

export const modeOfExample = ({ mode: operation, is_partial, preview }: Example): Mode =>
  MODES.find(
    (known) =>
      known.operation === operation && known.preview === preview && (preview || known.is_partial === is_partial),
  ) ?? MODES[0]
