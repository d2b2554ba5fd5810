import * as v from 'valibot'

// Field kinds of documents that a model writes. They accept unambiguous variants, such as a number as text, a null list
// or another letter case, and refuse the rest, so that the model tries again.

/** Accepts text; absent and null become the empty string. */
export const text = () => v.optional(v.pipe(v.nullable(v.string()), v.transform(emptyWhenNull), v.string()), '')
const emptyWhenNull = (value: string | null) => value ?? ''

/** Requires text with at least one character that is not a blank. */
export const requiredText = () => v.pipe(v.string(), v.check(hasText, 'must not be blank'))
const hasText = (value: string) => value.trim() !== ''

/** Accepts text or null; absent becomes null. */
export const textOrNull = () => v.optional(v.nullable(v.string()), null)

/** Accepts a list; absent and null become empty. Validates items twice: the JSON schema describes the pipe's output. */
export const list = <Item extends v.GenericSchema>(item: Item) =>
  v.optional(v.pipe(v.nullable(v.array(item)), v.transform(emptyListWhenNull<v.InferOutput<Item>>), v.array(item)), [])
const emptyListWhenNull = <Item>(value: Item[] | null): Item[] => value ?? []

/** Accepts one of the values, in any letter case, with blanks or hyphens for underscores. */
export const choice = <const Values extends readonly string[]>(values: Values) =>
  v.pipe(v.string(), v.transform(canonical(values)), v.picklist(values))
const canonical = (values: readonly string[]) => {
  const fold = (value: string) =>
    value
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '_')
  const byFolded = new Map(values.map((value) => [fold(value), value]))
  return (value: string): string => byFolded.get(fold(value)) ?? value
}

/** Accepts a non-negative integer; absent and null become 0. */
export const count = () => v.optional(v.pipe(numeric(), v.integer(), v.minValue(0)), 0)

/** Accepts a finite amount of money; absent and null become 0. */
export const amount = () => v.optional(v.pipe(numeric(), v.finite()), 0)

const numeric = () => v.pipe(v.union([v.number(), v.string(), v.null()]), v.transform(toNumber), v.number())

/** Reads `"$1,234.50"` as 1234.5; other text stays text, which the next step refuses. */
function toNumber(value: number | string | null): number | string {
  if (value === null) return 0
  if (typeof value === 'number') return value
  const bare = value.replaceAll(/[\s$€£¥]/g, '').replaceAll(/,(?=\d{3}(?:\D|$))/g, '')
  return /^[+-]?\d+(\.\d+)?$/.test(bare) ? Number(bare) : value
}

/** Accepts a currency code of three capital letters; absent, null and blank become `USD`. */
export const currency = () =>
  v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.transform((value) => value?.trim().toUpperCase() || 'USD'),
      v.string(),
      v.regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, for example USD'),
    ),
    'USD',
  )
