import * as v from 'valibot'

/** Why the model calls the tool. Shown to the user only where a chain says so. */
export const explanation = (description: string) => v.optional(v.pipe(v.string(), v.description(description)), '')

/** A string that says something; surrounding blanks are removed. */
export const told = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'), v.description(description))

/** A list of non-empty strings. Anything but a list is refused, never wrapped. */
export const strings = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'))), v.description(description))

/** How the model sees the end of its work. Nothing rests on it, so a flag does as well as a word. */
export const ending = (description: string) =>
  v.pipe(v.union([v.string(), v.boolean()]), v.transform(String), v.string(), v.description(description))
