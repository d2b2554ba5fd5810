import type { Sql } from '../data/db/types.ts'
import { containing } from '../data/db/values.ts'
import type { User } from './types.ts'

export interface UserFilter {
  /** From 1. */
  page: number
  page_size: number
  /** Literal, any case: part of the e-mail or of the display name. Blank is ignored. */
  search?: string
}

/** Oldest first. A page beyond the end is empty; `total` counts what the filter finds. */
export async function listUsers(sql: Sql, filter: UserFilter): Promise<{ items: User[]; total: number }> {
  const search = filter.search?.trim() ? filter.search : null
  // No stored text holds a NUL character, and the server refuses it in a parameter.
  if (search?.includes('\0')) return { items: [], total: 0 }
  const where = matching(sql, search)
  const [items, total] = await Promise.all([page(sql, where, filter), count(sql, where)])
  return { items, total }
}

const matching = (sql: Sql, search: string | null) =>
  search === null ? sql`true` : sql`(email ILIKE ${containing(search)} OR display_name ILIKE ${containing(search)})`

type Condition = ReturnType<typeof matching>

async function page(sql: Sql, where: Condition, filter: UserFilter): Promise<User[]> {
  const offset = Math.min((filter.page - 1) * filter.page_size, Number.MAX_SAFE_INTEGER)
  return [
    ...(await sql<User[]>`SELECT * FROM users WHERE ${where} ORDER BY id LIMIT ${filter.page_size} OFFSET ${offset}`),
  ]
}

async function count(sql: Sql, where: Condition): Promise<number> {
  const [row] = await sql<{ total: number }[]>`SELECT count(*) AS total FROM users WHERE ${where}`
  return row?.total ?? 0
}
