import type { PullRequest, Session } from './api.ts'
import type { Collected } from './collect.ts'
import type { DemoMode } from './modes.ts'
import { type Check, parseCounts } from './result.ts'

/** The results of a mode. */
export interface Evidence {
  session: Session
  collected: Collected
  pull_request: PullRequest | null
  /** The answers to apply and merge on a locked session; empty when they were not tried. */
  refusals: { status: number; detail: string }[]
}

const check = (name: string, ok: boolean | undefined): Check => ({ name, ok: ok === true })
const ends =
  (status: string) =>
  ({ session }: Evidence) =>
    check(`the session is ${status}`, session.current_status === status)
const pullRequestOpen = ({ pull_request }: Evidence) =>
  check('the pull request is open', pull_request?.status === 'open')
const nothingLeft = ({ collected }: Evidence) => {
  const counts = Object.values(parseCounts(collected.plan?.text ?? ''))
  return check('the last plan is empty', collected.plan !== null && counts.every((count) => count === 0))
}
const noChange = ({ session }: Evidence) =>
  check(
    'no code was changed',
    session.rounds.every((round) => round.code_changes.length === 0),
  )

const drift = [
  ends('completed'),
  ({ collected }: Evidence) => check('drift was found', collected.drift.length > 0),
  ({ collected }: Evidence) => check('the report says Succeeded', collected.reports.drift?.status === 'Succeeded'),
  nothingLeft,
  pullRequestOpen,
]
const imports = [
  ends('completed'),
  ({ collected }: Evidence) => {
    const { summary } = collected.reports.import ?? {}
    return check(
      'all that was selected is imported',
      summary && summary.imported > 0 && summary.imported === summary.selected,
    )
  },
  nothingLeft,
  pullRequestOpen,
]

const looked = [ends('completed'), noChange]

const CHECKS: Record<DemoMode, ((evidence: Evidence) => Check)[]> = {
  generate: [ends('completed'), pullRequestOpen],
  'partial-drift': drift,
  'full-drift': drift,
  'partial-import': imports,
  'full-import': imports,
  apply: [
    ends('completed'),
    ({ collected }) => {
      const { generate, apply } = collected.reports
      return check(
        'what was planned is created',
        apply?.status === 'Success' && apply.summary.created === generate?.summary.create,
      )
    },
    pullRequestOpen,
  ],
  'drift-preview': [
    ...looked,
    ({ collected }) => check('drift was found', collected.drift.length > 0),
    ({ collected }) => check('nothing was mended', collected.reports.drift?.remediated_resources.length === 0),
  ],
  'import-preview': [
    ...looked,
    ({ collected }) => check('resources are listed', (collected.preview?.counts.unmanaged ?? 0) > 0),
    ({ collected }) => check('nothing was imported', collected.reports.import?.summary.selected === 0),
  ],
  declined: [ends('uncompleted'), noChange],
  question: [ends('uncompleted'), noChange],
  blocked: [
    ends('completed'),
    ({ session }) => check('the session is locked', session.is_blocked),
    ({ refusals }) =>
      check('apply and merge answer 409', refusals.length === 2 && refusals.every(({ status }) => status === 409)),
  ],
  exhausted: [
    ends('failed'),
    ({ session }) => check('the message says why', lastMessage(session) === 'runner failed: Validation loop exceeded.'),
  ],
}

export const lastMessage = (session: Session): string => session.rounds.at(-1)?.statuses.at(-1)?.message ?? ''

/** Checks point by point whether a mode ended as it should. */
export const checksOf = (mode: DemoMode, evidence: Evidence): Check[] => CHECKS[mode].map((one) => one(evidence))
