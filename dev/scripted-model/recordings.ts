import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'

const editSchema = v.union([
  v.strictObject({ write: v.string(), content: v.string() }),
  v.strictObject({ replace: v.string(), search: v.string(), by: v.string() }),
  v.strictObject({ replace: v.string(), pattern: v.string(), by: v.string() }),
])
const recordingSchema = v.strictObject({
  name: v.string(),
  /** Patterns of the requests that the work fits, and of exceptions to them. */
  request: v.string(),
  unless: v.optional(v.string()),
  /** Names of the files that are read before any is written. */
  reads: v.array(v.string()),
  /** Conditions on files, and the model's answer if one is not met. */
  requires: v.optional(
    v.array(v.strictObject({ file: v.string(), pattern: v.string(), otherwise: v.optional(v.string()) })),
    [],
  ),
  /** What is looked up in the last plan of the session, and a pattern that the answer has to fit. */
  looks: v.optional(v.strictObject({ about: v.string(), finds: v.string() })),
  edits: v.array(editSchema),
  /** What is corrected when code finds that the plan destroys or changes something unasked. */
  mends: v.optional(v.array(editSchema), []),
  summary: v.string(),
  /** What the task left open and the model decided. */
  assumptions: v.optional(v.array(v.string()), []),
  /** The costs in the report; without them the resources are said to cost nothing. */
  costs: v.optional(v.record(v.string(), v.unknown())),
  /** Title of the pull request; by default the first sentence of the summary. */
  title: v.optional(v.string()),
  /** Conditions on the plan, as arguments of `report_intent_statements`. */
  statements: v.optional(v.array(v.record(v.string(), v.unknown())), []),
})

type Recording = v.InferOutput<typeof recordingSchema>
/** The files that the model has read in this chain, by name. A missing file is undefined. */
export type Files = Readonly<Record<string, string | undefined>>
/** A file to write, or a part of a file to replace. */
export type Edit = { write: string; content: string } | { replace: string; search: string; by: string }

/** Recorded work as a file has it. */
export type RecordingInput = v.InferInput<typeof recordingSchema>

const readRecordings = (list: unknown) =>
  v.parse(v.array(recordingSchema), list).map((recording) => ({
    recording,
    fits: new RegExp(recording.request, 'isu'),
    except: recording.unless === undefined ? null : new RegExp(recording.unless, 'isu'),
  }))

const RECORDINGS = readRecordings(parse(readFileSync(new URL('recordings.yaml', import.meta.url), 'utf8')))

/** Adds recordings, which are looked at before those of the file. Errors: those of the schema. */
export const addRecordings = (list: readonly RecordingInput[]): void => {
  RECORDINGS.unshift(...readRecordings(list))
}

/** Finds the work that is recorded for a request, with its placeholders filled in; null when there is none. */
export function findRecording(request: string): Recording | null {
  const found = RECORDINGS.find(({ fits, except }) => fits.test(request) && !except?.test(request))
  if (!found) return null
  const words = {
    service: /\b(orders|payments|storefront)\b/i.exec(request)?.[1] ?? 'orders',
    days: /\b(\d{1,3}) days\b/i.exec(request)?.[1] ?? '',
    dataset: /\bthe (\w+) dataset\b/i.exec(request)?.[1] ?? '',
  }
  const filled = JSON.stringify(found.recording).replace(/<(service|days|dataset)>/g, (_, name: keyof typeof words) =>
    words[name].toLowerCase(),
  )
  return JSON.parse(filled) as Recording
}

/**
 * Returns the reason why work cannot be played on this repository; null if it can.
 * @param listing answer of `list_dir` for the root
 */
export function obstacleTo({ requires, edits }: Recording, listing: string, files: Files): string | null {
  const unmet = requires.find(({ file, pattern }) => !new RegExp(pattern, 'm').test(files[file] ?? ''))
  if (unmet) return unmet.otherwise ?? looksDifferent(unmet.file)
  for (const edit of edits)
    if ('write' in edit) {
      if (listing.split('\n').includes(edit.write)) return `${edit.write} is already there. Nothing has to be changed.`
    } else if (!located(edit, files)) return looksDifferent(edit.replace)
  return null
}

const looksDifferent = (file: string) => `This recording was made for another repository: ${file} looks different here.`

/** Returns the edits of a recording that fit these files. */
export const editsIn = ({ edits }: Pick<Recording, 'edits'>, files: Files): Edit[] =>
  edits.flatMap((edit) => ('write' in edit ? edit : (located(edit, files) ?? [])))

/** Returns the text that an edit replaces and the new one; null if the file does not have it. */
function located(edit: Exclude<Recording['edits'][number], { write: string }>, files: Files) {
  const text = files[edit.replace] ?? ''
  if ('search' in edit) return text.includes(edit.search) ? edit : null
  const pattern = new RegExp(edit.pattern, 'm')
  const search = pattern.exec(text)?.[0]
  return search === undefined ? null : { replace: edit.replace, search, by: search.replace(pattern, edit.by) }
}

export const titleOf = ({ title, summary, name }: Recording): string => title ?? summary.split(/\.(?:\s|$)/)[0] ?? name
