import type { Evidence, StoredDocument } from './evidence.ts'
import { bulletList, capLines, inline, table } from './markdown.ts'

/** A part of the description with its own heading. */
export interface Section {
  title: string
  /** Markdown without the heading, longest form first; the last has only the essentials. */
  forms: string[]
  /** Rank; sections of higher rank are kept longer when the description is too long. */
  rank: number
}

/** Section titles, the least important first: it is the first to be left out. */
const TITLES_BY_RANK = [
  'Rounds',
  'Cost estimate',
  'Assumptions',
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
type SectionTitle = (typeof TITLES_BY_RANK)[number]

/** Creates a section with the rank of its title. */
export const section = (title: SectionTitle, ...forms: string[]): Section => ({
  title,
  forms,
  rank: TITLES_BY_RANK.indexOf(title),
})

/** Joins non-blank paragraphs, lists and tables with an empty line. */
export const blocks = (...parts: (string | false | null | undefined)[]): string => parts.filter(Boolean).join('\n\n')

/** Creates the section of a stored report: null without one, and a notice for one that is unreadable. */
export function reportSection<Stored extends StoredDocument<unknown>>(
  title: SectionTitle,
  stored: Stored | null,
  write: (document: NonNullable<Stored['document']>, stored: Stored) => string[],
): Section | null {
  if (!stored) return null
  return stored.document ? section(title, ...write(stored.document, stored)) : unreadableSection(title, stored)
}

export const unreadableSection = (title: SectionTitle, { round }: StoredDocument<unknown>): Section =>
  section(title, `Not available: the report of round ${round} could not be read. The session holds it.`)

/** Formats a timestamp like `2026-01-31 23:59 UTC`. */
export const formatTime = (createdAt: string): string => `${createdAt.slice(0, 10)} ${createdAt.slice(11, 16)} UTC`

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** Returns the first later round that may have changed the code: neither an apply nor `uncompleted`. */
export const findLaterChange = ({ rounds }: Evidence, round: number) =>
  rounds.find(({ number, mode, status }) => number > round && mode !== 'apply' && status !== 'uncompleted')

/** Renders a list of at most `max` lines below a lead; empty without lines. */
export const titledList = (lead: string, lines: readonly string[], max: number): string =>
  lines.length > 0 ? blocks(lead, bulletList(capLines(lines, max))) : ''

/** Renders a table of at most `max` rows and the number of the others; empty without rows. */
export const cappedTable = (head: readonly string[], rows: readonly (readonly string[])[], max: number): string =>
  rows.length > 0 ? blocks(table(head, rows.slice(0, max)), rows.length > max && `and ${rows.length - max} more`) : ''

/** Renders code's remarks for reviewers of a round as a list with a lead; empty without remarks. */
export function notesOf({ rounds }: Evidence, round: number): string {
  const notes = rounds.find(({ number }) => number === round)?.result?.notes ?? []
  const lines = notes.map((note) => inline(note)).filter((line) => line !== '')
  return titledList('To be noted:', lines, 20)
}
