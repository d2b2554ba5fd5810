import { isRecord, type Schema } from './types.ts'

/** One part of a body, addressed by keys and indices from the root. */
export interface Place {
  path: (string | number)[]
  schema: Schema
  required: boolean
}

/** Every declared part of a value, the root first; of a list its first item. */
export function placesOf(schema: Schema, value: unknown, path: Place['path'] = [], required = true): Place[] {
  const branches = schema.oneOf ?? schema.anyOf
  const places: Place[] = [{ path, schema, required }]
  if (branches)
    return [
      ...places,
      ...branches
        .filter(({ type }) => type !== 'null')
        .flatMap((branch) => placesOf(branch, value, path, required).slice(1)),
    ]
  for (const part of schema.allOf ?? []) places.push(...placesOf(part, value, path, required).slice(1))
  if (isRecord(value))
    for (const [key, inner] of Object.entries(schema.properties ?? {}))
      if (Object.hasOwn(value, key))
        places.push(...placesOf(inner, value[key], [...path, key], schema.required?.includes(key) ?? false))
  if (Array.isArray(value) && value.length > 0 && schema.items)
    places.push(...placesOf(schema.items, value[0], [...path, 0], false))
  return places
}

export const nameOf = ({ path }: Pick<Place, 'path'>): string => ['body', ...path].join('.')

/** A copy with another value at the place. */
export function replaced(root: unknown, path: Place['path'], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(root)) return root.map((each, index) => (index === key ? replaced(each, rest, value) : each))
  if (!isRecord(root)) throw new Error(`there is no ${String(key)}`)
  return Object.fromEntries(
    Object.entries(root).map(([name, each]) => [name, name === key ? replaced(each, rest, value) : each]),
  )
}

/** A copy without the key at the end of the path. */
export function removed(root: unknown, path: Place['path']): unknown {
  const parent = path.slice(0, -1)
  return replaced(
    root,
    parent,
    Object.fromEntries(Object.entries(valueAt(root, parent) ?? {}).filter(([name]) => name !== path.at(-1))),
  )
}

/** A copy whose object at the path has one more key; `__proto__` becomes a key like any other. */
export function extended(root: unknown, path: Place['path'], key: string, value: unknown): unknown {
  return replaced(root, path, Object.fromEntries([...Object.entries(valueAt(root, path) ?? {}), [key, value]]))
}

export const valueAt = (root: unknown, path: Place['path']): object | null => {
  let value = root
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof value === 'object' ? value : null
}
