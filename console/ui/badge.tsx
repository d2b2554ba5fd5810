import type { ComponentChildren } from 'preact'
import type { Action, Severity, Status } from '../client/api/schemas.ts'
import { visibleText } from './words.ts'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

interface BadgeProps {
  tone?: Tone
  /** The character before the word, for the eyes only. */
  sign?: string
  title?: string
  children: ComponentChildren
}

/** Shows a short word with a colour. The word alone is sufficient. */
export const Badge = ({ tone = 'neutral', sign, title, children }: BadgeProps) => (
  <span class={`badge badge-${tone}`} title={title}>
    {sign && <span aria-hidden="true">{sign} </span>}
    {children}
  </span>
)

const STATUSES: Record<Status, [string, Tone]> = {
  started: ['Waiting', 'accent'],
  filtering: ['Reading', 'accent'],
  generating: ['Writing code', 'accent'],
  validating: ['Validating', 'accent'],
  report: ['Reporting', 'accent'],
  apply: ['Applying', 'accent'],
  completed: ['Completed', 'good'],
  uncompleted: ['Ended early', 'warn'],
  failed: ['Failed', 'bad'],
}

/** The names of statuses in the console. */
export const STATUS_NAMES = Object.fromEntries(Object.entries(STATUSES).map(([status, [name]]) => [status, name]))

export function StatusBadge({ status }: { status: Status }) {
  const [name, tone] = STATUSES[status]
  return (
    <Badge tone={tone}>
      <span class={`dot dot-${tone}${tone === 'accent' ? ' dot-live' : ''}`} aria-hidden="true" />
      {name}
    </Badge>
  )
}

const REPORT_TONES: Record<string, Tone> = { Succeeded: 'good', Success: 'good', Partial: 'warn', Failed: 'bad' }

/** Shows the status of a report. */
export const ReportBadge = ({ status }: { status: string }) => (
  <Badge tone={REPORT_TONES[status] ?? 'neutral'}>{visibleText(status)}</Badge>
)

const ACTIONS: Record<Action, [sign: string, name: string, tone: Tone]> = {
  create: ['+', 'create', 'good'],
  update: ['~', 'change', 'warn'],
  replace: ['±', 'replace', 'bad'],
  delete: ['−', 'destroy', 'bad'],
  read: ['⋯', 'read', 'neutral'],
  import: ['↓', 'import', 'accent'],
  move: ['→', 'move', 'accent'],
  forget: ['×', 'forget', 'warn'],
  none: ['=', 'unchanged', 'neutral'],
}

export const actionName = (action: Action): string => ACTIONS[action][1]

export function ActionBadge({ action }: { action: Action }) {
  const [sign, name, tone] = ACTIONS[action]
  return (
    <span class={`badge badge-${tone} badge-action`}>
      <span class="badge-sign" aria-hidden="true">
        {sign}
      </span>
      {name}
    </span>
  )
}

export const SEVERITY_TONES: Record<Severity, Tone> = {
  critical: 'bad',
  error: 'bad',
  warning: 'warn',
  info: 'neutral',
}

/** Shows the origin of a statement, because readers trust a computed fact differently from a sentence of a model. */
export const Origin = ({ by }: { by: 'code' | 'model' }) => (
  <span class={`origin origin-${by}`} title={ORIGINS[by].title}>
    {ORIGINS[by].name}
  </span>
)
const ORIGINS = {
  code: { name: 'computed by code', title: 'Computed from the plan by code' },
  model: { name: 'written by a model', title: 'Written by a language model' },
}
