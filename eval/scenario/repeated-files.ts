import * as v from 'valibot'

const PLACE = '{n}'
const text = v.pipe(v.string(), v.nonEmpty('must not be blank'))

/** Files that differ in a number alone: `{n}` in path and text becomes 001, 002 and so on. */
export const repeatedFiles = v.strictObject({
  count: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2000)),
  path: v.pipe(
    text,
    v.regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$)).+$/, 'must stay inside the repository'),
    v.check((path) => path.includes(PLACE), `must contain ${PLACE}`),
  ),
  text,
})
export type RepeatedFiles = v.InferOutput<typeof repeatedFiles>

/** Writes the files out. */
export const writeOut = ({ count, path, text: body }: RepeatedFiles): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const number = String(index + 1).padStart(3, '0')
      return [path.replaceAll(PLACE, number), body.replaceAll(PLACE, number)]
    }),
  )
