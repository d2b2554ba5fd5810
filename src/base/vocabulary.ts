/** The terms of the domain, spelled as in the API and in the enum types of the database. */
export const OPERATIONS = ['generate', 'drift', 'import'] as const

export type Operation = (typeof OPERATIONS)[number]

export const STATUSES = [
  'started',
  'filtering',
  'generating',
  'validating',
  'report',
  'apply',
  'completed',
  'uncompleted',
  'failed',
] as const

export type Status = (typeof STATUSES)[number]

export const TERMINAL_STATUSES = ['completed', 'uncompleted', 'failed'] as const satisfies readonly Status[]

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export const CLOUDS = ['azure', 'gcp', 'aws', 'oci', 'kubernetes'] as const

export type Cloud = (typeof CLOUDS)[number]

export const REPORT_TYPES = ['generate', 'drift', 'import', 'apply'] as const

export type ReportType = (typeof REPORT_TYPES)[number]

/** The kinds of rounds. The `operation` of a session is the mode of its first round. */
export const MODES = ['generate', 'drift', 'import', 'apply'] as const

export type Mode = (typeof MODES)[number]

/** One exchange of the conversation: the user's request and the platform's answer. */
export interface Turn {
  user: string
  assistant: string
}

export const SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]
