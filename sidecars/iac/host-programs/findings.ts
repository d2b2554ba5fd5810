const MIB = 1024 * 1024

/** Limits of the check, far above any configuration that people write. */
export const LIMITS = {
  fileBytes: 4 * MIB,
  totalBytes: 32 * MIB,
  files: 5_000,
  tokens: 4_000_000,
  manifestBytes: 4 * MIB,
  lockBytes: MIB,
  modules: 5_000,
  entries: 200_000,
  planBytes: 1024 * MIB,
  directoryBytes: 16 * MIB,
} as const

/** Sizes up to which a configuration is scanned at once; a larger one gets a thread of its own. */
export const SMALL = { fileBytes: 96 * 1024, totalBytes: 512 * 1024, manifestBytes: 128 * 1024 } as const

export type Sizes = Record<keyof typeof SMALL, number>

/** Thrown when the configuration exceeds the sizes of this scan. */
export class TooLarge extends Error {
  readonly file: string
  readonly limit: string
  constructor(file: string, limit: string) {
    super(limit)
    this.file = file
    this.limit = limit
  }
}

export const inMib = (bytes: number): string => `${bytes / MIB} MiB`

/** A construct that would run a program on the engine's machine, or reach beyond the workspace. */
export interface Finding {
  /** Relative to the workspace. */
  file: string
  line: number
  construct: string
  /** The target beyond the workspace, as a sentence without a full stop; absent if a program would run. */
  reach?: string
  /** Absent for what cannot be allowed by its kind. */
  kind?: ProgramKind
  /** True for what a sandbox makes harmless, such as an `exec` of a known credential program with known arguments. */
  known?: boolean
  /** The resource, such as `null_resource.x`, with whose creation or destruction a provisioner runs. */
  owner?: string
  /** The module in a plan, such as `net.sub`; empty for the root. */
  module?: string
}

/** Kinds of constructs that can be allowed on their own. */
export const PROGRAM_KINDS = ['exec', 'provisioner', 'external', 'credentials', 'cloud', 'file', 'state'] as const
export type ProgramKind = (typeof PROGRAM_KINDS)[number]

/** Findings of one file. */
export type Findings = Omit<Finding, 'file'>[]

/** Returns the finding of a construct with a target beyond the workspace; none without one. */
export const reaching = (line: number, construct: string, reach: string | null, kind?: ProgramKind): Findings =>
  reach === null ? [] : [{ line, construct, reach, ...(kind && { kind }) }]

export interface FileScan {
  findings: Findings
  /** Local sources (`./…` and `../…`) of the modules that the file calls. */
  modules: string[]
  /** False if the file could not be parsed to its end. */
  complete: boolean
  /** Number of tokens in the file. */
  tokens: number
  setsBackend: boolean
}

/** Why a job is refused. */
export interface Refusal {
  /** Diagnostics in the form of the engine. */
  text: string
  /** Empty for a file that could not be read to its end. */
  findings: readonly Finding[]
}

const SHOWN = 20
/** Findings of one answer. */
const LARGEST_ANSWER = 1000

/** @param repository the one whose code was checked, as `host/path`; without it, any */
export function refuseFindings(findings: Finding[], repository = '*'): Refusal {
  const programs = findings.filter(({ reach }) => reach === undefined)
  const others = findings.filter(({ reach }) => reach !== undefined)
  const text = [
    programs.length > 0 ? programText(programs, permission(programs, repository)) : '',
    others.length > 0 ? reachText(others, permission(others, repository)) : '',
  ]
    .filter(Boolean)
    .join('\n')
  return { text, findings }
}

/** Returns the operator's setting that would allow a finding, and the entry or value of it. */
const permissionFor = ({ kind }: Finding, repository: string): { setting: string; value: string } =>
  kind === undefined
    ? { setting: 'IAC_ALLOW_HOST_PROGRAMS', value: 'true' }
    : { setting: 'IAC_ALLOW_PROGRAMS', value: `${kind}:${printable(repository)}` }

/** Renders the findings like the engine's `validate -json`, as `stdout` of a `diagnostics` job. */
export const findingsAsDiagnostics = (findings: readonly Finding[], repository = '*'): string =>
  JSON.stringify({
    diagnostics: findings.slice(0, LARGEST_ANSWER).map((finding) => ({
      severity: 'error',
      summary: printable(finding.construct),
      detail: finding.reach ?? 'it would run a program on the machine that runs the engine',
      range: { filename: finding.file, start: { line: finding.line } },
      allowed_by: permissionFor(finding, repository),
    })),
  })

/** Says which settings of the operator would allow all of the findings. */
function permission(findings: Finding[], repository: string): string {
  const kinds = [...new Set(findings.map(({ kind }) => kind))]
  const entries = kinds.map((kind) => `${kind}:${printable(repository)}`).join(',')
  const listed = kinds.includes(undefined) ? '' : `IAC_ALLOW_PROGRAMS=${entries}, and everything with `
  return `An operator of the iac service can allow this with ${listed}IAC_ALLOW_HOST_PROGRAMS=true.`
}

/** Formats a text as a diagnostic of the engine, so that readers of the job's stderr can correct the code. */
const diagnostic = (title: string, where: readonly string[], ...explanation: string[]): string =>
  [`Error: ${title}`, '', ...where, '', ...explanation, ''].join('\n')

const programText = (findings: Finding[], permission: string): string =>
  diagnostic(
    'Program on the engine host refused',
    listed(findings),
    'This would run a program on the machine that runs the engine. In new code, express the intent with',
    'resources and data sources of a provider (for example user data or cloud-init for set-up on an instance,',
    'a variable or a data source of the cloud for a value, a token for the credentials of a provider).',
    permission,
  )

const reachText = (findings: Finding[], permission: string): string =>
  diagnostic(
    'Reach beyond the workspace refused',
    listed(findings),
    'Code of a repository is run before anybody has reviewed it, so it may use its own files and the cloud, but',
    'nothing else of the machine that runs the engine. New code must not have what is named above.',
    permission,
  )

function listed(findings: Finding[]): string[] {
  const lines = findings.slice(0, SHOWN).map(({ file, line, construct, reach }) => {
    const at = `  on ${printable(file)}${line > 0 ? ` line ${line}` : ''}: ${printable(construct)}`
    return reach === undefined ? at : `${at}\n    (${reach})`
  })
  return findings.length > SHOWN ? [...lines, `  and ${findings.length - SHOWN} more`] : lines
}

const LONGEST = 300

/** Renders any name of the repository in one line. */
export function printable(text: string): string {
  const shown = text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown
}

/** Refuses a file that could not be parsed to its end and may therefore hide anything. */
export const refuseUnreadable = (file: string): Refusal => ({
  text: diagnostic(
    'Configuration could not be checked',
    [`  on ${printable(file)}`],
    'The file does not end where its blocks and strings say, or nests deeper than 200 levels, so it cannot be checked',
    'for programs that would run on the engine host. Correct its syntax.',
  ),
  findings: [],
})

/** Refuses a file or folder that is larger than the check reads. */
export const refuseTooLarge = (file: string, limit: string): Refusal => ({
  text: diagnostic(
    'Configuration too large to be checked',
    [`  on ${printable(file)}`],
    `The check reads ${limit}. Leave out what is no configuration, or split it over several workspaces.`,
  ),
  findings: [{ file, line: 0, construct: 'configuration too large to be checked', reach: `the check reads ${limit}` }],
})
