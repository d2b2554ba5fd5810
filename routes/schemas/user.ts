import { z } from '@hono/zod-openapi'
import { OPERATION_ROLES, PANEL_ROLES } from '../../src/access/users.ts'
import { examplePage, pageOf } from './page.ts'

const USER = { id: 7, email: 'ada@example.org', display_name: 'Ada' }

export const User = z
  .object({
    id: z.number().int().describe('Key of the user row, not the token subject.'),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    operation_role: z.enum(OPERATION_ROLES),
    panel_role: z.enum(PANEL_ROLES).nullable().describe('null: no access to the admin panel.'),
  })
  .openapi('User', { example: { ...USER, operation_role: 'developer', panel_role: null } })

const EXAMPLE = {
  ...USER,
  operation_role: 'devops',
  panel_role: 'editor',
  issuer: 'https://login.example.org',
  subject: '248289761001',
  created_at: '2026-01-31T23:59:59.000000Z',
} as const

export const AdminUser = User.extend({
  issuer: z.string(),
  subject: z.string().describe('As the issuer names the user.'),
  created_at: z.string().openapi({ format: 'date-time' }),
}).openapi('AdminUser', { example: EXAMPLE })

export const UserPage = pageOf(AdminUser).openapi('UserPage', { example: examplePage(EXAMPLE) })
