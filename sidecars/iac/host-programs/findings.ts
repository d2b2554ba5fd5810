/** A construct that would run a program on the engine's machine. */
export interface Finding {
  /** Relative to the workspace. */
  file: string
  line: number
  construct: string
}

export interface FileScan {
  findings: Omit<Finding, 'file'>[]
  /** Local sources (`./…` and `../…`) of the modules that the file calls. */
  modules: string[]
  /** False when the file could not be followed to its end. */
  complete: boolean
}

/** The provisioner `file` only copies. Every other one runs a program. */
export const isProgramProvisioner = (type: string | null): boolean => type !== 'file'

const PROGRAM_TYPES = ['external', 'local_command']
const TYPED_BLOCKS = ['data', 'ephemeral', 'action']

export const isProgramBlock = (block: string, type: string | null): boolean =>
  TYPED_BLOCKS.includes(block) && type !== null && PROGRAM_TYPES.includes(type)

export const isLocalSource = (source: string): boolean => /^\.\.?\//.test(source)

const SHOWN = 20

/** Has the form of a diagnostic of the engine, so that whoever reads the job's stderr can mend the code. */
export function refusalText(findings: Finding[]): string {
  const lines = findings
    .slice(0, SHOWN)
    .map(({ file, line, construct }) => `  on ${file}${line > 0 ? ` line ${line}` : ''}: ${construct}`)
  if (findings.length > SHOWN) lines.push(`  and ${findings.length - SHOWN} more`)
  return [
    'Error: Program on the engine host refused',
    '',
    ...lines,
    '',
    'This would run a program on the machine that runs the engine. Remove it and express the intent with',
    'resources and data sources of a provider (for example user data or cloud-init for set-up on an instance,',
    'a variable or a data source of the cloud for a value, a token for the credentials of a provider).',
    'An operator of the iac service can allow such programs with IAC_ALLOW_HOST_PROGRAMS=true.',
    '',
  ].join('\n')
}

/** For a file whose structure could not be followed to its end, so that it may hide anything. */
export const unreadableText = (file: string): string =>
  [
    'Error: Configuration could not be checked',
    '',
    `  on ${file}`,
    '',
    'The file does not end where its blocks and strings say, so it cannot be checked for programs that would',
    'run on the engine host. Correct its syntax.',
    '',
  ].join('\n')
