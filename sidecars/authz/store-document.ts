import * as v from 'valibot'

/** One user of the store, as the API returns it. */
export interface User {
  id: string
  email: string | null
  name: string | null
  roles: string[]
}
export type Users = Map<string, User>

const user = v.object({
  id: v.string(),
  email: v.nullish(v.string(), null),
  name: v.nullish(v.string(), null),
  roles: v.array(v.string()),
})
// `v.record` would drop names like `constructor`, and with them users.
const document = v.object({
  users: v.custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
})

/** Thrown when the file is no role store. The message holds nothing of the content. */
export class DamagedStore extends Error {
  override readonly name = 'DamagedStore'
}

/** Parses the text of a role store. Errors: `DamagedStore`. */
export function parseStore(text: string): Users {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new DamagedStore('the file is no JSON')
  }
  const parsed = v.safeParse(document, json)
  if (!parsed.success) throw new DamagedStore('it holds no users')
  return new Map(Object.entries(parsed.output.users).map(([key, value]) => [key, readUser(value)]))
}

function readUser(value: unknown): User {
  const parsed = v.safeParse(user, value)
  if (!parsed.success)
    throw new DamagedStore(`the ${v.getDotPath(parsed.issues[0]) ?? 'record'} of a user has another form`)
  return parsed.output
}

/** Renders the file with sorted keys and indentation, so that two states can be compared line by line. */
export function renderStore(users: Users): string {
  const sorted = [...users].sort(([a], [b]) => (a < b ? -1 : 1))
  const entries = sorted.map(
    ([key, { email, id, name, roles }]) => [key, { email, id, name, roles: [...roles].sort() }] as const,
  )
  return `${JSON.stringify({ users: Object.fromEntries(entries) }, null, 2)}\n`
}
