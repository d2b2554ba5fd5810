import { PlatformError } from '../../src/base/errors.ts'
import type { SecretRegister } from '../../src/plan/sensitive.ts'
import type { EngineRoot, ProgramFinding } from '../../src/services/iac/contract.ts'
import { copyCommit } from '../workspace/clone.ts'
import { type Run, withFallback } from './run.ts'

/** The calls of the engine that the check needs; `root` is a copy of the code, or the engine root itself. */
interface Programs {
  list(root?: EngineRoot): Promise<ProgramFinding[] | null>
  /** Fetches the modules of a copy. */
  initialise(root: EngineRoot): Promise<unknown>
}

/**
 * Ends the round when the iac service refuses constructs that stood in the code before the session: no change that a
 * model may make helps. Does nothing when only the session's own constructs are refused, or when the service does not
 * offer to list them. Errors: `HostProgramsRefused` 422, which says what to allow.
 */
export async function refuseEarlierPrograms(
  run: Run,
  secrets: Pick<SecretRegister, 'text'>,
  programs: Programs,
): Promise<void> {
  const found = (await programs.list()) ?? []
  const earlier = found.length === 0 ? [] : await selectEarlier(run, found, programs)
  if (earlier.length === 0) return
  run.log.warn('the iac service refuses programs that the code had before the session', { count: earlier.length })
  throw new PlatformError('HostProgramsRefused', 422, secrets.text(describe(earlier)))
}

/** Returns what the code before the session is refused for as well, with its places there. */
async function selectEarlier(run: Run, found: readonly ProgramFinding[], programs: Programs) {
  const { context, workspace, signal } = run
  const base = await workspace.baseCommit()
  if (base === (await workspace.head())) return found
  const before = await withFallback(run, 'the code before the session could not be checked', [], async () => {
    const copy = await copyCommit(context.config, workspace, base, signal)
    try {
      const root = { workspace_path: copy.iacRoot, state: copy.state }
      if (found.some(({ range }) => IN_FETCHED_MODULE.test(range.filename))) await programs.initialise(root)
      return (await programs.list(root)) ?? []
    } finally {
      await copy.remove()
    }
  })
  const refused = new Set(found.map(constructOf))
  return before.filter((finding) => refused.has(constructOf(finding)))
}

const IN_FETCHED_MODULE = /(?:^|\/)\.terraform\/modules\//

/** Identifies a construct wherever it stands, because the session may have moved it. */
const constructOf = ({ summary, detail }: ProgramFinding): string => `${summary}\n${detail}`

const MAX_SHOWN = 10

function describe(findings: readonly ProgramFinding[]): string {
  const places = findings.slice(0, MAX_SHOWN).map(describePlace)
  const more = findings.length > MAX_SHOWN ? [`and ${findings.length - MAX_SHOWN} more`] : []
  return (
    'The code of the repository has what the iac service refuses to run, and had it before this session: ' +
    `${[...places, ...more].join('; ')}. ${describePermission(findings)} No model was asked to remove it.`
  )
}

const describePlace = ({ summary, detail, range: { filename, start } }: ProgramFinding): string =>
  `${summary} in ${printable(filename)}${start.line > 0 ? ` line ${start.line}` : ''} (${detail})`

/** Renders any name of a file in one line. */
const printable = (name: string): string => name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

/** Says which settings allow all of it: the values of one setting are entries of its list. */
function describePermission(findings: readonly ProgramFinding[]): string {
  const settings = new Map<string, Set<string>>()
  for (const { allowed_by } of findings) {
    if (allowed_by === null) return 'The service has no setting that allows all of it.'
    settings.set(allowed_by.setting, (settings.get(allowed_by.setting) ?? new Set()).add(allowed_by.value))
  }
  const list = [...settings].map(([setting, values]) => `${setting}=${[...values].join(',')}`)
  return `An operator of the iac service can allow it with ${list.join(' and ')}.`
}
