import type { Evidence, Found } from './types.ts'

/** A part of the text under a heading of its own. */
export interface Section {
  title: string
  /** Markdown without the heading, longest form first; the last one is what must not be missed. */
  forms: string[]
  /** The higher, the longer it stays when the text is too long. */
  rank: number
}

/** What is given up first when the text is too long comes first. */
const BY_RANK = [
  'Rounds',
  'Assumptions',
  'Cost estimate',
  'Drift',
  'Import',
  'How to roll back',
  'Impact',
  'Checked against the request',
  'Outside the targets',
  'Applied',
  'Compliance',
  'Plan',
  'Session',
] as const
export type SectionTitle = (typeof BY_RANK)[number]

/** Blank parts are left out. */
export const section = (title: SectionTitle, ...forms: string[]): Section => ({
  title,
  forms,
  rank: BY_RANK.indexOf(title),
})

/** Paragraphs, lists and tables, with an empty line between them. */
export const blocks = (...parts: (string | false | null | undefined)[]): string => parts.filter(Boolean).join('\n\n')

/** For a report that is on record but could not be read. */
export const unreadable = (title: SectionTitle, { round }: Found<unknown>): Section =>
  section(title, `Not available: the report of round ${round} could not be read. The session holds it.`)

/** `2026-01-31 23:59 UTC` */
export const timeOf = (created_at: string): string => `${created_at.slice(0, 10)} ${created_at.slice(11, 16)} UTC`

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** The first round after a given one that may have changed the code; apply changes none, a declined round nothing. */
export const laterChange = ({ rounds }: Evidence, round: number) =>
  rounds.find(({ number, mode, status }) => number > round && mode !== 'apply' && status !== 'uncompleted')
