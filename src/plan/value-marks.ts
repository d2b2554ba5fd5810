import { isJsonObject, type Json, ownMember } from '../base/json.ts'

/**
 * Marks of a plan say which parts of a value are sensitive or known only after the apply. They are nested like the
 * value: `true` marks a value as a whole with everything in it, an object or a list marks its parts.
 */
type Marks = Json | undefined

/** The marks of one member of an object. */
export const memberMarks = (marks: Marks, key: string): Marks =>
  isJsonObject(marks) ? ownMember(marks, key) : wholeMark(marks)

/** The marks of one item of a list. */
export const itemMarks = (marks: Marks, index: number): Marks =>
  Array.isArray(marks) ? marks[index] : wholeMark(marks)

const wholeMark = (marks: Marks): true | undefined => (marks === true ? true : undefined)

/** Marks that are nested deeper are not read: a part of the value then counts as marked. */
const MAX_DEPTH = 60

/** Reports whether a value, or any part of it, is marked. */
export function hasMark(marks: Marks, depth = 0): boolean {
  if (marks === true || depth > MAX_DEPTH) return true
  if (Array.isArray(marks)) return marks.some((item) => hasMark(item, depth + 1))
  return isJsonObject(marks) && Object.values(marks).some((item) => hasMark(item, depth + 1))
}
