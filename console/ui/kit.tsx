import { useMutation } from '@tanstack/preact-query'
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Action, messageOf, type Severity, type Status } from '../client/api/client.ts'
import { formatAgo, formatMoment, formatSeconds, visibleText } from './words.ts'

interface NoticeProps {
  tone?: Tone
  title?: ComponentChildren
  children?: ComponentChildren
  /** The buttons and links of the remedy. */
  actions?: ComponentChildren
}

export function Notice({ tone = 'neutral', title, children, actions }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {title && <p class="notice-title">{title}</p>}
      {children && <div class="notice-body">{children}</div>}
      {actions && <div class="notice-actions">{actions}</div>}
    </div>
  )
}

/** Shows a failed load or action, with a button to retry. */
export function ErrorNotice({ error, title, retry }: { error: unknown; title: string; retry?: () => void }) {
  return (
    <Notice tone="bad" title={title} actions={retry && <Button onClick={retry}>Try again</Button>}>
      {messageOf(error)}
    </Notice>
  )
}

/** Shows an empty list: the reason, and the remedy. */
export function Empty({ title, children, actions }: Omit<NoticeProps, 'tone'>) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="empty-body">{children}</div>}
      {actions && <div class="notice-actions">{actions}</div>}
    </div>
  )
}

/** Reserves the space of loading content, so that the page does not move. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="skeleton-line" style={{ width: `${92 - ((index * 23) % 40)}%` }} />
      ))}
    </div>
  )
}

interface Props extends Omit<JSX.IntrinsicElements['button'], 'kind'> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  small?: boolean
  /** True while an action is pending: the button stays focusable, shows that, and does nothing. */
  busy?: boolean
  children: ComponentChildren
}

export function Button({ kind = 'plain', small, busy, children, onClick, type = 'button', ...rest }: Props) {
  return (
    <button
      {...rest}
      type={busy ? 'button' : type}
      class={`button button-${kind}${small ? ' button-small' : ''} ${rest.class ?? ''}`}
      aria-busy={busy || undefined}
      aria-disabled={busy || rest['aria-disabled']}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

/** Copies a text to the clipboard and confirms it. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Button kind="quiet" small onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  )
}

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

interface BadgeProps {
  tone?: Tone
  title?: string
  children: ComponentChildren
}

/** Shows a short word with a colour. The word alone is sufficient. */
export const Badge = ({ tone = 'neutral', title, children }: BadgeProps) => (
  <span class={`badge badge-${tone}`} title={title}>
    {children}
  </span>
)

type Sign = readonly [sign: string, word: string, tone: Tone]

/** Shows a word in its tone, behind a character for the eyes only. */
export const SignBadge = ({ of: [sign, word, tone] }: { of: Sign }) => (
  <Badge tone={tone}>
    <span aria-hidden="true">{sign} </span>
    {word}
  </Badge>
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

const ACTIONS: Record<Action, Sign> = {
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
export const Origin = ({ by }: { by: keyof typeof ORIGINS }) => (
  <span class={`origin origin-${by === 'code' ? 'code' : 'model'}`} title={ORIGINS[by].title}>
    {ORIGINS[by].name}
  </span>
)
const ORIGINS = {
  code: { name: 'computed by code', title: 'Computed from the plan by code' },
  model: { name: 'written by a model', title: 'Written by a language model' },
  both: {
    name: 'written by a model, completed by code',
    title: 'What was built is written by a language model; attempts, files and what is missing are computed by code',
  },
}

export const MEANINGS = {
  round: 'One request and all work on it, from reading the repository to the report.',
  session: 'A conversation about one folder of one repository. Its requests build on each other, on one branch.',
  plan: 'The changes that the engine would make to the cloud for the present code. The engine computes it, not a model.',
  'saved plan': 'The reviewed plan as the engine stored it. Apply carries out exactly this plan, or nothing.',
  scope: 'The part of the cloud that a session works on: a subscription, project, account or compartment.',
  drift: 'A difference between the code and the cloud.',
  attempt: 'One try at the code. When the engine or a check refuses it, the next attempt fixes the findings.',
  lock: 'Apply and merge are refused until a panel editor unlocks the session.',
  targets: 'The resources that the request is about. Everything else should stay unchanged.',
  impact: 'How much damage the plan could do, computed by code. It decides whether the session is locked.',
  compliance: 'Rules that code checks in the plan, such as encryption and public access.',
} as const

/** Shows a word of the product, with its meaning on hover, focus or tap. */
export function Term({ name, children }: { name: keyof typeof MEANINGS; children?: string }) {
  const id = useId().replaceAll(':', '')
  return (
    <>
      <button type="button" class="term" popovertarget={id}>
        {children ?? name}
      </button>
      <span popover="auto" id={id} class="term-meaning">
        <b>{children ?? name}</b> {MEANINGS[name]}
      </span>
    </>
  )
}

/** Returns the present time, updated every `everyMs` milliseconds; 0 stops it. */
export function useNow(everyMs: number): number {
  const clock = useContext(ClockContext)
  const [now, setNow] = useState(clock)
  useEffect(() => {
    if (everyMs === 0) return
    const timer = setInterval(() => setNow(clock()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, clock])
  return now
}

/** Shows the age of a moment, with the exact time in its title. */
export function Ago({ at }: { at: string }) {
  const now = useNow(30_000)
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {formatAgo(at, now)}
    </time>
  )
}

/** Shows the time since a start, counting while it runs. */
export function Elapsed({ since, until }: { since: string; until: string | null }) {
  const now = useNow(until === null ? 1_000 : 0)
  const end = until === null ? now : Date.parse(until)
  return <span class="number">{formatSeconds((end - Date.parse(since)) / 1_000)}</span>
}

/** Returns the present time of the platform in milliseconds: the clock of this machine may be wrong. */
export const ClockContext = createContext<() => number>(Date.now)

interface DialogProps {
  open: boolean
  title: string
  onClose: () => void
  children: ComponentChildren
  actions?: ComponentChildren
}

/** Shows a modal dialog with the browser's element, which keeps the focus inside and restores it. */
export function Dialog({ open, title, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current
    if (open && !dialog?.open) dialog?.showModal()
    if (!open && dialog?.open) dialog.close()
  }, [open])
  return (
    <dialog ref={element} class="dialog" aria-labelledby={heading} onClose={onClose}>
      {open && (
        <>
          <header class="dialog-head">
            <h2 id={heading}>{title}</h2>
            <Button kind="quiet" small aria-label="Close" onClick={onClose}>
              ×
            </Button>
          </header>
          <div class="dialog-body">{children}</div>
          {actions && <footer class="dialog-actions">{actions}</footer>}
        </>
      )}
    </dialog>
  )
}

interface ConfirmProps {
  open: boolean
  title: string
  /** The label of the button for the action. */
  action: string
  danger?: boolean
  /** False while something that the action needs is missing. */
  ready?: boolean
  /** Runs the action. An error is shown in the dialog, which then stays open. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

/** Asks for confirmation, and shows an error of the action. */
export function Confirm({ open, title, action, danger, ready = true, onConfirm, onClose, children }: ConfirmProps) {
  const close = () => {
    run.reset()
    onClose()
  }
  const run = useMutation({ mutationFn: onConfirm, onSuccess: close })
  return (
    <Dialog
      open={open}
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind={danger ? 'danger' : 'primary'}
            busy={run.isPending}
            disabled={!ready}
            onClick={() => run.mutate()}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      {run.error && <ErrorNotice error={run.error} title="This failed" />}
    </Dialog>
  )
}
