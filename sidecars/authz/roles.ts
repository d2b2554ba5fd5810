import type { User, Users } from './role-store.ts'

/** The assignable roles. They have no effect on the core. */
export const ROLES = [
  { name: 'admin', description: 'Manages the users and roles of this service.' },
  { name: 'user', description: 'Uses the platform.' },
] as const

export const isRole = (name: string): boolean => ROLES.some((role) => role.name === name)
export const holdsAdmin = (users: Users, id: string): boolean => users.get(id)?.roles.includes('admin') ?? false

/** Gives a role to a user, who is created if needed. Like the functions below, reports whether anything changed. */
export function assignRole(users: Users, id: string, role: string, email: string | null = null): boolean {
  const existing = users.get(id)
  if (existing?.roles.includes(role)) return false
  const user: User = existing ?? { id, email, name: null, roles: [] }
  users.set(id, { ...user, roles: [...user.roles, role] })
  return true
}

export function revokeRole(users: Users, id: string, role: string): boolean {
  const existing = users.get(id)
  if (!existing?.roles.includes(role)) return false
  users.set(id, { ...existing, roles: existing.roles.filter((name) => name !== role) })
  return true
}

/** Creates the record of a caller, or adds a missing e-mail address to it. */
export function noticeUser(users: Users, id: string, email: string | null): boolean {
  const existing = users.get(id)
  if (existing && (existing.email !== null || email === null)) return false
  users.set(id, existing ? { ...existing, email } : { id, email, name: null, roles: [] })
  return true
}
