import { isJsonObject, type Json, ownMember } from '../base/json.ts'

/** Sensitive or unknown marks, nested like the value; `true` marks everything below it. */
type Marks = Json | undefined

/** Returns the marks of an object member. */
export const memberMarks = (marks: Marks, key: string): Marks =>
  isJsonObject(marks) ? ownMember(marks, key) : wholeMark(marks)

/** Returns the marks of a list item. */
export const itemMarks = (marks: Marks, index: number): Marks =>
  Array.isArray(marks) ? marks[index] : wholeMark(marks)

const wholeMark = (marks: Marks): true | undefined => (marks === true ? true : undefined)

/** Deepest nesting of marks that is read; deeper parts count as marked. */
const MAX_DEPTH = 60

/** Reports whether any part of a value is marked. */
export function hasMark(marks: Marks, depth = 0): boolean {
  if (marks === true || depth > MAX_DEPTH) return true
  if (Array.isArray(marks)) return marks.some((item) => hasMark(item, depth + 1))
  return isJsonObject(marks) && Object.values(marks).some((item) => hasMark(item, depth + 1))
}
