import type { Evidence, StoredDocument } from './evidence.ts'
import { bulletList, capLines, inline } from './markdown.ts'

/** A part of the description under a heading of its own. */
export interface Section {
  title: string
  /** The section in Markdown without its heading, the longest form first. The last one holds only the essentials. */
  forms: string[]
  /** The higher the rank, the longer the section stays when the description is too long. */
  rank: number
}

/** The titles of all sections, the least important first: it is left out first when the description is too long. */
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
export type SectionTitle = (typeof TITLES_BY_RANK)[number]

/** Makes a section; its rank follows from the title. */
export const section = (title: SectionTitle, ...forms: string[]): Section => ({
  title,
  forms,
  rank: TITLES_BY_RANK.indexOf(title),
})

/** Joins paragraphs, lists and tables with an empty line between them. Blank parts are left out. */
export const blocks = (...parts: (string | false | null | undefined)[]): string => parts.filter(Boolean).join('\n\n')

/** The section for a report that is stored but could not be read. */
export const unreadableSection = (title: SectionTitle, { round }: StoredDocument<unknown>): Section =>
  section(title, `Not available: the report of round ${round} could not be read. The session holds it.`)

/** Formats a timestamp like `2026-01-31 23:59 UTC`. */
export const formatTime = (createdAt: string): string => `${createdAt.slice(0, 10)} ${createdAt.slice(11, 16)} UTC`

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/**
 * The first round after the given one that may have changed the code; undefined when there is none. A round of mode
 * apply changes no code, and a round that ended `uncompleted` changes nothing at all.
 */
export const findLaterChange = ({ rounds }: Evidence, round: number) =>
  rounds.find(({ number, mode, status }) => number > round && mode !== 'apply' && status !== 'uncompleted')

const MAX_NOTES = 20

/** The remarks that code made for reviewers in a round, as a list with a lead; an empty text when there are none. */
export function notesOf({ rounds }: Evidence, round: number): string {
  const notes = rounds.find(({ number }) => number === round)?.result?.notes ?? []
  const lines = notes.map((note) => inline(note)).filter((line) => line !== '')
  return lines.length === 0 ? '' : blocks('To be noted:', bulletList(capLines(lines, MAX_NOTES)))
}
