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

/** Providers of each cloud, by the first word of their types. */
export const CLOUD_PROVIDERS: Record<Cloud, readonly string[]> = {
  aws: ['aws', 'awscc'],
  azure: ['azurerm', 'azuread', 'azapi'],
  gcp: ['google'],
  oci: ['oci'],
  kubernetes: ['kubernetes', 'helm', 'kubectl'],
}

export const REPORT_TYPES = ['generate', 'drift', 'import', 'apply'] as const

export type ReportType = (typeof REPORT_TYPES)[number]

/** What locks a session: the audit or the impact of a reviewed plan, or an editor. */
export const LOCK_GATES = ['compliance', 'impact', 'person'] as const

export type LockGate = (typeof LOCK_GATES)[number]

/** The kinds of rounds. The `operation` of a session is the mode of its first round. */
export const MODES = ['generate', 'drift', 'import', 'apply'] as const

export type Mode = (typeof MODES)[number]

/** What happens with a state that a repository keeps elsewhere, while the managed one is empty. */
export const STATE_CHOICES = ['adopt', 'keep', 'new'] as const

export type StateChoice = (typeof STATE_CHOICES)[number]

/** The steps of an attempt, in order. `import` runs in import loops only; `check` compares a plan with the request. */
export const ATTEMPT_STEPS = ['generate', 'init', 'validate', 'plan', 'show', 'import', 'check'] as const

export const STEP_OUTCOMES = ['ok', 'failed', 'skipped'] as const

/**
 * The outcome of an attempt. `accepted`: the round ended with its code. `continued`: its code was accepted, and another
 * attempt of the round followed, for example to write in what others had changed. `refused`: the engine or a check
 * rejected its code. `failed`: it could not be completed, for example because a model did not answer. `cancelled`: a
 * user cancelled the round. `interrupted`: its worker stopped or died.
 */
export const ATTEMPT_OUTCOMES = ['accepted', 'continued', 'refused', 'failed', 'cancelled', 'interrupted'] as const

/** One exchange of the conversation: the user's request and the platform's answer. */
export interface Turn {
  user: string
  assistant: string
}

export const SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]
