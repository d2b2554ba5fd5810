import { isJsonObject, itemsOf, type Json, memberOf, ownMember } from '../base/json.ts'

/** Sensitive or unknown marks, nested like the value; `true` marks everything below it. */
type Marks = Json | undefined

/** Returns the marks of an object member. */
export const memberMarks = (marks: Marks, key: string): Marks =>
  isJsonObject(marks) ? ownMember(marks, key) : wholeMark(marks)

/** Returns the marks of a list item. */
export const itemMarks = (marks: Marks, index: number): Marks =>
  Array.isArray(marks) ? marks[index] : wholeMark(marks)

/** A value with its sensitive and unknown marks. */
export interface Marked {
  value: Json
  sensitive: Marks
  unknown: Marks
}

/** Returns a member of a marked object; null when there is none. */
export const markedMember = ({ value, sensitive, unknown }: Marked, key: string): Marked => ({
  value: memberOf(value, key) ?? null,
  sensitive: memberMarks(sensitive, key),
  unknown: memberMarks(unknown, key),
})

/** Returns the items of a marked list; none for any other value. */
export const markedItems = ({ value, sensitive, unknown }: Marked): Marked[] =>
  itemsOf(value).map((item, index) => ({
    value: item,
    sensitive: itemMarks(sensitive, index),
    unknown: itemMarks(unknown, index),
  }))

const wholeMark = (marks: Marks): true | undefined => (marks === true ? true : undefined)

/** Deepest nesting of marks that is read; deeper parts count as marked. */
const MAX_DEPTH = 60

/** Reports whether any part of a value is marked. */
export function hasMark(marks: Marks, depth = 0): boolean {
  if (marks === true || depth > MAX_DEPTH) return true
  if (Array.isArray(marks)) return marks.some((item) => hasMark(item, depth + 1))
  return isJsonObject(marks) && Object.values(marks).some((item) => hasMark(item, depth + 1))
}
