import { isRecord, type Schema } from './schema.ts'

/** One part of a body. The path consists of keys and indices from the root. */
export interface Place {
  path: (string | number)[]
  schema: Schema
  required: boolean
}

/** Lists every declared part of a value, the root first. Only the first item of a list is visited. */
export function listPlaces(schema: Schema, value: unknown, path: Place['path'] = [], required = true): Place[] {
  const branches = schema.oneOf ?? schema.anyOf
  const places: Place[] = [{ path, schema, required }]
  if (branches)
    return [
      ...places,
      ...branches
        .filter(({ type }) => type !== 'null')
        .flatMap((branch) => listPlaces(branch, value, path, required).slice(1)),
    ]
  for (const part of schema.allOf ?? []) places.push(...listPlaces(part, value, path, required).slice(1))
  if (isRecord(value))
    for (const [key, inner] of Object.entries(schema.properties ?? {}))
      if (Object.hasOwn(value, key))
        places.push(...listPlaces(inner, value[key], [...path, key], schema.required?.includes(key) ?? false))
  if (Array.isArray(value) && value.length > 0 && schema.items)
    places.push(...listPlaces(schema.items, value[0], [...path, 0], false))
  return places
}

export const nameOf = ({ path }: Pick<Place, 'path'>): string => ['body', ...path].join('.')

/** Returns a copy of the document with another value at the path. */
export function replaceAt(root: unknown, path: Place['path'], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(root)) return root.map((each, index) => (index === key ? replaceAt(each, rest, value) : each))
  if (!isRecord(root)) throw new Error(`there is no ${String(key)}`)
  return Object.fromEntries(
    Object.entries(root).map(([name, each]) => [name, name === key ? replaceAt(each, rest, value) : each]),
  )
}

/** Returns a copy of the document without the key at the end of the path. */
export function removeAt(root: unknown, path: Place['path']): unknown {
  const parent = path.slice(0, -1)
  return replaceAt(
    root,
    parent,
    Object.fromEntries(Object.entries(Object(valueAt(root, parent))).filter(([name]) => name !== path.at(-1))),
  )
}

/** Returns a copy with one more key in the object at the path. `__proto__` becomes an ordinary key. */
export function extendAt(root: unknown, path: Place['path'], key: string, value: unknown): unknown {
  return replaceAt(root, path, Object.fromEntries([...Object.entries(Object(valueAt(root, path))), [key, value]]))
}

export function valueAt(root: unknown, path: Place['path']): unknown {
  let value = root
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return value
}
