import * as v from 'valibot'

/** Fields of result tools. The descriptions are what the model reads about them. */

/** The reason for the model's result. Users see it only where a chain says so. */
export const explanation = (description: string) => v.optional(v.pipe(v.string(), v.description(description)), '')

/** A text that is not blank, trimmed. */
export const requiredText = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'), v.description(description))

/** A list of non-blank texts. Anything but a list is refused. */
export const textList = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'))), v.description(description))

/** The model's words on the end of its work, which decide nothing; a boolean is accepted too. */
export const endState = (description: string) =>
  v.pipe(v.union([v.string(), v.boolean()]), v.transform(String), v.string(), v.description(description))

/** An optional list of texts, or a single text. Blank entries are dropped. */
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
