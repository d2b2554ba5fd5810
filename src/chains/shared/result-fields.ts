import * as v from 'valibot'

/** Fields of result tools. The descriptions are what the model reads about them. */

/** Why the model answers as it does. Users see it only where a chain says so. */
export const explanation = (description: string) => v.optional(v.pipe(v.string(), v.description(description)), '')

/** A text that is not blank; blanks around it are removed. */
export const requiredText = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'), v.description(description))

/** A list of texts that are not blank. Anything but a list is refused, never wrapped. */
export const textList = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'))), v.description(description))

/** The model's words on the end of its work. They decide nothing, so that a boolean is accepted as well as a text. */
export const endState = (description: string) =>
  v.pipe(v.union([v.string(), v.boolean()]), v.transform(String), v.string(), v.description(description))

/** An optional list of texts: it may be left out, and a single text is a list of one. Blank entries are dropped. */
export const looseList = (description: string) =>
  v.optional(
    v.pipe(
      v.union([v.array(v.string()), v.string(), v.null()]),
      v.transform((value) =>
        [value ?? []]
          .flat()
          .map((entry) => entry.trim())
          .filter(Boolean),
      ),
      v.array(v.string()),
      v.description(description),
    ),
    [],
  )
